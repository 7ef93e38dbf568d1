// Control characters that no XML 1.0 document can contain, not even escaped; and lone surrogates.
// oxlint-disable-next-line no-control-regex -- control characters are exactly what is looked for
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;
const SPECIAL = /[&<>"']/g;
const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Text for the content or an attribute of an XML element. Characters that XML forbids become U+FFFD. */
export function escapeXml(text: string): string {
  return text.replace(FORBIDDEN, "\ufffd").replace(SPECIAL, (character) => ENTITIES[character] ?? character);
}
