/** Markup that is safe to send: made by {@link html} alone, never from a plain string. */
export class Html {
  readonly text: string;

  private constructor(text: string) {
    this.text = text;
  }

  /** @internal The one door to a value of this type; callers use {@link html}. */
  static fromTemplate(text: string): Html {
    return new Html(text);
  }
}

/** What may stand in a template: text and numbers are escaped, markup is not, undefined and false are nothing. */
export type HtmlValue = string | number | Html | readonly Html[] | undefined | false;

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Makes text safe between tags and inside quoted attributes. Control characters, and the marks that turn the direction
 * of writing (with which "exe.jpg" can be made to look like "gpj.exe"), become a visible replacement.
 */
export function escapeHtml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(CONFUSING, "\ufffd")
    .replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}

const CONFUSING = /(?![\t\n\r])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu;

/** A template of markup. Every value put into it is escaped, unless it is markup itself; attributes must be quoted. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = strings[0] ?? "";
  for (const [index, value] of values.entries()) {
    text += render(value) + (strings[index + 1] ?? "");
  }
  return Html.fromTemplate(text);
}

function render(value: HtmlValue): string {
  if (value === undefined || value === false) return "";
  if (value instanceof Html) return value.text;
  if (typeof value === "string" || typeof value === "number") return escapeHtml(String(value));
  return value.map((each) => each.text).join("");
}
