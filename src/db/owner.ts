import * as fs from "node:fs";

/**
 * Gives a new file the owner of another one, if root created it: a command that an administrator runs with sudo must
 * leave no file that the server, which runs as another user, can't read. SQLite does the same with its log. Does
 * nothing for other users than root.
 * @param path a regular file without further hard links; links are not followed, because that owner may have placed them
 */
export function giveToOwnerOf(example: string, path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = fs.statSync(example);
  if (uid === 0) return;
  const fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
  try {
    const made = fs.fstatSync(fd);
    if (made.isFile() && made.nlink === 1 && made.uid === 0) fs.fchownSync(fd, uid, gid);
  } catch {
    // The file system has no owners, or does not let us change them. A server that can't read the file reports it at
    // start.
  } finally {
    fs.closeSync(fd);
  }
}
