/** Opens notifications, push messages, and webhooks. */
import { presentDevice } from "../../features/mobile/devices/present.ts";
import type { Device } from "../../features/mobile/devices/types.ts";
import { presentItem } from "../../features/library/files/present.ts";
import { openPushChannels } from "../../features/messaging/notifications/channels/channels.ts";
import { openNotifications } from "../../features/messaging/notifications/open.ts";
import { StorageMarks } from "../../features/accounts/plans/storage-marks.ts";
import { openWebhooks } from "../../features/messaging/webhooks/open.ts";
import type { Accounts } from "./open-accounts.ts";
import type { Media } from "./open-media.ts";
import type { Storage } from "./open-storage.ts";

/** The services of {@link openMessaging}. */
export type Messaging = Awaited<ReturnType<typeof openMessaging>>;

/** Builds messaging, in order of dependency. Nothing is sent before the server starts the dispatchers. */
export async function openMessaging(
  storage: Storage,
  accounts: Accounts,
  { hasThumbnail }: Media,
  findDevice: (accountId: number, publicId: string) => Device | undefined,
) {
  const { config, secrets, tree } = storage;
  const { users, limitsOf } = accounts;
  const pushChannels = await openPushChannels({ ...storage, vapid: secrets.vapid });
  const { notifications, triggers, dispatcher, browserPush } = openNotifications({
    ...storage,
    users,
    channels: pushChannels,
  });
  const storageMarks = new StorageMarks({
    ...storage,
    quotaOf: (accountId) => {
      const user = users.findById(accountId);
      return user === undefined ? null : limitsOf(user).quotaBytes;
    },
  });
  const hooks = openWebhooks({
    ...storage,
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
  // Enabling an account emits no event, but its waiting deliveries are due again.
  users.onChange(() => hooks.dispatcher.wake());

  return {
    pushChannels,
    notifications,
    browserPush,
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
