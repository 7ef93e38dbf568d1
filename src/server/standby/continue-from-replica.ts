/**
 * Makes a data directory continue from the copy of the replica. What the directory had before is moved to `set-aside/`. After
 * a crash at any point it can be repeated.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import type { Digest } from "../../blobs/digest.ts";
import { StartupError } from "../../config/startup-error.ts";
import { openDatabase, openReadOnly } from "../../db/open.ts";
import { copySecrets } from "../../features/storage/backup/private-files.ts";
import { adoptUnsent } from "../../features/storage/remote-store/adopt-unsent.ts";
import { claim } from "../../features/storage/remote-store/owner.ts";
import { contentsFolder } from "../../features/storage/remote-store/remote-contents.ts";
import type { ReplicaMirror } from "../../features/storage/replication/mirror.ts";
import { RestoreError, restoreMirror } from "../../features/storage/replication/restore-mirror.ts";
import { countOwnChanges, hasFormerData, setDataAside } from "../data/former-data.ts";
import { readEpoch } from "../data/open-copy.ts";
import { restoreDatabase } from "../data/restoring.ts";
import { adoptStore, readStoreId } from "../data/store-identity.ts";
import type { StandbyContext } from "./context.ts";
import { unsealedFolder } from "./sealed-secrets.ts";

/** How the work is watched and ended. */
export interface Following {
  /** Called with a sentence for people. */
  readonly report: (text: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Makes the directory continue from the copy.
 * @returns the blobs that the bucket does not have @throws StartupError if the replica is damaged, S3Error
 */
export async function continueFromReplica(
  context: StandbyContext,
  mirror: ReplicaMirror,
  { report, signal }: Following,
): Promise<Digest[]> {
  const { paths, log } = context;
  report("Restoring the database.");
  const restored = await restoreNewest(context, mirror, signal);
  const storeId = readIdentity(restored);
  if (hasFormerData(paths)) setFormerDataAside(context, restored);
  signal.throwIfAborted();
  copySecrets(unsealedFolder(paths), paths.secrets);
  adoptStore(paths, storeId);
  const nowMs = Date.now();
  // Its queued messages are sent: the former owner has not sent them.
  const from = { path: restored, name: "replica", takenAtMs: nowMs, isUnknown: true };
  restoreDatabase(paths, from, { signOut: false, isIndependent: false, nowMs }, log);
  return adoptBucket(context, storeId, { report, signal });
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
  await mirror.update({ isComplete: true, signal });
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
    ...(changes !== undefined && { changesThatOnlyItHas: changes }),
  });
}

function readIdentity(database: string): string {
  const db = openReadOnly(database);
  try {
    const storeId = readStoreId(db.sqlite);
    if (storeId !== undefined) return storeId;
  } finally {
    db.close();
  }
  throw new StartupError("The replica is not a Larder database.");
}

/** Finds out what the bucket has of the last transactions, and makes this directory its owner. */
async function adoptBucket({ paths, blobs }: StandbyContext, store: string, { report }: Following): Promise<Digest[]> {
  const db = openDatabase(paths.database);
  try {
    const { client, prefix } = blobs;
    const absent = await adoptUnsent({
      sqlite: db.sqlite,
      client,
      folder: contentsFolder(prefix),
      nowMs: Date.now(),
      onProgress: (count) => report(`Comparing the last files with the bucket: ${count}.`),
    });
    await claim(client, prefix, { store, epoch: readEpoch(db.sqlite) });
    return absent;
  } finally {
    db.close();
  }
}
