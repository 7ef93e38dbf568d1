/**
 * The pictures and films of an account by when they were taken: what cameras and phones tell, else when the file was last
 * changed, else when it came. Days are those of the place where it was taken, so that a party at night stays whole.
 */
import { toDigest } from "../../../blobs/digest.ts";
import { type Reader, rows } from "../../../db/reader.ts";
import { notFound } from "../../../errors.ts";
import { fold } from "../../../lib/path.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { type PhotoQuery, type PhotoRow, type PhotoRows, selectDays, selectPage } from "./queries.ts";
import type { Photo, PhotoDay, PhotoFilter, PhotoPosition } from "./types.ts";

/** What {@link PhotoService} works with. */
export interface PhotoServiceOptions {
  readonly rows: PhotoRows;
  readonly tree: Pick<TreeReader, "headOf" | "findFolderByPath" | "findByIds">;
  /** For what is not read in the order of an index. */
  readonly reader: Reader;
  /** Whether contents that came lately are still to be asked when they were taken. */
  readonly isAsking: (accountId: number) => boolean;
}

/** A piece of the list. */
export interface PhotoPage {
  readonly photos: readonly Photo[];
  /** Where to go on; undefined at the end. */
  readonly next: PhotoPosition | undefined;
}

/** All days on which photos were taken. */
export interface PhotoTimeline {
  readonly days: readonly PhotoDay[];
  readonly total: number;
}

/** Answers that are kept until something changes. */
const CACHED_MAX = 32;

interface CachedTimeline {
  readonly state: string;
  readonly timeline: PhotoTimeline;
}

/** See the head of this file. */
export class PhotoService {
  readonly #options: PhotoServiceOptions;
  readonly #timelines = new Map<string, CachedTimeline>();
  readonly #gone = new Map<number, { readonly head: number; readonly hasGone: boolean }>();
  #revision = 0;

  constructor(options: PhotoServiceOptions) {
    this.#options = options;
  }

  /** Whether all that was stored before there was this list is in it. */
  get isComplete(): boolean {
    return this.#options.rows.isFilled();
  }

  /** Whether what came lately may yet go to another day: its content was not asked so far when it was taken. */
  isSettling(accountId: number): boolean {
    return this.#options.isAsking(accountId) || this.#options.rows.hasFilesToMove();
  }

  /** To be told when photos changed without a change in any journal: a content told when it was taken. */
  noteChanged(): void {
    this.#revision++;
  }

  /**
   * Those behind a place, the newest first.
   * @throws AppError not_found for a folder that is not there | overloaded
   */
  async page(accountId: number, filter: PhotoFilter, after: PhotoPosition, limit: number): Promise<PhotoPage> {
    const question = this.#question(accountId, filter);
    if (question === undefined) return { photos: [], next: undefined };
    const wanted = selectPage(question, after, limit + 1);
    const found = isInOrder(question)
      ? this.#options.rows.page(wanted)
      : (await this.#options.reader.read([rows<PhotoRow>(wanted.sql, wanted.parameters)]))[0];
    const photos = found.slice(0, limit).map(toPhoto);
    return { photos, next: found.length > limit ? photos.at(-1) : undefined };
  }

  /** The files of photos, by row id; what is gone meanwhile is left out. */
  files(photos: readonly Photo[]): ReadonlyMap<number, FileNode> {
    const nodes = this.#options.tree.findByIds(photos.map(({ nodeId }) => nodeId));
    return new Map(nodes.flatMap((node) => (node.kind === "file" ? [[node.id, node]] : [])));
  }

  /** How many there are of each day, the newest first. @throws AppError not_found | overloaded */
  async timeline(accountId: number, filter: PhotoFilter): Promise<PhotoTimeline> {
    const question = this.#question(accountId, filter);
    if (question === undefined) return { days: [], total: 0 };
    const key = JSON.stringify([accountId, filter]);
    const state = JSON.stringify([this.#options.tree.headOf(accountId), this.#revision, this.isComplete, question]);
    const kept = this.#timelines.get(key);
    if (kept?.state === state && this.isComplete) return kept.timeline;
    const { sql, parameters } = selectDays(question);
    const [days] = await this.#options.reader.read([rows<PhotoDay>(sql, parameters)]);
    const timeline = { days, total: days.reduce((sum, { count }) => sum + count, 0) };
    this.#timelines.delete(key);
    this.#timelines.set(key, { state, timeline });
    const [oldest] = this.#timelines.keys();
    if (this.#timelines.size > CACHED_MAX && oldest !== undefined) this.#timelines.delete(oldest);
    return timeline;
  }

  /** @returns undefined where a label is asked for that nothing carries */
  #question(accountId: number, { type, tags = [], folderPath }: PhotoFilter): PhotoQuery | undefined {
    const { rows: table, tree } = this.#options;
    const folder = folderPath === undefined ? undefined : tree.findFolderByPath(accountId, folderPath);
    if (folderPath !== undefined && folder === undefined) throw notFound("This folder");
    const known = tags.flatMap((tag) => table.findTag(accountId, fold(tag)) ?? []);
    if (known.length < tags.length) return undefined;
    return {
      accountId,
      type,
      tags: known.toSorted((a, b) => a.count - b.count),
      folderId: folder?.id,
      hasGone: this.#hasGone(accountId),
    };
  }

  /** Kept until the account's tree changes: a folder goes with a change, and that one is apart at last costs nothing. */
  #hasGone(accountId: number): boolean {
    const head = this.#options.tree.headOf(accountId);
    const kept = this.#gone.get(accountId);
    if (kept?.head === head) return kept.hasGone;
    const hasGone = this.#options.rows.hasGone(accountId);
    this.#gone.delete(accountId);
    this.#gone.set(accountId, { head, hasGone });
    const [oldest] = this.#gone.keys();
    if (this.#gone.size > CACHED_MAX && oldest !== undefined) this.#gone.delete(oldest);
    return hasGone;
  }
}

/** Whether a page costs no more than the rows that are on it. */
function isInOrder({ type, tags, folderId, hasGone }: PhotoQuery): boolean {
  return type === undefined && tags.length === 0 && folderId === undefined && !hasGone;
}

function toPhoto({ digest, isVideo, ...rest }: PhotoRow): Photo {
  return { ...rest, digest: toDigest(digest), isVideo: isVideo === 1 };
}
