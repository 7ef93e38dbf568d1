/** The notification that each event causes, and who gets it. */
import type { Transaction } from "../../../db/transaction.ts";
import type { CredentialName, DeviceFacts, EventOf, FileSummary } from "../../../events/catalogue.ts";
import type { NotificationService } from "./service.ts";
import type { NewMessage } from "./types.ts";
import type { UploadBursts } from "./upload-bursts.ts";

/** Dependencies of {@link NotificationTriggers}. */
interface NotificationTriggersOptions {
  readonly notifications: NotificationService;
  readonly bursts: UploadBursts;
}

/** Names are shortened in the text, not in the data. */
const NAME_CHARACTERS_MAX = 80;
/** Longer folder paths are left out of the data, because a push is small. */
const FOLDER_BYTES_MAX = 1_024;

const WHY_FAILED: Readonly<Record<string, string>> = {
  upload_expired: "the upload expired before it was complete",
  expired: "the upload expired before it was complete",
  checksum_mismatch: "the uploaded data does not match its checksum",
  quota_exceeded: "your storage is full",
  file_too_large: "the file is larger than your plan allows",
  disk_full: "the server's disk is full",
};

/** The title for each change, and its sentence without the full stop. */
const CREDENTIAL_CHANGES: Readonly<Record<CredentialName, readonly [title: string, sentence: string]>> = {
  password: ["Password changed", "The password of your account was changed"],
  email: ["Email address changed", "The email address of your account was changed"],
  two_factor_on: ["Two-factor authentication is on", "Two-factor authentication was turned on for your account"],
  two_factor_off: ["Two-factor authentication is off", "Two-factor authentication was turned off for your account"],
  recovery_codes: ["New recovery codes", "The recovery codes of your account were replaced"],
  passkey_added: ["Passkey added", "A passkey was added to your account"],
  passkey_removed: ["Passkey removed", "A passkey was removed from your account"],
};

const SHARED_TITLES = {
  file: "File shared with you",
  folder: "Folder shared with you",
  album: "Album shared with you",
};

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
    const device = this.#findDevice(deviceId);
    bursts.add(tx, accountId, deviceId, "completed", (files) => ({
      category: "uploads",
      title: files === 1 ? "File uploaded" : "Files uploaded",
      body:
        files === 1
          ? `${shorten(file.name)} was uploaded from ${shorten(device.name)}.`
          : `${files} files were uploaded from ${shorten(device.name)}. The most recent is ${shorten(file.name)}.`,
      data: { event: "upload.completed", ...fileData(file), deviceId: device.publicId, files: String(files) },
      collapseKey: `uploads:${device.publicId}`,
      exceptDeviceId: deviceId,
    }));
  }

  /** To the other devices of the account. Uploads in quick succession share one message. */
  uploadFailed(tx: Transaction, { accountId, deviceId, name, uploadId, reason }: EventOf<"upload.failed">): void {
    const { bursts } = this.#options;
    const device = this.#findDevice(deviceId);
    const why = WHY_FAILED[reason] === undefined ? "" : `: ${WHY_FAILED[reason]}`;
    bursts.add(tx, accountId, deviceId, "failed", (files) => ({
      category: "uploads",
      title: files === 1 ? "Upload failed" : "Uploads failed",
      body:
        files === 1
          ? `${shorten(name)} could not be uploaded from ${shorten(device.name)}${why}.`
          : `${files} files could not be uploaded from ${shorten(device.name)}. The most recent is ${shorten(name)}${why}.`,
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
    this.#notify(tx, accountId, {
      category: "shares",
      title: "Public link used",
      body: `${shorten(file.name)} was downloaded through its public link for the first time.`,
      data: { event: "share.downloaded", ...fileData(file) },
    });
  }

  /** Someone tries passwords of a link. At most once a day for each link. */
  shareGuessed(tx: Transaction, { accountId, share, wrongPasswords }: EventOf<"share.guessed">): void {
    this.#notify(tx, accountId, {
      category: "security",
      title: "Wrong passwords for a public link",
      body:
        `Someone entered ${wrongPasswords} wrong passwords within an hour for your link to ${shorten(share.node.name)}. ` +
        "New visitors must now wait between attempts. To stop this, change the password or delete the link.",
      data: { event: "share.guessed", shareId: share.publicId, type: share.node.type, name: share.node.name },
      collapseKey: `guessed:${share.publicId}`,
    });
  }

  /** A share that another user made for this account. */
  shareReceived(tx: Transaction, { accountId, share, ownerId, ownerName }: EventOf<"share.received">): void {
    this.#notify(tx, accountId, {
      category: "shares",
      title: SHARED_TITLES[share.node.type],
      body: `${shorten(ownerName)} shared ${shorten(share.node.name)} with you.`,
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
    this.#notify(tx, accountId, {
      category: "security",
      title: "New API key",
      body: `The API key ${shorten(name)} was created for your account. If you did not create it, delete it and change your password.`,
      data: { event: "security.api_key_created", keyId, name },
    });
  }

  /** The owner must know of every app password, because it opens their files. */
  appPasswordCreated(
    tx: Transaction,
    { accountId, appPasswordId, name }: EventOf<"security.app_password_created">,
  ): void {
    this.#notify(tx, accountId, {
      category: "security",
      title: "New app password",
      body: `The app password ${shorten(name)} was created for your account. If you did not create it, end its access and change your password.`,
      data: { event: "security.app_password_created", appPasswordId, name },
    });
  }

  /** Each time that the usage crosses 80, 95 or 100 % of the quota. */
  storageWarning(tx: Transaction, { accountId, percentage, usedBytes, quotaBytes }: EventOf<"storage.warning">): void {
    const isFull = percentage === 100;
    this.#notify(tx, accountId, {
      category: "storage",
      title: isFull ? "Storage is full" : `Storage is ${percentage}% full`,
      body:
        `You have used ${formatBytes(usedBytes)} of ${formatBytes(quotaBytes)}. ` +
        (isFull
          ? "You can't upload files until you free up space."
          : "Delete files you don't need, or ask for more storage."),
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
    const [first = "a file"] = names;
    this.#notify(tx, accountId, {
      category: "storage",
      title: files === 1 ? "A file is damaged on the server" : `${files} files are damaged on the server`,
      body:
        `${files === 1 ? `${shorten(first)} is` : `${shorten(first)} and other files are`} damaged or missing on the server. ` +
        "Upload your own copy of the same file again to repair it.",
      data: { event: "storage.damaged", files: String(files), fileName: shorten(first) },
      collapseKey: "damaged",
    });
  }

  /** To administrators. */
  serverDamaged(tx: Transaction, { accountId, contents, database }: EventOf<"server.damaged">): void {
    this.#notify(tx, accountId, {
      category: "security",
      title: database ? "The database is damaged" : "Stored files are damaged",
      body: database
        ? "The nightly check found damage in the database. Stop the server, then run: larder verify"
        : `${contents === 1 ? "1 blob is" : `${contents} blobs are`} damaged or missing in the store. ` +
          "Check the disk, then restore good copies: larder heal --from BACKUP",
      data: { event: "server.damaged", contents: String(contents), database: String(database) },
      collapseKey: "server-damaged",
    });
  }

  /** To administrators. */
  bucketAway(tx: Transaction, { accountId, problem, contents }: EventOf<"server.bucket_away">): void {
    this.#notify(tx, accountId, {
      category: "security",
      title: "The bucket is unavailable",
      body: `${problem} ${countOnlyOnDisk(contents)} Files stored only in the bucket can't be opened until it is available again.`,
      data: { event: "server.bucket_away", contents: String(contents) },
      collapseKey: "bucket-away",
    });
  }

  /** To all devices of the account. The new device sees the message in its inbox, but gets no push. */
  deviceRegistered(tx: Transaction, { accountId, device }: EventOf<"device.registered">): void {
    this.#notify(tx, accountId, {
      category: "security",
      title: "New device",
      body: `${shorten(device.name)} was added to your account. If this wasn't you, remove it and change your password.`,
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
    this.#notify(tx, accountId, {
      category: "security",
      title: "A device was signed out",
      body:
        `Someone may have copied the sign-in of ${shorten(device.name)}, so the device was signed out. ` +
        "Sign in again on that device, and change your password if you don't know why this happened.",
      data: { event: "security.token_reused", ...deviceData(device) },
    });
  }

  /** To all devices of the account. The device that made the change gets no push. */
  credentialsChanged(
    tx: Transaction,
    { accountId, what, deviceId, byAdministrator }: EventOf<"security.credentials_changed">,
  ): void {
    const [title, sentence] = CREDENTIAL_CHANGES[what];
    this.#notify(tx, accountId, {
      category: "security",
      title,
      body:
        `${sentence}${byAdministrator === true ? " by an administrator" : ""}. ` +
        "If this wasn't you, contact your administrator immediately.",
      data: { event: "security.credentials_changed", what },
      unpushedDeviceId: deviceId ?? undefined,
    });
  }

  /** To all devices of the account, any of which can decide. */
  massChange(tx: Transaction, { accountId, device, holdId, changes }: EventOf<"security.mass_change">): void {
    this.#notify(tx, accountId, {
      category: "security",
      title: "Changes waiting for approval",
      body:
        `${shorten(device.name)} tried to delete or replace ${changes} files, far more than usual. ` +
        "It can't delete or replace more until you decide.",
      data: { event: "security.mass_change", holdId, changes: String(changes), ...deviceData(device) },
    });
  }

  #notify(tx: Transaction, accountId: number, message: NewMessage): void {
    this.#options.notifications.notify(tx, accountId, message);
  }

  #findDevice(deviceId: number): { publicId: string; name: string } {
    return this.#options.notifications.findDevice(deviceId) ?? { publicId: "", name: "a device" };
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

/** Such as `4.1 GB`, with 1 KB = 1,024 bytes. */
function formatBytes(bytes: number): string {
  const units = ["bytes", "KB", "MB", "GB", "TB", "PB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[unit] ?? ""}`;
}

function countOnlyOnDisk(contents: number): string {
  return `${contents === 1 ? "1 blob is" : `${contents} blobs are`} stored only on the server's disk.`;
}
