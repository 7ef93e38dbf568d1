/**
 * Messages with values, in the ICU MessageFormat syntax that translation tools know: `{name}`, `{n, number}`,
 * `{n, plural, one {# file} other {# files}}`, and `{kind, select, file {File} other {Folder}}`. Not supported, because
 * no message needs them: apostrophes that quote braces, offsets, `selectordinal`, and dates.
 * https://unicode-org.github.io/icu/userguide/format_parse/messages/
 */

/** The values of a message, by name. */
export type MessageValues = Readonly<Record<string, string | number>>;

/** How a language writes numbers. */
export interface MessageFormat {
  /** Formats a number. @param style what follows `number,` in the message, such as `bytes` */
  readonly number: (value: number, style?: string) => string;
  /** The plural form that the language uses with a number. */
  readonly pluralRule: (value: number) => Intl.LDMLPluralRule;
  /** Changes each finished text; the pseudo-language uses this. */
  change?: ((text: string) => string) | undefined;
}

/** `{n`, `{n, number`, `{n, number, bytes`, or `{n, plural, ` up to the first choice. */
const VALUE = /\{(\w+)(?:, (\w+)(?:, (\w+(?=\}))?)?)?/y;
/** The name of a choice, with the brace that opens its message. */
const CHOICE = /\s*([=\w-]+) \{/y;
const TEXT = /[^{}#]*/y;

/**
 * Returns the text of a message. Malformed messages have no defined result: tests check all messages.
 * @param values a missing value is empty
 */
export function formatMessage(message: string, values: MessageValues, format: MessageFormat): string {
  let at = 0;

  const read = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const found = pattern.exec(message);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };

  /** Reads up to the end, or to the brace that closes a choice. @param count what `#` stands for */
  const readText = (count: string): string => {
    let text = "";
    for (;;) {
      text += read(TEXT)?.[0] ?? "";
      const next = message[at];
      if (next === "{") text += readValue(count);
      else if (next !== "#") return text;
      else {
        text += count;
        at += 1;
      }
    }
  };

  const readValue = (count: string): string => {
    const [, name = "", kind, style] = read(VALUE) ?? [];
    const value = values[name] ?? "";
    const isPlural = kind === "plural";
    if (!isPlural && kind !== "select") {
      at += 1;
      return typeof value === "number" ? format.number(value, style) : value;
    }
    const n = Number(value);
    const keys = isPlural ? ["other", format.pluralRule(n), `=${n}`] : ["other", String(value)];
    let best = -1;
    let chosen = "";
    for (let choice = read(CHOICE); choice !== null; choice = read(CHOICE)) {
      const rank = keys.lastIndexOf(choice[1] ?? "");
      const text = readText(isPlural ? format.number(n) : count);
      at += 1;
      if (rank > best) {
        best = rank;
        chosen = text;
      }
    }
    at += 1;
    return chosen;
  };

  const text = readText("#");
  return format.change?.(text) ?? text;
}

/** The next brace in `S`, with what follows it. */
type NextBrace<S extends string> = S extends `${infer A}{${infer B}`
  ? A extends `${infer C}}${infer D}`
    ? ["}", `${D}{${B}`, C]
    : ["{", B]
  : S extends `${string}}${infer B}`
    ? ["}", B]
    : [];

/** Reads a message. `Open` has an element for each open choice. */
type InMessage<S extends string, Found, Open extends unknown[]> =
  NextBrace<S> extends ["{", infer R extends string]
    ? InValue<R, Found, Open>
    : NextBrace<S> extends ["}", infer R extends string, ...unknown[]]
      ? InChoices<R, Found, Open>
      : Found;

/** Reads a value or the head of a choice. */
type InValue<S extends string, Found, Open extends unknown[]> = S extends `${infer H}}${infer R}`
  ? H extends `${infer N}, ${infer K}`
    ? K extends `plural, ${string}`
      ? S extends `${string}, plural, ${infer C}`
        ? InChoices<C, Found & Readonly<Record<N, number>>, [1, ...Open]>
        : never
      : K extends `select, ${string}`
        ? S extends `${string}, select, ${infer C}`
          ? InChoices<C, Found & Readonly<Record<N, string>>, [1, ...Open]>
          : never
        : InMessage<R, Found & Readonly<Record<N, number>>, Open>
    : InMessage<R, Found & Readonly<Record<H, string | number>>, Open>
  : never;

/** Reads the choices after a message, or their end. */
type InChoices<S extends string, Found, Open extends unknown[]> =
  NextBrace<S> extends ["{", infer R extends string]
    ? InMessage<R, Found, Open>
    : NextBrace<S> extends ["}", infer R extends string, ...unknown[]]
      ? Open extends [unknown, ...infer Rest]
        ? InMessage<R, Found, Rest>
        : Found
      : Found;

/** The values that the message `S` needs: `{ n: number; to: string | number }`. `unknown` if it needs none. */
export type ValuesOf<S extends string> = string extends S ? unknown : InMessage<S, unknown, []>;
