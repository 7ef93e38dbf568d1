import { accessSync, constants, existsSync, statSync } from "node:fs";
import { describeSize } from "../../config/quantities.ts";
import { checkSecrets } from "../../config/secrets.ts";
import type { Config } from "../../config/settings.ts";
import { StartupError } from "../../config/startup-error.ts";
import { pendingMigrations } from "../../db/migrate.ts";
import { openReadOnly } from "../../db/open.ts";
import { examineSnapshots } from "../../features/storage/snapshots/examine.ts";
import { type DataPaths, openDataDirectory } from "../../server/data/data-directory.ts";
import {
  availableBytes,
  defaultFloorBytes,
  fileSystemKind,
  rejectNetworkFileSystem,
  totalBytes,
} from "../../server/data/filesystem.ts";
import { findRunningServer } from "../../server/data/lock.ts";
import { readCloseState } from "../../server/data/run-mark.ts";
import { checkStore, rejectOrphanedStore } from "../../server/data/store-identity.ts";
import { type Check, type Finding, note, ok, wrong } from "./findings.ts";

/** The checks of an existing data directory. */
export function dataChecks(config: Config, paths: DataPaths): Check[] {
  return [
    [
      "data directory",
      () => {
        openDataDirectory(config.data);
        return ok(`${paths.root}, readable and writable`);
      },
    ],
    ["data directory", () => examineMode(paths)],
    [
      "secrets",
      () => {
        checkSecrets(paths.secrets);
        return ok(existsSync(paths.secrets) ? "readable only by this user" : "created at the first start");
      },
    ],
    [
      "file system",
      () => {
        const warning = rejectNetworkFileSystem(paths.root, config.allowNetworkFilesystem);
        return warning === undefined ? ok(fileSystemKind(paths.root).name) : note(warning);
      },
    ],
    ["disk space", () => examineSpace(config, paths)],
    [
      "stored files",
      () => {
        rejectOrphanedStore(paths);
        return ok("match this database");
      },
    ],
    ["database", () => examineDatabase(paths)],
    ["snapshots", () => examineSnapshots(paths.snapshots)],
    ["search in contents", () => examineTextIndex(config, paths)],
    [
      "server",
      () => {
        const server = findRunningServer(paths.lock);
        if (server === undefined) return ok("not running on this data directory");
        return ok(server.pid === undefined ? "running" : `running as process ${server.pid}`);
      },
    ],
  ];
}

function examineMode({ root }: DataPaths): Finding {
  const mode = statSync(root).mode & 0o7777;
  // The volume of a container is open to all, with the sticky bit, so that any --user can start it. Its files are private.
  const isPrivate = (mode & 0o077) === 0 || (mode & 0o1000) !== 0;
  if (isPrivate) return ok("accessible only by this user");
  return note(`other users of this machine can read it (mode ${mode.toString(8)}). Run: chmod 700 ${root}`);
}

function examineSpace(config: Config, { blobs, root }: DataPaths): Finding {
  const disk = existsSync(blobs) ? blobs : root;
  const available = availableBytes(disk);
  const floor = config.minFreeSpaceBytes ?? defaultFloorBytes(totalBytes(disk));
  const text = `${describeSize(available)} of ${describeSize(totalBytes(disk))} free, ${describeSize(floor)} reserved`;
  if (available > floor) return ok(text);
  return wrong(`${text}: uploads are rejected. Free some space, or run: larder gc --now`);
}

/** The server builds a damaged index again, but can't replace a file of another user. */
function examineTextIndex({ search }: Config, { textIndex }: DataPaths): Finding | undefined {
  if (!existsSync(textIndex)) return undefined;
  accessSync(textIndex, constants.R_OK | constants.W_OK);
  const size = describeSize(statSync(textIndex).size);
  return ok(search.content ? `the index takes ${size}` : `off; the next start deletes the index (${size})`);
}

/** Examines the database, except in a copy or a backup: the next start opens a snapshot there. */
function examineDatabase(paths: DataPaths): Finding | undefined {
  const state = readCloseState(paths, false);
  if (state === "absent") return undefined;
  if (state !== "whole") {
    const what = state === "backup" ? "a backup" : "a copy taken while a server was running";
    return note(`this is ${what}; the next start uses a snapshot of the database`);
  }
  const db = openReadOnly(paths.database);
  try {
    const pending = pendingMigrations(db.sqlite).length;
    checkStore(db.sqlite, paths);
    const result = db.sqlite.query<{ quick_check: string }, []>("PRAGMA quick_check(5)").all();
    const faults = result.map((row) => row.quick_check).filter((fault) => fault !== "ok");
    if (faults.length > 0) {
      throw new StartupError(
        `${paths.database} is damaged: ${faults.join("; ")}. Stop the server and restore the newest intact snapshot ` +
          `from ${paths.snapshots} or your backup: larder restore --help`,
      );
    }
    return ok(pending === 0 ? "intact" : `intact; the next start upgrades it (${pending} migrations)`);
  } finally {
    db.close();
  }
}
