/**
 * Pairs the photo and the video of a Live Photo. Both have the identifier that Apple's cameras write into them;
 * otherwise the same name in the same folder, and the same time. Triggers (see the migration) queue files whose pair may
 * have changed, and hide the video of a pair from all lists of photos.
 */
import type { Database } from "bun:sqlite";
import { type Digest, digestToBytes } from "../../../blobs/digest.ts";
import { fold } from "../../../lib/path.ts";

/** Videos of cameras without identifiers are at most this long. */
const VIDEO_MAX_MS = 6_000;
/** Between the times that a photo and its video state. */
const TIMES_APART_MAX_MS = 3_000;
const PHOTO_ENDINGS = ["heic", "heif", "jpg", "jpeg"];
const VIDEO_ENDINGS = ["mov", "mp4"];

/** A file that may be half of a pair. */
interface Half {
  readonly id: number;
  readonly accountId: number;
  /** Its folder; also while it is in the trash. */
  readonly folderId: number;
  readonly isTrashed: number;
  readonly name: string;
  readonly isVideo: number;
  readonly contentId: string | null;
  readonly durationMs: number | null;
  readonly takenAt: string | null;
}

/** Where the video of a photo is. */
export type LiveVideo = { readonly fileId: string } | { readonly offset: number; readonly bytes: number };

interface Pair {
  readonly photoId: number;
  readonly videoId: number;
}

const HALF = `SELECT n.id, n.account_id AS accountId, ifnull(t.parent_id, n.parent_id) AS folderId, n.parent_id < 0 AS isTrashed,
    n.name, n.media_type LIKE 'video/%' AS isVideo, m.content_id AS contentId, m.duration_ms AS durationMs,
    ifnull(n.captured_at, m.taken_at) AS takenAt
  FROM nodes n CROSS JOIN blobs b ON b.id = n.blob_id CROSS JOIN media_info m ON m.digest = b.digest AND m.failure IS NULL
  LEFT JOIN trash t ON t.node_id = n.id
  WHERE n.kind = 1 AND n.parent_id IS NOT NULL
    AND (n.media_type LIKE 'image/%' OR n.media_type LIKE 'video/%')`;

/** The rows of `live_pairs` and `live_queue`. Changes run inside a transaction. */
export class LivePairs {
  readonly #next;
  readonly #hasQueued;
  readonly #dequeue;
  readonly #half;
  readonly #withContentId;
  readonly #named;
  readonly #pair;
  readonly #trashedVideo;
  readonly #videoOf;
  readonly #embedded;
  readonly #add;
  readonly #remove;

  constructor(sqlite: Database) {
    this.#next = sqlite.prepare<{ id: number }, [number]>("SELECT node_id AS id FROM live_queue LIMIT ?1");
    this.#hasQueued = sqlite.prepare<{ has: number }, []>("SELECT EXISTS (SELECT 1 FROM live_queue) AS has");
    this.#dequeue = sqlite.prepare<undefined, [number]>("DELETE FROM live_queue WHERE node_id = ?1");
    this.#half = sqlite.prepare<Half, [number]>(`${HALF} AND n.id = ?1`);
    this.#withContentId = sqlite.prepare<{ id: number }, [string, number]>(
      `SELECT n.id FROM media_info m INDEXED BY media_info_content CROSS JOIN blobs b ON b.digest = m.digest
         CROSS JOIN nodes n INDEXED BY nodes_blob ON n.blob_id = b.id AND n.account_id = ?2
       WHERE m.content_id = ?1 LIMIT 100`,
    );
    this.#named = sqlite.prepare<{ id: number }, [number, string]>(
      `SELECT n.id FROM json_each(?2) j CROSS JOIN nodes n INDEXED BY nodes_name
         ON n.parent_id = ?1 AND n.kind = 1 AND n.sort_key = j.value LIMIT 100`,
    );
    this.#pair = sqlite.prepare<Pair, [number]>(
      `SELECT photo_id AS photoId, video_id AS videoId FROM live_pairs WHERE photo_id = ?1
       UNION ALL SELECT photo_id, video_id FROM live_pairs WHERE video_id = ?1`,
    );
    this.#trashedVideo = sqlite.prepare<{ fileId: string }, [string, number]>(
      `SELECT v.public_id AS fileId FROM nodes n CROSS JOIN live_pairs l ON l.photo_id = n.id
         CROSS JOIN nodes v ON v.id = l.video_id WHERE n.public_id = ?1 AND n.account_id = ?2 AND v.parent_id < 0`,
    );
    this.#videoOf = sqlite.prepare<{ fileId: string }, [number]>(
      "SELECT n.public_id AS fileId FROM live_pairs l CROSS JOIN nodes n ON n.id = l.video_id WHERE l.photo_id = ?1",
    );
    this.#embedded = sqlite.prepare<{ offset: number; bytes: number }, [Uint8Array]>(
      `SELECT motion_offset AS offset, motion_bytes AS bytes FROM media_info
       WHERE digest = ?1 AND motion_offset IS NOT NULL AND motion_bytes IS NOT NULL`,
    );
    this.#add = sqlite.prepare<undefined, [number, number]>(
      "INSERT INTO live_pairs (photo_id, video_id) VALUES (?1, ?2)",
    );
    this.#remove = sqlite.prepare<undefined, [number]>("DELETE FROM live_pairs WHERE photo_id = ?1");
  }

  /** The video of a photo: the API's id of its file, or its position in the photo's own. */
  findVideo({ id, digest }: { readonly id: number; readonly digest: Digest }): LiveVideo | undefined {
    const fileId = this.#videoOf.get(id)?.fileId;
    return fileId === undefined ? (this.#embedded.get(digestToBytes(digest)) ?? undefined) : { fileId };
  }

  /** The API's ids of files, and of the videos of those that are photos of the account, if they are in the trash. */
  withTrashedVideos(fileIds: readonly string[], accountId: number): string[] {
    const videosOf = (id: string) => this.#trashedVideo.all(id, accountId).map(({ fileId }) => fileId);
    return [...new Set(fileIds.flatMap((id) => [id, ...videosOf(id)]))];
  }

  /** Whether the pairs of some files still have to be looked for. */
  hasQueued(): boolean {
    return this.#hasQueued.get()?.has === 1;
  }

  /** Looks for the pairs of this many further files; inside a transaction. */
  pairSome(files: number): void {
    for (const { id } of this.#next.all(files)) {
      // First: a pair that ends queues both files again.
      this.#dequeue.run(id);
      this.#check(id);
    }
  }

  #check(id: number): void {
    const half = this.#half.get(id) ?? undefined;
    const pair = this.#pair.get(id) ?? undefined;
    if (pair !== undefined) {
      const other = this.#half.get(pair.photoId === id ? pair.videoId : pair.photoId) ?? undefined;
      if (half !== undefined && other !== undefined && belongTogether(half, other)) return;
      this.#remove.run(pair.photoId);
      return;
    }
    if (half === undefined) return;
    const partner = this.#candidates(half)
      .filter((other) => belongTogether(half, other) && this.#pair.get(other.id) === null)
      .toSorted((a, b) => Number(b.folderId === half.folderId) - Number(a.folderId === half.folderId) || a.id - b.id)
      .at(0);
    if (partner === undefined) return;
    const [photo, video] = half.isVideo === 1 ? [partner, half] : [half, partner];
    this.#add.run(photo.id, video.id);
  }

  #candidates(half: Half): Half[] {
    const named = half.isTrashed === 1 ? [] : this.#named.all(half.folderId, JSON.stringify(namesOfOther(half)));
    const identified = half.contentId === null ? [] : this.#withContentId.all(half.contentId, half.accountId);
    const ids = new Set([...identified, ...named].map(({ id }) => id));
    return [...ids].flatMap((id) => this.#half.get(id) ?? []);
  }
}

function belongTogether(one: Half, other: Half): boolean {
  if (one.isVideo === other.isVideo || one.accountId !== other.accountId) return false;
  if (one.isTrashed !== other.isTrashed) return false;
  if (one.contentId !== null && other.contentId !== null) return one.contentId === other.contentId;
  const [photo, video] = one.isVideo === 1 ? [other, one] : [one, other];
  return (
    photo.folderId === video.folderId &&
    namesOfOther(video).includes(fold(photo.name)) &&
    namesOfOther(photo).includes(fold(video.name)) &&
    video.durationMs !== null &&
    video.durationMs <= VIDEO_MAX_MS &&
    isSameTime(photo.takenAt, video.takenAt)
  );
}

/** The names that the other half of a pair may have, folded; none if this is no such file. */
function namesOfOther({ name, isVideo }: Half): string[] {
  const [, stem = "", ending = ""] = /^(.+)\.(\w+)$/s.exec(fold(name)) ?? [];
  const [own, others] = isVideo === 1 ? [VIDEO_ENDINGS, PHOTO_ENDINGS] : [PHOTO_ENDINGS, VIDEO_ENDINGS];
  return own.includes(ending) ? others.map((other) => `${stem}.${other}`) : [];
}

/** Compares moments, and local times: photos of some cameras state no offset, and their time is taken as UTC. */
function isSameTime(one: string | null, other: string | null): boolean {
  if (one === null || other === null) return false;
  return isNear(one, other) || isNear(`${one.slice(0, 19)}Z`, `${other.slice(0, 19)}Z`);
}

function isNear(one: string, other: string): boolean {
  return Math.abs(Date.parse(one) - Date.parse(other)) <= TIMES_APART_MAX_MS;
}
