/** The runs of `larder standby` and `larder promote`: both end as servers. */
import * as fs from "node:fs";
import type { LoadedConfig } from "../../config/load.ts";
import { StartupError } from "../../config/startup-error.ts";
import { S3Error } from "../../blobs/s3/error.ts";
import { holderOf, identifyDirectory } from "../../features/storage/replication/directory-identity.ts";
import type { LeaseRecord } from "../../features/storage/replication/lease-record.ts";
import type { Log } from "../../lib/log.ts";
import { holdDirectory, serve, type ServerProcess } from "../lifecycle.ts";
import { openStandbyContext, type StandbyContext } from "./context.ts";
import { isPromotionUnfinished, promote, type Promoted } from "./promotion.ts";
import { Standby } from "./standby.ts";

/**
 * Waits beside the owner of the store until this machine takes over, then serves. Serves at once if this directory owns the
 * store: so one service can run on both machines, whichever is the owner.
 * @throws StartupError
 */
export async function runStandby(loaded: LoadedConfig, log: Log, reload: () => LoadedConfig): Promise<void> {
  await holdDirectory(loaded, log, async (running) => {
    const context = await openStandbyContext(loaded, log);
    const owner = await findOwner(context);
    const isUnfinished = isPromotionUnfinished(context.paths);
    if (isOwn(context, owner) && !isUnfinished) {
      log.info("This directory owns the store.", { epoch: owner.epoch });
      return serve(loaded, running, reload);
    }
    const promoted = isUnfinished
      ? await promote(context, { report: (text) => running.notifier.status(text), signal: running.stop })
      : await new Standby(context, owner, running.notifier).run(running.stop);
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

async function findOwner({ leases }: StandbyContext): Promise<LeaseRecord> {
  try {
    const seen = await leases.look();
    if (seen !== undefined) return seen.lease;
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    throw new StartupError(`Cannot use the bucket of the replica. ${error.message} Check: larder config`, error);
  }
  throw new StartupError("There is no store in the replica yet. Start its first server with: larder serve");
}

/** Whether the directory holds the newest lease, and has the database. */
function isOwn({ paths }: StandbyContext, owner: LeaseRecord): boolean {
  return fs.existsSync(paths.database) && holderOf(owner.store, identifyDirectory(paths.root)) === owner.holder;
}
