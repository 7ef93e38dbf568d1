/** What can be done with files: the deeds behind /api/files, but for listing (see `listing.ts`) and sending bytes. */
import type { BlobStore, HeldBlob, Incoming } from "../../blobs/blob-store.ts";
import { type Digest, toChecksum } from "../../blobs/digest.ts";
import { translateDiskError } from "../../blobs/disk.ts";
import type { Transaction, Writer } from "../../db/transaction.ts";
import { AppError, type ErrorDetails, notFound, type Reason } from "../../errors.ts";
import type { Clock } from "../../lib/clock.ts";
import { joinPath, uploadedName } from "../../lib/path.ts";
import type { Idempotency, KeyedRequest } from "../idempotency/service.ts";
import type { AccessCounters } from "../plans/access-counters.ts";
import type { TransferCounters } from "../plans/transfers.ts";
import type { PublicLinks } from "../shares/public-links.ts";
import type { ThumbnailService } from "../thumbnails/service.ts";
import type { TreeReader } from "../tree/reader.ts";
import type { CopyOptions, FileChanges, FileNode, NodeRef, Precondition, TreeNode } from "../tree/types.ts";
import type { TreeWriter } from "../tree/writer.ts";
import type { User } from "../users/types.ts";
import { detectMediaType } from "./media-type.ts";
import type { UploadFields } from "./upload-form.ts";

/** What an account may still store, as plan and quota have it. */
export interface StorageLimits {
  readonly plan: string;
  /** Largest file; null for no limit. */
  readonly maxFileSizeBytes: number | null;
  /** All that the account may hold; null for no limit. */
  readonly quotaBytes: number | null;
}

/** What {@link FileService} works with. */
export interface FileServiceOptions {
  readonly blobs: BlobStore;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly links: PublicLinks;
  readonly idempotency: Idempotency;
  readonly transfers: TransferCounters;
  readonly access: Pick<AccessCounters, "forget">;
  readonly thumbnails: Pick<ThumbnailService, "schedule">;
  readonly limitsOf: (user: User) => StorageLimits;
  /** Holds room on the disk for what is about to arrive. @returns what lets go of it @throws AppError disk_full */
  readonly reserveSpace: (bytes: number) => () => void;
  /** Notes that a content was found unlike its digest, or whole again. */
  readonly markDamaged: (digest: Digest, isDamaged: boolean) => Promise<void>;
}

/** What a caller adds to an upload. */
export interface UploadHooks {
  /** Asked once the content is known, before it is stored. What it throws refuses the upload. */
  readonly admit?: (digest: Digest) => void;
  /** What the content tells of itself, beside what the form says. */
  readonly describe?: (
    content: HeldBlob,
    mediaType: string,
  ) => Promise<{ readonly metadata: Readonly<Record<string, string>>; readonly capturedAt: string | undefined }>;
  /** Asked in the deed: a file that is there and makes this one needless. */
  readonly findSame?: (fields: UploadFields, name: string, content: HeldBlob) => FileNode | undefined;
  /** Called in the deed, with the file that it made or that is there, and the path that was wanted. */
  readonly onDone?: (tx: Transaction, file: FileNode, path: string) => void;
}

/** A file whose bytes are arriving; `finish` or `discard` ends it. */
export interface Arrival {
  readonly incoming: Incoming;
  discard(): void;
}

/** Result of a bulk call for one id. */
export type BulkOutcome<T> =
  | { readonly id: string; readonly done: T }
  | { readonly id: string; readonly error: AppError };

/** A form's text fields and part headers, at most, beside the file. */
const FORM_OVERHEAD_BYTES = 1024 * 1024;

/** See the head of this file. All writing is durable when a promise resolves. */
export class FileService {
  readonly #options: FileServiceOptions;

  constructor(options: FileServiceOptions) {
    this.#options = options;
  }

  /** A file of this account. @throws AppError not_found */
  get(user: User, fileId: string): FileNode {
    const file = this.#options.tree.findFile(user.id, fileId);
    if (file === undefined) throw notFound("This file");
    return file;
  }

  /**
   * Prepares for a file of unknown content: refuses at once what can be known to be too much, and holds room on the disk.
   * @param declaredBytes Content-Length of the request, if it has one
   * @param key its Idempotency-Key, if it has one
   * @throws AppError file_too_large | quota_exceeded | disk_full
   */
  beginArrival(
    user: User,
    declaredBytes: number | undefined,
    { isForm, key }: { isForm: boolean; key: string | null },
  ): Arrival {
    const { blobs, tree, limitsOf, reserveSpace, idempotency } = this.#options;
    const limits = limitsOf(user);
    const max = limits.maxFileSizeBytes ?? Number.POSITIVE_INFINITY;
    // A request that was carried out already needs no more room: it gets its first answer again.
    const isUnbounded = limits.quotaBytes === null || (key !== null && idempotency.isKnown(user.id, key));
    const free = isUnbounded ? Number.POSITIVE_INFINITY : (limits.quotaBytes ?? 0) - tree.usage(user.id).usedBytes;
    const tooLarge = () => (max <= free ? fileTooLarge(limits, max) : quotaExceeded(limits));
    const limitBytes = Math.max(0, Math.min(max, free));
    const surplus = isForm ? FORM_OVERHEAD_BYTES : 0;
    if ((declaredBytes ?? 0) > limitBytes + surplus) throw tooLarge();
    const release = reserveSpace(declaredBytes ?? 0);
    const incoming = blobs.begin({ limitBytes, tooLarge });
    return {
      incoming,
      discard: () => {
        release();
        incoming.discard();
      },
    };
  }

  /**
   * Makes a file of what has arrived. The arrival is used up, also on failure.
   * @returns `isNew` false where `hooks` found one that is the same
   * @throws AppError checksum_mismatch | name_taken | quota_exceeded | not_a_folder | invalid_path | idempotency_key |
   *   disk_full | storage_error
   */
  async finishUpload(
    user: User,
    arrival: Arrival,
    file: { fileName: string | undefined; declaredType: string | undefined },
    fields: UploadFields,
    keyed: (digest: Digest) => KeyedRequest | undefined,
    hooks: UploadHooks = {},
  ): Promise<{ file: FileNode; isNew: boolean }> {
    const { writer, treeWriter, links, idempotency, limitsOf } = this.#options;
    const name = uploadedName(file.fileName ?? "file");
    const path = joinPath(fields.folderPath, name);
    const { incoming } = arrival;
    try {
      checkDigest(fields.checksum, incoming.digest());
      const mediaType = await detectMediaType(incoming.head, file.declaredType, name);
      const request = keyed(incoming.digest());
      hooks.admit?.(incoming.digest());
      const held = await incoming.store();
      return await this.#name(user, held, mediaType, async () => {
        const found = await hooks.describe?.(held, mediaType);
        return writer.run((tx) =>
          idempotency.once(request, () => {
            const same = hooks.findSame?.(fields, name, held);
            if (same !== undefined) {
              hooks.onDone?.(tx, same, path);
              return { file: same, isNew: false };
            }
            const { file: made } = treeWriter.by(user.viaDeviceId, () =>
              treeWriter.createFile(tx, {
                accountId: user.id,
                createdBy: user.id,
                folderPath: fields.folderPath,
                name,
                blob: held,
                mediaType,
                tags: fields.tags,
                metadata: { ...found?.metadata, ...fields.metadata },
                originalName: name,
                fileModifiedAt: fields.fileModifiedAt,
                capturedAt: fields.capturedAt ?? found?.capturedAt,
                isPublic: fields.isPublic,
                onConflict: fields.onConflict,
                quotaBytes: limitsOf(user).quotaBytes,
              }),
            );
            if (made.isPublic && links.findToken(made.id) === undefined) links.open(tx, made.id);
            hooks.onDone?.(tx, made, path);
            return { file: made, isNew: true };
          }),
        );
      });
    } finally {
      arrival.discard();
    }
  }

  /**
   * Stores what has arrived as the next content of a file. The arrival is used up, also on failure.
   * @throws as {@link finishUpload}; not_found, precondition_failed
   */
  async finishReplacement(
    user: User,
    arrival: Arrival,
    target: { fileId: string; declaredType: string | undefined; precondition: Precondition | undefined },
    keyed: (digest: Digest) => KeyedRequest | undefined,
  ): Promise<FileNode> {
    const { writer, treeWriter, idempotency, limitsOf } = this.#options;
    const { incoming } = arrival;
    try {
      const { name } = this.get(user, target.fileId);
      const mediaType = await detectMediaType(incoming.head, target.declaredType, name);
      const request = keyed(incoming.digest());
      const held = await incoming.store();
      return await this.#name(user, held, mediaType, () =>
        writer.run((tx) =>
          idempotency.once(request, () =>
            treeWriter.by(user.viaDeviceId, () =>
              treeWriter.replaceContent(tx, {
                file: { accountId: user.id, publicId: target.fileId },
                blob: held,
                mediaType,
                createdBy: user.id,
                quotaBytes: limitsOf(user).quotaBytes,
                precondition: target.precondition,
              }),
            ),
          ),
        ),
      );
    } finally {
      arrival.discard();
    }
  }

  /** Changes what is said of a file, or its place. @throws AppError not_found | name_taken | precondition_failed | not_a_folder */
  async update(user: User, fileId: string, changes: FileChanges, precondition?: Precondition): Promise<FileNode> {
    const { writer, treeWriter, links } = this.#options;
    return writer.run((tx) => {
      const file = treeWriter.by(user.viaDeviceId, () =>
        treeWriter.updateFile(tx, { accountId: user.id, publicId: fileId }, changes, precondition),
      );
      const hasLink = links.findToken(file.id) !== undefined;
      if (file.isPublic && !hasLink) links.open(tx, file.id);
      if (!file.isPublic && hasLink) links.close(tx, file.id);
      return file;
    });
  }

  /** Deletes a file for good; its bytes stay for the grace period, for the operator alone. @throws AppError not_found */
  async delete(user: User, fileId: string): Promise<FileNode> {
    const { writer, treeWriter } = this.#options;
    return writer.run((tx) => {
      const file = this.get(user, fileId);
      treeWriter.by(user.viaDeviceId, () => treeWriter.deleteFile(tx, { accountId: user.id, publicId: fileId }));
      // What was counted of it is not to be written any more.
      tx.afterCommit(() => this.#options.access.forget(file.id));
      return file;
    });
  }

  /** Moves files and folders, each by itself, in order. */
  async move(user: User, ids: readonly string[], destinationPath: string): Promise<BulkOutcome<TreeNode>[]> {
    const { writer, treeWriter } = this.#options;
    return this.#each(ids, (publicId) =>
      writer.run((tx) =>
        treeWriter.by(user.viaDeviceId, () => treeWriter.move(tx, { accountId: user.id, publicId }, destinationPath)),
      ),
    );
  }

  /**
   * Copies files and folders, each by itself, in order; no content is written. With a key the whole is done once: what
   * failed at first is not tried again.
   * @throws AppError idempotency_key
   */
  async copy(
    user: User,
    ids: readonly string[],
    destinationPath: string,
    options: Pick<CopyOptions, "onConflict" | "preserveMetadata">,
    request: KeyedRequest | undefined,
  ): Promise<BulkOutcome<TreeNode>[]> {
    const { writer, idempotency, limitsOf } = this.#options;
    const first = request && idempotency.find(request);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what finish kept of this very request, below
    if (first !== undefined) return (first as ReturnType<typeof writeOutcome>[]).map(readOutcome);
    const copyOptions = { ...options, createdBy: user.id, quotaBytes: limitsOf(user).quotaBytes };
    const outcomes = await this.#each(ids, (publicId, position) => {
      // Each item is remembered by itself until all are done: a crash in between copies none of them twice.
      const item = request && { ...request, key: `${request.key}#${position}` };
      return this.#withPlan(user, this.#copyOne(user, publicId, destinationPath, copyOptions, item));
    });
    if (request !== undefined && outcomes.some((outcome) => "done" in outcome)) {
      await writer.run(() => idempotency.finish(request, outcomes.map(writeOutcome)));
    }
    return outcomes;
  }

  async #copyOne(
    user: User,
    publicId: string,
    destinationPath: string,
    options: CopyOptions,
    request: KeyedRequest | undefined,
  ): Promise<TreeNode> {
    const { writer, treeWriter, idempotency } = this.#options;
    const ref: NodeRef = { accountId: user.id, publicId };
    try {
      return await writer.run((tx) =>
        idempotency.once(request, () =>
          treeWriter.by(user.viaDeviceId, () => treeWriter.copy(tx, ref, destinationPath, options).node),
        ),
      );
    } catch (error) {
      // More than one transaction should hold: in many short ones, attached at the end.
      if (!(error instanceof AppError) || error.reason !== "invalid_request") throw error;
      const folder = await treeWriter.copyLarge(writer, ref, destinationPath, options, user.viaDeviceId);
      return writer.run(() => idempotency.once(request, () => folder));
    }
  }

  /**
   * Reads a file's content again. What is found unlike its digest is noted, and not shared with new uploads until it is
   * stored anew (D10).
   * @returns `actual` null where the content is missing
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

  /** Says in a refusal for the quota which plan it comes from (contract §1). */
  async #withPlan<T>(user: User, deed: Promise<T>): Promise<T> {
    try {
      return await deed;
    } catch (error) {
      if (!(error instanceof AppError) || error.reason !== "quota_exceeded") throw error;
      const { plan } = this.#options.limitsOf(user);
      throw new AppError(error.reason, error.message, { ...error.details, plan });
    }
  }

  /** Gives a stored content its row by `deed`, and lets the collector see it again. */
  async #name<T>(user: User, held: HeldBlob, mediaType: string, deed: () => Promise<T>): Promise<T> {
    let isNamed = false;
    try {
      const named = await this.#withPlan(user, deed());
      isNamed = true;
      this.#options.transfers.noteUpload(user.id, held.sizeBytes);
      this.#options.thumbnails.schedule(held.digest, mediaType);
      return named;
    } finally {
      held.release(isNamed);
    }
  }

  async #each<T>(
    ids: readonly string[],
    deed: (id: string, position: number) => Promise<T>,
  ): Promise<BulkOutcome<T>[]> {
    return Promise.all(
      ids.map(async (id, position): Promise<BulkOutcome<T>> => {
        try {
          return { id, done: await deed(id, position) };
        } catch (error) {
          if (error instanceof AppError) return { id, error };
          throw error;
        }
      }),
    );
  }
}

/** An outcome as an idempotency key keeps it. */
interface StoredError {
  readonly reason: Reason;
  readonly message: string;
  readonly details: ErrorDetails;
}

function writeOutcome(outcome: BulkOutcome<TreeNode>): readonly [string, TreeNode | null, StoredError | null] {
  if ("done" in outcome) return [outcome.id, outcome.done, null];
  const { reason, message, details } = outcome.error;
  return [outcome.id, null, { reason, message, details }];
}

function readOutcome([id, done, error]: readonly [string, TreeNode | null, StoredError | null]): BulkOutcome<TreeNode> {
  if (done !== null) return { id, done };
  const { reason = "unexpected", message = "", details = {} } = error ?? {};
  return { id, error: new AppError(reason, message, details) };
}

function checkDigest(expected: Digest | undefined, actual: Digest): void {
  if (expected === undefined || expected === actual) return;
  throw new AppError(
    "checksum_mismatch",
    "The bytes that arrived are not the ones that were announced. Send the file again.",
    { field: "checksum", expected: toChecksum(expected), actual: toChecksum(actual) },
  );
}

function fileTooLarge(limits: StorageLimits, limitBytes: number): AppError {
  return new AppError(
    "file_too_large",
    `A file may have at most ${limitBytes} bytes on the ${limits.plan} plan. Send a smaller one, or ask for another plan.`,
    { limit: limitBytes, plan: limits.plan },
  );
}

function quotaExceeded(limits: StorageLimits): AppError {
  return new AppError(
    "quota_exceeded",
    `This would exceed the ${limits.quotaBytes} bytes that the account may hold. Delete something, or ask for more room.`,
    { limit: limits.quotaBytes, plan: limits.plan },
  );
}
