/** The runs of `larder standby` and `larder promote`: both end as servers. */
import * as fs from "node:fs";
import type { LoadedConfig } from "../config/load.ts";
import { StartupError } from "../config/startup-error.ts";
import { S3Error } from "../blobs/s3/error.ts";
import { machineClock } from "../features/storage/replication/lease-clock.ts";
import { databaseEpochOf, type SeenLease } from "../features/storage/replication/lease-rules.ts";
import { configurationPath } from "../features/storage/replication/litestream/configuration.ts";
import { killLeftover } from "../features/storage/replication/litestream/process.ts";
import { requireSameKey } from "../features/storage/replication/sealed-secrets.ts";
import { holderOf, identifyDirectory } from "../features/storage/replication/directory-identity.ts";
import { rejection } from "../features/storage/replication/owner-text.ts";
import type { Log } from "../lib/log.ts";
import { readStoreMarker } from "./data/store-identity.ts";
import { holdDirectory, serve, type ServeOptions, type ServeResult, type ServerProcess } from "./lifecycle.ts";
import { isOwnLease } from "./store-lease.ts";
import { openStandbyContext, type StandbyContext } from "./standby/context.ts";
import { isPromotionUnfinished, promote, type Promoted } from "./standby/promotion.ts";
import { Standby } from "./standby/standby.ts";

/** How often an unreachable bucket is tried again. */
const RETRY_MS = 2_000;

/**
 * Waits beside the owner of the store until this machine takes over, then serves. Serves at once if this directory owns the
 * store: so the same service can run on both machines. Waits again when another server takes over.
 * @throws StartupError
 */
export async function runStandby(loaded: LoadedConfig, log: Log, reload: () => LoadedConfig): Promise<void> {
  await holdDirectory(loaded, log, async (running) => {
    for (let current = loaded; ; ) {
      const result = await waitAndServe(current, running, reload);
      if (result?.how !== "deposed") return;
      current = result.loaded;
    }
  });
}

/** @returns undefined if the process was stopped while it waited */
async function waitAndServe(
  loaded: LoadedConfig,
  running: ServerProcess,
  reload: () => LoadedConfig,
): Promise<ServeResult | undefined> {
  const context = await openContext(loaded, running);
  const seen = await findOwner(context, running);
  // The first server of a store that has no replica yet.
  if (seen === undefined) return serve(loaded, running, { reload, endsWhenDeposed: true });
  // Also if a power failure came directly after a takeover: its lease does not name the restored database yet.
  const isUnfinished = isPromotionUnfinished(context.paths) || databaseEpochOf(seen) === null;
  if (isOwner(seen, context.paths) && !isUnfinished) return serve(loaded, running, { reload, endsWhenDeposed: true });
  const { notifier, stop } = running;
  // Another machine may have taken over since the takeover of this one was interrupted.
  if (isUnfinished && isHolder(seen, context.paths)) {
    const promoted = await promote(context, { report: (text) => notifier.status(text), signal: stop });
    return servePromoted(loaded, running, { reload, promoted, endsWhenDeposed: true });
  }
  rejectOtherStore(seen, context.paths);
  await checkKey(context);
  const taken = await new Standby(context, seen.lease, notifier).run(stop);
  if (taken === undefined) return undefined;
  const { promoted, port } = taken;
  // Port 0 means any port. A proxy knows the one that was picked.
  const config = loaded.config.port === 0 ? { ...loaded.config, port } : loaded.config;
  return servePromoted({ ...loaded, config }, running, { reload, promoted, endsWhenDeposed: true });
}

/**
 * Whether this directory owns the store. If the disk with its blobs is not mounted, the start reports that: its database must
 * not be moved away then.
 */
function isOwner(seen: SeenLease, paths: StandbyContext["paths"]): boolean {
  return isOwnLease(seen, paths) || (isHolder(seen, paths) && fs.existsSync(paths.database));
}

/** @throws StartupError if the directory has another store, whose data must not be moved away */
function rejectOtherStore(seen: SeenLease, paths: StandbyContext["paths"]): void {
  const store = readStoreMarker(paths);
  if (store === undefined || store === seen.lease.store) return;
  throw rejection({ step: "rejected", reason: "other-store", seen });
}

/**
 * Checks the key of a standby, because a wrong one must not be noticed only when the owner is lost.
 * @throws StartupError if it is not the key of the owner
 */
async function checkKey({ replica, key, log }: StandbyContext): Promise<void> {
  try {
    await requireSameKey(replica, key);
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    log.warn("Could not check replica.keyFile; continuing.", { error });
  }
}

/** Whether this directory has the newest lease, even if it has no database yet. */
function isHolder({ lease }: SeenLease, { root }: StandbyContext["paths"]): boolean {
  return holderOf(lease.store, identifyDirectory(root)) === lease.holder;
}

/** Takes over, then serves. @param report called with sentences for people @throws StartupError */
export async function runPromotion(
  loaded: LoadedConfig,
  log: Log,
  { reload, report }: { readonly reload: () => LoadedConfig; readonly report: (text: string) => void },
): Promise<void> {
  await holdDirectory(loaded, log, async (running) => {
    const context = await openContext(loaded, running);
    const promoted = await promote(context, {
      report(text) {
        running.notifier.status(text);
        report(text);
      },
      signal: running.stop,
    });
    await servePromoted(loaded, running, { reload, promoted });
  });
}

/** Ends a Litestream that an earlier server of the directory has left: its database may be moved away. */
async function openContext(loaded: LoadedConfig, { log }: ServerProcess): Promise<StandbyContext> {
  const context = await openStandbyContext(loaded, log);
  await killLeftover(configurationPath(context.paths.root), log);
  return context;
}

async function servePromoted(
  loaded: LoadedConfig,
  running: ServerProcess,
  options: ServeOptions & { readonly promoted: Promoted },
): Promise<ServeResult> {
  const { lease, absent } = options.promoted;
  running.log.info("Took over the store.", { epoch: lease.epoch, absentBlobs: absent.length });
  return serve(loaded, running, options);
}

/**
 * Reads who owns the store. Waits while the bucket is unreachable: after a power failure, it may start later than this machine.
 * @returns undefined if nobody does, and this directory has a store @throws StartupError if there is no store at all
 */
async function findOwner(
  { leases, paths, log }: StandbyContext,
  { stop }: ServerProcess,
): Promise<SeenLease | undefined> {
  for (let isReported = false; ; isReported = true) {
    stop.throwIfAborted();
    try {
      const seen = await leases.readNewest();
      if (seen !== undefined || fs.existsSync(paths.database)) return seen;
      throw new StartupError("There is no store in the replica yet. Start its first server with: larder serve");
    } catch (error) {
      if (!(error instanceof S3Error)) throw error;
      if (error.problem !== "unreachable") {
        throw new StartupError(`Cannot use the bucket of the replica. ${error.message} Check: larder config`, error);
      }
      if (!isReported)
        log.warn("The bucket of the replica is not reachable; waiting for it.", { error: error.message });
    }
    await machineClock.sleep(RETRY_MS, stop);
  }
}
