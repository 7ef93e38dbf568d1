/**
 * Makes the thumbnails of files that another process stored. Commands such as `larder import` write to the data directory
 * without thumbnails; only the server makes them.
 *
 * It follows the blobs by id: new blobs have higher ids. The cursor of the job is the last id whose thumbnails exist or
 * can't be made, so each blob is tried once, and a restart continues there. Thumbnails that are deleted later are made
 * on request.
 */
import type { Database } from "bun:sqlite";
import { stat } from "node:fs/promises";
import type { DerivedStore } from "../../../blobs/derived.ts";
import { type Digest, digestFromBytes } from "../../../blobs/digest.ts";
import type { JobContext } from "../../../jobs/scheduler.ts";
import { untilAborted } from "../../../net/until-aborted.ts";
import type { ThumbnailService } from "./service.ts";
import { SCHEDULED_VARIANTS } from "./sizes.ts";

/** Dependencies of {@link ThumbnailBackfill}. */
export interface ThumbnailBackfillOptions {
  readonly sqlite: Database;
  readonly thumbnails: Pick<ThumbnailService, "canRender" | "scheduleAndWait" | "status" | "waiting">;
  readonly derived: Pick<DerivedStore, "path">;
  /** Whether a blob is on this disk. A blob in the bucket is not fetched for its thumbnails. */
  readonly isLocal: (digest: Digest) => boolean;
  /** Whether the disk has more free space than uploads must leave. */
  readonly hasSpace: () => boolean;
}

/** A blob with the media type of one of its files; null if it is damaged, or if only versions refer to it. */
interface BlobRow {
  readonly id: number;
  readonly digest: Uint8Array;
  readonly mediaType: string | null;
}

/** A blob whose thumbnails have to be made. */
interface MissingThumbnails {
  readonly digest: Digest;
  readonly mediaType: string;
}

/** Shorter than the time between two runs. */
const RUN_MS_MAX = 240_000;
/** Blobs per query, and per change of the cursor. */
const BLOBS_PER_STEP = 256;
/** Blobs in the queue at a time: thumbnails of uploads wait for no more than these. */
const QUEUED_TOGETHER = 16;
/** With more waiting thumbnails of uploads, the rest is left to the next run. */
const WAITING_MAX = 64;

/** The work of the job `thumbnails`. */
export class ThumbnailBackfill {
  readonly #options: ThumbnailBackfillOptions;
  readonly #next;
  readonly #lastId;

  constructor(options: ThumbnailBackfillOptions) {
    this.#options = options;
    this.#next = options.sqlite.prepare<BlobRow, [number, number]>(
      `SELECT b.id, b.digest, (SELECT n.media_type FROM nodes n INDEXED BY nodes_blob
         WHERE n.blob_id = b.id AND b.damaged_at IS NULL LIMIT 1) AS mediaType
       FROM blobs b WHERE b.id > ?1 ORDER BY b.id LIMIT ?2`,
    );
    this.#lastId = options.sqlite.prepare<{ id: number }, []>("SELECT ifnull(max(id), 0) AS id FROM blobs");
  }

  /**
   * Makes missing thumbnails for some minutes. Does not wait for a rendering when the server stops.
   * @returns what was done, for the list of jobs
   * @throws the reason of the signal once it is aborted
   */
  async run({ signal, cursor, setCursor }: Pick<JobContext, "signal" | "cursor" | "setCursor">): Promise<string> {
    const { thumbnails } = this.#options;
    const untilMs = performance.now() + RUN_MS_MAX;
    const lastId = this.#lastId.get()?.id ?? 0;
    // After garbage collection removed the last blobs, new ones get their ids.
    let doneId = Math.min(Number(cursor ?? 0), lastId);
    if (cursor !== null && doneId < Number(cursor)) await setCursor(String(doneId));
    let made = 0;
    for (;;) {
      const rows = this.#next.all(doneId, BLOBS_PER_STEP);
      const last = rows.at(-1);
      if (last === undefined) return `${made} thumbnails created`;
      const missing = await this.#findMissing(rows);
      while (missing.length > 0) {
        const canMake =
          this.#mayContinue(untilMs) && (await untilAborted(thumbnails.status(), signal)).renderer !== "none";
        if (!canMake) return `${made} thumbnails created; the next run continues`;
        const results = await untilAborted(this.#make(missing.splice(0, QUEUED_TOGETHER)), signal);
        made += results.filter((isMade) => isMade).length;
      }
      signal.throwIfAborted();
      doneId = last.id;
      await setCursor(String(doneId));
      if (!this.#mayContinue(untilMs)) return `${made} thumbnails created; the next run continues`;
    }
  }

  #mayContinue(untilMs: number): boolean {
    const { thumbnails, hasSpace } = this.#options;
    return performance.now() < untilMs && thumbnails.waiting <= WAITING_MAX && hasSpace();
  }

  async #make(blobs: readonly MissingThumbnails[]): Promise<boolean[]> {
    const { thumbnails } = this.#options;
    return Promise.all(blobs.map(({ digest, mediaType }) => thumbnails.scheduleAndWait(digest, mediaType)));
  }

  /** The blobs that can have thumbnails, and of which one is missing. Searches `thumbs/` outside the main thread. */
  async #findMissing(rows: readonly BlobRow[]): Promise<MissingThumbnails[]> {
    const { thumbnails, derived, isLocal } = this.#options;
    const found = await Promise.all(
      rows.map(async ({ digest: bytes, mediaType }) => {
        if (mediaType === null || !thumbnails.canRender(mediaType)) return [];
        const digest = digestFromBytes(bytes);
        const exist = await Promise.all(SCHEDULED_VARIANTS.map((variant) => isThere(derived.path(digest, variant))));
        return exist.includes(false) && isLocal(digest) ? [{ digest, mediaType }] : [];
      }),
    );
    return found.flat();
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
