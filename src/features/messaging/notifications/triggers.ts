/** What is told to whom when something happens, in plain words. Listeners, inside the deed. */
import type { Transaction } from "../../../db/transaction.ts";
import type { CredentialName, DeviceFacts, EventOf, FileFacts } from "../../../events/catalogue.ts";
import type { NotificationService } from "./service.ts";
import type { Draft } from "./types.ts";
import type { UploadBursts } from "./upload-bursts.ts";

/** What {@link NotificationTriggers} works with. */
export interface NotificationTriggersOptions {
  readonly notifications: NotificationService;
  readonly bursts: UploadBursts;
}

/** Names are cut in sentences, not in the data. */
const NAME_CHARACTERS_MAX = 80;
/** Longer folders are left out of the data: a push has little room. */
const FOLDER_BYTES_MAX = 1_024;

const WHY_FAILED: Readonly<Record<string, string>> = {
  upload_expired: "the upload expired before it was complete",
  expired: "the upload expired before it was complete",
  checksum_mismatch: "the uploaded data does not match its checksum",
  quota_exceeded: "your storage is full",
  file_too_large: "the file is larger than your plan allows",
  disk_full: "the server's disk is full",
};

/** What was changed: a title, and the sentence that says so without its full stop. */
const CREDENTIAL_CHANGES: Readonly<Record<CredentialName, readonly [title: string, sentence: string]>> = {
  password: ["Password changed", "The password of your account was changed"],
  email: ["Email address changed", "The email address of your account was changed"],
  two_factor_on: ["Two-factor authentication is on", "Two-factor authentication was turned on for your account"],
  two_factor_off: ["Two-factor authentication is off", "Two-factor authentication was turned off for your account"],
  recovery_codes: ["New recovery codes", "The recovery codes of your account were replaced"],
  passkey_added: ["Passkey added", "A passkey was added to your account"],
  passkey_removed: ["Passkey removed", "A passkey was removed from your account"],
};

/** See the head of this file. `server/subscriptions.ts` says which event each of these hears. */
export class NotificationTriggers {
  readonly #options: NotificationTriggersOptions;

  constructor(options: NotificationTriggersOptions) {
    this.#options = options;
  }

  /** To the other devices; many in a row in one message. */
  uploadCompleted(tx: Transaction, { accountId, deviceId, file }: EventOf<"upload.completed">): void {
    const { bursts } = this.#options;
    const device = this.#nameOf(deviceId);
    bursts.add(tx, accountId, deviceId, "completed", (files) => ({
      category: "uploads",
      title: files === 1 ? "File uploaded" : "Files uploaded",
      body:
        files === 1
          ? `${cut(file.name)} was uploaded from ${cut(device.name)}.`
          : `${files} files were uploaded from ${cut(device.name)}. The most recent is ${cut(file.name)}.`,
      data: { event: "upload.completed", ...fileData(file), deviceId: device.publicId, files: String(files) },
      collapseKey: `uploads:${device.publicId}`,
      exceptDeviceId: deviceId,
    }));
  }

  /** To the other devices; many in a row in one message. */
  uploadFailed(tx: Transaction, { accountId, deviceId, name, uploadId, reason }: EventOf<"upload.failed">): void {
    const { bursts } = this.#options;
    const device = this.#nameOf(deviceId);
    const why = WHY_FAILED[reason] === undefined ? "" : `: ${WHY_FAILED[reason]}`;
    bursts.add(tx, accountId, deviceId, "failed", (files) => ({
      category: "uploads",
      title: files === 1 ? "Upload failed" : "Uploads failed",
      body:
        files === 1
          ? `${cut(name)} could not be uploaded from ${cut(device.name)}${why}.`
          : `${files} files could not be uploaded from ${cut(device.name)}. The most recent is ${cut(name)}${why}.`,
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

  /** The first time only: from then on whoever has the link is known to have it. */
  shareDownloaded(tx: Transaction, { accountId, file, isFirst }: EventOf<"share.downloaded">): void {
    if (!isFirst) return;
    this.#notify(tx, accountId, {
      category: "shares",
      title: "Public link used",
      body: `${cut(file.name)} was downloaded through its public link for the first time.`,
      data: { event: "share.downloaded", ...fileData(file) },
    });
  }

  /** Somebody tries passwords of a link; at most once a day for each link. */
  shareGuessed(tx: Transaction, { accountId, share, wrongPasswords }: EventOf<"share.guessed">): void {
    this.#notify(tx, accountId, {
      category: "security",
      title: "Wrong passwords for a public link",
      body:
        `Someone entered ${wrongPasswords} wrong passwords within an hour for your link to ${cut(share.node.name)}. ` +
        "New visitors must now wait between attempts. To stop this, change the password or delete the link.",
      data: { event: "share.guessed", shareId: share.publicId, type: share.node.type, name: share.node.name },
      collapseKey: `guessed:${share.publicId}`,
    });
  }

  /** A share that another user made for this account. */
  shareReceived(tx: Transaction, { accountId, share, ownerName }: EventOf<"share.received">): void {
    this.#notify(tx, accountId, {
      category: "shares",
      title: share.node.type === "folder" ? "Folder shared with you" : "File shared with you",
      body: `${cut(ownerName)} shared ${cut(share.node.name)} with you.`,
      data: { event: "share.received", shareId: share.publicId, type: share.node.type, name: share.node.name },
    });
  }

  /** A key opens the account to whoever has it: its owner should know of each. */
  apiKeyCreated(tx: Transaction, { accountId, keyId, name }: EventOf<"security.api_key_created">): void {
    this.#notify(tx, accountId, {
      category: "security",
      title: "New API key",
      body: `The API key ${cut(name)} was created for your account. If you did not create it, delete it and change your password.`,
      data: { event: "security.api_key_created", keyId, name },
    });
  }

  /** Once per crossing of 80, 95 or 100 % of the quota. */
  storageWarning(tx: Transaction, { accountId, percentage, usedBytes, quotaBytes }: EventOf<"storage.warning">): void {
    const isFull = percentage === 100;
    this.#notify(tx, accountId, {
      category: "storage",
      title: isFull ? "Storage is full" : `Storage is ${percentage}% full`,
      body:
        `You have used ${inWords(usedBytes)} of ${inWords(quotaBytes)}. ` +
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

  /** To the owner of files whose contents are damaged: nobody else can know whether another copy is anywhere. */
  contentsDamaged(tx: Transaction, { accountId, files, names }: EventOf<"storage.damaged">): void {
    const [first = "a file"] = names;
    this.#notify(tx, accountId, {
      category: "storage",
      title: files === 1 ? "A file is damaged on the server" : `${files} files are damaged on the server`,
      body:
        `${files === 1 ? `${cut(first)} is` : `${cut(first)} and other files are`} damaged or missing on the server. ` +
        "Upload your own copy of the same file again to repair it.",
      data: { event: "storage.damaged", files: String(files), fileName: cut(first) },
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
      body: `${problem} ${onDiskOnly(contents)} Files stored only in the bucket can't be opened until it is available again.`,
      data: { event: "server.bucket_away", contents: String(contents) },
      collapseKey: "bucket-away",
    });
  }

  /** To everybody; the new device itself finds it in its inbox, but needs no push. */
  deviceRegistered(tx: Transaction, { accountId, device }: EventOf<"device.registered">): void {
    this.#notify(tx, accountId, {
      category: "security",
      title: "New device",
      body: `${cut(device.name)} was added to your account. If this wasn't you, remove it and change your password.`,
      data: { event: "device.registered", ...deviceData(device) },
      unpushedDeviceId: device.id,
    });
  }

  /** Its push token and preferences are forgotten. */
  deviceRemoved(tx: Transaction, { device }: EventOf<"device.removed">): void {
    this.#options.notifications.forgetDevice(tx, device.id);
  }

  /** What is held at devices that go by the user's settings is looked at anew. */
  preferencesChanged(tx: Transaction, { accountId }: EventOf<"settings.notifications_changed">): void {
    this.#options.notifications.releaseFollowers(tx, accountId);
  }

  /** To everybody, the device itself included: it was signed out. */
  tokenReused(tx: Transaction, { accountId, device }: EventOf<"security.token_reused">): void {
    this.#notify(tx, accountId, {
      category: "security",
      title: "A device was signed out",
      body:
        `Someone may have copied the sign-in of ${cut(device.name)}, so the device was signed out. ` +
        "Sign in again on that device, and change your password if you don't know why this happened.",
      data: { event: "security.token_reused", ...deviceData(device) },
    });
  }

  /** To everybody; the device that did it needs no push. */
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

  /** To everybody: one of them has to decide. */
  massChange(tx: Transaction, { accountId, device, holdId, changes }: EventOf<"security.mass_change">): void {
    this.#notify(tx, accountId, {
      category: "security",
      title: "Changes waiting for approval",
      body:
        `${cut(device.name)} requested to delete or replace ${changes} files, far more than usual. ` +
        "No files change until you approve or reject the request.",
      data: { event: "security.mass_change", holdId, changes: String(changes), ...deviceData(device) },
    });
  }

  #notify(tx: Transaction, accountId: number, draft: Draft): void {
    this.#options.notifications.notify(tx, accountId, draft);
  }

  #nameOf(deviceId: number): { publicId: string; name: string } {
    return this.#options.notifications.findDevice(deviceId) ?? { publicId: "", name: "a device" };
  }
}

function fileData({ publicId, name, folder }: FileFacts): Record<string, string> {
  const isShort = Buffer.byteLength(folder) <= FOLDER_BYTES_MAX;
  return { fileId: publicId, fileName: name, ...(isShort && { folder }) };
}

function deviceData({ publicId, name }: DeviceFacts): Record<string, string> {
  return { deviceId: publicId, deviceName: cut(name) };
}

/** A name short enough for a sentence, cut between characters. */
function cut(name: string): string {
  const characters = [...name];
  return characters.length <= NAME_CHARACTERS_MAX ? name : `${characters.slice(0, NAME_CHARACTERS_MAX - 1).join("")}…`;
}

/** `4.1 GB`, 1024-based as the contract counts. */
function inWords(bytes: number): string {
  const units = ["bytes", "KB", "MB", "GB", "TB", "PB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[unit] ?? ""}`;
}

function onDiskOnly(contents: number): string {
  return `${contents === 1 ? "1 blob is" : `${contents} blobs are`} stored only on the server's disk.`;
}
