/**
 * The photos and videos of an account by the time they were taken: from the metadata of cameras and phones, else when
 * the file was last changed, else when it was stored. Days are those of the place where a photo was taken, so that a
 * party at night stays on one day.
 */
import { toDigest } from "../../../blobs/digest.ts";
import { type Reader, rows } from "../../../db/reader.ts";
import { notFound } from "../../../errors.ts";
import { fold } from "../../../lib/path.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import { NEWEST } from "./cursor.ts";
import { daysInEarlierYears } from "./memories.ts";
import {
  type PhotoQuery,
  type PhotoRow,
  type PhotoRows,
  type PlaceRow,
  selectAmong,
  selectAspects,
  selectDays,
  selectOldestDay,
  selectPage,
  selectPlaces,
} from "./queries.ts";
import type { Photo, PhotoAspect, PhotoDay, PhotoFilter, PhotoMemory, PhotoPlace, PhotoPosition } from "./types.ts";

/** Dependencies of {@link PhotoService}. */
export interface PhotoServiceOptions {
  readonly rows: PhotoRows;
  readonly tree: Pick<TreeReader, "headOf" | "findFolderByPath" | "findByIds">;
  /** For queries whose order no index gives. */
  readonly reader: Reader;
  /** Whether metadata of recently added files is still to be read. */
  readonly isReadingMetadata: (accountId: number) => boolean;
  /** Whether the halves of Live Photos are still to be found. */
  readonly isPairing: () => boolean;
}

/** A page of the list. */
export interface PhotoPage {
  readonly photos: readonly Photo[];
  /** Where to continue; undefined at the end. */
  readonly next: PhotoPosition | undefined;
}

/** A page of shapes. */
export interface AspectPage {
  readonly photos: readonly PhotoAspect[];
  /** Where to continue; undefined at the end. */
  readonly next: PhotoPosition | undefined;
}

/** All days on which photos were taken. */
export interface PhotoTimeline {
  readonly days: readonly PhotoDay[];
  readonly total: number;
}

/** Cached timelines. */
const CACHED_MAX = 32;
/** Places of an account; more are not listed. */
const PLACES_MAX = 5_000;

interface CachedTimeline {
  readonly state: string;
  readonly timeline: PhotoTimeline;
}

/** Lists photos. */
export class PhotoService {
  readonly #options: PhotoServiceOptions;
  readonly #timelines = new Map<string, CachedTimeline>();
  readonly #gone = new Map<number, { readonly head: number; readonly hasGone: boolean }>();
  #revision = 0;

  constructor(options: PhotoServiceOptions) {
    this.#options = options;
  }

  /** Whether all files stored before this list are in it. */
  get isComplete(): boolean {
    return this.#options.rows.isBackfilled();
  }

  /** Whether recently added photos may still move to another day, because their metadata is not read yet. */
  isSettling(accountId: number): boolean {
    const { isReadingMetadata, isPairing, rows: table } = this.#options;
    return isReadingMetadata(accountId) || table.hasFilesToMove() || isPairing();
  }

  /** Called when dates changed without a change in any journal: metadata was read. */
  noteChanged(): void {
    this.#revision++;
  }

  /**
   * The photos after a position, newest first.
   * @throws AppError not_found if the folder does not exist | overloaded
   */
  async page(accountId: number, filter: PhotoFilter, after: PhotoPosition, limit: number): Promise<PhotoPage> {
    const query = this.#toQuery(accountId, filter);
    if (query === undefined) return { photos: [], next: undefined };
    const statement = selectPage(query, after, limit + 1);
    const found = isInOrder(query)
      ? this.#options.rows.page(statement)
      : (await this.#options.reader.read([rows<PhotoRow>(statement.sql, statement.parameters)]))[0];
    const photos = found.slice(0, limit).map(toPhoto);
    return { photos, next: found.length > limit ? photos.at(-1) : undefined };
  }

  /**
   * The shapes of the photos after a position, newest first.
   * @throws AppError not_found if the folder does not exist | overloaded
   */
  async aspects(accountId: number, filter: PhotoFilter, after: PhotoPosition, limit: number): Promise<AspectPage> {
    const query = this.#toQuery(accountId, filter);
    if (query === undefined) return { photos: [], next: undefined };
    const { sql, parameters } = selectAspects(query, after, limit + 1);
    const [found] = await this.#options.reader.read([rows<PhotoAspect>(sql, parameters)]);
    const photos = found.slice(0, limit);
    return { photos, next: found.length > limit ? photos.at(-1) : undefined };
  }

  /**
   * The photos of the same day in earlier years, latest year first.
   * @param day days since 1970
   * @param limit photos per year
   * @throws AppError overloaded
   */
  async memories(accountId: number, day: number, limit: number): Promise<readonly PhotoMemory[]> {
    const { reader } = this.#options;
    const oldest = selectOldestDay(accountId);
    const [[first]] = await reader.read([rows<{ day: number | null }>(oldest.sql, oldest.parameters)]);
    const days = first === undefined || first.day === null ? [] : daysInEarlierYears(day, first.day);
    const query = this.#toQuery(accountId, {});
    if (query === undefined || days.length === 0) return [];
    const counts = selectDays({ ...query, days });
    const [found] = await reader.read([rows<PhotoDay>(counts.sql, counts.parameters)]);
    const newest = found.map((one) => selectPage({ ...query, days: [one.day] }, NEWEST, limit));
    const pages = await reader.read(newest.map(({ sql, parameters }) => rows<PhotoRow>(sql, parameters)));
    return found.map((one, at) => ({ ...one, photos: (pages[at] ?? []).map(toPhoto) }));
  }

  /** The files of photos, by row id; deleted ones are left out. */
  files(photos: readonly Photo[]): ReadonlyMap<number, FileNode> {
    const nodes = this.#options.tree.findByIds(photos.map(({ nodeId }) => nodeId));
    return new Map(nodes.flatMap((node) => (node.kind === "file" ? [[node.id, node]] : [])));
  }

  /** Those of these files that are photos or videos of the list, by row id. Synchronous, for one page of files. */
  among(nodes: readonly { readonly id: number }[]): ReadonlyMap<number, Photo> {
    const found = this.#options.rows.page(selectAmong(nodes.map(({ id }) => id)));
    return new Map(found.map((row) => [row.nodeId, toPhoto(row)]));
  }

  /** The number of photos per day, newest first. @throws AppError not_found | overloaded */
  async timeline(accountId: number, filter: PhotoFilter): Promise<PhotoTimeline> {
    const query = this.#toQuery(accountId, filter);
    if (query === undefined) return { days: [], total: 0 };
    const key = JSON.stringify([accountId, filter]);
    const state = JSON.stringify([this.#options.tree.headOf(accountId), this.#revision, this.isComplete, query]);
    const cached = this.#timelines.get(key);
    if (cached?.state === state && this.isComplete) return cached.timeline;
    const { sql, parameters } = selectDays(query);
    const [days] = await this.#options.reader.read([rows<PhotoDay>(sql, parameters)]);
    const timeline = { days, total: days.reduce((total, { count }) => total + count, 0) };
    this.#timelines.delete(key);
    this.#timelines.set(key, { state, timeline });
    const [oldest] = this.#timelines.keys();
    if (this.#timelines.size > CACHED_MAX && oldest !== undefined) this.#timelines.delete(oldest);
    return timeline;
  }

  /** The places where photos were taken, most photos first. @throws AppError overloaded */
  async places(accountId: number): Promise<readonly PhotoPlace[]> {
    const { sql, parameters } = selectPlaces(accountId, this.#hasGone(accountId), PLACES_MAX);
    const [found] = await this.#options.reader.read([rows<PlaceRow>(sql, parameters)]);
    return found.map(({ publicId, mediaType, digest, ...place }) => ({
      ...place,
      cover: { publicId, mediaType, digest: toDigest(digest) },
    }));
  }

  /** @returns undefined if no file has one of the tags */
  #toQuery(accountId: number, { type, tags = [], folderPath, placeId }: PhotoFilter): PhotoQuery | undefined {
    const { rows: table, tree } = this.#options;
    const folder = folderPath === undefined ? undefined : tree.findFolderByPath(accountId, folderPath);
    if (folderPath !== undefined && folder === undefined) throw notFound(say`This folder was not found.`);
    const known = tags.flatMap((tag) => table.findTag(accountId, fold(tag)) ?? []);
    if (known.length < tags.length) return undefined;
    return {
      accountId,
      type,
      tags: known.toSorted((a, b) => a.count - b.count),
      folderId: folder?.id,
      placeId,
      hasGone: this.#hasGone(accountId),
    };
  }

  /** Cached until the tree of the account changes: a folder becomes unreachable only by a change. */
  #hasGone(accountId: number): boolean {
    const head = this.#options.tree.headOf(accountId);
    const cached = this.#gone.get(accountId);
    if (cached?.head === head) return cached.hasGone;
    const hasGone = this.#options.rows.hasGone(accountId);
    this.#gone.delete(accountId);
    this.#gone.set(accountId, { head, hasGone });
    const [oldest] = this.#gone.keys();
    if (this.#gone.size > CACHED_MAX && oldest !== undefined) this.#gone.delete(oldest);
    return hasGone;
  }
}

/** Whether an index gives the order of a page, so that only its rows are read. */
function isInOrder({ type, tags, folderId, hasGone }: PhotoQuery): boolean {
  return type === undefined && tags.length === 0 && folderId === undefined && !hasGone;
}

function toPhoto({ digest, isVideo, motionOffset, ...rest }: PhotoRow): Photo {
  const motion = rest.motionFileId !== null ? "pair" : motionOffset !== null ? "embedded" : null;
  return { ...rest, digest: toDigest(digest), isVideo: isVideo === 1, motion };
}
