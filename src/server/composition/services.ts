/** The composition root: builds every service once, part by part, in order of dependency. */
import type { LoadedConfig } from "../../config/load.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { LitestreamReplica } from "../../features/storage/replication/litestream/replica.ts";
import type { Lease } from "../../features/storage/replication/types.ts";
import { openStoreJournal } from "../../features/storage/store-journal/open.ts";
import type { FileNode } from "../../tree/model/types.ts";
import { readEpoch } from "../data/open-copy.ts";
import { markClosed } from "../data/run-mark.ts";
import { openAccounts } from "./open-accounts.ts";
import { openClients } from "./open-clients.ts";
import { openImports } from "./open-imports.ts";
import { openLibrary } from "./open-library.ts";
import { startReplica } from "./start-replica.ts";
import { openMedia } from "./open-media.ts";
import { openMessaging } from "./open-messaging.ts";
import { openMobile } from "./open-mobile.ts";
import { openSharing } from "./open-sharing.ts";
import { openStorage, type Storage } from "./open-storage.ts";
import { subscribe } from "./subscriptions.ts";

/** All services of a server. */
export interface Services extends Awaited<ReturnType<typeof buildServices>> {
  /**
   * Writes the changes that are only in memory and closes all services. No request may be in progress.
   * @param takeSnapshot whether to take a snapshot of the database if it changed since the last one
   * @param endsProcess whether the process ends after this
   * @returns whether everything is in the replica
   */
  close(options?: { takeSnapshot?: boolean; endsProcess?: boolean }): Promise<boolean>;
}

/**
 * Opens the data directory, the database, and the blob store, upgrades the database, and builds all services.
 * @param lease the right to write to a store with a replica; undefined in commands, and without a replica
 * @throws StartupError with what is wrong and what to do
 */
export async function openServices(
  loaded: LoadedConfig,
  log: Log,
  clock: Clock = systemClock,
  busyTimeoutMs?: number,
  lease?: Pick<Lease, "path">,
): Promise<Services> {
  const storage = openStorage(loaded, log, clock, busyTimeoutMs);
  // First: until Litestream holds the write-ahead log open, a restart of the log costs a copy of the whole database.
  const replica = lease && (await startReplica(storage, lease));
  try {
    const services = await buildServices(storage, replica);
    subscribe(services);
    return { ...services, close: (options = {}) => closeServices(services, options) };
  } catch (error) {
    await replica?.close();
    throw error;
  }
}

/** Builds the services part by part, in order of dependency. */
async function buildServices(storage: Storage, replica: LitestreamReplica | undefined) {
  const accounts = openAccounts(storage);
  const media = openMedia(storage);
  // Downloads and devices are looked up only when requests arrive, after all services are built.
  const onCounted = (file: FileNode) => messaging.webhookDownloads.record(file);
  const library = openLibrary(storage, accounts, media, onCounted);
  const sharing = openSharing(storage, accounts, media, library, onCounted);
  const messaging = await openMessaging(storage, accounts, media, (accountId, id) =>
    mobile.devices.find(accountId, id),
  );
  const mobile = openMobile(storage, accounts, media, library, messaging);
  const clients = openClients(storage, accounts, media, library, { ...sharing, ...mobile });
  const storeJournal = openStoreJournal({
    ...storage,
    blobs: storage.paths.blobs,
    checkStore: () => storage.storeGuard.check(),
    epoch: readEpoch(storage.sqlite),
  });
  return {
    ...storage,
    /** The continuous copy of the database in a bucket; undefined in commands, and without one. */
    replica,
    storeJournal,
    ...accounts,
    ...media,
    ...library,
    ...sharing,
    ...messaging,
    ...mobile,
    ...clients,
    ...openImports(storage, accounts, media, library),
  };
}

async function closeServices(
  services: Omit<Services, "close">,
  { takeSnapshot = false, endsProcess = false }: NonNullable<Parameters<Services["close"]>[0]>,
): Promise<boolean> {
  services.nameSearches.close();
  await Promise.all([services.extractions.close(), services.imports.close()]);
  await Promise.all([
    services.integrity.close(),
    services.searchIndexer.stop(),
    services.textIndexer.stop(),
    services.mediaInfo.stop(),
    services.photoBackfill.stop(),
    services.naturalKeys.stop(),
  ]);
  await Promise.all([
    services.audit.flush(),
    services.limiter.flush(),
    services.transfers.flush(),
    services.remoteStore?.close(),
    services.access.flush(),
    services.recent.flush(),
    services.devices.flush(),
    services.shareStatistics.flush(),
    services.webhookDownloads.flush(),
  ]);
  await services.webhookDispatcher.close();
  await services.pushDispatcher.close();
  await services.mailDispatcher.close();
  await services.storeJournal.stop();
  if (takeSnapshot) await services.snapshots.takeAtStop();
  services.textExtractor.close();
  await Promise.all([services.thumbnails.close(), services.pushChannels.close()]);
  services.staging.close();
  services.blobs.close();
  services.searchReader.close();
  await services.textIndexThread.close();
  services.reader.close();
  // Only the last connection can remove the write-ahead log.
  await Promise.all([services.nameSearches.ended(), services.searchReader.ended(), services.reader.ended()]);
  if (endsProcess) await finishReplica(services);
  if (services.db.close(endsProcess && services.replica !== undefined)) markClosed(services.paths);
  // Litestream sends the last changes when it ends.
  return (await services.replica?.close()) ?? false;
}

/** Waits until everything is in the replica, if that works: then another server can take over without a wait. */
async function finishReplica({ replica, log }: Pick<Services, "replica" | "log">): Promise<void> {
  try {
    await replica?.sync();
  } catch (error) {
    log.warn("Not everything is in the replica at the stop of this server.", { error });
  }
}
