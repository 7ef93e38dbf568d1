/**
 * Pairs the photo and the video of a Live Photo. Both have the identifier that Apple's cameras write into them;
 * otherwise the same name in the same folder, and the same time. Triggers (see the migrations) queue files whose pair may
 * have changed, and hide the video of a pair from all lists of photos. A pair in two folders stays one while one of them
 * is in the trash, but hides nothing.
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
  readonly isApart: number;
  readonly hidesVideo: number;
}

/** An account whose pairs in two folders have to be checked again, after this photo. */
interface Recheck {
  readonly accountId: number;
  readonly afterId: number;
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
  readonly #recheck;
  readonly #apart;
  readonly #continueRecheck;
  readonly #endRecheck;
  readonly #dequeue;
  readonly #half;
  readonly #withContentId;
  readonly #named;
  readonly #pair;
  readonly #trashedVideo;
  readonly #videoOf;
  readonly #embedded;
  readonly #add;
  readonly #update;
  readonly #remove;
  readonly #isReachable;

  constructor(sqlite: Database) {
    this.#next = sqlite.prepare<{ id: number }, [number]>("SELECT node_id AS id FROM live_queue LIMIT ?1");
    this.#hasQueued = sqlite.prepare<{ has: number }, []>(
      "SELECT EXISTS (SELECT 1 FROM live_queue) OR EXISTS (SELECT 1 FROM live_rechecks) AS has",
    );
    this.#recheck = sqlite.prepare<Recheck, []>(
      "SELECT account_id AS accountId, after_photo_id AS afterId FROM live_rechecks LIMIT 1",
    );
    this.#apart = sqlite.prepare<{ id: number }, [number, number, number]>(
      `SELECT photo_id AS id FROM live_pairs INDEXED BY live_pairs_apart
       WHERE account_id = ?1 AND is_apart = 1 AND photo_id > ?2 ORDER BY photo_id LIMIT ?3`,
    );
    this.#continueRecheck = sqlite.prepare<undefined, [number, number]>(
      "UPDATE live_rechecks SET after_photo_id = ?2 WHERE account_id = ?1",
    );
    this.#endRecheck = sqlite.prepare<undefined, [number]>("DELETE FROM live_rechecks WHERE account_id = ?1");
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
      `SELECT photo_id AS photoId, video_id AS videoId, is_apart AS isApart, hides_video AS hidesVideo FROM live_pairs
       WHERE photo_id = ?1
       UNION ALL SELECT photo_id, video_id, is_apart, hides_video FROM live_pairs WHERE video_id = ?1`,
    );
    this.#trashedVideo = sqlite.prepare<{ fileId: string }, [string, number]>(
      `SELECT v.public_id AS fileId FROM nodes n CROSS JOIN live_pairs l ON l.photo_id = n.id
         CROSS JOIN nodes v ON v.id = l.video_id WHERE n.public_id = ?1 AND n.account_id = ?2 AND v.parent_id < 0`,
    );
    this.#videoOf = sqlite.prepare<{ fileId: string }, [number]>(
      `SELECT n.public_id AS fileId FROM live_pairs l CROSS JOIN nodes n ON n.id = l.video_id
       WHERE l.photo_id = ?1 AND l.hides_video = 1`,
    );
    this.#embedded = sqlite.prepare<{ offset: number; bytes: number }, [Uint8Array]>(
      `SELECT motion_offset AS offset, motion_bytes AS bytes FROM media_info
       WHERE digest = ?1 AND motion_offset IS NOT NULL AND motion_bytes IS NOT NULL`,
    );
    this.#add = sqlite.prepare<undefined, [number, number, number, number, number]>(
      `INSERT INTO live_pairs (photo_id, video_id, account_id, is_apart, hides_video) VALUES (?1, ?2, ?3, ?4, ?5)`,
    );
    this.#update = sqlite.prepare<undefined, [number, number, number]>(
      "UPDATE live_pairs SET is_apart = ?2, hides_video = ?3 WHERE photo_id = ?1",
    );
    this.#remove = sqlite.prepare<undefined, [number]>("DELETE FROM live_pairs WHERE photo_id = ?1");
    this.#isReachable = sqlite.prepare<{ is: number }, [number]>(
      `WITH RECURSIVE up(parent_id) AS (SELECT parent_id FROM nodes WHERE id = ?1
         UNION ALL SELECT n.parent_id FROM up JOIN nodes n ON n.id = up.parent_id)
       SELECT EXISTS (SELECT 1 FROM up JOIN nodes n ON n.id = up.parent_id WHERE n.parent_id IS NULL AND n.name = '/') AS "is"`,
    );
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
    const queued = this.#next.all(files);
    for (const { id } of queued) {
      // First: a pair that ends queues both files again.
      this.#dequeue.run(id);
      this.#check(id);
    }
    if (queued.length < files) this.#recheckSome(files - queued.length);
  }

  /** Checks the pairs in two folders of an account whose folders were deleted or restored. */
  #recheckSome(pairs: number): void {
    const recheck = this.#recheck.get();
    if (recheck === null) return;
    const { accountId, afterId } = recheck;
    const photos = this.#apart.all(accountId, afterId, pairs);
    for (const { id } of photos) this.#check(id);
    const last = photos.at(pairs - 1);
    if (last === undefined) this.#endRecheck.run(accountId);
    else this.#continueRecheck.run(accountId, last.id);
  }

  #check(id: number): void {
    const half = this.#half.get(id) ?? undefined;
    const pair = this.#pair.get(id) ?? undefined;
    if (pair === undefined) {
      const partner = half === undefined ? undefined : this.#findPartner(half);
      if (half !== undefined && partner !== undefined) this.#join(half, partner);
      return;
    }
    const other = this.#half.get(pair.photoId === id ? pair.videoId : pair.photoId) ?? undefined;
    if (half === undefined || other === undefined || !belongTogether(half, other)) {
      this.#remove.run(pair.photoId);
      return;
    }
    const isTogether = this.#areEquallyVisible(half, other);
    const visible = isTogether || !this.#isVisible(half) ? other : half;
    const better = isTogether ? undefined : this.#findPartner(visible);
    if (better !== undefined && this.#isVisible(better)) {
      this.#remove.run(pair.photoId);
      this.#join(visible, better);
      return;
    }
    const [isApart, hidesVideo] = [Number(half.folderId !== other.folderId), Number(isTogether)];
    if (isApart !== pair.isApart || hidesVideo !== pair.hidesVideo) this.#update.run(pair.photoId, isApart, hidesVideo);
  }

  /** Makes two halves a pair. A pair of theirs that hides nothing ends. */
  #join(half: Half, partner: Half): void {
    const former = this.#pair.get(partner.id);
    if (former !== null) this.#remove.run(former.photoId);
    const [photo, video] = half.isVideo === 1 ? [partner, half] : [half, partner];
    const isApart = photo.folderId !== video.folderId;
    this.#add.run(photo.id, video.id, photo.accountId, Number(isApart), Number(this.#areEquallyVisible(photo, video)));
  }

  /** The best partner that has none. Best is the same folder, then a file that is as visible. */
  #findPartner(half: Half): Half | undefined {
    const rank = (other: Half) => {
      if (other.folderId === half.folderId) return 0;
      return this.#areEquallyVisible(half, other) ? 1 : 2;
    };
    return this.#candidates(half)
      .filter((other) => belongTogether(half, other))
      .map((other) => ({ other, rank: rank(other), pair: this.#pair.get(other.id) }))
      .filter((found) => found.pair === null || (found.pair.hidesVideo === 0 && found.rank < 2))
      .toSorted((a, b) => a.rank - b.rank || a.other.id - b.other.id)
      .at(0)?.other;
  }

  /** Whether both halves can be seen, or neither. */
  #areEquallyVisible(one: Half, other: Half): boolean {
    return one.folderId === other.folderId || this.#isVisible(one) === this.#isVisible(other);
  }

  /** Whether neither the file nor a folder above it is deleted. */
  #isVisible({ id, isTrashed }: Half): boolean {
    return isTrashed === 0 && this.#isReachable.get(id)?.is === 1;
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
