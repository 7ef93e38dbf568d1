/** The composition root: builds every service once, part by part, in order of dependency. */
import type { Config } from "../../config/settings.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { openStoreJournal } from "../../features/storage/store-journal/open.ts";
import { openContents } from "./open-contents.ts";
import { readEpoch } from "../data/open-copy.ts";
import { openDevices } from "./open-devices.ts";
import { openMessages } from "./open-messages.ts";
import { openPeople } from "./open-people.ts";
import { openStorage } from "./open-storage.ts";
import { markClosed } from "../data/run-mark.ts";
import { subscribe } from "./subscriptions.ts";

/** Everything that the server is made of. */
export type Services = Awaited<ReturnType<typeof openServices>>;

/**
 * Opens data directory, database and store, brings the database up to date, and builds all services.
 * @throws StartupError with what is wrong and what to do
 */
export async function openServices(config: Config, log: Log, clock: Clock = systemClock, busyTimeoutMs?: number) {
  const storage = openStorage(config, log, clock, busyTimeoutMs);
  const people = openPeople(storage);
  // Each hears of the other only once everything is there.
  const contents = openContents(storage, people, (file) => messages.webhookDownloads.note(file));
  const messages = await openMessages(storage, people, contents, (accountId, id) => phones.devices.find(accountId, id));
  const phones = openDevices(storage, people, contents, messages);
  subscribe({
    ...phones,
    events: storage.events,
    audit: people.auditTriggers,
    mailNotices: people.mailNotices,
    passwordReset: people.passwordReset,
    emailConfirmation: people.emailConfirmation,
    auth: people.auth,
    storageMarks: messages.storageMarks,
    webhooks: messages.webhookRecorder,
    notifications: messages.notificationTriggers,
    receivedShares: contents.receivedShares,
  });
  const storeJournal = openStoreJournal({
    ...storage,
    blobs: storage.paths.blobs,
    checkStore: () => storage.storeGuard.check(),
    epoch: readEpoch(storage.sqlite),
  });

  return {
    ...storage,
    storeJournal,
    ...people,
    ...contents,
    ...messages,
    ...phones,
    /**
     * Writes what waits in memory and closes everything. No request may be running any more.
     * @param takeSnapshot whether the database is copied where it has changed since it last was
     */
    async close({ takeSnapshot = false } = {}) {
      await Promise.all([
        storage.integrity.close(),
        contents.searchIndexer.stop(),
        contents.mediaInfo.stop(),
        contents.photoBackfill.stop(),
      ]);
      await Promise.all([
        people.audit.flush(),
        people.limiter.flush(),
        contents.transfers.flush(),
        storage.remoteStore?.close(),
        contents.access.flush(),
        phones.devices.flush(),
        contents.shareStatistics.flush(),
        messages.webhookDownloads.flush(),
      ]);
      await messages.webhookDispatcher.close();
      await messages.pushDispatcher.close();
      await people.mailDispatcher.close();
      await storeJournal.stop();
      if (takeSnapshot) await storage.snapshots.takeAtStop();
      await Promise.all([contents.thumbnails.close(), messages.pushChannels.close()]);
      phones.staging.close();
      storage.blobs.close();
      contents.searchReader.close();
      storage.reader.close();
      if (storage.db.close()) markClosed(storage.paths);
    },
  };
}
