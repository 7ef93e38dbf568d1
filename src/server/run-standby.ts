/** The runs of `larder standby` and `larder promote`: both end as servers. */
import type { LoadedConfig } from "../config/load.ts";
import { StartupError } from "../config/startup-error.ts";
import { S3Error } from "../blobs/s3/error.ts";
import type { SeenLease } from "../features/storage/replication/lease-rules.ts";
import type { Log } from "../lib/log.ts";
import { holdDirectory, serve, type ServerProcess } from "./lifecycle.ts";
import { isOwnLease } from "./store-lease.ts";
import { openStandbyContext, type StandbyContext } from "./standby/context.ts";
import { isPromotionUnfinished, promote, type Promoted } from "./standby/promotion.ts";
import { Standby } from "./standby/standby.ts";

/**
 * Waits beside the owner of the store until this machine takes over, then serves. Serves at once if this directory owns the
 * store: so the same service can run on both machines.
 * @throws StartupError
 */
export async function runStandby(loaded: LoadedConfig, log: Log, reload: () => LoadedConfig): Promise<void> {
  await holdDirectory(loaded, log, async (running) => {
    const context = await openStandbyContext(loaded, log);
    const seen = await findOwner(context);
    const isUnfinished = isPromotionUnfinished(context.paths);
    if (isOwnLease(seen, context.paths) && !isUnfinished) return serve(loaded, running, reload);
    const promoted = isUnfinished
      ? await promote(context, { report: (text) => running.notifier.status(text), signal: running.stop })
      : await new Standby(context, seen.lease, running.notifier).run(running.stop);
    if (promoted !== undefined) await servePromoted(loaded, running, reload, promoted);
  });
}

/** Takes over, then serves. @param report called with sentences for people @throws StartupError */
export async function runPromotion(
  loaded: LoadedConfig,
  log: Log,
  { reload, report }: { readonly reload: () => LoadedConfig; readonly report: (text: string) => void },
): Promise<void> {
  await holdDirectory(loaded, log, async (running) => {
    const context = await openStandbyContext(loaded, log);
    const promoted = await promote(context, {
      report(text) {
        running.notifier.status(text);
        report(text);
      },
      signal: running.stop,
    });
    await servePromoted(loaded, running, reload, promoted);
  });
}

async function servePromoted(
  loaded: LoadedConfig,
  running: ServerProcess,
  reload: () => LoadedConfig,
  promoted: Promoted,
): Promise<void> {
  running.log.info("Took over the store.", { epoch: promoted.lease.epoch, absentBlobs: promoted.absent.length });
  await serve(loaded, running, reload, promoted);
}

async function findOwner({ leases }: StandbyContext): Promise<SeenLease> {
  try {
    const seen = await leases.look();
    if (seen !== undefined) return seen;
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    throw new StartupError(`Cannot use the bucket of the replica. ${error.message} Check: larder config`, error);
  }
  throw new StartupError("There is no store in the replica yet. Start its first server with: larder serve");
}
