/**
 * The contents in the bucket, as the store reads them. An outage is told at once to whoever asks, and found out anew every
 * few seconds: nobody waits for a service that is known to be down.
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
import type { Outage } from "./outage-watch.ts";
import type { RemoteRows } from "./queries.ts";

/** What {@link RemoteContents} works with. */
export interface RemoteContentsOptions {
  readonly client: S3Client;
  /** What the key of every object begins with. */
  readonly prefix: string;
  readonly rows: RemoteRows;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
}

interface Pending {
  readonly uses: Map<Digest, number>;
  readonly whole: Map<Digest, { readonly sizeBytes: number; readonly atMs: number }>;
}

/** After a failure, so long it is not tried again for readers. */
const DOWN_MS = 5_000;
/** What a client is told to wait. */
const RETRY_AFTER_S = 30;
/** A use within so long after another is not worth a row. */
const REUSE_MS = 60_000;
const USES_MAX = 100_000;

/** What the keys of all contents begin with. @param prefix the setting `s3.prefix` */
export function contentsFolder(prefix: string): string {
  return `${prefix}sha256/`;
}

/** Reads contents of the bucket, and remembers which copies on this disk were used. */
export class RemoteContents implements RemoteStore {
  readonly #options: RemoteContentsOptions;
  readonly #behind: WriteBehind<Pending>;
  /** When copies on this disk were last used, as far as that may be newer than their rows. */
  readonly #used = new Map<Digest, number>();
  #uses = new Map<Digest, number>();
  #whole = new Map<Digest, { sizeBytes: number; atMs: number }>();
  #downUntilMs = 0;
  /** Called for each content that got its committed row. Must not throw. */
  onStored: (digest: Digest, isNew: boolean) => void = () => {};
  /** Called for each object that looked damaged or missing when it was read. Must not throw. */
  onDoubt: (digest: Digest) => void = () => {};
  /** Called when the service works again. Must not throw. */
  onRecovered: () => void = () => {};
  #outage: Outage | undefined;
  #heardAtMs = performance.now();

  constructor(options: RemoteContentsOptions) {
    this.#options = options;
    const { writer, log, rows } = options;
    this.#behind = new WriteBehind({
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
        for (const [digest, atMs] of uses) rows.use(digest, atMs);
      },
      giveBack: ({ uses, whole }) => {
        for (const [digest, atMs] of uses) if (!this.#uses.has(digest)) this.#uses.set(digest, atMs);
        for (const [digest, found] of whole) if (!this.#whole.has(digest)) this.#whole.set(digest, found);
      },
    });
  }

  /** Why the service could not be used when it was last tried, and since when; undefined where it could. */
  get outage(): Outage | undefined {
    return this.#outage;
  }

  /** Since when nobody has used the service with success, in milliseconds. */
  get silentMs(): number {
    return performance.now() - this.#heardAtMs;
  }

  find(digest: Digest): { readonly sizeBytes: number } | undefined {
    return this.#options.rows.find(digest);
  }

  /** What the keys of all contents begin with. */
  get folder(): string {
    return contentsFolder(this.#options.prefix);
  }

  /** Where a content lies in the bucket. */
  keyOf(digest: Digest): string {
    return `${this.folder}${digest.slice(0, 2)}/${digest.slice(2, 4)}/${digest}`;
  }

  async isThere(digest: Digest): Promise<boolean> {
    const found = await this.#ask(digest, () => this.#options.client.head(this.keyOf(digest)));
    if (found === undefined) this.onDoubt(digest);
    return found !== undefined;
  }

  async read(
    digest: Digest,
    offset: number,
    lengthBytes: number,
  ): Promise<AsyncGenerator<Uint8Array, void, undefined>> {
    const pieces = await this.#ask(digest, () => this.#options.client.get(this.keyOf(digest), offset, lengthBytes));
    return this.#translated(digest, pieces);
  }

  noteUse(digest: Digest): void {
    const nowMs = this.#options.clock.nowMs();
    if (nowMs - (this.#used.get(digest) ?? 0) < REUSE_MS) return;
    if (this.#used.size >= USES_MAX) this.#used.clear();
    this.#used.set(digest, nowMs);
    this.#uses.set(digest, nowMs);
    this.#behind.note();
  }

  noteMismatch(digest: Digest): void {
    this.onDoubt(digest);
  }

  noteStored(digest: Digest, isNew: boolean): void {
    this.onStored(digest, isNew);
  }

  noteVerified(digest: Digest, sizeBytes: number): void {
    this.#whole.set(digest, { sizeBytes, atMs: this.#options.clock.nowMs() });
    this.#behind.note();
  }

  /** When the copy here was used last, as far as this process knows it. */
  lastUseMs(digest: Digest): number {
    return this.#used.get(digest) ?? 0;
  }

  /** Notes how the service was found: what it said, or undefined where it works. */
  noteHealth(problem: string | undefined): void {
    const { log, clock } = this.#options;
    if (problem !== undefined && this.#outage === undefined) {
      log.error("Cannot use the bucket (s3); files stored only there cannot be read until it responds.", {
        problem,
      });
    }
    const isRecovered = problem === undefined && this.#outage !== undefined;
    if (problem === undefined) this.#heardAtMs = performance.now();
    this.#outage = problem === undefined ? undefined : { problem, sinceMs: this.#outage?.sinceMs ?? clock.nowMs() };
    this.#downUntilMs = problem === undefined ? 0 : performance.now() + DOWN_MS;
    if (!isRecovered) return;
    log.info("The bucket (s3) works again.");
    this.onRecovered();
  }

  /** Writes what waits in memory. */
  flush(): Promise<void> {
    return this.#behind.flush();
  }

  async #ask<T>(digest: Digest, question: () => Promise<T>): Promise<T> {
    if (performance.now() < this.#downUntilMs) throw unavailable();
    try {
      const answer = await question();
      this.noteHealth(undefined);
      return answer;
    } catch (error) {
      throw this.#translate(digest, error);
    }
  }

  async *#translated(digest: Digest, pieces: AsyncGenerator<Uint8Array, void, undefined>) {
    try {
      yield* pieces;
    } catch (error) {
      throw this.#translate(digest, error);
    }
  }

  #translate(digest: Digest, error: unknown): unknown {
    if (!(error instanceof S3Error)) return error;
    if (["absent", "damaged", "cut"].includes(error.problem)) {
      // The service works. Whether it is this object that is at fault shows when it is read again.
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
    "This file is temporarily unavailable. Try again in a minute.",
    { retryAfter: RETRY_AFTER_S },
    cause,
  );
}
