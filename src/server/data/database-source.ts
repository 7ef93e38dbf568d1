import { SQLiteError } from "bun:sqlite";
import * as fs from "node:fs";
import { join } from "node:path";
import { StartupError } from "../../config/startup-error.ts";
import { listSnapshots, type Snapshot, takeSnapshotOf } from "../../db/snapshot.ts";
import { isDamage } from "../../db/transaction.ts";
import { syncPath } from "../../lib/sync-path.ts";
import type { DataPaths } from "./data-directory.ts";
import { chooseSnapshot } from "./open-copy.ts";
import { readCloseState } from "./run-mark.ts";

/** Where a backup or a restore gets a database from. */
interface DatabaseSource {
  /** Whether a later call of `take` gives a later state, because the directory may be in use. */
  readonly isLive: boolean;
  /** Writes a copy of the database and its digest into a folder. Blocks. @throws StartupError; SQLiteError */
  take(folder: string): Snapshot;
}

const LABEL = "backup";

/**
 * The source for a data directory, a copy of one, or a backup: the database itself, also while a server runs, or the
 * snapshot that a start would use.
 * @param after copies have names with later times than this, even if the clock is set back
 * @param snapshotName the snapshot to use instead
 * @throws StartupError if there is no usable database
 */
export function findDatabaseSource(paths: DataPaths, after: number, snapshotName?: string): DatabaseSource {
  if (snapshotName !== undefined && snapshotName !== "newest") return fixed(findSnapshot(paths, snapshotName));
  // The original is only read, because it may be mounted read-only.
  const state = readCloseState(paths, false);
  if (state === "whole") {
    let lastMs = after;
    return {
      isLive: true,
      take: (folder) => {
        lastMs = Math.max(Date.now(), lastMs + 1);
        return takeFrom(paths, folder, lastMs);
      },
    };
  }
  const chosen = chooseSnapshot(paths);
  if (chosen !== undefined) return fixed(chosen.snapshot);
  throw new StartupError(
    state === "absent"
      ? `No database and no intact snapshot found in ${paths.root}. Specify the right directory.`
      : `${paths.root} was copied while a server was running, and it has no intact snapshot. Copy it again.`,
  );
}

/** Finds a snapshot by its name or path. @throws StartupError */
export function findSnapshot(paths: DataPaths, name: string): Snapshot {
  const found = listSnapshots(paths.snapshots).find((one) => one.name === name || one.path === name);
  if (found !== undefined) return found;
  throw new StartupError(
    `Snapshot ${name} not found in ${paths.snapshots}. To list snapshots: larder restore --data ${paths.root}`,
  );
}

function fixed(snapshot: Snapshot): DatabaseSource {
  return {
    isLive: false,
    take(folder) {
      const path = join(folder, snapshot.name);
      const { COPYFILE_FICLONE } = fs.constants;
      fs.copyFileSync(`${snapshot.path}.sha256`, `${path}.sha256`);
      fs.copyFileSync(snapshot.path, path, COPYFILE_FICLONE);
      for (const one of [path, `${path}.sha256`]) {
        fs.chmodSync(one, 0o600);
        syncPath(one);
      }
      return { ...snapshot, path };
    },
  };
}

function takeFrom({ root, database }: DataPaths, folder: string, nowMs: number): Snapshot {
  try {
    return takeSnapshotOf(database, folder, LABEL, nowMs);
  } catch (error) {
    const isUnreadable = error instanceof SQLiteError && /^SQLITE_IOERR_(SHORT_)?READ/.test(error.code ?? "");
    if (isUnreadable || isDamage(error)) {
      throw new StartupError(
        `${database} is damaged, or its disk is failing (${String(error)}). It was not copied; earlier snapshots and backups are ` +
          `unchanged.\nTo list snapshots: larder restore --data ${root}`,
        error,
      );
    }
    if (!(error instanceof SQLiteError && /^SQLITE_(CANTOPEN|READONLY)/.test(error.code ?? ""))) throw error;
    // On a read-only disk SQLite can't read the log that a crash left. Copy both first.
    const writable = join(folder, "larder.db");
    for (const suffix of ["", "-wal"]) {
      if (fs.existsSync(database + suffix)) fs.copyFileSync(database + suffix, writable + suffix);
    }
    return takeSnapshotOf(writable, folder, LABEL, nowMs);
  }
}
