/**
 * Makes the thumbnails of files that another process stored. Commands such as `larder import` write to the data directory
 * without thumbnails; only the server makes them.
 *
 * It follows the blobs by id: new blobs have higher ids. The cursor of the job is the last blob whose thumbnails exist or
 * can't be made, so a restart continues there. Thumbnails that are deleted later are made on request, or after an upgrade
 * of Larder, which begins with the first blob again.
 */
import { stat } from "node:fs/promises";
import type { DerivedStore } from "../../../blobs/derived.ts";
import { type Digest, digestFromBytes } from "../../../blobs/digest.ts";
import { type Reader, rows } from "../../../db/reader.ts";
import type { JobContext } from "../../../jobs/scheduler.ts";
import { untilAborted } from "../../../net/until-aborted.ts";
import type { ThumbnailService } from "./service.ts";
import { SCHEDULED_VARIANTS } from "./sizes.ts";

/** Dependencies of {@link ThumbnailBackfill}. */
export interface ThumbnailBackfillOptions {
  readonly reader: Pick<Reader, "read">;
  readonly thumbnails: Pick<ThumbnailService, "canRender" | "make" | "program" | "status" | "waiting">;
  readonly derived: Pick<DerivedStore, "path">;
  /** Whether a blob is on this disk. A blob in the bucket is not fetched for its thumbnails. */
  readonly isLocal: (digest: Digest) => boolean;
  /** Whether the disk has enough free space for thumbnails. */
  readonly hasSpace: () => boolean;
}

/** A blob with the media types of some of its files, one per line; null if only versions refer to it. */
interface BlobRow {
  readonly id: number;
  readonly digest: Uint8Array;
  readonly mediaTypes: string | null;
}

/** A blob whose thumbnails have to be made. */
interface MissingThumbnails {
  readonly digest: Digest;
  readonly mediaType: string;
}

/** Where a run ended. */
interface Position {
  readonly id: number;
  /** Of the blob with this id. After garbage collection, a new blob can get the id of a removed one. */
  readonly digest: string;
  /** Another program, or one with ffmpeg, may make more thumbnails. */
  readonly program: string;
  readonly hasFfmpeg: boolean;
}

const RUN_MS_MAX = 240_000;
/** Blobs per query, and per change of the cursor. */
const BLOBS_PER_STEP = 256;
const MEDIA_TYPES_MAX = 8;
/** Blobs queued at once, so that thumbnails of uploads wait for at most these. */
const QUEUED_TOGETHER = 16;
/** If more thumbnails of uploads wait, the job stops until its next run. */
const WAITING_MAX = 64;
/** After this many failures in sequence, the cause is not the files. */
const FAILURES_MAX = 16;

/** The work of the job `thumbnails`. */
export class ThumbnailBackfill {
  readonly #options: ThumbnailBackfillOptions;

  constructor(options: ThumbnailBackfillOptions) {
    this.#options = options;
  }

  /**
   * Makes missing thumbnails for some minutes. Does not wait for a rendering when the server stops.
   * @returns what was done, for the list of jobs
   * @throws the reason of the signal once it is aborted
   * @throws Error if thumbnails can't be stored, for example on a read-only disk; the next run tries them again
   */
  async run({ signal, cursor, setCursor }: Pick<JobContext, "signal" | "cursor" | "setCursor">): Promise<string> {
    const { thumbnails } = this.#options;
    const untilMs = performance.now() + RUN_MS_MAX;
    const stored = parsePosition(cursor);
    let id = await this.#firstId(stored);
    let blobs = await this.#read(id);
    if (blobs.length === 0) return describe(0);
    const { renderer, ffmpeg: hasFfmpeg } = await untilAborted(thumbnails.status(), signal);
    if (renderer !== "sharp") return "the image library is not available";
    if (stored?.hasFfmpeg !== hasFfmpeg) blobs = await this.#read(0);
    let made = 0;
    let failures = 0;
    for (let last = blobs.at(-1); last !== undefined; last = blobs.at(-1)) {
      const missing = await this.#findMissing(blobs);
      while (missing.length > 0) {
        const obstacle = this.#findObstacle(untilMs);
        if (obstacle !== undefined) return made === 0 ? obstacle : `${describe(made)}; ${obstacle}`;
        const results = await untilAborted(this.#make(missing.splice(0, QUEUED_TOGETHER)), signal);
        const madeNow = results.filter((result) => result === "made").length;
        made += madeNow;
        failures = madeNow > 0 ? 0 : failures + results.filter((result) => result === "failed").length;
        if (failures >= FAILURES_MAX) throw failed(failures);
      }
      signal.throwIfAborted();
      ({ id } = last);
      const position: Position = { id, digest: digestFromBytes(last.digest), program: thumbnails.program, hasFfmpeg };
      if (failures === 0) await setCursor(JSON.stringify(position));
      blobs = await this.#read(id);
    }
    if (failures > 0) throw failed(failures);
    return describe(made);
  }

  /** The id after which blobs are to be checked. */
  async #firstId(stored: Position | undefined): Promise<number> {
    const { reader, thumbnails } = this.#options;
    if (stored === undefined || stored.program !== thumbnails.program) return 0;
    const [found] = await reader.read([
      rows<{ digest: Uint8Array }>("SELECT digest FROM blobs WHERE id = ?1", [stored.id]),
    ]);
    const [blob] = found;
    return blob !== undefined && digestFromBytes(blob.digest) === stored.digest ? stored.id : 0;
  }

  async #read(afterId: number): Promise<readonly BlobRow[]> {
    const [blobs] = await this.#options.reader.read([
      rows<BlobRow>(
        `SELECT b.id, b.digest, (SELECT group_concat(media_type, char(10)) FROM
           (SELECT n.media_type FROM nodes n INDEXED BY nodes_blob WHERE n.blob_id = b.id LIMIT ?2)) AS mediaTypes
         FROM blobs b WHERE b.id > ?1 AND b.damaged_at IS NULL ORDER BY b.id LIMIT ?3`,
        [afterId, MEDIA_TYPES_MAX, BLOBS_PER_STEP],
      ),
    ]);
    return blobs;
  }

  /** Why a run can't continue now, for the list of jobs. */
  #findObstacle(untilMs: number): string | undefined {
    const { thumbnails, hasSpace } = this.#options;
    if (!hasSpace()) return "waiting for free disk space";
    return performance.now() >= untilMs || thumbnails.waiting > WAITING_MAX ? "the next run continues" : undefined;
  }

  async #make(blobs: readonly MissingThumbnails[]) {
    return Promise.all(blobs.map(({ digest, mediaType }) => this.#options.thumbnails.make(digest, mediaType)));
  }

  /** The blobs that can have thumbnails but lack one. Searches `thumbs/` outside the main thread. */
  async #findMissing(blobs: readonly BlobRow[]): Promise<MissingThumbnails[]> {
    const { thumbnails, derived, isLocal } = this.#options;
    const found = await Promise.all(
      blobs.map(async ({ digest: bytes, mediaTypes }) => {
        const mediaType = mediaTypes?.split("\n").find((each) => thumbnails.canRender(each));
        if (mediaType === undefined) return [];
        const digest = digestFromBytes(bytes);
        const exist = await Promise.all(SCHEDULED_VARIANTS.map((variant) => isThere(derived.path(digest, variant))));
        return exist.includes(false) && isLocal(digest) ? [{ digest, mediaType }] : [];
      }),
    );
    return found.flat();
  }
}

function describe(made: number): string {
  return `${made} files with new thumbnails`;
}

function parsePosition(cursor: string | null): Position | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only this job writes it
  return cursor === null ? undefined : (JSON.parse(cursor) as Position);
}

function failed(count: number): Error {
  const files = count === 1 ? "1 file" : `${count} files`;
  return new Error(`No thumbnails could be created of ${files}. The log has the reasons. The next run tries again.`);
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
