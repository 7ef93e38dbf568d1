import { SQLiteError } from "bun:sqlite";
import * as fs from "node:fs";
import { join } from "node:path";
import { StartupError } from "../../config/startup-error.ts";
import { listSnapshots, type Snapshot, takeSnapshotOf } from "../../db/snapshot.ts";
import { isDamage } from "../../db/transaction.ts";
import type { DataPaths } from "./data-directory.ts";
import { chooseSnapshot } from "./open-copy.ts";
import { readCloseState } from "./run-mark.ts";

/** What a backup or a restore takes a database from. */
export interface Origin {
  /** Whether asking again gives a later state: the directory is in use, or may be. */
  readonly isLive: boolean;
  /** Puts a copy of the database into a folder, digest beside it. Blocks. @throws StartupError; SQLiteError */
  take(folder: string): Snapshot;
}

const LABEL = "backup";

/**
 * Where the database of a data directory, a copy of one or a backup is to be taken from: the database itself, whether a
 * server runs on it or not, or the snapshot from which a start would begin.
 * @param after copies are named later than this, whatever the clock does
 * @param wanted the snapshot to take instead, by name
 * @throws StartupError where there is nothing to be taken
 */
export function originOf(paths: DataPaths, after: number, wanted?: string): Origin {
  if (wanted !== undefined && wanted !== "newest") return fixed(findSnapshot(paths, wanted));
  // The original is only read, and may be mounted so.
  const left = readCloseState(paths, false);
  if (left === "whole") {
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
    left === "absent"
      ? `No database and no intact snapshot found in ${paths.root}. Specify the right directory.`
      : `${paths.root} was copied while a server was running, and it has no intact snapshot. Copy it again.`,
  );
}

/** The snapshot of that name. @throws StartupError */
export function findSnapshot(paths: DataPaths, name: string): Snapshot {
  const found = listSnapshots(paths.snapshots).find((one) => one.name === name || one.path === name);
  if (found !== undefined) return found;
  throw new StartupError(
    `Snapshot ${name} not found in ${paths.snapshots}. To list snapshots: larder restore --data ${paths.root}`,
  );
}

function fixed(snapshot: Snapshot): Origin {
  return {
    isLive: false,
    take(folder) {
      const path = join(folder, snapshot.name);
      const { COPYFILE_FICLONE } = fs.constants;
      fs.copyFileSync(`${snapshot.path}.sha256`, `${path}.sha256`);
      fs.copyFileSync(snapshot.path, path, COPYFILE_FICLONE);
      for (const one of [path, `${path}.sha256`]) {
        fs.chmodSync(one, 0o600);
        syncFile(one);
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
    // The log of a crash can't be read where nothing may be written beside it, as on a disk mounted for reading.
    const aside = join(folder, "larder.db");
    for (const suffix of ["", "-wal"]) {
      if (fs.existsSync(database + suffix)) fs.copyFileSync(database + suffix, aside + suffix);
    }
    return takeSnapshotOf(aside, folder, LABEL, nowMs);
  }
}

function syncFile(path: string): void {
  const fd = fs.openSync(path, "r");
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}
