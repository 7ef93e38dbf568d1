/** Plans a ZIP archive of folders or selected items. */
import type { BlobStore } from "../../../blobs/blob-store.ts";
import { contentMissing } from "../../../blobs/blob-store.ts";
import { AppError, notFound } from "../../../errors.ts";
import type { Log } from "../../../lib/log.ts";
import { normalizeName, ROOT_PATH } from "../../../lib/path.ts";
import { PATH_BYTES_MAX } from "../../../tree/tables/heights.ts";
import { numberedName } from "../../../tree/tables/names.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { TreeNode } from "../../../tree/model/types.ts";
import type { WalkedNode, WalkPosition, WalkVisitor } from "../../../tree/queries/walk.ts";
import { say } from "../../../translations/say.ts";
import { Entries } from "./entries.ts";
import { safeName } from "./entry-name.ts";
import { archiveBytes, archiveChunks } from "./chunks.ts";
import type { ArchivePlan, ContentSource } from "./types.ts";
import { localHeader } from "./zip-format.ts";

/** Dependencies of {@link ArchiveService}. */
export interface ArchiveServiceOptions {
  readonly tree: TreeReader;
  readonly blobs: BlobStore;
  readonly log: Log;
}

/** The files of {@link ArchiveService.planFiles}. */
export interface FilesToArchive {
  readonly accountId: number;
  readonly ids: readonly number[];
  /** Of the archive, with or without `.zip`. */
  readonly name: string;
}

/** What a plan is for. */
interface ArchiveTarget {
  readonly fileName: string;
  /** Of all accounts with files in it; the first one sends them. */
  readonly accountIds: readonly number[];
}

/** Files and folders in one archive; their entries stay in memory while it is sent (see `entries.ts`). */
export const ARCHIVE_ENTRIES_MAX = 1_000_000;
/** Listings read concurrently, and queued. */
const READING_MAX = 2;
const WAITING_MAX = 32;
/** Total entries of cached plans. Plans are cached for clients that resume a download. */
const CACHED_ENTRIES_MAX = 200_000;
/** Files up to this size are read synchronously. */
const SMALL_BYTES_MAX = 64 * 1024;
/** The name of an account's root folder in an archive. */
const ROOT_NAME = "files";

/** Plans archives. It reads the tree from one snapshot in short slices, so other requests do not wait. */
export class ArchiveService {
  readonly #options: ArchiveServiceOptions;
  readonly #source: ContentSource;
  /** Plans by request, valid while nothing in their accounts has changed; the last used one is at the end. */
  readonly #cached = new Map<string, { readonly heads: string; readonly plan: ArchivePlan }>();
  readonly #inProgress = new Map<string, Promise<ArchivePlan>>();
  readonly #queue: (() => void)[] = [];
  #reading = 0;

  constructor(options: ArchiveServiceOptions) {
    this.#options = options;
    this.#source = contentSource(options.blobs);
  }

  /**
   * Plans the archive of these files and folders. Each is at the top level under its own name; equal names are
   * numbered. The caller checks permissions first.
   * @param roots at least one, without duplicates
   * @param name of the archive, with or without `.zip`; by default the name of the single node, or `files`
   * @throws AppError not_found if one of them is gone; invalid_request if there are too many entries; overloaded
   */
  plan(roots: readonly TreeNode[], name?: string): Promise<ArchivePlan> {
    const fileName = archiveName(roots, name);
    const ids = roots.map(({ id }) => id);
    const accountIds = [...new Set(roots.map(({ accountId }) => accountId))];
    return this.#plan(`${ids.join(" ")} ${fileName}`, { fileName, accountIds }, (visit) =>
      this.#options.tree.walk(ids, visit),
    );
  }

  /**
   * Plans the archive of any number of files of an account, in this order. Equal names are numbered. Files that are gone
   * are left out. The caller checks permissions first.
   * @param ids row ids that were read a moment ago
   * @throws AppError not_found if there are none; overloaded
   */
  planFiles({ accountId, ids, name }: FilesToArchive): Promise<ArchivePlan> {
    if (ids.length === 0) throw notFound(say`The files to archive were not found.`);
    const fileName = zipName(name);
    const hash = new Bun.CryptoHasher("sha256").update(Float64Array.from(ids)).digest("hex");
    return this.#plan(`files ${hash} ${fileName}`, { fileName, accountIds: [accountId] }, (visit) =>
      this.#options.tree.walkFiles(accountId, ids, visit),
    );
  }

  /** @param key of everything that the plan depends on, except for changes in the accounts */
  #plan(key: string, target: ArchiveTarget, walk: (visit: WalkVisitor) => Promise<number>): Promise<ArchivePlan> {
    const heads = this.#currentHeads(target.accountIds);
    const cached = this.#cached.get(key);
    if (cached?.heads === heads) return Promise.resolve(cached.plan);
    // Downloads in several parallel ranges request the same plan at the same time.
    const inProgressKey = `${heads} ${key}`;
    let planned = this.#inProgress.get(inProgressKey);
    if (planned === undefined) {
      planned = this.#read(target, walk).finally(() => this.#inProgress.delete(inProgressKey));
      this.#inProgress.set(inProgressKey, planned);
      planned = planned.then((plan) => {
        this.#cache(key, heads, plan);
        return plan;
      });
    }
    return planned;
  }

  async #read(
    { fileName, accountIds }: ArchiveTarget,
    walk: (visit: WalkVisitor) => Promise<number>,
  ): Promise<ArchivePlan> {
    await this.#takeTurn();
    try {
      const builder = new Builder();
      const lastModifiedMs = await walk((node, position) => builder.add(node, position));
      return this.#buildPlan(builder, fileName, lastModifiedMs, accountIds[0] ?? 0);
    } finally {
      this.#reading--;
      this.#queue.shift()?.();
    }
  }

  #buildPlan({ entries, hasher }: Builder, fileName: string, lastModifiedMs: number, accountId: number): ArchivePlan {
    const sizeBytes = archiveBytes(entries);
    const chunks = (start: number, end: number) => archiveChunks(entries, this.#source, start, end);
    return {
      fileName,
      sizeBytes,
      etag: `"${hasher.digest("hex")}"`,
      entries: entries.count,
      lastModifiedMs,
      accountId,
      chunks,
      stream: (start, end) => toStream(chunks(start, end), (error) => this.#logAbort(fileName, error)),
    };
  }

  /** The status was already sent, so the connection is closed and the reason is logged. */
  #logAbort(fileName: string, error: unknown): void {
    this.#options.log.error("Archive download aborted; could not read one of its files.", { fileName, error });
  }

  async #takeTurn(): Promise<void> {
    if (this.#reading >= READING_MAX) {
      if (this.#queue.length >= WAITING_MAX) {
        throw new AppError("overloaded", say`Too many archives are being prepared. Try again in a few seconds.`);
      }
      await new Promise<void>((resolve) => this.#queue.push(resolve));
    }
    this.#reading++;
  }

  #currentHeads(accountIds: readonly number[]): string {
    return accountIds.map((accountId) => `${accountId}:${this.#options.tree.headOf(accountId)}`).join(" ");
  }

  #cache(key: string, heads: string, plan: ArchivePlan): void {
    this.#cached.delete(key);
    this.#cached.set(key, { heads, plan });
    let entries = 0;
    for (const { plan: other } of this.#cached.values()) entries += other.entries + 1;
    for (const [oldest, { plan: other }] of this.#cached) {
      if (entries <= CACHED_ENTRIES_MAX) return;
      entries -= other.entries + 1;
      this.#cached.delete(oldest);
    }
  }
}

/** Builds the entries while walking the tree. */
class Builder {
  readonly entries = new Entries();
  /** Hash of everything that the bytes of the archive depend on. */
  readonly hasher = new Bun.CryptoHasher("sha256");
  /** Names used at the top level, and names replaced in the current folder. */
  readonly #topNames = new Set<string>();
  /** The last number of each name at the top level: ten thousand photos can have one name. */
  readonly #topNumbers = new Map<string, number>();
  #replaced: { readonly parent: number; readonly names: Set<string> } = { parent: -1, names: new Set() };

  add(node: WalkedNode, position: WalkPosition): number {
    const { entries, hasher } = this;
    if (entries.count >= ARCHIVE_ENTRIES_MAX) {
      throw new AppError(
        "invalid_request",
        say`An archive can contain at most ${ARCHIVE_ENTRIES_MAX} files and folders. Choose a smaller folder.`,
        { limit: ARCHIVE_ENTRIES_MAX },
      );
    }
    const isFolder = node.kind === 0;
    const number = entries.add({
      ...this.#locate(node, position, isFolder),
      isFolder,
      sizeBytes: isFolder ? 0 : node.sizeBytes,
      crc32: node.crc32 ?? 0,
      modifiedSeconds: toSeconds(node),
      digest: node.digest,
    });
    hasher.update(localHeader(entries.get(number)));
    if (!isFolder) hasher.update(entries.digestBytes(number));
    return number;
  }

  /** A folder whose path is too long to unpack moves to the top level, with `…` in front of its name. */
  #locate(node: WalkedNode, position: WalkPosition, isFolder: boolean): { parent: number; name: string } {
    const { parent } = position;
    const name = this.#nameOf(node, position);
    const isTooLong = isFolder && this.entries.pathBytes(parent) + Buffer.byteLength(name) > PATH_BYTES_MAX;
    return isTooLong ? { parent: -1, name: unusedName(`… ${name}`, this.#topNames, () => false) } : { parent, name };
  }

  #numberTop(name: string): string {
    const used = this.#topNames;
    let number = this.#topNumbers.get(name) ?? 0;
    let free = number === 0 ? name : numberedName(name, number);
    while (used.has(free)) free = numberedName(name, ++number);
    this.#topNumbers.set(name, number);
    used.add(free);
    return free;
  }

  #nameOf(node: WalkedNode, position: WalkPosition): string {
    const name = node.name === ROOT_PATH ? ROOT_NAME : node.name;
    const safe = safeName(name);
    if (position.parent < 0) return this.#numberTop(safe);
    if (safe === name) return name;
    if (this.#replaced.parent !== position.parent) this.#replaced = { parent: position.parent, names: new Set() };
    // A sibling with an unchanged name may have it: `hasSibling` finds only unchanged names.
    return unusedName(safe, this.#replaced.names, position.hasSibling);
  }
}

function unusedName(name: string, used: Set<string>, isTaken: (name: string) => boolean): string {
  let free = name;
  for (let number = 1; used.has(free) || isTaken(free); number++) free = numberedName(name, number);
  used.add(free);
  return free;
}

const SECONDS_MAX = 2 ** 31 - 1;

/** The modification time reported by the device, else that of the content. */
function toSeconds({ fileModifiedAt, contentAtMs, modifiedAtMs }: WalkedNode): number {
  const own = fileModifiedAt === null ? Number.NaN : Date.parse(fileModifiedAt);
  const ms = Number.isNaN(own) ? (contentAtMs ?? modifiedAtMs) : own;
  return Math.min(SECONDS_MAX, Math.max(-SECONDS_MAX, Math.floor(ms / 1_000)));
}

function archiveName(roots: readonly TreeNode[], name: string | undefined): string {
  const [first, second] = roots;
  if (first === undefined) throw notFound(say`The file or folder to archive was not found.`);
  const own = second === undefined && first.name !== ROOT_PATH ? first.name : ROOT_NAME;
  return name === undefined ? `${own}.zip` : zipName(name);
}

function zipName(name: string): string {
  const base = normalizeName(name);
  return base.toLowerCase().endsWith(".zip") ? base : `${base}.zip`;
}

/** Reads files from the store. Small files are read synchronously, which costs less than opening a stream. */
function contentSource(blobs: BlobStore): ContentSource {
  return {
    open({ digest, sizeBytes, offset, lengthBytes }) {
      const fetching = blobs.prepareRead(digest);
      if (fetching !== undefined) return fetching.then(() => blobs.open(digest, offset, lengthBytes));
      if (lengthBytes <= SMALL_BYTES_MAX) return blobs.readRange(digest, offset, lengthBytes);
      // Symbolic links are not followed. A different size means different content.
      if (blobs.stat(digest)?.sizeBytes !== sizeBytes) throw contentMissing(digest);
      return Bun.file(blobs.pathOf(digest))
        .slice(offset, offset + lengthBytes)
        .stream();
    },
  };
}

/** A stream of chunks produced on demand. An error while producing them ends it. */
function toStream(
  chunks: AsyncGenerator<Uint8Array, void, undefined>,
  onError: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = await chunks.next();
          if (next.done === true) controller.close();
          else controller.enqueue(next.value);
        } catch (error) {
          onError(error);
          controller.error(error);
        }
      },
      async cancel() {
        await chunks.return();
      },
    },
    { highWaterMark: 0 },
  );
}
