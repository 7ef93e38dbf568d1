/** `larder backup -`: the backup as a tar archive. */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Digest, toChecksum } from "../../blobs/digest.ts";
import { describeSize } from "../../config/quantities.ts";
import { StartupError } from "../../config/startup-error.ts";
import { writeTar } from "../../features/storage/backup/tar.ts";
import { explainTarget } from "../../features/storage/backup/target-errors.ts";
import type { CopyTotals, LostContent } from "../../features/storage/backup/types.ts";
import { findDatabaseSource } from "../../server/data/database-source.ts";
import type { DataPaths } from "../../server/data/data-directory.ts";
import { EXIT, type ExitCode, type RunningCommand, UsageError } from "../shared/command.ts";
import { describeLost } from "../shared/lost-blobs.ts";
import { count, toJson } from "../shared/output.ts";
import { blobProgress, describeSeconds } from "../shared/progress.ts";
import { errorCode } from "../../lib/error.ts";

/** Fetches a blob from the bucket to this disk. @returns false if the bucket does not have it */
export type FetchBlob = (digest: Digest) => Promise<boolean>;

const ARCHIVE_PREFIX = ".archive-";
const ARCHIVE_MS_MAX = 7 * 24 * 60 * 60 * 1000;
const RETRY_MS = 2;

/** Writes the backup as a tar archive to standard output; messages go to standard error. */
export async function writeArchive(
  command: RunningCommand,
  source: DataPaths,
  fetchBlob: FetchBlob | undefined,
): Promise<ExitCode> {
  const { isJson, terminal } = command;
  if (process.stdout.isTTY) {
    throw new UsageError("Cannot write a tar archive to a terminal. Redirect it: larder backup - > larder.tar");
  }
  const startedMs = performance.now();
  const folder = createFolder(source);
  try {
    const origin = findDatabaseSource(source, 0);
    const { snapshot, totals } = await writeTar({
      source,
      takeSnapshot: () => origin.take(folder),
      isLive: origin.isLive,
      fetchContent: fetchBlob,
      write: writeOut,
      onProgress: blobProgress(terminal),
    });
    const seconds = Math.round(performance.now() - startedMs) / 1000;
    const { contents, bytes, lost } = totals;
    const json = {
      ok: lost.length === 0,
      snapshot: snapshot.name,
      contents,
      bytes,
      lost: lost.map(presentLost),
      seconds,
    };
    terminal.error(
      isJson
        ? toJson(json)
        : `Archived ${count(contents, "blob")}, ${describeSize(bytes)}, in ${describeSeconds(seconds)}. Snapshot ${snapshot.name}.\n` +
            describeElsewhere(totals) +
            "The archive contains this server's keys: keep it where nobody else can read it.\n",
    );
    if (lost.length > 0 && !isJson) terminal.error(describeLost(lost));
    return lost.length === 0 ? EXIT.success : EXIT.problems;
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Creates the folder for the copy of the database: on the disk of the data, which has space for it. */
function createFolder({ snapshots }: DataPaths): string {
  try {
    fs.mkdirSync(snapshots, { recursive: true, mode: 0o700 });
    removeOldFolders(snapshots);
    return fs.mkdtempSync(join(snapshots, ARCHIVE_PREFIX));
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    // A data directory that is read-only.
    return fs.mkdtempSync(join(tmpdir(), "larder-archive-"));
  }
}

/** Removes folders of commands that were killed. No archive takes so long. */
function removeOldFolders(snapshots: string): void {
  for (const name of fs.readdirSync(snapshots)) {
    const path = join(snapshots, name);
    const isOld = name.startsWith(ARCHIVE_PREFIX) && fs.statSync(path).mtimeMs < Date.now() - ARCHIVE_MS_MAX;
    if (isOld) fs.rmSync(path, { recursive: true, force: true });
  }
}

/** Writes all bytes to standard output, and waits for a slow reader. @throws StartupError if the reader has exited */
function writeOut(bytes: Uint8Array): void {
  for (let written = 0; written < bytes.byteLength; ) {
    try {
      written += fs.writeSync(1, bytes, written);
    } catch (error) {
      const code = errorCode(error);
      if (code !== "EAGAIN") throw code === "EPIPE" ? readerExited(error) : explainTarget(error, "standard output");
      Bun.sleepSync(RETRY_MS);
    }
  }
}

function readerExited(error: unknown): StartupError {
  return new StartupError(
    "The program that reads the archive stopped early; the backup is incomplete. Run the command again.",
    error,
  );
}

/** A missing or damaged blob for `--json`. */
export function presentLost({ digest, sizeBytes, why, names }: LostContent) {
  return { checksum: toChecksum(digest), size: sizeBytes, why, names };
}

/** A note about blobs that are only in the bucket; empty if there are none. */
export function describeElsewhere({ elsewhere }: CopyTotals): string {
  if (elsewhere === 0) return "";
  return `${count(elsewhere, "blob")} stored only in the bucket (s3.bucket) are not in the backup: keep the bucket too. See: larder blobs status\n`;
}
