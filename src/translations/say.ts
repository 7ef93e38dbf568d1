/**
 * Messages of errors. The code has them in English, where they are needed: `` say`${name} already exists.` ``. Logs and
 * the command line show them like that; responses are in the language of the reader: see `error-texts.ts`.
 */

/** What a language needs to write a value. */
export interface ValueFormat {
  /** BCP 47. */
  readonly tag: string;
  /** Translates a message inside of another one. */
  readonly translate: (message: Message) => string;
}

/** A value that languages write differently. */
interface LocalizedValue {
  readonly english: string;
  /** How the template of a message names this value. @param name `0` for the first value */
  readonly placeholder: (name: string) => string;
  /** The value for a translation of the template. */
  readonly valueIn: (format: ValueFormat) => string | number;
  /** The value for a message that is stored. */
  readonly stored: () => string | number | StoredMessage;
}

type Value = string | number | LocalizedValue;

/** A message that is stored, to be translated for each reader. */
export interface StoredMessage {
  readonly english: string;
  readonly template: string;
  readonly values: readonly (string | number | StoredMessage)[];
}

/** A message with its values, in English and for translation. */
export class Message implements LocalizedValue {
  readonly english: string;
  readonly #template: string | readonly string[];
  readonly #values: readonly Value[];

  /** @param template if it is a list, the texts between the values */
  constructor(english: string, template: string | readonly string[], values: readonly Value[]) {
    this.english = english;
    this.#template = template;
    this.#values = values;
  }

  /** The English message with placeholders for its values: `{0} already exists.` Translations are found by it. */
  get template(): string {
    if (typeof this.#template === "string") return this.#template;
    return joinTemplate(
      this.#template,
      this.#values.map((value, index) => placeholderOf(value, `${index}`)),
    );
  }

  placeholder(name: string): string {
    return `{${name}}`;
  }

  valueIn(format: ValueFormat): string {
    return format.translate(this);
  }

  /** The values for a translation of the template, by name. */
  valuesIn(format: ValueFormat): Record<string, string | number> {
    return Object.fromEntries(
      this.#values.map((value, index) => [index, typeof value === "object" ? value.valueIn(format) : value]),
    );
  }

  stored(): StoredMessage {
    const { english, template } = this;
    return {
      english,
      template,
      values: this.#values.map((value) => (typeof value === "object" ? value.stored() : value)),
    };
  }
}

function placeholderOf(value: Value, name: string): string {
  return typeof value === "object" ? value.placeholder(name) : `{${name}}`;
}

/** The template of a message: its texts with placeholders between them. */
export function joinTemplate(parts: readonly string[], placeholders: readonly string[]): string {
  return parts.map((part, index) => part + (placeholders[index] ?? "")).join("");
}

/**
 * A message for people. Translators see only this text, so it is one or more whole sentences. A value is a name, a
 * number, another message, or made by {@link size}, {@link plural}, or {@link anyOf}.
 */
export function say(parts: TemplateStringsArray, ...values: readonly Value[]): Message {
  let english = parts[0] ?? "";
  for (const [index, value] of values.entries()) {
    english += (typeof value === "object" ? value.english : String(value)) + (parts[index + 1] ?? "");
  }
  return new Message(english, parts, values);
}

/** A message that is only known as text. It is translated if it equals a message of {@link say} without values. */
export function sayText(text: string): Message {
  return new Message(text, text, []);
}

/** A message that was stored. */
export function sayStored({ english, template, values }: StoredMessage): Message {
  return new Message(
    english,
    template,
    values.map((value) => (typeof value === "object" ? sayStored(value) : value)),
  );
}

/** A size in {@link say}. @param english how the English message writes it */
export function size(bytes: number, english = `${bytes} bytes`): LocalizedValue {
  return { english, placeholder: sizePlaceholder, valueIn: () => bytes, stored: () => bytes };
}

/** The placeholder of {@link size}. */
export function sizePlaceholder(name: string): string {
  return `{${name}, number, bytes}`;
}

/** The forms of a {@link plural}. `#` is the number. */
export interface PluralForms {
  readonly one: string;
  readonly other: string;
}

/** A part of a {@link say} that depends on a number. */
export function plural(n: number, forms: PluralForms): LocalizedValue {
  return {
    english: (n === 1 ? forms.one : forms.other).replaceAll("#", `${n}`),
    placeholder: (name) => pluralPlaceholder(name, forms),
    valueIn: () => n,
    stored: () => n,
  };
}

/** The placeholder of {@link plural}. */
export function pluralPlaceholder(name: string, { one, other }: PluralForms): string {
  return `{${name}, plural, one {${one}} other {${other}}}`;
}

/** Alternatives in {@link say}: `GET or POST`. */
export function anyOf(names: readonly string[]): LocalizedValue {
  const english = names.join(" or ");
  return {
    english,
    placeholder: (name) => `{${name}}`,
    valueIn: ({ tag }) => new Intl.ListFormat(tag, { type: "disjunction" }).format(names),
    stored: () => english,
  };
}
