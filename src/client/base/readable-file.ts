/**
 * Whether a file that the person chose can still be read from `offset` on, and has the size that the browser reported.
 * Browsers report a file that they can't open (unencodable name, no permission, deleted in the meantime) as an empty
 * file. Uploaded unchecked, it would be stored empty and count as done.
 */
export async function isReadable(file: File, offset = 0): Promise<boolean> {
  const from = Math.max(0, Math.min(offset, file.size - 1));
  // An empty slice is never read, so an empty file is read as a whole.
  const sample = file.size === 0 ? file : file.slice(from, from + 1);
  try {
    return (await sample.arrayBuffer()).byteLength === sample.size;
  } catch {
    return false;
  }
}
