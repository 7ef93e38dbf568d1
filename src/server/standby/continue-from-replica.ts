/**
 * Makes a data directory continue from the copy of the replica. What the directory had before is moved to `set-aside/`. After
 * a crash at any point it can be repeated.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import type { Digest } from "../../blobs/digest.ts";
import { StartupError } from "../../config/startup-error.ts";
import { migrate } from "../../db/migrate.ts";
import { openDatabase } from "../../db/open.ts";
import { Reader, rows } from "../../db/reader.ts";
import { AppError } from "../../errors.ts";
import { copySecrets } from "../../features/storage/backup/private-files.ts";
import { adoptUnsent } from "../../features/storage/remote-store/adopt-unsent.ts";
import { holderOf, identifyDirectory } from "../../features/storage/replication/directory-identity.ts";
import { claim } from "../../features/storage/remote-store/owner.ts";
import { contentsFolder } from "../../features/storage/remote-store/remote-contents.ts";
import type { ReplicaMirror } from "../../features/storage/replication/mirror.ts";
import { RestoreError, restoreMirror } from "../../features/storage/replication/restore-mirror.ts";
import { syncPath } from "../../lib/sync-path.ts";
import type { DataPaths } from "../data/data-directory.ts";
import { countOwnChanges, hasFormerData, setDataAside } from "../data/former-data.ts";
import { prepareRestored, readEpoch } from "../data/open-copy.ts";
import { markOpen } from "../data/run-mark.ts";
import { adoptStore, readStoreId } from "../data/store-identity.ts";
import type { StandbyContext } from "./context.ts";

/** How the work is watched and ended. */
export interface Following {
  /** Called with a sentence for people. */
  readonly report: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Where the unsealed keys of the owner are until they replace those of the directory. */
export function unsealedFolder({ standby }: Pick<DataPaths, "standby">): string {
  return join(standby, "secrets");
}

/**
 * Makes the directory continue from the copy. All that may fail comes before the directory changes. The restored file becomes
 * the database without another copy, because copies of a large one would take most of the time of a takeover.
 * @returns the blobs that the bucket does not have @throws StartupError if the replica is damaged, S3Error
 */
export async function continueFromReplica(
  context: StandbyContext,
  mirror: ReplicaMirror,
  following: Following,
): Promise<Digest[]> {
  const { paths } = context;
  following.report("Restoring the database.");
  const restored = await restoreNewest(context, mirror, following.signal);
  const { storeId, absent } = await prepareDatabase(context, restored, following);
  following.signal.throwIfAborted();
  if (hasFormerData(paths)) setFormerDataAside(context, restored);
  copySecrets(unsealedFolder(paths), paths.secrets);
  adoptStore(paths, storeId);
  syncPath(restored);
  fs.renameSync(restored, paths.database);
  syncPath(paths.root);
  markOpen(paths);
  return absent;
}

/** Restores the copy. A copy that is damaged on this disk is made again. @returns the path of the database */
export async function restoreNewest(
  { paths, litestream, log }: StandbyContext,
  mirror: ReplicaMirror,
  signal: AbortSignal,
): Promise<string> {
  const options = { mirror, litestream, folder: join(paths.standby, "restored"), signal };
  try {
    return await restoreMirror(options);
  } catch (error) {
    if (!(error instanceof RestoreError)) throw error;
    log.warn("The copy of the replica is incomplete or damaged; copying it again.", { error });
  }
  mirror.clear();
  await mirror.update({ kind: "snapshot", signal });
  try {
    return await restoreMirror(options);
  } catch (error) {
    if (!(error instanceof RestoreError)) throw error;
    throw new StartupError(`The replica can't be restored. ${error.message}`, error);
  }
}

/** Moves the former data away, and logs how many changes only it has. */
export function setFormerDataAside({ paths, log }: Pick<StandbyContext, "paths" | "log">, restored: string): void {
  const changes = fs.existsSync(paths.database) ? countOwnChanges(paths.database, restored) : undefined;
  const folder = setDataAside(paths, Date.now());
  log.warn("Moved the former data of this directory away; it continues from the replica.", {
    folder,
    ...(changes !== undefined && { unreplicatedChanges: changes }),
  });
}

/**
 * Checks a database, in a thread: the heartbeats of the lease must not wait for it. The bytes are the owner's: Litestream
 * has compared their checksums. A complete check takes 15 times as long.
 */
async function isDatabaseWhole(path: string, log: StandbyContext["log"]): Promise<boolean> {
  const reader = new Reader(path, log);
  try {
    const [check] = await reader.read([rows<{ quick_check: string }>("PRAGMA quick_check(5)")]);
    return check[0]?.quick_check === "ok";
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    log.error("The restored database could not be checked.", { error });
    return false;
  } finally {
    reader.close();
    await reader.ended();
  }
}

/** Checks and upgrades the restored database, and compares it with the bucket, whose owner it becomes. */
async function prepareDatabase(
  { log, blobs, paths }: StandbyContext,
  restored: string,
  { report }: Following,
): Promise<{ storeId: string; absent: Digest[] }> {
  const db = openDatabase(restored);
  try {
    const isWhole = await isDatabaseWhole(restored, log);
    const storeId = readStoreId(db.sqlite);
    if (!isWhole || storeId === undefined) {
      throw new StartupError("The database in the replica is damaged, or is not one of Larder.");
    }
    migrate(db.sqlite, log);
    prepareRestored(db.sqlite, "replica", Date.now());
    const { client, prefix } = blobs;
    const absent = await adoptUnsent({
      sqlite: db.sqlite,
      client,
      folder: contentsFolder(prefix),
      nowMs: Date.now(),
      onProgress: (count) => report(`Comparing the last files with the bucket: ${count}.`),
    });
    const directory = holderOf(storeId, identifyDirectory(paths.root));
    await claim(client, prefix, { store: storeId, epoch: readEpoch(db.sqlite), directory });
    return { storeId, absent };
  } finally {
    db.close();
  }
}
