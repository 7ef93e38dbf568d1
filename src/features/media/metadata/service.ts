/**
 * Embedded metadata of photos, audio and videos, by content. It is read in the background: the search indexer finds
 * every new blob and adds it to a queue that survives restarts; one process reads one blob after another. Uploads do
 * not wait. A blob that crashes the process is not tried again by this version of the program.
 */
import { type Digest, digestFromBytes, digestToBytes } from "../../../blobs/digest.ts";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { BackgroundWork } from "../../../jobs/background-work.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { MediaRows, QueuedBlob } from "./queries.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { Town } from "../places/types.ts";
import { readLocation } from "./exif.ts";
import { hasMetadata, type MediaInfo, type MediaProcess, type MediaReading, NO_MEDIA_INFO } from "./types.ts";

/** Dependencies of {@link MediaInfoService}. */
export interface MediaInfoOptions {
  readonly rows: MediaRows;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  readonly process: Pick<MediaProcess, "request" | "close">;
  /** Path of a blob; undefined if it is not available. */
  readonly findPath: (digest: Digest) => Promise<string | undefined>;
  /** Whether a blob is on this disk. A blob in the bucket is not fetched only to be read again. */
  readonly isLocal: (digest: Digest) => boolean;
  /** Called in the transaction that stores the metadata of a blob. */
  readonly onRead: (tx: Transaction, digest: Uint8Array) => void;
  /** Called in a transaction that stores the places of files by the locations in their metadata. */
  readonly onLocated: (tx: Transaction) => void;
  /** Whether uploads are in progress: then reading waits up to {@link PATIENCE_MS}. */
  readonly isBusy: () => boolean;
  /** Failures are recorded for this version. */
  readonly program: string;
}

/** Attempts per blob that end with the process. */
const ATTEMPTS_MAX = 2;
const BUSY_REST_MS = 100;
const PATIENCE_MS = 2_000;
const SWEEP_ROWS = 1_000;
/** Blobs whose results share a commit. */
const READ_TOGETHER = 16;
/** Files whose places share a commit. */
const PLACED_TOGETHER = 64;
/** Blobs that an earlier version read, queued at a time: new ones wait for no more than these. */
const OUTDATED_TOGETHER = 64;
const NOTHING_READ: MediaReading = { info: NO_MEDIA_INFO, contentId: null, motion: null, place: null };

/** Reads and stores embedded metadata. */
export class MediaInfoService {
  readonly #options: MediaInfoOptions;
  readonly #reading: BackgroundWork;

  constructor(options: MediaInfoOptions) {
    this.#options = options;
    this.#reading = new BackgroundWork({
      log: options.log,
      what: "read the metadata of files",
      work: (stop) => this.#readAll(stop),
    });
  }

  /**
   * The metadata of a blob; undefined if it has none, or is not read yet. For a type without metadata no row is read,
   * as file info is requested often.
   */
  find(digest: Digest, mediaType: string): MediaInfo | undefined {
    return hasMetadata(mediaType) ? this.#options.rows.find(digestToBytes(digest)) : undefined;
  }

  /** The metadata of a file and, for its owner, the town: places are pages of the owner. Undefined for what is unknown. */
  describe(
    file: Pick<FileNode, "id" | "digest" | "mediaType" | "metadata">,
    isOwner: boolean,
  ): { media: MediaInfo | undefined; place: Town | undefined } {
    const { rows } = this.#options;
    const media = this.find(file.digest, file.mediaType);
    if (!isOwner) return { media, place: undefined };
    if (media !== undefined && media.latitude !== null) {
      return { media, place: rows.findPlace(digestToBytes(file.digest)) };
    }
    return { media, place: file.metadata["location"] === undefined ? undefined : rows.filePlaces.find(file.id) };
  }

  /** Whether blobs or places are still queued. */
  get hasPending(): boolean {
    const { rows } = this.#options;
    if (rows.hasQueued()) return true;
    const hasPlaces = rows.filePlaces.hasQueued();
    // A change of a location alone has no event: then the next request for photos starts the work.
    if (hasPlaces) this.#reading.wake();
    return hasPlaces;
  }

  /** Queues a blob if its type may have metadata. Inside a transaction. */
  enqueue(tx: Transaction, digest: Uint8Array, mediaType: string): void {
    if (!hasMetadata(mediaType)) return;
    this.#options.rows.enqueue(digest, mediaType);
    tx.afterCommit(() => this.#reading.wake());
  }

  /**
   * Continues with the queue, and retries blobs that another version of the program could not read. Only in the server.
   */
  async start(): Promise<void> {
    const { rows, writer, program } = this.#options;
    await writer.run(() => rows.enqueueFailures(program));
    this.#reading.start();
  }

  /** Stops; the current blob will be read again. */
  async stop(): Promise<void> {
    const stopped = this.#reading.stop();
    this.#options.process.close();
    await stopped;
  }

  /** Deletes the metadata of blobs that are no longer in the store. @returns how many */
  async sweep(signal: AbortSignal): Promise<number> {
    const { rows, writer } = this.#options;
    let removed = 0;
    for (let after: Uint8Array | undefined = new Uint8Array(); after !== undefined && !signal.aborted; ) {
      const from: Uint8Array = after;
      const step = await writer.run(() => rows.sweep(from, SWEEP_ROWS));
      removed += step.removed;
      after = step.next;
    }
    return removed;
  }

  /** Reads what is queued, then what an earlier version read, until nothing is left. */
  async #readAll(stop: AbortSignal): Promise<void> {
    const { rows, writer } = this.#options;
    do {
      await this.#readQueued(stop);
      await this.#findPlaces(stop);
    } while (!stop.aborted && (await writer.run(() => rows.enqueueOutdated(OUTDATED_TOGETHER))));
  }

  async #readQueued(stop: AbortSignal): Promise<void> {
    const { rows, isBusy } = this.#options;
    for (let some = rows.next(READ_TOGETHER); some.length > 0; some = rows.next(READ_TOGETHER)) {
      const results: ((tx: Transaction) => void)[] = [];
      for (const queued of some) {
        const sinceMs = performance.now();
        while (isBusy() && performance.now() - sinceMs < PATIENCE_MS && !stop.aborted) await Bun.sleep(BUSY_REST_MS);
        if (stop.aborted) return;
        results.push(await this.#readOne(queued));
      }
      if (stop.aborted) return;
      await this.#options.writer.run((tx) => {
        for (const store of results) store(tx);
      });
    }
  }

  /** Finds the towns of files by the locations in their metadata. */
  async #findPlaces(stop: AbortSignal): Promise<void> {
    const { rows, process, writer, onLocated } = this.#options;
    for (let some = rows.filePlaces.next(PLACED_TOGETHER); some.length > 0 && !stop.aborted; ) {
      const found: [nodeId: number, place: MediaReading["place"]][] = [];
      for (const { nodeId, location } of some) {
        const [latitude, longitude] =
          readLocation(location ?? "")
            ?.split(",")
            .map(Number) ?? [];
        if (latitude === undefined || longitude === undefined) {
          found.push([nodeId, null]);
          continue;
        }
        const result = await process.request({ known: { ...NO_MEDIA_INFO, latitude, longitude } });
        found.push([nodeId, "reply" in result ? result.reply.place : null]);
      }
      if (stop.aborted) return;
      await writer.run((tx) => {
        for (const [nodeId, place] of found) rows.filePlaces.put(nodeId, place);
        onLocated(tx);
      });
      some = rows.filePlaces.next(PLACED_TOGETHER);
    }
  }

  /** Reads the metadata of a blob. @returns a function that stores it, inside a transaction */
  async #readOne({ digest, attempts, mediaType }: QueuedBlob): Promise<(tx: Transaction) => void> {
    const { rows, clock, findPath, onRead, program, log } = this.#options;
    const known = rows.find(digest);
    const isAway = known !== undefined && !this.#options.isLocal(digestFromBytes(digest));
    const path = isAway ? undefined : await findPath(digestFromBytes(digest));
    if (mediaType === null || (path === undefined && !isAway)) return () => rows.skip(digest);
    const source = path === undefined ? { known: known ?? NO_MEDIA_INFO } : { path, mediaType };
    const result = await this.#options.process.request(source);
    if ("reason" in result && result.loss !== undefined && attempts + 1 < ATTEMPTS_MAX)
      return () => rows.countAttempt(digest);
    if ("reason" in result) log.debug("No embedded metadata.", { reason: result.reason });
    const [reading, failure] = "reply" in result ? [result.reply, null] : [NOTHING_READ, result.reason];
    return (tx) => {
      rows.put(digest, reading, failure, program, clock.nowMs());
      rows.dequeue(digest);
      if (failure === null) onRead(tx, digest);
    };
  }
}
