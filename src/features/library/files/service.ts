/**
 * The transactions behind /api/files, except listing (`listing.ts`), sending bytes (`content-sender.ts`), and bulk
 * moves and copies (`bulk.ts`).
 */
import type { BlobStore, BlobLease, BlobWriter } from "../../../blobs/blob-store.ts";
import type { Digest } from "../../../blobs/digest.ts";
import { translateDiskError } from "../../../blobs/disk.ts";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { joinPath, uploadedName } from "../../../lib/path.ts";
import type { Uploader } from "../../accounts/auth/principal.ts";
import type { Idempotency, KeyedRequest } from "../idempotency/service.ts";
import { UserTreeWriter } from "../permissions/user-tree-writer.ts";
import {
  ownerRequired,
  type Permission,
  type Permissions,
  type PermittedNode,
  type TreeLocation,
} from "../permissions/permissions.ts";
import type { AccessCounters } from "../../accounts/plans/access-counters.ts";
import type { TransferCounters } from "../../accounts/plans/transfers.ts";
import type { PublicLinks } from "./public-links.ts";
import type { ThumbnailService } from "../../media/thumbnails/service.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileChanges, FileNode, Precondition } from "../../../tree/model/types.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import { requireConfirmedEmail } from "../../accounts/users/confirmed-email.ts";
import type { User } from "../../accounts/users/types.ts";
import { detectMediaType } from "./media-type.ts";
import { checkDigest, fileTooLarge, quotaExceeded, type StorageLimits } from "./storage-limits.ts";
import type { UploadFields } from "./upload-form.ts";

/** Dependencies of {@link FileService}. */
export interface FileServiceOptions {
  readonly blobs: BlobStore;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly permissions: Permissions;
  readonly links: PublicLinks;
  readonly idempotency: Idempotency;
  readonly transfers: TransferCounters;
  readonly access: Pick<AccessCounters, "forget">;
  readonly thumbnails: Pick<ThumbnailService, "schedule">;
  readonly limitsOf: (user: User) => StorageLimits;
  /** Reserves disk space for the declared bytes. @returns a function that releases it @throws AppError disk_full */
  readonly reserveSpace: (bytes: number) => () => void;
  /** Records that a blob does not match its digest, or matches again. */
  readonly markDamaged: (digest: Digest, isDamaged: boolean) => Promise<void>;
}

/** Callbacks and options of an upload. */
export interface UploadHooks {
  /** The received share to upload into; the own tree if absent. */
  readonly share?: string | undefined;
  /** The request with its idempotency key, when the content is known. */
  readonly keyed?: (digest: Digest) => KeyedRequest | undefined;
  /** Called when the content is known, before it is stored. Throwing rejects the upload. */
  readonly admit?: (digest: Digest) => void;
  /** Reads metadata from the content, in addition to the form fields. */
  readonly describe?: (
    content: BlobLease,
    mediaType: string,
  ) => Promise<{ readonly metadata: Readonly<Record<string, string>>; readonly capturedAt: string | undefined }>;
  /** Called in the transaction, before anything else. */
  readonly before?: (tx: Transaction) => void;
  /** Called in the transaction: an existing file that makes this upload unnecessary. */
  readonly findSame?: (fields: UploadFields, name: string, content: BlobLease) => FileNode | undefined;
  /** Called in the transaction, with the created or existing file, and the requested path. */
  readonly onDone?: (tx: Transaction, file: FileNode, path: string) => void;
}

/** New content for a file. */
export interface Replacement {
  readonly fileId: string;
  readonly declaredType: string | undefined;
  readonly precondition?: Precondition | undefined;
  /** The file's own modification time, as sent by the client. */
  readonly fileModifiedAt?: string | undefined;
  /** Called in the transaction, before anything else. */
  readonly before?: (tx: Transaction) => void;
  /** Called in the transaction, with the changed file. */
  readonly onDone?: (tx: Transaction, file: FileNode) => void;
  /** Content that the file has already makes no version; only the date changes. */
  readonly reusesSame?: true;
}

/** A file whose bytes are being received; `finish` or `discard` ends it. */
export interface PendingUpload {
  readonly incoming: BlobWriter;
  /** When the sender was authenticated, by the clock of `performance.now`; undefined if that is to be checked again. */
  readonly authenticatedMs?: number;
  discard(): void;
}

/** A sender who was authenticated less than this ago is checked again only in the transaction. */
const AUTHENTICATED_MS = 100;

/** Maximum size of the text fields and part headers of a form, in addition to the file. */
const FORM_OVERHEAD_BYTES = 1024 * 1024;

/** Creates, changes and deletes files. All writes are durable when a promise resolves. */
export class FileService {
  readonly #options: FileServiceOptions;
  readonly #userTreeWriter: UserTreeWriter;

  constructor(options: FileServiceOptions) {
    this.#options = options;
    this.#userTreeWriter = new UserTreeWriter(options.treeWriter, (owner) => options.limitsOf(owner).plan);
  }

  /** An own or shared file on which the user has this permission. @throws AppError not_found | share_permission */
  open(user: User, fileId: string, permission: Permission = "read"): PermittedNode<FileNode> {
    return this.#options.permissions.file(user, fileId, permission);
  }

  /**
   * Prepares an upload: rejects it early if it is certain to be too large, and reserves disk space.
   * @param declaredBytes Content-Length of the request, if it has one
   * @param key its Idempotency-Key, if it has one
   * @param possibleOwners the accounts that may get it; it is accepted if one of them has enough space, and checked
   *   again when the owner is known
   * @throws AppError file_too_large | quota_exceeded | disk_full
   */
  beginUpload(
    user: User,
    declaredBytes: number | undefined,
    { isForm, key, possibleOwners = [user] }: { isForm: boolean; key: string | null; possibleOwners?: readonly User[] },
  ): PendingUpload {
    const { blobs, reserveSpace, idempotency } = this.#options;
    // A repeated request needs no space: it gets its first response again.
    const isKnown = key !== null && idempotency.isKnown(user.id, key);
    const limits = possibleOwners.map((owner) => this.#sizeLimit(owner, isKnown));
    const { limitBytes, tooLarge } = limits.reduce((best, limit) =>
      limit.limitBytes > best.limitBytes ? limit : best,
    );
    const surplus = isForm ? FORM_OVERHEAD_BYTES : 0;
    if ((declaredBytes ?? 0) > limitBytes + surplus) throw tooLarge();
    const release = reserveSpace(declaredBytes ?? 0);
    const incoming = blobs.begin({ limitBytes, tooLarge });
    return {
      incoming,
      authenticatedMs: performance.now(),
      discard: () => {
        release();
        incoming.abort();
      },
    };
  }

  /**
   * Creates a file from the received bytes. The pending upload ends, also on failure.
   * @returns the file as the user sees it; `isNew` false if `hooks` found an equal one
   * @throws what `uploader.confirm` throws; AppError checksum_mismatch | name_taken | quota_exceeded | not_a_folder |
   *   invalid_path | idempotency_key | disk_full | storage_error
   */
  async finishUpload(
    { user, confirm }: Uploader,
    pendingUpload: PendingUpload,
    file: { fileName: string | undefined; declaredType: string | undefined },
    fields: UploadFields,
    hooks: UploadHooks = {},
  ): Promise<{ file: FileNode; isNew: boolean }> {
    const { writer, treeWriter, links, idempotency, limitsOf } = this.#options;
    const name = uploadedName(file.fileName ?? "file");
    const path = joinPath(fields.folderPath, name);
    const { incoming } = pendingUpload;
    try {
      if (isAuthenticationOld(pendingUpload)) confirm();
      if (fields.isPublic) requireConfirmedEmail(user);
      const { owner } = this.#uploadTarget(user, fields, hooks.share);
      // It may have been accepted under the limits of another account.
      this.#checkFileSize(owner, incoming.sizeBytes);
      checkDigest(fields.checksum, incoming.digest());
      const mediaType = await detectMediaType(incoming.head, file.declaredType, name);
      const request = hooks.keyed?.(incoming.digest());
      hooks.admit?.(incoming.digest());
      const blob = await incoming.commit();
      return await this.#withLease(owner, blob, mediaType, async () => {
        const found = await hooks.describe?.(blob, mediaType);
        return writer.run((tx) => {
          confirm();
          const target = this.#uploadTarget(user, fields, hooks.share);
          return idempotency.once(request, () => {
            hooks.before?.(tx);
            const same = hooks.findSame?.(fields, name, blob);
            if (same !== undefined) {
              hooks.onDone?.(tx, same, path);
              return { file: same, isNew: false };
            }
            const { file: made } = this.#userTreeWriter.write(user, target, () =>
              treeWriter.createFile(tx, {
                accountId: target.owner.id,
                createdBy: user.id,
                folderPath: target.path,
                name,
                blob,
                mediaType,
                tags: fields.tags,
                metadata: { ...found?.metadata, ...fields.metadata },
                originalName: name,
                fileModifiedAt: fields.fileModifiedAt,
                capturedAt: fields.capturedAt ?? found?.capturedAt,
                isPublic: fields.isPublic,
                onConflict: fields.onConflict,
                quotaBytes: limitsOf(target.owner).quotaBytes,
              }),
            );
            if (made.isPublic && links.findToken(made.id) === undefined) links.open(tx, made.id);
            hooks.onDone?.(tx, made, path);
            return { file: target.view.show(made), isNew: true };
          });
        });
      });
    } finally {
      pendingUpload.discard();
    }
  }

  /**
   * Stores the received bytes as the new content of a file. The pending upload ends, also on failure.
   * @throws as {@link finishUpload}; not_found, share_permission, precondition_failed
   */
  async finishReplacement(
    { user, confirm }: Uploader,
    pendingUpload: PendingUpload,
    target: Replacement,
    keyed: (digest: Digest) => KeyedRequest | undefined,
  ): Promise<FileNode> {
    const { writer, treeWriter, idempotency, limitsOf } = this.#options;
    const { incoming } = pendingUpload;
    try {
      if (isAuthenticationOld(pendingUpload)) confirm();
      const { node, owner } = this.open(user, target.fileId, "write");
      // It may have been accepted under the limits of another account.
      this.#checkFileSize(owner, incoming.sizeBytes);
      const { name } = node;
      const mediaType = await detectMediaType(incoming.head, target.declaredType, name);
      const request = keyed(incoming.digest());
      const blob = await incoming.commit();
      return await this.#withLease(owner, blob, mediaType, () =>
        writer.run((tx) => {
          confirm();
          const permitted = this.open(user, target.fileId, "write");
          return idempotency.once(request, () => {
            target.before?.(tx);
            const { fileModifiedAt } = target;
            const isSame = target.reusesSame === true && permitted.node.digest === blob.digest;
            const file = this.#userTreeWriter.write(user, permitted, () =>
              isSame
                ? treeWriter.updateFile(tx, permitted.node, { fileModifiedAt })
                : treeWriter.replaceContent(tx, {
                    file: permitted.node,
                    blob,
                    mediaType,
                    createdBy: user.id,
                    quotaBytes: limitsOf(permitted.owner).quotaBytes,
                    fileModifiedAt,
                    precondition: target.precondition,
                  }),
            );
            target.onDone?.(tx, file);
            return permitted.view.show(file);
          });
        }),
      );
    } finally {
      pendingUpload.discard();
    }
  }

  /**
   * Changes metadata or location of a file. A path is in the tree of the file, as the user sees it.
   * @throws AppError not_found | share_permission | name_taken | precondition_failed | not_a_folder
   */
  async update(user: User, fileId: string, changes: FileChanges, precondition?: Precondition): Promise<FileNode> {
    const { writer, treeWriter, permissions, links } = this.#options;
    let isLinkClosed = false;
    const updated = await writer.run((tx) => {
      const permitted = this.open(user, fileId, "write");
      const { node, isOwn, view } = permitted;
      if (!isOwn) this.open(user, fileId, permissionFor(changes, node));
      const { folderPath } = changes;
      const isMoved = folderPath !== undefined && folderPath !== node.folder;
      const to = isMoved ? permissions.locationInSameTree(user, permitted, folderPath).path : undefined;
      const file = this.#userTreeWriter.write(user, permitted, () =>
        treeWriter.updateFile(tx, node, { ...changes, folderPath: to }, precondition),
      );
      const hasLink = links.findToken(file.id) !== undefined;
      if (file.isPublic && !hasLink) {
        requireConfirmedEmail(permitted.owner);
        links.open(tx, file.id);
      }
      isLinkClosed = !file.isPublic && hasLink;
      if (isLinkClosed) links.close(tx, file.id);
      return view.show(file);
    });
    if (isLinkClosed) await links.settleEnded();
    return updated;
  }

  /**
   * Deletes a file permanently. Its bytes stay for the grace period, but only the operator can access them.
   * @returns the file and its owner
   * @throws AppError not_found | share_permission
   */
  async delete(user: User, fileId: string): Promise<PermittedNode<FileNode>> {
    const { writer, treeWriter } = this.#options;
    return writer.run((tx) => {
      const permitted = this.open(user, fileId, "manage");
      const { node: file } = permitted;
      this.#userTreeWriter.write(user, permitted, () => treeWriter.deleteFile(tx, file));
      // Its pending download counts must not be written.
      tx.afterCommit(() => this.#options.access.forget(file.id));
      return permitted;
    });
  }

  /**
   * Reads the content of a file and compares it with its digest. A mismatch is recorded: new uploads then do not reuse
   * the blob until it is stored again.
   * @returns `actual` null if the blob is missing
   */
  async checkContent(file: FileNode): Promise<{ stored: Digest; actual: Digest | null; ok: boolean }> {
    const { blobs, markDamaged } = this.#options;
    let actual: Digest | null;
    try {
      actual = await blobs.hash(file.digest);
    } catch (error) {
      if (!(error instanceof AppError) || error.reason !== "content_missing") throw translateDiskError(error);
      actual = null;
    }
    const isOk = actual === file.digest;
    await markDamaged(file.digest, !isOk);
    return { stored: file.digest, actual, ok: isOk };
  }

  /** The target of an upload. Checked before its content is stored, and again in the transaction. */
  #uploadTarget(user: User, fields: UploadFields, share: string | undefined): TreeLocation {
    const target = this.#options.permissions.location(user, fields.folderPath, share);
    if (fields.isPublic && !target.isOwn) throw ownerRequired();
    return target;
  }

  /** The largest file that an account accepts now, and the error for a larger one. */
  #sizeLimit(owner: User, isUnbounded: boolean): { limitBytes: number; tooLarge: () => AppError } {
    const limits = this.#options.limitsOf(owner);
    const max = limits.maxFileSizeBytes ?? Number.POSITIVE_INFINITY;
    const { quotaBytes } = limits;
    const hasNoQuota = isUnbounded || quotaBytes === null;
    const free = hasNoQuota ? Number.POSITIVE_INFINITY : quotaBytes - this.#options.tree.usage(owner.id).usedBytes;
    return {
      limitBytes: Math.max(0, Math.min(max, free)),
      tooLarge: () => (max <= free ? fileTooLarge(limits, max) : quotaExceeded(limits)),
    };
  }

  /** The quota is checked in the transaction. @throws AppError file_too_large */
  #checkFileSize(owner: User, sizeBytes: number): void {
    const limits = this.#options.limitsOf(owner);
    const { maxFileSizeBytes } = limits;
    if (maxFileSizeBytes !== null && sizeBytes > maxFileSizeBytes) throw fileTooLarge(limits, maxFileSizeBytes);
  }

  /**
   * Runs `write`, which adds a reference to a stored blob. Then releases the lease, so that garbage collection can
   * handle the blob.
   */
  async #withLease<T>(owner: User, blob: BlobLease, mediaType: string, write: () => Promise<T>): Promise<T> {
    let isReferenced = false;
    try {
      const result = await write();
      isReferenced = true;
      this.#options.transfers.noteUpload(owner.id, blob.sizeBytes);
      this.#options.thumbnails.schedule(blob.digest, mediaType);
      return result;
    } finally {
      blob.release(isReferenced);
    }
  }
}

/** Whether what was checked when an upload began may have changed long before now. */
export function isAuthenticationOld({ authenticatedMs }: PendingUpload): boolean {
  return authenticatedMs === undefined || performance.now() - authenticatedMs > AUTHENTICATED_MS;
}

/** The permission required for changes of a shared file. Fields with the current value require none. */
function permissionFor(changes: FileChanges, file: FileNode): Permission {
  if (changes.isPublic !== undefined) return "own";
  const { name = file.name, folderPath = file.folder } = changes;
  return name === file.name && folderPath === file.folder ? "write" : "manage";
}
