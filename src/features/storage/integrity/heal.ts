/**
 * Replaces damaged and missing blobs by good copies from a backup, another data directory, an old disk or a folder of
 * plain files. Each copy is verified while it is read, and stored like an upload. Damaged bytes stay in quarantine.
 */
import type { Database } from "bun:sqlite";
import * as fs from "node:fs";
import { join } from "node:path";
import type { BlobStore } from "../../../blobs/blob-store.ts";
import { type Digest, digestFromBytes } from "../../../blobs/digest.ts";
import { BUFFER_BYTES } from "./hash-file.ts";
import type { Integrity } from "./service.ts";
import { errorCode } from "../../../lib/error.ts";

/** Dependencies of {@link heal}. */
interface HealOptions {
  readonly sqlite: Database;
  readonly blobs: Pick<BlobStore, "begin" | "stat">;
  readonly integrity: Pick<Integrity, "note">;
  /** Directories to search, in this order. */
  readonly from: readonly string[];
  /** Whether all files in the directories are compared, by size and then by digest, without regard to their names. */
  readonly mustSearch: boolean;
  readonly onProgress: (done: number, of: number) => void;
}

/** A damaged or missing blob. */
export interface UnhealthyBlob {
  readonly digest: Digest;
  readonly sizeBytes: number;
}

/** The result of {@link heal}. */
export interface HealResult {
  readonly healed: readonly (UnhealthyBlob & { readonly from: string })[];
  /** Blobs without a good copy. */
  readonly missing: readonly UnhealthyBlob[];
  /** Paths of copies that are damaged or can't be read. */
  readonly bad: readonly string[];
}

/** Path of a blob in a data directory, a backup or a part of one. */
const RELATIVE_PATHS: readonly ((digest: Digest) => string)[] = [
  (digest) => join("blobs", "sha256", digest.slice(0, 2), digest.slice(2, 4), digest),
  (digest) => join("sha256", digest.slice(0, 2), digest.slice(2, 4), digest),
  (digest) => join(digest.slice(0, 2), digest.slice(2, 4), digest),
  (digest) => digest,
  (digest) => join("blobs", "quarantine", digest),
];

/**
 * Heals all blobs that can be healed. It may be interrupted at any point and run again.
 * @throws AppError disk_full | storage_error | store_missing if the store itself can't be written
 */
export async function heal(options: HealOptions): Promise<HealResult> {
  const unhealthy = await findUnhealthy(options);
  const roots = new CandidateRoots(options, unhealthy);
  const healed: (UnhealthyBlob & { from: string })[] = [];
  const missing: UnhealthyBlob[] = [];
  for (const content of unhealthy) {
    const from = await roots.restore(content);
    if (from === undefined) missing.push(content);
    else healed.push({ ...content, from });
    options.onProgress(healed.length + missing.length, unhealthy.length);
  }
  return { healed, missing, bad: roots.bad };
}

/**
 * Finds blobs that were damaged when last read, or whose file is missing or has another size. The latter are noted as
 * damaged, so that the store accepts a replacement.
 */
async function findUnhealthy({ sqlite, blobs, integrity }: HealOptions): Promise<UnhealthyBlob[]> {
  const rows = sqlite.query<{ digest: Uint8Array; sizeBytes: number; damagedAtMs: number | null }, []>(
    "SELECT digest, size_bytes AS sizeBytes, damaged_at AS damagedAtMs FROM blobs WHERE refs > 0 ORDER BY id",
  );
  const unhealthy: UnhealthyBlob[] = [];
  for (const { sizeBytes, damagedAtMs, ...row } of rows.all()) {
    const digest = digestFromBytes(row.digest);
    const actualBytes = blobs.stat(digest)?.sizeBytes;
    if (damagedAtMs === null && actualBytes === sizeBytes) continue;
    unhealthy.push({ digest, sizeBytes });
    if (damagedAtMs !== null) continue;
    const kind = actualBytes === undefined ? "missing" : "damaged";
    const detail =
      actualBytes === undefined ? "the file is missing" : `it has ${actualBytes} bytes instead of ${sizeBytes}`;
    await integrity.note([{ digest, fault: { kind, detail } }]);
  }
  return unhealthy;
}

/** The directories that are searched for copies. */
class CandidateRoots {
  readonly bad: string[] = [];
  readonly #options: HealOptions;
  /** Files that have the size of an unhealthy blob. */
  readonly #bySize = new Map<number, string[]>();

  constructor(options: HealOptions, unhealthy: readonly UnhealthyBlob[]) {
    this.#options = options;
    if (!options.mustSearch || unhealthy.length === 0) return;
    for (const { sizeBytes } of unhealthy) this.#bySize.set(sizeBytes, []);
    for (const folder of options.from) this.#walk(folder);
  }

  /** Stores a good copy. @returns its path; undefined if there is none */
  async restore(content: UnhealthyBlob): Promise<string | undefined> {
    for (const path of this.#candidates(content)) {
      if (await this.#storeCopy(content, path)) return path;
    }
    return undefined;
  }

  *#candidates({ digest, sizeBytes }: UnhealthyBlob): Generator<string> {
    for (const folder of this.#options.from) {
      for (const pathOf of RELATIVE_PATHS) {
        const path = join(folder, pathOf(digest));
        if (sizeOf(path) === sizeBytes) yield path;
        else if (fs.existsSync(path)) this.bad.push(path);
      }
    }
    yield* this.#bySize.get(sizeBytes) ?? [];
  }

  async #storeCopy({ digest, sizeBytes }: UnhealthyBlob, path: string): Promise<boolean> {
    const { blobs, integrity } = this.#options;
    const writer = blobs.begin({ limitBytes: sizeBytes, tooLarge: () => new GrownError() });
    try {
      if (!(await readInto(path, writer)) || writer.digest() !== digest) {
        // A file with another name may have other content of the same size.
        if (path.endsWith(digest)) this.bad.push(path);
        return false;
      }
      const lease = await writer.commit();
      try {
        await integrity.note([{ digest, fault: null }]);
      } finally {
        lease.release(true);
      }
      return true;
    } finally {
      writer.abort();
    }
  }

  #walk(folder: string): void {
    const entries = unlessUnreadable(() => fs.readdirSync(folder, { withFileTypes: true }));
    if (entries === undefined) {
      this.bad.push(folder);
      return;
    }
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) this.#walk(path);
      else if (entry.isFile()) this.#bySize.get(sizeOf(path) ?? -1)?.push(path);
    }
  }
}

/** A file that grew while it was read. */
class GrownError extends Error {
  override readonly name = "GrownError";
}

/** @returns false if the file can't be read to its end */
async function readInto(path: string, writer: ReturnType<BlobStore["begin"]>): Promise<boolean> {
  const fd = unlessUnreadable(() => fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK));
  if (fd === undefined) return false;
  const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  try {
    for (;;) {
      const length = unlessUnreadable(() => fs.readSync(fd, buffer, 0, BUFFER_BYTES, null));
      if (length === undefined) return false;
      if (length === 0) return true;
      await writer.write(buffer.subarray(0, length));
    }
  } catch (error) {
    if (error instanceof GrownError) return false;
    throw error;
  } finally {
    fs.closeSync(fd);
  }
}

function sizeOf(path: string): number | undefined {
  const stats = unlessUnreadable(() => fs.statSync(path, { throwIfNoEntry: false }));
  return stats?.isFile() === true ? stats.size : undefined;
}

/** Calls the file system. @returns undefined if it reports an error */
function unlessUnreadable<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
}
