/**
 * Takes good copies of damaged and missing contents from wherever there are any: a backup, another data directory, an old
 * disk, a folder of plain files. Each is verified while it is copied, and put in place as an upload is; what was there is
 * kept in quarantine.
 */
import type { Database } from "bun:sqlite";
import * as fs from "node:fs";
import { join } from "node:path";
import type { BlobStore } from "../../../blobs/blob-store.ts";
import { type Digest, digestFromBytes } from "../../../blobs/digest.ts";
import { errorCode } from "../../../blobs/disk.ts";
import { BUFFER_BYTES } from "./hash-file.ts";
import type { Integrity } from "./service.ts";

/** What {@link heal} works with. */
export interface HealOptions {
  readonly sqlite: Database;
  readonly blobs: Pick<BlobStore, "begin" | "stat">;
  readonly integrity: Pick<Integrity, "note">;
  /** Directories to look in, in this order. */
  readonly from: readonly string[];
  /** Whether to look among all files there, by size and then by digest, whatever they are called. */
  readonly mustSearch: boolean;
  readonly onProgress: (done: number, of: number) => void;
}

/** A content that is not whole here. */
export interface Wanted {
  readonly digest: Digest;
  readonly sizeBytes: number;
}

/** What was done. */
export interface Healed {
  readonly healed: readonly (Wanted & { readonly from: string })[];
  /** Still not whole: nowhere was a good copy. */
  readonly missing: readonly Wanted[];
  /** Where a copy was that is not good either, or can't be read. */
  readonly bad: readonly string[];
}

/** Where a content lies in a data directory, a backup or a part of one, by its digest. */
const PLACES: readonly ((digest: Digest) => string)[] = [
  (digest) => join("blobs", "sha256", digest.slice(0, 2), digest.slice(2, 4), digest),
  (digest) => join("sha256", digest.slice(0, 2), digest.slice(2, 4), digest),
  (digest) => join(digest.slice(0, 2), digest.slice(2, 4), digest),
  (digest) => digest,
  (digest) => join("blobs", "quarantine", digest),
];

/**
 * Heals what can be healed. May be ended at any point and done again.
 * @throws AppError disk_full | storage_error | store_missing where the store itself can't be written
 */
export async function heal(options: HealOptions): Promise<Healed> {
  const wanted = await findUnhealthy(options);
  const places = new CandidateRoots(options, wanted);
  const healed: (Wanted & { from: string })[] = [];
  const missing: Wanted[] = [];
  for (const content of wanted) {
    const from = await places.bring(content);
    if (from === undefined) missing.push(content);
    else healed.push({ ...content, from });
    options.onProgress(healed.length + missing.length, wanted.length);
  }
  return { healed, missing, bad: places.bad };
}

/**
 * Contents that are not whole: by their last reading, or by the look of their files. What looks missing and was not known
 * to be is noted, so that what is put in place counts.
 */
async function findUnhealthy({ sqlite, blobs, integrity }: HealOptions): Promise<Wanted[]> {
  const rows = sqlite.query<{ digest: Uint8Array; sizeBytes: number; damagedAtMs: number | null }, []>(
    "SELECT digest, size_bytes AS sizeBytes, damaged_at AS damagedAtMs FROM blobs WHERE refs > 0 ORDER BY id",
  );
  const wanted: Wanted[] = [];
  for (const { sizeBytes, damagedAtMs, ...row } of rows.all()) {
    const digest = digestFromBytes(row.digest);
    const lying = blobs.stat(digest)?.sizeBytes;
    if (damagedAtMs === null && lying === sizeBytes) continue;
    wanted.push({ digest, sizeBytes });
    if (damagedAtMs !== null) continue;
    const kind = lying === undefined ? "missing" : "damaged";
    const detail = lying === undefined ? "the file is missing" : `it has ${lying} bytes instead of ${sizeBytes}`;
    await integrity.note([{ digest, fault: { kind, detail } }]);
  }
  return wanted;
}

/** The directories that copies are taken from. */
class CandidateRoots {
  readonly bad: string[] = [];
  readonly #options: HealOptions;
  /** Files of the sizes that are looked for, found by a walk through the directories. */
  readonly #bySize = new Map<number, string[]>();

  constructor(options: HealOptions, wanted: readonly Wanted[]) {
    this.#options = options;
    if (!options.mustSearch || wanted.length === 0) return;
    for (const { sizeBytes } of wanted) this.#bySize.set(sizeBytes, []);
    for (const folder of options.from) this.#walk(folder);
  }

  /** Puts a good copy in place. @returns where it was taken from; undefined where there is none */
  async bring(content: Wanted): Promise<string | undefined> {
    for (const path of this.#candidates(content)) {
      if (await this.#take(content, path)) return path;
    }
    return undefined;
  }

  *#candidates({ digest, sizeBytes }: Wanted): Generator<string> {
    for (const folder of this.#options.from) {
      for (const place of PLACES) {
        const path = join(folder, place(digest));
        if (sizeOf(path) === sizeBytes) yield path;
        else if (fs.existsSync(path)) this.bad.push(path);
      }
    }
    yield* this.#bySize.get(sizeBytes) ?? [];
  }

  async #take({ digest, sizeBytes }: Wanted, path: string): Promise<boolean> {
    const { blobs, integrity } = this.#options;
    const incoming = blobs.begin({ limitBytes: sizeBytes, tooLarge: () => new GrownError() });
    try {
      if (!(await readInto(path, incoming)) || incoming.digest() !== digest) {
        // Among files of any name another content of the same size is no fault.
        if (path.endsWith(digest)) this.bad.push(path);
        return false;
      }
      const held = await incoming.commit();
      try {
        await integrity.note([{ digest, fault: null }]);
      } finally {
        held.release(true);
      }
      return true;
    } finally {
      incoming.abort();
    }
  }

  #walk(folder: string): void {
    let entries: fs.Dirent[];
    try {
      entries = fs.readdirSync(folder, { withFileTypes: true });
    } catch (error) {
      if (errorCode(error) === undefined) throw error;
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

/** @returns false where the file can't be read to its end */
async function readInto(path: string, incoming: ReturnType<BlobStore["begin"]>): Promise<boolean> {
  let fd: number;
  try {
    fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return false;
  }
  const piece = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  try {
    for (;;) {
      let got: number;
      try {
        got = fs.readSync(fd, piece, 0, BUFFER_BYTES, null);
      } catch (error) {
        if (errorCode(error) === undefined) throw error;
        return false;
      }
      if (got === 0) return true;
      await incoming.write(piece.subarray(0, got));
    }
  } catch (error) {
    if (error instanceof GrownError) return false;
    throw error;
  } finally {
    fs.closeSync(fd);
  }
}

function sizeOf(path: string): number | undefined {
  try {
    const stats = fs.statSync(path, { throwIfNoEntry: false });
    return stats?.isFile() === true ? stats.size : undefined;
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
}
