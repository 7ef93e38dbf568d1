import type { MessageValues } from "../../translations/messages.ts";

/** Markup that is safe to send. Only {@link html} creates it, never from a plain string. */
export class Html {
  readonly text: string;

  private constructor(text: string) {
    this.text = text;
  }

  /** @internal Use {@link html} instead. */
  static fromTemplate(text: string): Html {
    return new Html(text);
  }
}

/** A value in a template. Text and numbers are escaped, markup is not; undefined and false render nothing. */
type HtmlValue = string | number | Html | readonly Html[] | undefined | false;

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Escapes text for use between tags and inside quoted attributes. Replaces control characters, and the marks that change
 * the writing direction (they can make "exe.jpg" look like "gpj.exe"), with a visible character.
 */
export function escapeHtml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(CONFUSING, "\ufffd")
    .replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}

const CONFUSING = /(?![\t\n\r])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu;

/** A markup template. Escapes every value that is not markup itself; attributes must be quoted. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = strings[0] ?? "";
  for (const [index, value] of values.entries()) {
    text += render(value) + (strings[index + 1] ?? "");
  }
  return Html.fromTemplate(text);
}

/**
 * A message with markup as values, such as a link in a sentence. Everything else is escaped.
 * @param message a text of a table
 */
export function htmlMessage<V extends MessageValues>(
  message: (values: V) => string,
  values: { readonly [K in keyof V]: V[K] | Html },
): Html {
  const entries = Object.entries<string | number | Html>(values);
  const marked = Object.fromEntries(
    entries.map(([name, value], index) => [name, value instanceof Html ? `\ue000${index}\ue001` : value]),
  );
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same names, and strings in place of markup
  const text = escapeHtml(message(marked as V));
  // A person's words may contain such a mark too: at most it repeats markup that is on the page anyway.
  return Html.fromTemplate(
    text.replaceAll(/\ue000(\d+)\ue001/g, (_, index) => {
      const value = entries[Number(index)]?.[1];
      return value instanceof Html ? value.text : "";
    }),
  );
}

function render(value: HtmlValue): string {
  if (value === undefined || value === false) return "";
  if (value instanceof Html) return value.text;
  if (typeof value === "string" || typeof value === "number") return escapeHtml(String(value));
  return value.map((each) => each.text).join("");
}
