/**
 * Names inside an archive. They are made of the names of the tree, one by one: what would lead elsewhere when it is
 * unpacked, on any system, or could not be unpacked at all, is replaced by `_`, never translated.
 */

// Separators of both worlds, the colon of drive letters and of streams behind files, and control characters.
// oxlint-disable-next-line no-control-regex -- control characters are exactly what is looked for
const HOSTILE = /[\u0000-\u001f\u007f-\u009f/\\:]/g;
/** Windows drops them: `..  ` would become `..`, and `a.` would become `a`. */
const TRAILING = /[. ]+$/;
/** Devices of Windows, whatever follows a first dot. */
const RESERVED = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(?:\.|$)/i;

/** The name under which an entry lies in its folder of the archive; the same as it was for all but hostile ones. */
export function safeName(name: string): string {
  const replaced = name
    .toWellFormed()
    .replace(HOSTILE, "_")
    .replace(TRAILING, (run) => "_".repeat(run.length));
  if (replaced === "") return "_";
  return RESERVED.test(replaced) ? `_${replaced}` : replaced;
}
