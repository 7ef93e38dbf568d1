/**
 * What a phone may rely on before it frees its own copy of a file: that the server has these very bytes on disk,
 * when it last read them again and found them whole, and since when a copy of the database tells of them too.
 */
import type { BlobStore } from "../../../blobs/blob-store.ts";
import type { Digest } from "../../../blobs/digest.ts";
import { AppError, notFound } from "../../../errors.ts";
import type { Log } from "../../../lib/log.ts";
import type { FileService } from "../../library/files/service.ts";
import type { BlobRows } from "../../storage/integrity/blob-rows.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { User } from "../../accounts/users/types.ts";
import { findInSnapshots } from "./snapshots.ts";
import type { AskedFile, Durability, DurabilityOutcome, Unread } from "./types.ts";

/** What {@link DurabilityService} works with. */
export interface DurabilityServiceOptions {
  readonly tree: Pick<TreeReader, "findFile">;
  readonly blobs: Pick<BlobStore, "stat">;
  readonly blobRows: Pick<BlobRows, "findHealth">;
  readonly files: Pick<FileService, "checkContent">;
  /** Where copies of the database lie. */
  readonly snapshotsFolder: string;
  readonly log: Log;
}

/** What one question reads again at most; a single larger content is read all the same. */
export const VERIFIED_BYTES_MAX = 1024 ** 3;
/** Questions that wait for their turn to read. */
const WAITING_MAX = 8;

/** See the head of this file. */
export class DurabilityService {
  readonly #options: DurabilityServiceOptions;
  #waiting = 0;
  #reading: Promise<unknown> = Promise.resolve();

  constructor(options: DurabilityServiceOptions) {
    this.#options = options;
  }

  /**
   * What can be said of each file, in the order asked.
   * @param verify reads the contents again first, one question at a time, and keeps what was found
   * @param signal ends the reading when the asker has gone
   */
  async check(
    user: User,
    asked: readonly AskedFile[],
    { verify, signal }: { verify: boolean; signal: AbortSignal },
  ): Promise<DurabilityOutcome[]> {
    const found = asked.map((one) => ({ ...one, file: this.#options.tree.findFile(user.id, one.fileId) }));
    const files = found.flatMap(({ file }) => file ?? []);
    const unread = verify ? await this.#verify(files, signal) : undefined;
    const snapshots = await findInSnapshots(this.#options.snapshotsFolder, files, this.#options.log);
    return found.map(({ fileId, digest, file }) => {
      if (file === undefined) return { fileId, error: notFound("The file") };
      const durability = this.#describe(file, verify && unread?.get(file.digest));
      const isMatch = digest === undefined ? undefined : digest === file.digest;
      return { fileId, durability: { ...durability, isMatch, snapshotAtMs: snapshots.get(file.publicId) ?? null } };
    });
  }

  #describe(file: FileNode, unread: Unread | false | undefined): Omit<Durability, "isMatch" | "snapshotAtMs"> {
    const { blobs, blobRows } = this.#options;
    const { verifiedAtMs = null, damagedAtMs = null } = blobRows.findHealth(file.digest) ?? {};
    const isStored = blobs.stat(file.digest)?.sizeBytes === file.sizeBytes;
    const isDamaged = damagedAtMs !== null;
    const isVerified = isStored && !isDamaged && verifiedAtMs !== null && !unread;
    return { file, isStored, verifiedAtMs, isDamaged, isVerified, unread: unread || undefined };
  }

  /** Reads contents again, each once. @returns why some were not */
  async #verify(files: readonly FileNode[], signal: AbortSignal): Promise<Map<Digest, Unread>> {
    const contents = [...new Map(files.map((file) => [file.digest, file])).values()];
    if (this.#waiting >= WAITING_MAX) return new Map(contents.map(({ digest }) => [digest, "overloaded"]));
    this.#waiting++;
    const before = this.#reading;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#reading = promise;
    try {
      await before;
      return await this.#read(contents, signal);
    } finally {
      this.#waiting--;
      resolve();
    }
  }

  async #read(contents: readonly FileNode[], signal: AbortSignal): Promise<Map<Digest, Unread>> {
    const unread = new Map<Digest, Unread>();
    let bytes = 0;
    for (const file of contents) {
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

  async #readOne(file: FileNode): Promise<Unread | undefined> {
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
