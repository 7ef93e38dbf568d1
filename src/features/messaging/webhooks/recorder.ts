/** Hears what happens and puts it in line for the webhooks that want it. Listeners, inside the deed. */
import type { Transaction } from "../../../db/transaction.ts";
import type { EventOf, FileFacts, FolderFacts, ShareFacts } from "../../../events/catalogue.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import { toChecksum, toDigest } from "../../../blobs/digest.ts";
import type { WebhookOutbox } from "./outbox.ts";
import type { Subscriptions } from "./subscriptions.ts";
import type { WebhookEvent } from "./types.ts";

/** What {@link WebhookRecorder} works with. */
export interface WebhookRecorderOptions {
  readonly outbox: WebhookOutbox;
  readonly subscriptions: Subscriptions;
  /** A file's or folder's record as GET /api/files lists it; undefined where it is gone. Asked only where somebody listens. */
  readonly recordOf: (accountId: number, publicId: string) => object | undefined;
  /** A device's record as GET /api/mobile/devices lists it; undefined where it is gone. */
  readonly deviceRecordOf: (accountId: number, publicId: string) => object | undefined;
}

type FileEvent = "file.created" | "file.updated" | "file.moved" | "file.deleted" | "file.downloaded";

/** See the head of the file. `server/subscriptions.ts` says which event each of these hears. */
export class WebhookRecorder {
  readonly #options: WebhookRecorderOptions;

  constructor(options: WebhookRecorderOptions) {
    this.#options = options;
  }

  /** Whether a webhook of this account wants the event: making it may cost something. */
  wants(accountId: number, event: WebhookEvent): boolean {
    return this.#options.subscriptions.of(accountId, event).length > 0;
  }

  /** Files: the record, in the order of their changes. */
  file(tx: Transaction, event: FileEvent, { accountId, file }: { accountId: number; file: FileFacts }): void {
    this.#record(tx, accountId, event, file.publicId, () => this.#fileRecord(accountId, file));
  }

  /** Folders, made or deleted by themselves. */
  folder(
    tx: Transaction,
    event: "folder.created" | "folder.deleted",
    { accountId, folder }: { accountId: number; folder: FolderFacts },
  ): void {
    const { publicId: id, name } = folder;
    this.#record(
      tx,
      accountId,
      event,
      id,
      () => this.#options.recordOf(accountId, id) ?? { id, name, type: "folder", folder: folder.folder },
    );
  }

  /** Shares, made or ended by their owner. Without their tokens: who reads the log of a target must not open them. */
  share(
    tx: Transaction,
    event: "share.created" | "share.revoked",
    { accountId, share }: { accountId: number; share: ShareFacts },
  ): void {
    this.#record(tx, accountId, event, share.publicId, () => ({
      id: share.publicId,
      kind: share.kind,
      label: share.label,
      expiresAt: share.expiresAtMs === null ? null : toTimestamp(share.expiresAtMs),
      [share.node.type]: { id: share.node.publicId, name: share.node.name },
    }));
  }

  /** Each counted download through a link. */
  shareDownloaded(tx: Transaction, { accountId, file, isFirst, shareId }: EventOf<"share.downloaded">): void {
    this.#record(tx, accountId, "share.downloaded", shareId, () => ({
      share: { id: shareId },
      file: this.#fileRecord(accountId, file),
      isFirst,
    }));
  }

  /** Devices that were registered or removed. */
  device(
    tx: Transaction,
    event: "device.registered" | "device.removed",
    { accountId, device }: EventOf<"device.registered">,
  ): void {
    const { publicId: id, name } = device;
    this.#record(tx, accountId, event, id, () => this.#options.deviceRecordOf(accountId, id) ?? { id, name });
  }

  /** 80, 95 or 100 % of the quota were crossed. */
  storageWarning(tx: Transaction, { accountId, percentage, usedBytes, quotaBytes }: EventOf<"storage.warning">): void {
    this.#record(tx, accountId, "storage.warning", "storage", () => ({
      percentage,
      used: usedBytes,
      quota: quotaBytes,
    }));
  }

  /** Sent to webhooks of administrators only. */
  userCreated(tx: Transaction, { publicId, email, name }: EventOf<"user.created">): void {
    const { outbox, subscriptions } = this.#options;
    for (const webhookId of subscriptions.ofAdministrators("user.created")) {
      outbox.add(tx, webhookId, { event: "user.created", lane: publicId, data: { id: publicId, email, name } });
    }
  }

  #record(tx: Transaction, accountId: number, event: WebhookEvent, lane: string, data: () => object): void {
    const { outbox, subscriptions } = this.#options;
    const interested = subscriptions.of(accountId, event);
    if (interested.length === 0) return;
    const record = data();
    for (const webhookId of interested) outbox.add(tx, webhookId, { event, lane, data: record });
  }

  #fileRecord(accountId: number, file: FileFacts): object {
    const { publicId: id, name, folder, sizeBytes, mediaType, digest } = file;
    const known = this.#options.recordOf(accountId, id);
    const checksum = toChecksum(toDigest(digest));
    return known ?? { id, name, type: "file", mimeType: mediaType, size: sizeBytes, folder, checksum };
  }
}
