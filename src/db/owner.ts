import * as fs from "node:fs";

/**
 * Gives a file that was made just now to the owner of another one, where root made it: a command that an administrator runs
 * by sudo must leave nothing behind that the server, which is another user, can't read. SQLite does so with its log. For
 * anybody else than root: nothing.
 * @param path a regular file with this one name; through links, which that owner may have put there, nobody is given anything
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
    // A file system without owners, or one that lets nobody change them: who then can't read it is told so at the start.
  } finally {
    fs.closeSync(fd);
  }
}
