/**
 * Whether a person's file can still be read, from `offset` on, and is as long as the browser said. One that could not be
 * looked at (a name that the system can't tell, no permission, gone meanwhile) is given to pages as an empty file: sent
 * unread, it would arrive empty and count as stored.
 */
export async function isReadable(file: File, offset = 0): Promise<boolean> {
  const from = Math.max(0, Math.min(offset, file.size - 1));
  // A slice of nothing is never read: an empty file is asked for as a whole.
  const sample = file.size === 0 ? file : file.slice(from, from + 1);
  try {
    return (await sample.arrayBuffer()).byteLength === sample.size;
  } catch {
    return false;
  }
}
