// Surrogates too, since the text may contain one without its other half. This test is fast without the flag "u".
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const MAYBE_SPECIAL = /[<>&"'\u0000-\u001f\u007f-\u009f\ud800-\udfff\ufffe\uffff]/;
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const EACH_SPECIAL = /[<>&"'\u0000-\u001f\u007f-\u009f\ufffe\uffff]|\p{Surrogate}/gu;
const ESCAPES: Readonly<Record<string, string>> = {
  "<": "&lt;",
  ">": "&gt;",
  "&": "&amp;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Escapes text for the content of an element or for a quoted attribute. Characters that XML 1.0 forbids in any form
 * become U+FFFD.
 */
export function escapeXml(text: string): string {
  return MAYBE_SPECIAL.test(text) ? text.replace(EACH_SPECIAL, escapeCharacter) : text;
}

function escapeCharacter(character: string): string {
  const escape = ESCAPES[character];
  if (escape !== undefined) return escape;
  const code = character.charCodeAt(0);
  // A parser would turn these into spaces in attributes, and a carriage return into a line feed everywhere.
  if (code === 0x9 || code === 0xa || code === 0xd || (code >= 0x7f && code <= 0x9f)) return `&#${code};`;
  return "\ufffd";
}
