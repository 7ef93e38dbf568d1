/** The rows of `photos`, which triggers write (see the migration). */
import type { Database } from "bun:sqlite";
import type { Bindable } from "../../../db/reader.worker.ts";
import { WITH_GONE_FOLDERS } from "../../../tree/model/gone.ts";
import { ASPECT } from "../../media/metadata/aspect.ts";
import type { PhotoPlace, PhotoPosition, PhotoType } from "./types.ts";

/** A row of {@link selectPage}. */
export interface PhotoRow {
  readonly nodeId: number;
  readonly day: number;
  readonly takenAtMs: number;
  readonly offsetMinutes: number | null;
  readonly isVideo: number;
  readonly publicId: string;
  readonly name: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
  readonly digest: string;
  readonly width: number | null;
  readonly height: number | null;
  readonly durationMs: number | null;
  readonly motionOffset: number | null;
  readonly motionFileId: string | null;
}

/** Which photos to list, with ids instead of names. */
export interface PhotoQuery {
  readonly accountId: number;
  readonly type: PhotoType | undefined;
  /** Tags that a photo must have, rarest first. */
  readonly tags: readonly { readonly id: number; readonly count: number }[];
  readonly folderId: number | undefined;
  readonly placeId: number | undefined;
  /** Only these days. */
  readonly days?: readonly number[] | undefined;
  /** Whether the account has unreachable folders whose files still have rows. */
  readonly hasGone: boolean;
}

/** A statement and its parameters. */
export interface PhotoStatement {
  readonly sql: string;
  readonly parameters: readonly Bindable[];
}

/** A blob whose files after this one of this account are still to be moved to their dates. */
interface Rescan {
  readonly digest: Uint8Array;
  readonly accountId: number;
  readonly nodeId: number;
}

/** For a tag on more files than this, scanning the index in order is faster. */
const RARE_MAX = 20_000;

/** The columns of a photo, see {@link PhotoRow}. */
const COLUMNS = `p.node_id AS nodeId, p.day, p.taken_at AS takenAtMs, p.offset_minutes AS offsetMinutes,
  p.is_video AS isVideo, n.public_id AS publicId, n.name, n.media_type AS mediaType, n.size_bytes AS sizeBytes,
  lower(hex(b.digest)) AS digest, m.width, m.height, m.duration_ms AS durationMs, m.motion_offset AS motionOffset,
  (SELECT v.public_id FROM live_pairs l CROSS JOIN nodes v ON v.id = l.video_id
    WHERE l.photo_id = p.node_id AND l.hides_video = 1) AS motionFileId`;

/** Those of these nodes that are photos. By the primary key of `photos`. */
export function selectAmong(nodeIds: readonly number[]): PhotoStatement {
  return {
    sql: `SELECT ${COLUMNS} FROM json_each(?) j CROSS JOIN photos p ON p.node_id = j.value
      CROSS JOIN nodes n ON n.id = p.node_id CROSS JOIN blobs b ON b.id = n.blob_id
      LEFT JOIN media_info m ON m.digest = b.digest`,
    parameters: [JSON.stringify(nodeIds)],
  };
}

/** The photos after a position, newest first. Index photos_taken, or the files of a rare tag. */
export function selectPage(query: PhotoQuery, after: PhotoPosition, limit: number): PhotoStatement {
  const { sql, parameters, gone } = matching(query);
  return {
    sql: `${gone.sql} SELECT ${COLUMNS} ${fromPage(sql)}`,
    parameters: [...gone.parameters, ...parameters, after.day, after.takenAtMs, after.nodeId, limit],
  };
}

/** The shapes of the same photos as {@link selectPage}, clamped so that they are never 0. */
export function selectAspects(query: PhotoQuery, after: PhotoPosition, limit: number): PhotoStatement {
  const { sql, parameters, gone } = matching(query);
  return {
    sql: `${gone.sql} SELECT p.node_id AS nodeId, p.day, p.taken_at AS takenAtMs, ${ASPECT} AS aspect ${fromPage(sql)}`,
    parameters: [...gone.parameters, ...parameters, after.day, after.takenAtMs, after.nodeId, limit],
  };
}

/** The photos of a page, with their files and metadata. */
function fromPage(matching: string): string {
  return `FROM (SELECT p.* ${matching} AND (p.day, p.taken_at, p.node_id) < (?, ?, ?)
      ORDER BY p.day DESC, p.taken_at DESC, p.node_id DESC LIMIT ?) p
    CROSS JOIN nodes n ON n.id = p.node_id CROSS JOIN blobs b ON b.id = n.blob_id
    LEFT JOIN media_info m ON m.digest = b.digest
    ORDER BY p.day DESC, p.taken_at DESC, p.node_id DESC`;
}

/** The day of the oldest photo. One step in the index photos_taken. */
export function selectOldestDay(accountId: number): PhotoStatement {
  return { sql: "SELECT min(day) AS day FROM photos WHERE account_id = ?", parameters: [accountId] };
}

/** The number of photos per day, newest first. One scan of the index photos_taken. */
export function selectDays(query: PhotoQuery): PhotoStatement {
  const { sql, parameters, gone } = matching(query);
  return {
    sql: `${gone.sql} SELECT p.day, count(*) AS count ${sql} GROUP BY p.day ORDER BY p.day DESC`,
    parameters: [...gone.parameters, ...parameters],
  };
}

function matching({
  accountId,
  type,
  tags,
  folderId,
  placeId,
  days,
  hasGone,
}: PhotoQuery): PhotoStatement & { readonly gone: PhotoStatement } {
  const [rarest, ...others] = tags;
  const isRare = rarest !== undefined && rarest.count <= RARE_MAX;
  const walked = isRare ? others : tags;
  const conditions = [
    "p.account_id = ?",
    ...(type === undefined ? [] : [`p.is_video = ${type === "video" ? 1 : 0}`]),
    ...walked.map(() => "EXISTS (SELECT 1 FROM node_tags t WHERE t.tag_id = ? AND t.node_id = p.node_id)"),
    ...(folderId === undefined ? [] : [BELOW]),
    ...(placeId === undefined ? [] : ["p.place_id = ?"]),
    ...(days === undefined ? [] : [`p.day IN (${days.join(", ")})`]),
    ...(hasGone ? ["p.parent_id NOT IN (SELECT id FROM gone)"] : []),
  ];
  return {
    gone: hasGone ? { sql: WITH_GONE_FOLDERS, parameters: [accountId, accountId] } : { sql: "", parameters: [] },
    sql: `FROM ${
      isRare
        ? "node_tags r CROSS JOIN photos p ON r.tag_id = ? AND p.node_id = r.node_id"
        : `photos p INDEXED BY ${placeId === undefined ? "photos_taken" : "photos_place"}`
    } WHERE ${conditions.join(" AND ")}`,
    parameters: [
      ...(isRare ? [rarest.id] : []),
      accountId,
      ...walked.map(({ id }) => id),
      ...(folderId === undefined ? [] : [folderId]),
      ...(placeId === undefined ? [] : [placeId]),
    ],
  };
}

const BELOW = `p.parent_id IN (WITH RECURSIVE s(id) AS (SELECT ? UNION ALL
  SELECT c.id FROM s JOIN nodes c INDEXED BY nodes_name ON c.parent_id = s.id AND c.kind = 0) SELECT id FROM s)`;

/** A row of {@link selectPlaces}. */
export interface PlaceRow extends Omit<PhotoPlace, "cover"> {
  readonly publicId: string;
  readonly mediaType: string;
  readonly digest: string;
}

/** The places of an account, most photos first. One scan of the index photos_place. */
export function selectPlaces(accountId: number, hasGone: boolean, limit: number): PhotoStatement {
  return {
    sql: `${hasGone ? WITH_GONE_FOLDERS : ""} SELECT l.id, l.name, l.region, l.country, l.latitude, l.longitude, p.count,
        n.public_id AS publicId, n.media_type AS mediaType, lower(hex(b.digest)) AS digest
      FROM (SELECT p.place_id, count(*) AS count, max(p.taken_at), p.node_id FROM photos p INDEXED BY photos_place
        WHERE p.account_id = ? AND p.place_id IS NOT NULL ${hasGone ? "AND p.parent_id NOT IN (SELECT id FROM gone)" : ""}
        GROUP BY p.place_id ORDER BY count DESC, p.place_id LIMIT ?) p
      CROSS JOIN places l ON l.id = p.place_id CROSS JOIN nodes n ON n.id = p.node_id CROSS JOIN blobs b ON b.id = n.blob_id`,
    parameters: [...(hasGone ? [accountId, accountId] : []), accountId, limit],
  };
}

/** Queries on the writing connection. Changes run inside a transaction. */
export class PhotoRows {
  readonly #sqlite: Database;
  readonly #hasGone;
  readonly #tag;
  readonly #backfill;
  readonly #backfillSome;
  readonly #setProgress;
  readonly #nextRescan;
  readonly #nodesToRescan;
  readonly #move;
  readonly #continueRescan;
  readonly #dequeueRescan;

  constructor(sqlite: Database) {
    this.#sqlite = sqlite;
    this.#hasGone = sqlite.prepare<{ has: number }, [number]>(
      `${WITH_GONE_FOLDERS.replaceAll("?", "?1")} SELECT EXISTS (SELECT 1 FROM gone) AS has`,
    );
    this.#tag = sqlite.prepare<{ id: number; count: number }, [number, string]>(
      "SELECT id, count FROM tags WHERE account_id = ?1 AND key = ?2",
    );
    this.#backfill = sqlite.prepare<{ nextId: number; untilId: number }, []>(
      "SELECT next_id AS nextId, until_id AS untilId FROM photo_fill WHERE id = 1",
    );
    this.#backfillSome = sqlite.prepare<undefined, [number, number]>(
      "INSERT OR IGNORE INTO photos SELECT * FROM photo_sources WHERE node_id BETWEEN ?1 AND ?2",
    );
    this.#setProgress = sqlite.prepare<undefined, [number]>("UPDATE photo_fill SET next_id = ?1 WHERE id = 1");
    this.#nextRescan = sqlite.prepare<Rescan, []>(
      "SELECT digest, after_account_id AS accountId, after_node_id AS nodeId FROM photos_again LIMIT 1",
    );
    this.#nodesToRescan = sqlite.prepare<{ accountId: number; id: number }, [Uint8Array, number, number, number]>(
      `SELECT n.account_id AS accountId, n.id FROM blobs b CROSS JOIN nodes n INDEXED BY nodes_blob ON n.blob_id = b.id
       WHERE b.digest = ?1 AND (n.account_id, n.id) > (?2, ?3) ORDER BY n.account_id, n.id LIMIT ?4`,
    );
    this.#move = sqlite.prepare<undefined, [string]>(
      `INSERT OR REPLACE INTO photos
         SELECT s.* FROM json_each(?1) j CROSS JOIN photo_sources s ON s.node_id = j.value`,
    );
    this.#continueRescan = sqlite.prepare<undefined, [Uint8Array, number, number]>(
      "UPDATE photos_again SET after_account_id = ?2, after_node_id = ?3 WHERE digest = ?1",
    );
    this.#dequeueRescan = sqlite.prepare<undefined, [Uint8Array]>("DELETE FROM photos_again WHERE digest = ?1");
  }

  /** A page, read on the main thread; only if an index gives its order. */
  page({ sql, parameters }: PhotoStatement): PhotoRow[] {
    return this.#sqlite.query<PhotoRow, Bindable[]>(sql).all(...parameters);
  }

  /** Whether the account has unreachable folders whose nodes still have rows. */
  hasGone(accountId: number): boolean {
    return this.#hasGone.get(accountId)?.has === 1;
  }

  /** A tag of the account, by its key. */
  findTag(accountId: number, key: string): { readonly id: number; readonly count: number } | undefined {
    return this.#tag.get(accountId, key) ?? undefined;
  }

  /** Whether all files stored before this table are in it. */
  isBackfilled(): boolean {
    const backfill = this.#backfill.get();
    return backfill === null || backfill.nextId > backfill.untilId;
  }

  /** Indexes this many further ids of nodes stored before this table; inside a transaction. */
  backfillSome(ids: number): void {
    const backfill = this.#backfill.get();
    if (backfill === null || backfill.nextId > backfill.untilId) return;
    const lastId = Math.min(backfill.nextId + ids - 1, backfill.untilId);
    this.#backfillSome.run(backfill.nextId, lastId);
    this.#setProgress.run(lastId + 1);
  }
  /** Whether files remain to be moved to the dates that their metadata gave. */
  hasFilesToMove(): boolean {
    return this.#nextRescan.get() !== null;
  }

  /** Moves this many further files to their dates; inside a transaction. */
  moveSome(files: number): void {
    const rescan = this.#nextRescan.get();
    if (rescan === null) return;
    const nodes = this.#nodesToRescan.all(rescan.digest, rescan.accountId, rescan.nodeId, files);
    this.#move.run(JSON.stringify(nodes.map(({ id }) => id)));
    const last = nodes.at(files - 1);
    if (last === undefined) this.#dequeueRescan.run(rescan.digest);
    else this.#continueRescan.run(rescan.digest, last.accountId, last.id);
  }
}
