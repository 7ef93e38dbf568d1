import { randomBytes } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DerivedStore } from "../../../../src/blobs/derived.ts";
import { type Digest, toDigest } from "../../../../src/blobs/digest.ts";
import { ThumbnailService } from "../../../../src/features/media/thumbnails/service.ts";
import type {
  FailureStore,
  ThumbnailConfig,
  ThumbnailServiceOptions,
} from "../../../../src/features/media/thumbnails/options.ts";
import { silentLog } from "../../../../src/lib/log.ts";

export const FIXTURES = join(import.meta.dir, "../../../fixtures/images");

const REAL_CHILD = [process.execPath, join(import.meta.dir, "child-entry.ts")];

/** The command of a misbehaving child (fake-child.ts). */
export function fakeChild(...args: string[]): string[] {
  return [process.execPath, join(import.meta.dir, "fake-child.ts"), ...args];
}

export interface Failure {
  digest: Digest;
  reason: string;
  program: string;
}

/** A thumbnail service in its own directory, with files stored by hand. Use with `await using`. */
export class Bench implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), "larder-thumbnails-"));
  readonly derived = new DerivedStore(join(this.directory, "thumbs"));
  readonly recorded: Failure[] = [];
  readonly service: ThumbnailService;

  constructor(options: Partial<Omit<ThumbnailServiceOptions, "config">> & { config?: Partial<ThumbnailConfig> } = {}) {
    mkdirSync(join(this.directory, "blobs"));
    const failures: FailureStore = {
      find: (digest) => this.recorded.findLast((failure) => failure.digest === digest),
      record: (digest, reason, program) => void this.recorded.push({ digest, reason, program }),
    };
    this.service = new ThumbnailService({
      blobs: { pathOf: (digest) => this.pathOf(digest), fetchLocal: () => undefined },
      derived: this.derived,
      failures,
      log: silentLog,
      childCommand: REAL_CHILD,
      environment: process.env,
      ...options,
      config: { concurrency: 2, timeoutMs: 30_000, memoryLimitBytes: 768 * 1024 * 1024, ...options.config },
    });
  }

  pathOf(digest: Digest): string {
    return join(this.directory, "blobs", digest);
  }

  /** Stores a fixture as a blob, under a name that is not its real digest, which nothing checks here. */
  add(fixture: string): Digest {
    const digest = toDigest(randomBytes(32).toString("hex"));
    copyFileSync(join(FIXTURES, fixture), this.pathOf(digest));
    return digest;
  }

  async addBytes(bytes: Uint8Array | string, hex = randomBytes(32).toString("hex")): Promise<Digest> {
    const digest = toDigest(hex);
    await Bun.write(this.pathOf(digest), bytes);
    return digest;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service.close();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Process ids of the thumbnail processes among this process's children. */
export function findChildren(): number[] {
  const listing = Bun.spawnSync(["ps", "-o", "pid=,args=", "--ppid", String(process.pid)]);
  return listing.stdout
    .toString()
    .split("\n")
    .filter((line) => line.includes("child-entry.ts") || line.includes("fake-child.ts"))
    .map((line) => Number.parseInt(line, 10));
}

/** Waits until a condition holds; fails after a minute. */
export async function until(condition: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + 60_000;
  while (!condition()) {
    if (performance.now() > deadlineMs) throw new Error("the condition never held");
    await Bun.sleep(10);
  }
}
