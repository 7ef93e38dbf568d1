/**
 * The blobs in the bucket, as the blob store reads them. During an outage requests fail immediately, and every few
 * seconds one tries the service again, so that no request waits for a service that is down.
 */
import { contentDamaged, contentMissing } from "../../../blobs/blob-store.ts";
import type { Digest } from "../../../blobs/digest.ts";
import type { RemoteStore } from "../../../blobs/remote.ts";
import type { S3Client } from "../../../blobs/s3/client.ts";
import { S3Error } from "../../../blobs/s3/error.ts";
import type { Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import { WriteBehind } from "../../../jobs/write-behind.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import { say } from "../../../translations/say.ts";
import type { Outage } from "./outage-watch.ts";
import type { RemoteRows } from "./queries.ts";

/** Dependencies of {@link RemoteContents}. */
interface RemoteContentsOptions {
  readonly client: S3Client;
  /** The prefix of the key of every object. */
  readonly prefix: string;
  readonly rows: RemoteRows;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
}

interface UnwrittenRows {
  readonly uses: Map<Digest, number>;
  readonly whole: Map<Digest, { readonly sizeBytes: number; readonly atMs: number }>;
}

/** Pause after a failure before the service is tried again. */
const DOWN_MS = 5_000;
/** Retry-After of responses during an outage. */
const RETRY_AFTER_S = 30;
/** Uses within this time count as one. */
const REUSE_MS = 60_000;
const USES_MAX = 100_000;

/** The prefix of the keys of all blobs. @param prefix the setting `s3.prefix` */
export function contentsFolder(prefix: string): string {
  return `${prefix}sha256/`;
}

/** The key of a blob's object in {@link contentsFolder}. */
export function objectKey(folder: string, digest: Digest): string {
  return `${folder}${digest.slice(0, 2)}/${digest.slice(2, 4)}/${digest}`;
}

/** Reads blobs of the bucket, and records which copies on this disk were used. */
export class RemoteContents implements RemoteStore {
  readonly #options: RemoteContentsOptions;
  readonly #writeBehind: WriteBehind<UnwrittenRows>;
  /** When copies on this disk were last used; may be newer than their rows. */
  readonly #used = new Map<Digest, number>();
  #uses = new Map<Digest, number>();
  #whole = new Map<Digest, { sizeBytes: number; atMs: number }>();
  #downUntilMs = 0;
  /** See {@link RemoteStore}; undefined while blobs are sent in the background. */
  sendNow: RemoteStore["sendNow"] = undefined;
  /** Called for each blob that got its committed row. Must not throw. */
  onStored: (digest: Digest, isNew: boolean) => void = () => {};
  /** Called for each object that looked damaged or missing when it was read. Must not throw. */
  onDoubt: (digest: Digest) => void = () => {};
  /** Called when the service works again. Must not throw. */
  onRecovered: () => void = () => {};
  #outage: Outage | undefined;
  #lastSuccessMs = performance.now();

  constructor(options: RemoteContentsOptions) {
    this.#options = options;
    const { writer, log, rows } = options;
    this.#writeBehind = new WriteBehind({
      writer,
      log,
      what: "access times of blobs",
      take: () => {
        const taken = { uses: this.#uses, whole: this.#whole };
        [this.#uses, this.#whole] = [new Map(), new Map()];
        return taken;
      },
      isWaiting: () => this.#uses.size > 0 || this.#whole.size > 0,
      write: ({ uses, whole }) => {
        for (const [digest, { sizeBytes, atMs }] of whole) rows.noteWhole(digest, sizeBytes, atMs);
        for (const [digest, atMs] of uses) rows.setUsed(digest, atMs);
      },
      giveBack: ({ uses, whole }) => {
        for (const [digest, atMs] of uses) if (!this.#uses.has(digest)) this.#uses.set(digest, atMs);
        for (const [digest, found] of whole) if (!this.#whole.has(digest)) this.#whole.set(digest, found);
      },
    });
  }

  /** Why the service could not be used when it was last tried, and since when; undefined if it could. */
  get outage(): Outage | undefined {
    return this.#outage;
  }

  /** Whether the service failed some seconds ago, so that requests fail without trying it again. */
  get isDown(): boolean {
    return performance.now() < this.#downUntilMs;
  }

  /** Milliseconds since the last successful request. */
  get silentMs(): number {
    return performance.now() - this.#lastSuccessMs;
  }

  find(digest: Digest): { readonly sizeBytes: number } | undefined {
    return this.#options.rows.find(digest);
  }

  /** The prefix of the keys of all blobs. */
  get folder(): string {
    return contentsFolder(this.#options.prefix);
  }

  /** The key of a blob's object. */
  keyOf(digest: Digest): string {
    return objectKey(this.folder, digest);
  }

  async isThere(digest: Digest): Promise<boolean> {
    const found = await this.#request(digest, () => this.#options.client.head(this.keyOf(digest)));
    if (found === undefined) this.onDoubt(digest);
    return found !== undefined;
  }

  async read(
    digest: Digest,
    offset: number,
    lengthBytes: number,
  ): Promise<AsyncGenerator<Uint8Array, void, undefined>> {
    const buffers = await this.#request(digest, () =>
      this.#options.client.get(this.keyOf(digest), offset, lengthBytes),
    );
    return this.#translated(digest, buffers);
  }

  noteUse(digest: Digest): void {
    const nowMs = this.#options.clock.nowMs();
    if (nowMs - (this.#used.get(digest) ?? 0) < REUSE_MS) return;
    if (this.#used.size >= USES_MAX) this.#used.clear();
    this.#used.set(digest, nowMs);
    this.#uses.set(digest, nowMs);
    this.#writeBehind.note();
  }

  noteMismatch(digest: Digest): void {
    this.onDoubt(digest);
  }

  noteStored(digest: Digest, isNew: boolean): void {
    this.onStored(digest, isNew);
  }

  noteVerified(digest: Digest, sizeBytes: number): void {
    this.#whole.set(digest, { sizeBytes, atMs: this.#options.clock.nowMs() });
    this.#writeBehind.note();
  }

  /** When this process last used the copy on this disk. */
  lastUseMs(digest: Digest): number {
    return this.#used.get(digest) ?? 0;
  }

  /** Records the state of the service. @param problem its error; undefined if it works */
  noteHealth(problem: string | undefined): void {
    const { log, clock } = this.#options;
    if (problem !== undefined && this.#outage === undefined) {
      log.error("Cannot use the bucket (s3); files stored only there cannot be read until it responds.", {
        problem,
      });
    }
    const isRecovered = problem === undefined && this.#outage !== undefined;
    if (problem === undefined) this.#lastSuccessMs = performance.now();
    this.#outage = problem === undefined ? undefined : { problem, sinceMs: this.#outage?.sinceMs ?? clock.nowMs() };
    this.#downUntilMs = problem === undefined ? 0 : performance.now() + DOWN_MS;
    if (!isRecovered) return;
    log.info("The bucket (s3) works again.");
    this.onRecovered();
  }

  /** Writes rows that are still in memory. */
  flush(): Promise<void> {
    return this.#writeBehind.flush();
  }

  async #request<T>(digest: Digest, request: () => Promise<T>): Promise<T> {
    if (this.isDown) throw unavailable();
    try {
      const response = await request();
      this.noteHealth(undefined);
      return response;
    } catch (error) {
      throw this.#translate(digest, error);
    }
  }

  async *#translated(digest: Digest, buffers: AsyncGenerator<Uint8Array, void, undefined>) {
    try {
      yield* buffers;
    } catch (error) {
      throw this.#translate(digest, error);
    }
  }

  #translate(digest: Digest, error: unknown): unknown {
    if (!(error instanceof S3Error)) return error;
    if (["absent", "damaged", "cut"].includes(error.problem)) {
      // The service works. Reading the object again shows whether it is at fault.
      this.onDoubt(digest);
      if (error.problem === "cut") return unavailable(error);
      return error.problem === "absent" ? contentMissing(digest) : contentDamaged(digest);
    }
    this.noteHealth(error.message);
    return unavailable(error);
  }
}

function unavailable(cause?: unknown): AppError {
  return new AppError(
    "provider_unavailable",
    say`This file is temporarily unavailable. Try again in a minute.`,
    { retryAfter: RETRY_AFTER_S },
    cause,
  );
}
