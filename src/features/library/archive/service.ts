/** Folders and selections as one ZIP. */
import type { BlobStore } from "../../../blobs/blob-store.ts";
import { contentMissing } from "../../../blobs/blob-store.ts";
import { AppError, notFound } from "../../../errors.ts";
import type { Log } from "../../../lib/log.ts";
import { normalizeName, ROOT_PATH } from "../../../lib/path.ts";
import { PATH_BYTES_MAX } from "../../../tree/tables/heights.ts";
import { numberedName } from "../../../tree/tables/names.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { TreeNode } from "../../../tree/model/types.ts";
import type { WalkedNode, WalkPosition } from "../../../tree/queries/walk.ts";
import { Entries } from "./entries.ts";
import { safeName } from "./entry-name.ts";
import { archiveBytes, archivePieces } from "./pieces.ts";
import type { ArchivePlan, ContentSource } from "./types.ts";
import { localHeader } from "./zip-format.ts";

/** What {@link ArchiveService} works with. */
export interface ArchiveServiceOptions {
  readonly tree: TreeReader;
  readonly blobs: BlobStore;
  readonly log: Log;
}

/** Files and folders that one archive holds at most; their listing is kept while it is sent (see `entries.ts`). */
export const ARCHIVE_ENTRIES_MAX = 1_000_000;
/** Listings that are read at the same time, and that may wait for their turn. */
const READING_MAX = 2;
const WAITING_MAX = 32;
/** Plans kept for those who come again for the rest: as many as have this many entries together. */
const CACHED_ENTRIES_MAX = 200_000;
/** Up to this size a content is read at once. */
const SMALL_BYTES_MAX = 64 * 1024;
/** The name of an account's top folder in an archive. */
const ROOT_NAME = "files";

/** Plans archives. What it reads of the tree it reads in one snapshot, off and on, so that nobody waits for it. */
export class ArchiveService {
  readonly #options: ArchiveServiceOptions;
  readonly #source: ContentSource;
  /** By what was asked for, while nothing in the accounts concerned has changed; the one asked for last at the end. */
  readonly #kept = new Map<string, { readonly heads: string; readonly plan: ArchivePlan }>();
  readonly #underWay = new Map<string, Promise<ArchivePlan>>();
  readonly #waiting: (() => void)[] = [];
  #reading = 0;

  constructor(options: ArchiveServiceOptions) {
    this.#options = options;
    this.#source = contentSource(options.blobs);
  }

  /**
   * The archive of these files and folders, each at its top under its own name; those of the same name are numbered.
   * Whether the caller may read them is decided before.
   * @param roots at least one, each once
   * @param name of the archive, without or with `.zip`; by default that of the one node, or `files`
   * @throws AppError not_found where one of them is gone; invalid_request where there is too much; overloaded
   */
  plan(roots: readonly TreeNode[], name?: string): Promise<ArchivePlan> {
    const fileName = archiveName(roots, name);
    const key = `${roots.map(({ id }) => id).join(" ")} ${fileName}`;
    const heads = this.#headsOf(roots);
    const kept = this.#kept.get(key);
    if (kept?.heads === heads) return Promise.resolve(kept.plan);
    // Downloads in several pieces at once ask for the same at the same time.
    const flight = `${heads} ${key}`;
    let planned = this.#underWay.get(flight);
    if (planned === undefined) {
      planned = this.#read(roots, fileName).finally(() => this.#underWay.delete(flight));
      this.#underWay.set(flight, planned);
      planned = planned.then((plan) => {
        this.#keep(key, heads, plan);
        return plan;
      });
    }
    return planned;
  }

  async #read(roots: readonly TreeNode[], fileName: string): Promise<ArchivePlan> {
    await this.#takeTurn();
    try {
      const { tree } = this.#options;
      const builder = new Builder();
      const lastModifiedMs = await tree.walk(
        roots.map(({ id }) => id),
        (node, place) => builder.add(node, place),
      );
      return this.#planOf(builder, fileName, lastModifiedMs, roots[0]?.accountId ?? 0);
    } finally {
      this.#reading--;
      this.#waiting.shift()?.();
    }
  }

  #planOf({ entries, hasher }: Builder, fileName: string, lastModifiedMs: number, accountId: number): ArchivePlan {
    const sizeBytes = archiveBytes(entries);
    const pieces = (start: number, end: number) => archivePieces(entries, this.#source, start, end);
    return {
      fileName,
      sizeBytes,
      etag: `"${hasher.digest("hex")}"`,
      entries: entries.count,
      lastModifiedMs,
      accountId,
      pieces,
      stream: (start, end) => streamOf(pieces(start, end), (error) => this.#broke(fileName, error)),
    };
  }

  /** The status is out: all that is left is to break the connection, and to say why where the operator looks. */
  #broke(fileName: string, error: unknown): void {
    this.#options.log.error("Archive download aborted; could not read one of its files.", { fileName, error });
  }

  async #takeTurn(): Promise<void> {
    if (this.#reading >= READING_MAX) {
      if (this.#waiting.length >= WAITING_MAX) {
        throw new AppError("overloaded", "Too many archives are being prepared. Try again in a few seconds.");
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#reading++;
  }

  #headsOf(roots: readonly TreeNode[]): string {
    const accounts = new Set(roots.map(({ accountId }) => accountId));
    return [...accounts].map((accountId) => `${accountId}:${this.#options.tree.headOf(accountId)}`).join(" ");
  }

  #keep(key: string, heads: string, plan: ArchivePlan): void {
    this.#kept.delete(key);
    this.#kept.set(key, { heads, plan });
    let entries = 0;
    for (const { plan: other } of this.#kept.values()) entries += other.entries + 1;
    for (const [oldest, { plan: other }] of this.#kept) {
      if (entries <= CACHED_ENTRIES_MAX) return;
      entries -= other.entries + 1;
      this.#kept.delete(oldest);
    }
  }
}

/** Makes entries of nodes as they are met. */
class Builder {
  readonly entries = new Entries();
  /** Over everything that the archive's bytes depend on. */
  readonly hasher = new Bun.CryptoHasher("sha256");
  /** Names given at the top, and those replaced in the folder that is being read. */
  readonly #topNames = new Set<string>();
  #replaced: { readonly parent: number; readonly names: Set<string> } = { parent: -1, names: new Set() };

  add(node: WalkedNode, place: WalkPosition): number {
    const { entries, hasher } = this;
    if (entries.count >= ARCHIVE_ENTRIES_MAX) {
      throw new AppError(
        "invalid_request",
        `An archive can contain at most ${ARCHIVE_ENTRIES_MAX} files and folders. Choose a smaller folder.`,
        { limit: ARCHIVE_ENTRIES_MAX },
      );
    }
    const isFolder = node.kind === 0;
    const number = entries.add({
      ...this.#placeOf(node, place, isFolder),
      isFolder,
      sizeBytes: isFolder ? 0 : node.sizeBytes,
      crc32: node.crc32 ?? 0,
      modifiedSeconds: secondsOf(node),
      digest: node.digest,
    });
    hasher.update(localHeader(entries.get(number)));
    if (!isFolder) hasher.update(entries.digestBytes(number));
    return number;
  }

  /** A folder whose path no system could unpack lies at the top, under a name that says so. */
  #placeOf(node: WalkedNode, place: WalkPosition, isFolder: boolean): { parent: number; name: string } {
    const { parent } = place;
    const name = this.#nameOf(node, place);
    const isTooLong = isFolder && this.entries.pathBytes(parent) + Buffer.byteLength(name) > PATH_BYTES_MAX;
    return isTooLong ? { parent: -1, name: unused(`… ${name}`, this.#topNames, () => false) } : { parent, name };
  }

  #nameOf(node: WalkedNode, place: WalkPosition): string {
    const name = node.name === ROOT_PATH ? ROOT_NAME : node.name;
    const safe = safeName(name);
    if (place.parent < 0) return unused(safe, this.#topNames, () => false);
    if (safe === name) return name;
    if (this.#replaced.parent !== place.parent) this.#replaced = { parent: place.parent, names: new Set() };
    // One that was left as it is may have it: only names that nobody replaces are found among the siblings.
    return unused(safe, this.#replaced.names, place.hasSibling);
  }
}

function unused(name: string, given: Set<string>, isTaken: (name: string) => boolean): string {
  let free = name;
  for (let number = 1; given.has(free) || isTaken(free); number++) free = numberedName(name, number);
  given.add(free);
  return free;
}

const SECONDS_MAX = 2 ** 31 - 1;

/** A file's own time where its device told it, else that of its content. */
function secondsOf({ fileModifiedAt, contentAtMs, modifiedAtMs }: WalkedNode): number {
  const own = fileModifiedAt === null ? Number.NaN : Date.parse(fileModifiedAt);
  const ms = Number.isNaN(own) ? (contentAtMs ?? modifiedAtMs) : own;
  return Math.min(SECONDS_MAX, Math.max(-SECONDS_MAX, Math.floor(ms / 1_000)));
}

function archiveName(roots: readonly TreeNode[], name: string | undefined): string {
  const [first, second] = roots;
  if (first === undefined) throw notFound("The file or folder to archive");
  const own = second === undefined && first.name !== ROOT_PATH ? first.name : ROOT_NAME;
  const wanted = name === undefined ? own : normalizeName(name);
  return wanted.toLowerCase().endsWith(".zip") && name !== undefined ? wanted : `${wanted}.zip`;
}

/** Contents of the store. Small ones are read in place, which costs less than opening a stream. */
function contentSource(blobs: BlobStore): ContentSource {
  return {
    open({ digest, sizeBytes, offset, lengthBytes }) {
      const reached = blobs.prepareRead(digest);
      if (reached !== undefined) return reached.then(() => blobs.open(digest, offset, lengthBytes));
      if (lengthBytes <= SMALL_BYTES_MAX) return blobs.readRange(digest, offset, lengthBytes);
      // A link is never followed, and what has another size has another content.
      if (blobs.stat(digest)?.sizeBytes !== sizeBytes) throw contentMissing(digest);
      return Bun.file(blobs.pathOf(digest))
        .slice(offset, offset + lengthBytes)
        .stream();
    },
  };
}

/** A stream of pieces that are made as they are taken; an error of theirs ends it as one. */
function streamOf(
  pieces: AsyncGenerator<Uint8Array, void, undefined>,
  onError: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = await pieces.next();
          if (next.done === true) controller.close();
          else controller.enqueue(next.value);
        } catch (error) {
          onError(error);
          controller.error(error);
        }
      },
      async cancel() {
        await pieces.return();
      },
    },
    { highWaterMark: 0 },
  );
}
