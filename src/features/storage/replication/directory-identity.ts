import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { identifyFile } from "../../../db/file-identity.ts";

/**
 * Identifies a data directory. A copy has another inode or creation time, also on another machine. The number of the
 * device is not part of it: it may change with a restart.
 * @param mayTouch as in {@link identifyFile}
 * @throws the system's error
 */
export function identifyDirectory(root: string, mayTouch = true): string {
  const found = identifyFile(root, mayTouch);
  if (found === undefined) throw new Error(`${root} does not exist.`);
  return `${found.inode}:${found.bornNs ?? ""}`;
}

/** Identifies the file of a database: a restored one is another file. @throws the system's error */
export function identifyDatabase(path: string): string {
  return createHash("sha256").update(identifyDirectory(path)).digest("hex").slice(0, 32);
}

/** Who owns a lease: a data directory with a certain store. */
export function holderOf(store: string, directory: string): string {
  return createHash("sha256").update(`${store}\n${directory}`).digest("hex").slice(0, 32);
}

/** Changes with every boot of the machine. Where there is none, each process counts as a boot of its own. */
export function readBootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return crypto.randomUUID();
  }
}
