/** What is told to others: notifications, pushes and webhooks. */
import { presentDevice } from "../../features/mobile/devices/present.ts";
import type { Device } from "../../features/mobile/devices/types.ts";
import { presentItem } from "../../features/library/files/present.ts";
import { openPushChannels } from "../../features/messaging/notifications/channels/channels.ts";
import { openNotifications } from "../../features/messaging/notifications/open.ts";
import { StorageMarks } from "../../features/accounts/plans/storage-marks.ts";
import { openWebhooks } from "../../features/messaging/webhooks/open.ts";
import type { Contents } from "./open-contents.ts";
import type { People } from "./open-people.ts";
import type { Storage } from "./open-storage.ts";

/** See the head of the file. */
export type Messages = Awaited<ReturnType<typeof openMessages>>;

/** Builds the services of this part, in order of dependency. Nothing is sent before the lifecycle says so. */
export async function openMessages(
  storage: Storage,
  people: People,
  contents: Contents,
  findDevice: (accountId: number, publicId: string) => Device | undefined,
) {
  const { config, log, clock, secrets, outbound, db, sqlite, writer, events, tree } = storage;
  const { users, limitsOf } = people;
  const { hasThumbnail } = contents;
  const pushChannels = await openPushChannels({ config, vapid: secrets.vapid, outbound, clock });
  const { notifications, triggers, dispatcher } = openNotifications({
    db,
    writer,
    clock,
    log,
    users,
    channels: pushChannels,
  });
  const storageMarks = new StorageMarks({
    events,
    quotaOf: (accountId) => {
      const user = users.findById(accountId);
      return user === undefined ? null : limitsOf(user).quotaBytes;
    },
  });
  const hooks = openWebhooks({
    sqlite,
    writer,
    clock,
    log,
    events,
    outbound,
    key: secrets.link.secret,
    recordOf: (accountId, publicId) => {
      const node = tree.findNode(accountId, publicId);
      return node && presentItem(node, { baseUrl: config.publicUrl ?? "", hasThumbnail });
    },
    deviceRecordOf: (accountId, publicId) => {
      const device = findDevice(accountId, publicId);
      return device && presentDevice(device, undefined);
    },
  });
  // What waited while an account was disabled is due, and no event tells of it.
  users.onChange(() => hooks.dispatcher.wake());

  return {
    pushChannels,
    notifications,
    notificationTriggers: triggers,
    pushDispatcher: dispatcher,
    storageMarks,
    webhooks: hooks.webhooks,
    webhookRecorder: hooks.recorder,
    webhookDownloads: hooks.downloads,
    webhookDispatcher: hooks.dispatcher,
    webhookSubscriptions: hooks.subscriptions,
  };
}
