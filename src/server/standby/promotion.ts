/** Takes over a store: the lease first, then the newest state of the replica. Everything confirmed before is in that. */
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { S3Error } from "../../blobs/s3/error.ts";
import type { Digest } from "../../blobs/digest.ts";
import { describeSize } from "../../config/quantities.ts";
import { StartupError } from "../../config/startup-error.ts";
import { takeOver } from "../../features/storage/replication/acquire.ts";
import { identifyDatabase } from "../../features/storage/replication/directory-identity.ts";
import type { OwnedLease } from "../../features/storage/replication/lease.ts";
import type { LeaseRecord } from "../../features/storage/replication/lease-record.ts";
import type { Watch } from "../../features/storage/replication/lease-rules.ts";
import type { ReplicaMirror } from "../../features/storage/replication/mirror.ts";
import { probeConditions } from "../../features/storage/replication/probe.ts";
import { unsealSecrets } from "../../features/storage/replication/sealed-secrets.ts";
import { syncPath } from "../../lib/sync-path.ts";
import type { DataPaths } from "../data/data-directory.ts";
import { requireMovable } from "../data/former-data.ts";
import { readStoreMarker } from "../data/store-identity.ts";
import type { StandbyContext } from "./context.ts";
import { continueFromReplica, type Following, unsealedFolder } from "./continue-from-replica.ts";

/** A store that was taken over, and can be served. */
export interface Promoted {
  readonly lease: OwnedLease;
  /** Blobs that are missing in the bucket. */
  readonly absent: readonly Digest[];
  /** Called before the port is opened: the standby listens on it until then. */
  readonly beforeListening?: () => Promise<void>;
  /** Called once the store is served. */
  readonly onServing?: () => void;
}

const UNFINISHED = "unfinished";
/** How often progress is reported. */
const PROGRESS_MS = 1_000;

/** Whether a takeover of this directory has begun and not ended: then its database may be an old one. */
export function isPromotionUnfinished({ standby }: Pick<DataPaths, "standby">): boolean {
  return fs.existsSync(join(standby, UNFINISHED));
}

/** @throws StartupError if the database may be an old one */
export function rejectUnfinishedPromotion(paths: Pick<DataPaths, "standby">): void {
  if (!isPromotionUnfinished(paths)) return;
  throw new StartupError(
    "A takeover of this directory has begun and not ended; its database may be an old one. To continue: larder promote",
  );
}

/**
 * Takes over. The caller has the lock of the directory.
 * @param watch an earlier watch of the owner, which counts
 * @throws StartupError with the reason: the owner is alive, the key is wrong, there is nothing to take over …
 */
export async function promote(context: StandbyContext, following: Following, watch?: Watch): Promise<Promoted> {
  try {
    return await takeStore(context, following, watch);
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    throw new StartupError(`${error.message} To try again, run the same command.`, error);
  }
}

async function takeStore(context: StandbyContext, following: Following, watch?: Watch): Promise<Promoted> {
  const { paths, leases, replica, mirrors } = context;
  // Everything that can fail without the lease comes before it: an owner that returns could not start any more.
  await probeConditions(replica.objects, replica.prefix);
  const seen = await leases.readNewest();
  if (seen !== undefined) await prepare(context, seen.lease);
  markUnfinished(paths);
  const { lease, previous } = await takeLease(context, following, watch);
  const ended = new AbortController();
  lease.onDeposed(() => ended.abort(new StartupError(lease.problem ?? "Another server has taken over.")));
  const signal = AbortSignal.any([following.signal, ended.signal]);
  try {
    const mirror = await mirrors.findNewest(leases, previous);
    if (mirror === undefined) throw nothingToRestore();
    await copy(mirror, { ...following, signal });
    const absent = await continueFromReplica(context, mirror, { ...following, signal });
    lease.setDatabaseEpoch(identifyDatabase(paths.database));
    mirrors.clear();
    // After a power failure, an old note of this takeover must not replace what was changed since.
    syncPath(paths.root);
    return { lease, absent };
  } catch (error) {
    // Nothing was confirmed in this epoch, so anybody may take over without waiting.
    await lease.close(true);
    throw error;
  }
}

/** @throws StartupError if the blobs can't be moved away, the replica has no database, or the key is not the one that sealed the secrets */
async function prepare(context: StandbyContext, lease: LeaseRecord): Promise<void> {
  requireMovable(context.paths);
  if ((await context.mirrors.findNewest(context.leases, lease)) === undefined) throw nothingToRestore();
  await unsealSecrets(context.replica, context.key, unsealedFolder(context.paths));
}

/** Takes the lease; copies the replica while it waits for the owner. */
async function takeLease(context: StandbyContext, following: Following, watch: Watch | undefined) {
  const { replica, paths, loaded, log, leases, mirrors } = context;
  const { report } = following;
  // The data of another store must not be replaced.
  const store = readStoreMarker(paths);
  const ended = new AbortController();
  const signal = AbortSignal.any([following.signal, ended.signal]);
  const early = leases
    .readNewest()
    .then((seen) => (seen === undefined ? undefined : mirrors.findNewest(leases, seen.lease)))
    .then((mirror) => mirror?.update({ kind: "snapshot", signal }))
    // The copy after the lease was taken reports what is wrong.
    .catch((error: unknown) => log.debug("Could not copy the replica in advance.", { error }));
  try {
    return await takeOver(
      {
        bucket: replica,
        root: paths.root,
        markPath: paths.lease,
        ttlMs: loaded.config.replica.leaseMs,
        url: loaded.config.publicUrl,
        log,
        signal,
        onProgress({ owner, silentMs, neededMs }) {
          report(`No heartbeat of ${owner.host} for ${inSeconds(silentMs)} of ${inSeconds(neededMs)} seconds.`);
        },
      },
      { ...(watch !== undefined && { watch }), ...(store !== undefined && { store }) },
    );
  } catch (error) {
    clearUnfinished(context.paths);
    throw error;
  } finally {
    ended.abort();
    await early;
  }
}

async function copy(mirror: ReplicaMirror, { report, signal }: Following): Promise<void> {
  let nextMs = 0;
  await mirror.update({
    kind: "exact",
    signal,
    onProgress(copied, total) {
      if (performance.now() < nextMs) return;
      nextMs = performance.now() + PROGRESS_MS;
      report(`Copying the replica: ${describeSize(copied)} of ${describeSize(total)}.`);
    },
  });
}

function inSeconds(ms: number): number {
  return Math.round(ms / 1000);
}

function nothingToRestore(): StartupError {
  return new StartupError("The replica has no complete copy of the database yet. There is nothing to take over.");
}

function markUnfinished({ standby }: DataPaths): void {
  fs.mkdirSync(standby, { recursive: true, mode: 0o700 });
  fs.writeFileSync(join(standby, UNFINISHED), "", { mode: 0o600, flush: true });
  syncPath(standby);
  syncPath(dirname(standby));
}

function clearUnfinished({ standby }: DataPaths): void {
  fs.rmSync(join(standby, UNFINISHED), { force: true });
}
