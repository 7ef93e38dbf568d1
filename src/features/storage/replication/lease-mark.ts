/**
 * `larder.lease` in the data directory: the last heartbeat, recorded before it is sent. A directory that went back to an
 * earlier state, such as a snapshot of its virtual machine, has an older mark than the replica.
 */
import { open, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { giveToOwnerOf } from "../../../db/owner.ts";
import { errorCode } from "../../../lib/error.ts";
import { syncPath } from "../../../lib/sync-path.ts";

/** A heartbeat: the epoch, and its number in that. */
export interface LeaseMark {
  readonly epoch: number;
  readonly counter: number;
}

/** Every record has this length, so that it replaces the one before in one write. */
const MARK_BYTES = 64;

/** Reads the mark; null if there is none. A damaged one counts as the oldest. */
export async function readMark(path: string): Promise<LeaseMark | null> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
  const [, epoch, counter] = /^(\d+) (\d+) *\n$/.exec(text) ?? [];
  return { epoch: Number(epoch ?? 0), counter: Number(counter ?? 0) };
}

/** Writes the mark. Durable on return. */
export async function writeMark(path: string, { epoch, counter }: LeaseMark): Promise<void> {
  const bytes = Buffer.from(`${`${epoch} ${counter}`.padEnd(MARK_BYTES - 1)}\n`);
  try {
    await overwrite(path, bytes, "r+");
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    await overwrite(path, bytes, "wx");
    giveToOwnerOf(dirname(path), path);
    syncPath(dirname(path));
  }
}

async function overwrite(path: string, bytes: Buffer, flags: "r+" | "wx"): Promise<void> {
  const file = await open(path, flags, 0o600);
  try {
    await file.write(bytes, 0, bytes.length, 0);
    await file.datasync();
  } finally {
    await file.close();
  }
}
