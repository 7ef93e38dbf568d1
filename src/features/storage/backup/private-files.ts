import * as fs from "node:fs";
import { join } from "node:path";
import { syncFolder } from "./blob-copier.ts";

/** Copies a file with access only for its owner, durably, unless the target has the same bytes. */
export function copyPrivateFile(from: string, to: string): void {
  const bytes = fs.readFileSync(from);
  if (fs.existsSync(to) && fs.readFileSync(to).equals(bytes)) return;
  writePrivateFile(to, bytes);
}

/** Writes a file with access only for its owner: `.tmp`, sync, rename, so that it is never half-written. */
export function writePrivateFile(to: string, bytes: Uint8Array): void {
  const partial = `${to}.${process.pid}.tmp`;
  fs.writeFileSync(partial, bytes, { mode: 0o600, flush: true });
  fs.renameSync(partial, to);
}

/** Copies the keys of a server. @returns a warning if other users can read them on the target's file system */
export function copySecrets(from: string, to: string): string[] {
  if (!fs.existsSync(from)) return [];
  fs.mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
    if (entry.isFile() && !entry.name.endsWith(".tmp")) copyPrivateFile(join(from, entry.name), join(to, entry.name));
  }
  syncFolder(to);
  const isOpen = (fs.statSync(to).mode & 0o077) !== 0;
  return isOpen
    ? [
        `Other users can read ${to}, because its file system does not support permissions. Anyone who can read it can sign in as any user.`,
      ]
    : [];
}
