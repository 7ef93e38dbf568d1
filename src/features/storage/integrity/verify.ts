/**
 * Verifies a data directory: each blob against its digest, and each row against the rules of the database. It only
 * reads, so it also works next to a running server, and on a copy, a backup or a read-only disk.
 */
import type { Database } from "bun:sqlite";
import { join } from "node:path";
import { type Digest, digestFromBytes, digestToBytes } from "../../../blobs/digest.ts";
import { Layout } from "../../../blobs/layout.ts";
import { openReadOnly } from "../../../db/open.ts";
import { Reader } from "../../../db/reader.ts";
import { isDamage } from "../../../db/transaction.ts";
import type { Log } from "../../../lib/log.ts";
import { recountAccount, recountBlobs } from "../../../tree/queries/recount.ts";
import { wrongKeys } from "../../../tree/tables/natural-keys.ts";
import type { ContentFault } from "./hash-file.ts";
import { HashReader } from "./hash-reader.ts";
import { namesIn, type OrphanedFiles } from "./orphaned-files.ts";
import { ContentUses, type UsingFile } from "./uses.ts";

/** Options of {@link verify}. */
export interface VerifyOptions {
  /** The database, with its write-ahead log next to it if another process uses it. */
  readonly databasePath: string;
  /** The data directory whose `blobs/` is read. */
  readonly root: string;
  /** Compares only the sizes of blobs. */
  readonly isQuick: boolean;
  /** Runs at low priority, because a server uses the same data. */
  readonly isModest: boolean;
  readonly log: Log;
  readonly onProgress: (progress: VerifyProgress) => void;
  /** Faults of blobs that only the bucket has, if the bucket was read. */
  readonly bucketFaults?: ReadonlyMap<Digest, ContentFault> | undefined;
  /** Called after each batch with the results of reading its blobs. */
  readonly onRead?: (
    read: readonly { readonly digest: Digest; readonly fault: ContentFault | null }[],
  ) => Promise<void>;
}

/** Progress of {@link verify}. */
interface VerifyProgress {
  readonly contents: number;
  readonly ofContents: number;
  readonly bytes: number;
  readonly ofBytes: number;
}

/** A damaged or missing blob. */
export interface FaultyContent extends ContentFault {
  readonly digest: Digest;
  readonly sizeBytes: number;
  /** Some of the files that use it. */
  readonly files: readonly UsingFile[];
}

/** The result of {@link verify}. */
export interface Verification {
  readonly contents: number;
  readonly bytes: number;
  /** The first {@link FAULTS_MAX} of them. */
  readonly faults: readonly FaultyContent[];
  readonly faultsTotal: number;
  /** Descriptions of problems of the database, with ids. */
  readonly problems: readonly string[];
  /** Blobs that are only in the bucket. */
  readonly elsewhere: number;
  /** Files without a row: no fault, garbage collection removes them. */
  readonly unlisted: { readonly contents: number; readonly bytes: number };
  /** Files in the store that are no blobs. */
  readonly foreign: number;
  readonly seconds: number;
}

/** Faulty blobs that are listed. */
const FAULTS_MAX = 10_000;
/** Wrong sort keys that are listed. */
const WRONG_KEYS_MAX = 100;

interface ContentRow {
  readonly id: number;
  readonly digest: Digest;
  readonly sizeBytes: number;
  /** Whether the bucket has the blob. */
  readonly isElsewhere: boolean;
  /** Whether the last reading found it damaged or missing. */
  readonly isDamaged: boolean;
}

/** A blob without a copy on this disk, whose object was damaged when it was last read. */
const DAMAGED_IN_BUCKET: ContentFault = { kind: "damaged", detail: "its bucket object is damaged" };
const FILES_MAX = 10;
const BATCH_CONTENTS = 200;
const BATCH_BYTES = 64 * 1024 * 1024;
/** Of 256 folders; opening the database for each one would take longer than the search. */
const BATCH_FOLDERS = 16;
/** While one thread waits for the disk, the other one computes. */
const THREADS = 2;
/** Batches for each thread: one is read while the other is listed or recorded. */
const BATCHES_PER_THREAD = 2;

/** Verifies a data directory. @throws Error if nothing can be read; SQLiteError if the database can't be read */
export async function verify(options: VerifyOptions): Promise<Verification> {
  const startedMs = performance.now();
  const { databasePath, isQuick, isModest } = options;
  const db = openReadOnly(databasePath);
  const readers = Array.from({ length: THREADS }, () => new HashReader({ isQuick, isModest }));
  const checker = new HashReader({ isModest });
  const close = () => {
    for (const reader of [...readers, checker]) reader.close();
  };
  try {
    const contents = new ContentVerifier(db.sqlite, options);
    let unlisted: OrphanedFiles = { contents: 0, bytes: 0, foreign: 0 };
    const found = await waitForAll(
      [
        tolerant("rows", () => findProblems(db.sqlite, checker, options)),
        tolerant("all contents", () => contents.run(readers)),
      ],
      () => {
        contents.end();
        close();
      },
    );
    // Last: reading the blobs has loaded the folders into memory.
    const afterwards = await tolerant("unused files in the store", async () => {
      unlisted = await sumOrphanedFiles(readers, options);
    });
    const { foreign, ...lying } = unlisted;
    const problems = [...found, afterwards].flat();
    const seconds = (performance.now() - startedMs) / 1_000;
    return { ...contents.result(), problems, unlisted: lying, foreign, seconds };
  } finally {
    close();
    db.close();
  }
}

/**
 * Checks a part. A part that can't be checked in a damaged database is one more problem, and the rest is checked all
 * the same.
 */
async function tolerant(what: string, check: () => Promise<readonly string[] | void>): Promise<readonly string[]> {
  try {
    return (await check()) ?? [];
  } catch (error) {
    if (!isDamage(error)) throw error;
    return [`${what} could not be verified: ${String(error)}`];
  }
}

/** Waits for all tasks. When one fails, ends the others before it throws, so that none uses closed readers. */
async function waitForAll<Result>(tasks: readonly Promise<Result>[], end: () => void): Promise<Result[]> {
  try {
    return await Promise.all(tasks);
  } catch (error) {
    end();
    await Promise.allSettled(tasks);
    throw error;
  }
}

async function findProblems(
  sqlite: Database,
  checker: HashReader,
  { databasePath, log }: VerifyOptions,
): Promise<readonly string[]> {
  const structure = await checker.checkStructure(databasePath);
  // Counting in a damaged structure would report the same damage many times.
  if (structure.length > 0) return structure;
  const reader = new Reader(databasePath, log);
  try {
    const drifts = await recountBlobs(reader);
    const accounts = sqlite.query<{ id: number }, []>("SELECT id FROM accounts WHERE root_id > 0").all();
    for (const { id } of accounts) drifts.push(...(await recountAccount(reader, id)));
    const counted = drifts.map(
      (drift) => `the counter ${drift.counter} of ${drift.of} is ${drift.stored}, but should be ${drift.counted}`,
    );
    return [...(await checker.checkRules(databasePath)), ...counted, ...(await findWrongKeys(reader))];
  } finally {
    reader.close();
  }
}

/** The first nodes whose stored sort key is wrong. */
async function findWrongKeys(reader: Reader): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const ids of wrongKeys(reader)) {
    found.push(...ids.map((id) => `the key that sorts the name of node ${id} is wrong`));
    if (found.length >= WRONG_KEYS_MAX) return found.slice(0, WRONG_KEYS_MAX);
  }
  return found;
}

/** Reads all blobs with references, in the order of their creation, which is nearly their order on disk. */
class ContentVerifier {
  readonly #options: VerifyOptions;
  readonly #layout: Layout;
  readonly #uses: ContentUses;
  readonly #list;
  readonly #isNamed;
  readonly #totals;
  readonly #faults: FaultyContent[] = [];
  #faultsTotal = 0;
  #elsewhere = 0;
  #isEnded = false;
  #lastId = 0;
  #contents = 0;
  #bytes = 0;

  constructor(sqlite: Database, options: VerifyOptions) {
    this.#options = options;
    this.#layout = new Layout(options.root);
    this.#uses = new ContentUses(sqlite);
    this.#list = sqlite.query<
      { id: number; digest: Uint8Array; sizeBytes: number; isElsewhere: number; isDamaged: number },
      [number, number]
    >(
      `SELECT id, digest, size_bytes AS sizeBytes,
         EXISTS (SELECT 1 FROM remote_blobs r WHERE r.digest = blobs.digest AND r.leaving_at IS NULL) AS isElsewhere,
         damaged_at IS NOT NULL AS isDamaged
       FROM blobs WHERE refs > 0 AND id > ?1 ORDER BY id LIMIT ?2`,
    );
    this.#isNamed = sqlite.query<{ one: 1 }, [Uint8Array]>("SELECT 1 AS one FROM blobs WHERE digest = ?1 AND refs > 0");
    this.#totals = sqlite.query<{ contents: number; bytes: number }, []>(
      "SELECT count(*) AS contents, coalesce(sum(size_bytes), 0) AS bytes FROM blobs WHERE refs > 0",
    );
  }

  /** The results so far. */
  result(): Pick<Verification, "contents" | "bytes" | "faults" | "faultsTotal" | "elsewhere"> {
    const faults = this.#faults.toSorted((a, b) => (a.digest < b.digest ? -1 : 1));
    const [contents, bytes, faultsTotal, elsewhere] = [this.#contents, this.#bytes, this.#faultsTotal, this.#elsewhere];
    return { contents, bytes, faults, faultsTotal, elsewhere };
  }

  async run(readers: readonly HashReader[]): Promise<void> {
    const total = this.#totals.get() ?? { contents: 0, bytes: 0 };
    const workers = Array.from({ length: BATCHES_PER_THREAD }, () => readers).flat();
    await waitForAll(
      workers.map((reader) => this.#readWith(reader, total)),
      () => this.end(),
    );
  }

  /** Starts no other batch. */
  end(): void {
    this.#isEnded = true;
  }

  async #readWith(reader: HashReader, total: { contents: number; bytes: number }): Promise<void> {
    for (let batch = this.#next(); batch.length > 0; batch = this.#next()) {
      const faults = await this.#read(reader, batch);
      this.#contents += batch.length;
      for (const { sizeBytes } of batch) this.#bytes += sizeBytes;
      await this.#options.onRead?.(
        batch
          .filter(({ digest, isElsewhere }) => !isElsewhere || faults.get(digest) !== undefined)
          .map(({ digest }) => ({ digest, fault: faults.get(digest) ?? null })),
      );
      const [ofContents, ofBytes] = [total.contents, total.bytes];
      this.#options.onProgress({ contents: this.#contents, ofContents, bytes: this.#bytes, ofBytes });
    }
  }

  #next(): ContentRow[] {
    const rows: ContentRow[] = [];
    if (this.#isEnded) return rows;
    let bytes = 0;
    for (const row of this.#list.iterate(this.#lastId, BATCH_CONTENTS)) {
      bytes += row.sizeBytes;
      if (rows.length > 0 && bytes > BATCH_BYTES) break;
      rows.push({
        ...row,
        digest: digestFromBytes(row.digest),
        isElsewhere: row.isElsewhere === 1,
        isDamaged: row.isDamaged === 1,
      });
      this.#lastId = row.id;
    }
    return rows;
  }

  /** Reads faulty blobs twice: they may have been deleted or replaced while their batch was read. */
  async #read(reader: HashReader, batch: readonly ContentRow[]): Promise<ReadonlyMap<Digest, ContentFault>> {
    const doubtful = (await this.#faultsIn(reader, batch)).map(({ row }) => row);
    const certain = new Map<Digest, ContentFault>();
    for (const { row, fault: found } of doubtful.length === 0 ? [] : await this.#faultsIn(reader, doubtful)) {
      const { digest, sizeBytes } = row;
      const isAway = found.kind === "missing" && row.isElsewhere;
      const fault = isAway ? this.#faultInBucket(row) : found;
      if (fault === undefined) this.#elsewhere++;
      else if (this.#isNamed.get(digestToBytes(digest)) !== null) {
        certain.set(digest, fault);
        this.#faultsTotal++;
        const isReported = this.#faults.length < FAULTS_MAX;
        if (isReported) this.#faults.push({ digest, sizeBytes, ...fault, files: this.#uses.find(digest, FILES_MAX) });
      }
    }
    return certain;
  }

  /** The fault of a blob that only the bucket has: from this reading of the bucket, or from the last one. */
  #faultInBucket({ digest, isDamaged }: ContentRow): ContentFault | undefined {
    const { bucketFaults } = this.#options;
    if (bucketFaults !== undefined) return bucketFaults.get(digest);
    return isDamaged ? DAMAGED_IN_BUCKET : undefined;
  }

  async #faultsIn(
    reader: HashReader,
    rows: readonly ContentRow[],
  ): Promise<readonly { row: ContentRow; fault: ContentFault }[]> {
    const { faults } = await reader.read(
      rows.map(({ digest, sizeBytes }) => ({ digest, sizeBytes, path: this.#layout.blob(digest) })),
    );
    return faults.flatMap(({ index, kind, detail }) => {
      const row = rows[index];
      return row === undefined ? [] : [{ row, fault: { kind, detail } }];
    });
  }
}

/** Counts all files without a row. */
async function sumOrphanedFiles(readers: readonly HashReader[], options: VerifyOptions): Promise<OrphanedFiles> {
  const top = join(options.root, "blobs", "sha256");
  const names = namesIn(top);
  const totals = { contents: 0, bytes: 0, foreign: 0 };
  const work = async (reader: HashReader) => {
    while (names.length > 0) {
      const found = await reader.countOrphanedFiles(options.databasePath, top, names.splice(0, BATCH_FOLDERS));
      totals.contents += found.contents;
      totals.bytes += found.bytes;
      totals.foreign += found.foreign;
    }
  };
  await Promise.all(readers.map(work));
  return totals;
}
