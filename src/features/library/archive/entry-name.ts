/** Names inside an archive: `_` replaces everything that could escape the target folder or fail to unpack on any system. */

// Path separators, the colon of drive letters and alternate streams, and control characters.
// oxlint-disable-next-line no-control-regex -- matches control characters on purpose
const UNSAFE = /[\u0000-\u001f\u007f-\u009f/\\:]/g;
/** Windows drops them: `..  ` would become `..`, and `a.` would become `a`. */
const TRAILING = /[. ]+$/;
/** Device names of Windows, also with any extension. */
const RESERVED = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(?:\.|$)/i;

/** The name of an entry in its folder of the archive; unchanged unless it is unsafe. */
export function safeName(name: string): string {
  const replaced = name
    .toWellFormed()
    .replace(UNSAFE, "_")
    .replace(TRAILING, (run) => "_".repeat(run.length));
  if (replaced === "") return "_";
  return RESERVED.test(replaced) ? `_${replaced}` : replaced;
}
