import type { Database } from "bun:sqlite";
import { FilePlaces } from "../places/file-places.ts";
import { ELSEWHERE_ID, type Town } from "../places/types.ts";
import { type MediaInfo, type MediaReading, READING_VERSION } from "./types.ts";

const COLUMNS = `width, height, orientation, duration_ms AS durationMs, taken_at AS takenAt, camera, latitude, longitude,
  codec, bitrate, title, artist, album`;

/** A blob in the queue. */
export interface QueuedBlob {
  readonly digest: Uint8Array;
  readonly attempts: number;
  /** The media type of a file with this content; null if no file has it any more. */
  readonly mediaType: string | null;
}

/** The rows of `media_info` and `media_queue`. Changes are made inside a transaction. */
export class MediaRows {
  /** The places of files whose metadata has a location. */
  readonly filePlaces: FilePlaces;
  readonly #sqlite: Database;
  readonly #find;
  readonly #enqueue;
  readonly #next;
  readonly #hasQueued;
  readonly #put;
  readonly #findPlace;
  readonly #enqueueOutdated;
  readonly #noteUnreadable;
  readonly #dequeue;
  readonly #countAttempt;

  constructor(sqlite: Database) {
    this.#sqlite = sqlite;
    this.filePlaces = new FilePlaces(sqlite);
    this.#find = sqlite.prepare<MediaInfo, [Uint8Array]>(
      `SELECT ${COLUMNS} FROM media_info WHERE digest = ?1 AND failure IS NULL`,
    );
    this.#enqueue = sqlite.prepare<undefined, [Uint8Array, string]>(
      "INSERT OR IGNORE INTO media_queue (digest, media_type) VALUES (?1, ?2)",
    );
    this.#next = sqlite.prepare<QueuedBlob, [number]>(
      `SELECT q.digest, q.attempts, ifnull(q.media_type, (SELECT n.media_type FROM blobs b CROSS JOIN nodes n INDEXED BY nodes_blob
         ON n.blob_id = b.id WHERE b.digest = q.digest LIMIT 1)) AS mediaType FROM media_queue q LIMIT ?1`,
    );
    this.#hasQueued = sqlite.prepare<{ has: number }, []>("SELECT EXISTS (SELECT 1 FROM media_queue) AS has");
    this.#put = sqlite.prepare<undefined, (Uint8Array | string | number | null)[]>(
      `INSERT OR REPLACE INTO media_info (digest, width, height, orientation, duration_ms, taken_at, camera, latitude,
         longitude, codec, bitrate, title, artist, album, failure, program, read_at, content_id, motion_offset,
         motion_bytes, place_id, reading)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)`,
    );
    this.#findPlace = sqlite.prepare<Town, [Uint8Array, number]>(
      `SELECT p.id, p.name, p.region, p.country, p.latitude, p.longitude FROM media_info m CROSS JOIN places p
         ON p.id = m.place_id WHERE m.digest = ?1 AND p.id <> ?2`,
    );
    this.#enqueueOutdated = sqlite.prepare<undefined, [number, number]>(
      `INSERT OR IGNORE INTO media_queue (digest) SELECT digest FROM media_info INDEXED BY media_info_reading
         WHERE reading < ?1 LIMIT ?2`,
    );
    this.#noteUnreadable = sqlite.prepare<undefined, [Uint8Array, number]>(
      "UPDATE media_info SET reading = ?2 WHERE digest = ?1",
    );
    this.#dequeue = sqlite.prepare<undefined, [Uint8Array]>("DELETE FROM media_queue WHERE digest = ?1");
    this.#countAttempt = sqlite.prepare<undefined, [Uint8Array]>(
      "UPDATE media_queue SET attempts = attempts + 1 WHERE digest = ?1",
    );
  }

  find(digest: Uint8Array): MediaInfo | undefined {
    return this.#find.get(digest) ?? undefined;
  }

  enqueue(digest: Uint8Array, mediaType: string): void {
    this.#enqueue.run(digest, mediaType);
  }

  /** Queues blobs again that another version of the program could not read. */
  enqueueFailures(program: string): void {
    this.#sqlite.run(
      "INSERT OR IGNORE INTO media_queue (digest) SELECT digest FROM media_info WHERE failure IS NOT NULL AND program <> ?1",
      [program],
    );
  }

  next(limit: number): QueuedBlob[] {
    return this.#next.all(limit);
  }

  hasQueued(): boolean {
    return this.#hasQueued.get()?.has === 1;
  }

  /** Counts an attempt that ended with the process. */
  countAttempt(digest: Uint8Array): void {
    this.#countAttempt.run(digest);
  }

  /** Removes a blob from the queue. */
  dequeue(digest: Uint8Array): void {
    this.#dequeue.run(digest);
  }

  /** The town where it was taken; undefined if unknown. */
  findPlace(digest: Uint8Array): Town | undefined {
    return this.#findPlace.get(digest, ELSEWHERE_ID) ?? undefined;
  }

  /** Queues some blobs that an earlier version of the reader read. @returns whether there were any */
  enqueueOutdated(limit: number): boolean {
    return this.#enqueueOutdated.run(READING_VERSION, limit).changes > 0;
  }

  /** Removes a blob that can't be read now from the queue; what is known of it stays. */
  skip(digest: Uint8Array): void {
    this.#noteUnreadable.run(digest, READING_VERSION);
    this.#dequeue.run(digest);
  }

  put(digest: Uint8Array, reading: MediaReading, failure: string | null, program: string, nowMs: number): void {
    const { info, contentId, motion, place } = reading;
    const placeId = place === null ? null : this.filePlaces.putTown(place);
    this.#put.run(
      digest,
      info.width,
      info.height,
      info.orientation,
      info.durationMs,
      info.takenAt,
      info.camera,
      info.latitude,
      info.longitude,
      info.codec,
      info.bitrate,
      info.title,
      info.artist,
      info.album,
      failure,
      program,
      nowMs,
      contentId,
      motion?.offset ?? null,
      motion?.bytes ?? null,
      placeId,
      READING_VERSION,
    );
  }

  /**
   * Deletes the metadata of blobs that are no longer in the store; reads `limit` rows.
   * @returns how many, and where to continue; undefined at the end
   */
  sweep(after: Uint8Array, limit: number): { removed: number; next: Uint8Array | undefined } {
    const rows = this.#sqlite
      .query<{ digest: Uint8Array; isAvailable: number }, [Uint8Array, number]>(
        `SELECT m.digest, EXISTS (SELECT 1 FROM blobs b WHERE b.digest = m.digest) AS isAvailable FROM media_info m
         WHERE m.digest > ?1 ORDER BY m.digest LIMIT ?2`,
      )
      .all(after, limit);
    const gone = rows.filter(({ isAvailable }) => isAvailable === 0);
    for (const { digest } of gone) this.#sqlite.run("DELETE FROM media_info WHERE digest = ?1", [digest]);
    return { removed: gone.length, next: rows.length < limit ? undefined : rows.at(-1)?.digest };
  }
}
