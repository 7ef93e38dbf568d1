/** The notification that each event causes, and who gets it. */
import type { Transaction } from "../../../db/transaction.ts";
import type { DeviceFacts, EventOf, FileSummary } from "../../../events/catalogue.ts";
import type { UserService } from "../../accounts/users/service.ts";
import { readLanguage } from "../../accounts/users/settings.ts";
import type { NotificationService } from "./service.ts";
import { notificationTexts } from "./text.ts";
import type { NewMessage } from "./types.ts";
import type { UploadBursts } from "./upload-bursts.ts";

/** Dependencies of {@link NotificationTriggers}. */
interface NotificationTriggersOptions {
  readonly notifications: NotificationService;
  readonly bursts: UploadBursts;
  readonly users: Pick<UserService, "settingsJson">;
}

/** Names are shortened in the text, not in the data. */
const NAME_CHARACTERS_MAX = 80;
/** Longer folder paths are left out of the data, because a push is small. */
const FOLDER_BYTES_MAX = 1_024;

type Texts = ReturnType<typeof notificationTexts>;

/**
 * Event listeners that create notifications, in the transaction of the event. `server/composition/subscriptions.ts`
 * lists the event of each method.
 */
export class NotificationTriggers {
  readonly #options: NotificationTriggersOptions;

  constructor(options: NotificationTriggersOptions) {
    this.#options = options;
  }

  /** To the other devices of the account. Uploads in quick succession share one message. */
  uploadCompleted(tx: Transaction, { accountId, deviceId, file }: EventOf<"upload.completed">): void {
    const { bursts } = this.#options;
    const text = this.#textsFor(accountId);
    const device = this.#options.notifications.getDevice(deviceId);
    const names = { name: shorten(file.name), device: shorten(device.name) };
    bursts.add(tx, accountId, deviceId, "completed", (files) => ({
      category: "uploads",
      title: text.uploaded({ n: files }),
      body: files === 1 ? text.uploadedText(names) : text.uploadedTextMany({ ...names, n: files }),
      data: { event: "upload.completed", ...fileData(file), deviceId: device.publicId, files: String(files) },
      collapseKey: `uploads:${device.publicId}`,
      exceptDeviceId: deviceId,
    }));
  }

  /** To the other devices of the account. Uploads in quick succession share one message. */
  uploadFailed(tx: Transaction, { accountId, deviceId, name, uploadId, reason }: EventOf<"upload.failed">): void {
    const { bursts } = this.#options;
    const text = this.#textsFor(accountId);
    const device = this.#options.notifications.getDevice(deviceId);
    const names = { name: shorten(name), device: shorten(device.name) };
    const why = text.whyFailed(reason, "");
    const describe = (files: number) =>
      files === 1 ? text.failedText(names) : text.failedTextMany({ ...names, n: files });
    bursts.add(tx, accountId, deviceId, "failed", (files) => ({
      category: "uploads",
      title: text.failed({ n: files }),
      body: why === "" ? describe(files) : text.sentences({ first: describe(files), second: why }),
      data: {
        event: "upload.failed",
        fileName: name,
        uploadId,
        reason,
        deviceId: device.publicId,
        files: String(files),
      },
      collapseKey: `uploads-failed:${device.publicId}`,
      exceptDeviceId: deviceId,
    }));
  }

  /** Only for the first download of each link: later ones are no news to the owner. */
  shareDownloaded(tx: Transaction, { accountId, file, isFirst }: EventOf<"share.downloaded">): void {
    if (!isFirst) return;
    const text = this.#textsFor(accountId);
    this.#notify(tx, accountId, {
      category: "shares",
      title: text.linkUsed,
      body: text.linkUsedText({ name: shorten(file.name) }),
      data: { event: "share.downloaded", ...fileData(file) },
    });
  }

  /** Someone tries passwords of a link. At most once a day for each link. */
  shareGuessed(tx: Transaction, { accountId, share, wrongPasswords }: EventOf<"share.guessed">): void {
    const text = this.#textsFor(accountId);
    this.#notify(tx, accountId, {
      category: "security",
      title: text.guessed,
      body: text.guessedText({ n: wrongPasswords, name: shorten(share.node.name) }),
      data: { event: "share.guessed", shareId: share.publicId, type: share.node.type, name: share.node.name },
      collapseKey: `guessed:${share.publicId}`,
    });
  }

  /** A share that another user made for this account. */
  shareReceived(tx: Transaction, { accountId, share, ownerId, ownerName }: EventOf<"share.received">): void {
    const text = this.#textsFor(accountId);
    this.#notify(tx, accountId, {
      category: "shares",
      title: text.shared(share.node.type),
      body: text.sharedText({ owner: shorten(ownerName), name: shorten(share.node.name) }),
      data: {
        event: "share.received",
        shareId: share.publicId,
        type: share.node.type,
        nodeId: share.node.publicId,
        name: share.node.name,
        ownerId,
        ownerName: shorten(ownerName),
      },
    });
  }

  /** The owner must know of every key, because a key gives access to the account. */
  apiKeyCreated(tx: Transaction, { accountId, keyId, name }: EventOf<"security.api_key_created">): void {
    const text = this.#textsFor(accountId);
    this.#notify(tx, accountId, {
      category: "security",
      title: text.apiKey,
      body: text.apiKeyText({ name: shorten(name) }),
      data: { event: "security.api_key_created", keyId, name },
    });
  }

  /** The owner must know of every app password, because it opens their files. */
  appPasswordCreated(
    tx: Transaction,
    { accountId, appPasswordId, name }: EventOf<"security.app_password_created">,
  ): void {
    const text = this.#textsFor(accountId);
    this.#notify(tx, accountId, {
      category: "security",
      title: text.appPassword,
      body: text.appPasswordText({ name: shorten(name) }),
      data: { event: "security.app_password_created", appPasswordId, name },
    });
  }

  /** Each time that the usage crosses 80, 95 or 100 % of the quota. */
  storageWarning(tx: Transaction, { accountId, percentage, usedBytes, quotaBytes }: EventOf<"storage.warning">): void {
    const isFull = percentage === 100;
    const text = this.#textsFor(accountId);
    const sizes = { used: usedBytes, quota: quotaBytes };
    this.#notify(tx, accountId, {
      category: "storage",
      title: isFull ? text.storageFull : text.storage({ percent: percentage }),
      body: isFull ? text.storageFullText(sizes) : text.storageText(sizes),
      data: {
        event: "storage.warning",
        percentage: String(percentage),
        usedBytes: String(usedBytes),
        quotaBytes: String(quotaBytes),
      },
      collapseKey: "storage",
    });
  }

  /** To the owner of damaged files, who may have another copy of them. */
  contentsDamaged(tx: Transaction, { accountId, files, names }: EventOf<"storage.damaged">): void {
    const text = this.#textsFor(accountId);
    const name = shorten(names[0]);
    this.#notify(tx, accountId, {
      category: "storage",
      title: text.damaged({ n: files }),
      body: files === 1 ? text.damagedText({ name }) : text.damagedTextMany({ name }),
      data: { event: "storage.damaged", files: String(files), fileName: name },
      collapseKey: "damaged",
    });
  }

  /** To administrators. */
  serverDamaged(tx: Transaction, { accountId, contents, database }: EventOf<"server.damaged">): void {
    const text = this.#textsFor(accountId);
    this.#notify(tx, accountId, {
      category: "security",
      title: database ? text.database : text.blobs,
      body: database ? text.databaseText : text.blobsText({ n: contents }),
      data: { event: "server.damaged", contents: String(contents), database: String(database) },
      collapseKey: "server-damaged",
    });
  }

  /** To administrators. */
  bucketAway(tx: Transaction, { accountId, problem, contents }: EventOf<"server.bucket_away">): void {
    const text = this.#textsFor(accountId);
    this.#notify(tx, accountId, {
      category: "security",
      title: text.bucket,
      body: text.bucketText({ problem, n: contents }),
      data: { event: "server.bucket_away", contents: String(contents) },
      collapseKey: "bucket-away",
    });
  }

  /** To all devices of the account. The new device sees the message in its inbox, but gets no push. */
  deviceRegistered(tx: Transaction, { accountId, device }: EventOf<"device.registered">): void {
    const text = this.#textsFor(accountId);
    this.#notify(tx, accountId, {
      category: "security",
      title: text.device,
      body: text.deviceText({ name: shorten(device.name) }),
      data: { event: "device.registered", ...deviceData(device) },
      unpushedDeviceId: device.id,
    });
  }

  /** Deletes the push token and preferences of the device. */
  deviceRemoved(tx: Transaction, { device }: EventOf<"device.removed">): void {
    this.#options.notifications.forgetDevice(tx, device.id);
  }

  /** Makes deferred messages due at the devices that use the user's settings. */
  preferencesChanged(tx: Transaction, { accountId }: EventOf<"settings.notifications_changed">): void {
    this.#options.notifications.releaseFollowers(tx, accountId);
  }

  /** To all devices of the account, including the one that was signed out. */
  tokenReused(tx: Transaction, { accountId, device }: EventOf<"security.token_reused">): void {
    const text = this.#textsFor(accountId);
    this.#notify(tx, accountId, {
      category: "security",
      title: text.reused,
      body: text.reusedText({ name: shorten(device.name) }),
      data: { event: "security.token_reused", ...deviceData(device) },
    });
  }

  /** To all devices of the account. The device that made the change gets no push. */
  credentialsChanged(
    tx: Transaction,
    { accountId, what, deviceId, byAdministrator }: EventOf<"security.credentials_changed">,
  ): void {
    const text = this.#textsFor(accountId);
    const change = byAdministrator === true ? text.changeTextsByAdministrator(what) : text.changeTexts(what);
    this.#notify(tx, accountId, {
      category: "security",
      title: text.changes(what),
      body: text.sentences({ first: change, second: text.notYou }),
      data: { event: "security.credentials_changed", what },
      unpushedDeviceId: deviceId ?? undefined,
    });
  }

  /** To all devices of the account, any of which can decide. */
  massChange(tx: Transaction, { accountId, device, holdId, changes }: EventOf<"security.mass_change">): void {
    const text = this.#textsFor(accountId);
    this.#notify(tx, accountId, {
      category: "security",
      title: text.massChange,
      body: text.massChangeText({ name: shorten(device.name), n: changes }),
      data: { event: "security.mass_change", holdId, changes: String(changes), ...deviceData(device) },
    });
  }

  #notify(tx: Transaction, accountId: number, message: NewMessage): void {
    this.#options.notifications.notify(tx, accountId, message);
  }

  /** The texts in the language of an account. */
  #textsFor(accountId: number): Texts {
    return notificationTexts(readLanguage(this.#options.users.settingsJson(accountId)));
  }
}

function fileData({ publicId, name, folder }: FileSummary): Record<string, string> {
  const isShort = Buffer.byteLength(folder) <= FOLDER_BYTES_MAX;
  return { fileId: publicId, fileName: name, ...(isShort && { folder }) };
}

function deviceData({ publicId, name }: DeviceFacts): Record<string, string> {
  return { deviceId: publicId, deviceName: shorten(name) };
}

/** Shortens a name for use in a sentence, at a character boundary. */
function shorten(name: string): string {
  const characters = [...name];
  return characters.length <= NAME_CHARACTERS_MAX ? name : `${characters.slice(0, NAME_CHARACTERS_MAX - 1).join("")}…`;
}
