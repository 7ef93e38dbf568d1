import type { BlobStore } from "../../../blobs/blob-store.ts";
import type { Digest } from "../../../blobs/digest.ts";
import { AppError, notFound } from "../../../errors.ts";
import type { Log } from "../../../lib/log.ts";
import type { FileService } from "../../library/files/service.ts";
import type { BlobRows } from "../../storage/integrity/blob-rows.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";
import { findInSnapshots } from "./snapshots.ts";
import type { Durability, DurabilityOutcome, RequestedFile, UnreadReason } from "./types.ts";

/** Options of {@link DurabilityService}. */
interface DurabilityServiceOptions {
  readonly tree: Pick<TreeReader, "findFile">;
  readonly blobs: Pick<BlobStore, "stat">;
  readonly blobRows: Pick<BlobRows, "findHealth">;
  readonly files: Pick<FileService, "checkContent">;
  /** The folder of the database snapshots. */
  readonly snapshotsFolder: string;
  readonly log: Log;
}

/** The maximum of bytes that one request reads; a single larger file is read too. */
const VERIFIED_BYTES_MAX = 1024 ** 3;
/** The maximum of requests that wait for their turn to read. */
const WAITING_MAX = 8;

/**
 * Reports what a device needs to know before it deletes its own copy of a file: whether the bytes are on disk, when
 * they were last read and found intact, and which database snapshot has the file.
 */
export class DurabilityService {
  readonly #options: DurabilityServiceOptions;
  #waiting = 0;
  #reading: Promise<unknown> = Promise.resolve();

  constructor(options: DurabilityServiceOptions) {
    this.#options = options;
  }

  /**
   * The durability of each requested file, in order.
   * @param verify reads the files first, one request at a time, and records the results
   * @param signal stops the reading when the client disconnects
   */
  async check(
    user: User,
    requested: readonly RequestedFile[],
    { verify, signal }: { verify: boolean; signal: AbortSignal },
  ): Promise<DurabilityOutcome[]> {
    const found = requested.map((one) => ({ ...one, file: this.#options.tree.findFile(user.id, one.fileId) }));
    const files = found.flatMap(({ file }) => file ?? []);
    const unread = verify ? await this.#verify(files, signal) : undefined;
    const snapshots = await findInSnapshots(this.#options.snapshotsFolder, files, this.#options.log);
    return found.map(({ fileId, digest, file }) => {
      if (file === undefined) return { fileId, error: notFound(say`The file was not found.`) };
      const durability = this.#describe(file, verify ? unread?.get(file.digest) : undefined);
      const isMatch = digest === undefined ? undefined : digest === file.digest;
      return { fileId, durability: { ...durability, isMatch, snapshotAtMs: snapshots.get(file.publicId) ?? null } };
    });
  }

  #describe(file: FileNode, unreadReason: UnreadReason | undefined): Omit<Durability, "isMatch" | "snapshotAtMs"> {
    const { blobs, blobRows } = this.#options;
    const { verifiedAtMs = null, damagedAtMs = null } = blobRows.findHealth(file.digest) ?? {};
    const isStored = blobs.stat(file.digest)?.sizeBytes === file.sizeBytes;
    const isDamaged = damagedAtMs !== null;
    const isVerified = isStored && !isDamaged && verifiedAtMs !== null && unreadReason === undefined;
    return { file, isStored, verifiedAtMs, isDamaged, isVerified, unreadReason };
  }

  /** Reads the blob of each file once. @returns why some were not read, by digest */
  async #verify(files: readonly FileNode[], signal: AbortSignal): Promise<Map<Digest, UnreadReason>> {
    const uniqueFiles = [...new Map(files.map((file) => [file.digest, file])).values()];
    if (this.#waiting >= WAITING_MAX) return new Map(uniqueFiles.map(({ digest }) => [digest, "overloaded"]));
    this.#waiting++;
    const before = this.#reading;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#reading = promise;
    try {
      await before;
      return await this.#read(uniqueFiles, signal);
    } finally {
      this.#waiting--;
      resolve();
    }
  }

  async #read(uniqueFiles: readonly FileNode[], signal: AbortSignal): Promise<Map<Digest, UnreadReason>> {
    const unread = new Map<Digest, UnreadReason>();
    let bytes = 0;
    for (const file of uniqueFiles) {
      if (signal.aborted || (bytes > 0 && bytes + file.sizeBytes > VERIFIED_BYTES_MAX)) {
        unread.set(file.digest, "verify_limit");
        continue;
      }
      bytes += file.sizeBytes;
      const problem = await this.#readOne(file);
      if (problem !== undefined) unread.set(file.digest, problem);
    }
    return unread;
  }

  async #readOne(file: FileNode): Promise<UnreadReason | undefined> {
    try {
      const { actual } = await this.#options.files.checkContent(file);
      return actual === null ? "content_missing" : undefined;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.#options.log.error("Could not read a blob to verify it.", { digest: file.digest, error });
      return "storage_error";
    }
  }
}
