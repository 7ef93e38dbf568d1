/** Records events as deliveries for the webhooks that subscribe to them. */
import type { Transaction } from "../../../db/transaction.ts";
import type { EventOf, FileSummary, FolderSummary, ShareFacts } from "../../../events/catalogue.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import { toChecksum, toDigest } from "../../../blobs/digest.ts";
import type { WebhookOutbox } from "./outbox.ts";
import type { Subscriptions } from "./subscriptions.ts";
import type { WebhookEvent } from "./types.ts";

/** Dependencies of {@link WebhookRecorder}. */
export interface WebhookRecorderOptions {
  readonly outbox: WebhookOutbox;
  readonly subscriptions: Subscriptions;
  /** A file's or folder's record as GET /api/files lists it; undefined if it was deleted. */
  readonly recordOf: (accountId: number, publicId: string) => object | undefined;
  /** A device's record as GET /api/mobile/devices lists it; undefined if it was removed. */
  readonly deviceRecordOf: (accountId: number, publicId: string) => object | undefined;
}

type FileEvent = "file.created" | "file.updated" | "file.moved" | "file.deleted" | "file.downloaded";

/**
 * Event listeners that add deliveries to the outbox, in the transaction of the event.
 * `server/composition/subscriptions.ts` lists the event of each method.
 */
export class WebhookRecorder {
  readonly #options: WebhookRecorderOptions;

  constructor(options: WebhookRecorderOptions) {
    this.#options = options;
  }

  /** Whether a webhook of this account subscribes to the event. */
  isSubscribed(accountId: number, event: WebhookEvent): boolean {
    return this.#options.subscriptions.find(accountId, event).length > 0;
  }

  /** Changes and downloads of files. */
  file(tx: Transaction, event: FileEvent, { accountId, file }: { accountId: number; file: FileSummary }): void {
    this.#record(tx, accountId, event, file.publicId, () => this.#fileRecord(accountId, file));
  }

  /** Folders that were created or deleted as such, not as part of another folder. */
  folder(
    tx: Transaction,
    event: "folder.created" | "folder.deleted",
    { accountId, folder }: { accountId: number; folder: FolderSummary },
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

  /**
   * Shares that their owner created or ended. Without tokens: readers of a target's log must not be able to open links.
   */
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

  /** Usage that crosses 80, 95 or 100 % of the quota. */
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
    for (const webhookId of subscriptions.findForAdministrators("user.created")) {
      outbox.add(tx, webhookId, { event: "user.created", orderingKey: publicId, data: { id: publicId, email, name } });
    }
  }

  #record(tx: Transaction, accountId: number, event: WebhookEvent, orderingKey: string, toData: () => object): void {
    const { outbox, subscriptions } = this.#options;
    const webhookIds = subscriptions.find(accountId, event);
    if (webhookIds.length === 0) return;
    const data = toData();
    for (const webhookId of webhookIds) outbox.add(tx, webhookId, { event, orderingKey, data });
  }

  #fileRecord(accountId: number, file: FileSummary): object {
    const { publicId: id, name, folder, sizeBytes, mediaType, digest } = file;
    const known = this.#options.recordOf(accountId, id);
    const checksum = toChecksum(toDigest(digest));
    return known ?? { id, name, type: "file", mimeType: mediaType, size: sizeBytes, folder, checksum };
  }
}
