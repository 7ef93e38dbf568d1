/**
 * Verifies a data directory as it lies there: each content against its digest, each row against what it should be. It
 * only reads, beside a running server too, and from a copy, a backup or a disk that can't be written.
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
import type { ContentFault } from "./hash-file.ts";
import { HashReader } from "./hash-reader.ts";
import { namesIn, type OrphanedFiles } from "./orphaned-files.ts";
import { ContentUses, type UsingFile } from "./uses.ts";

/** What is verified, and how. */
export interface VerifyOptions {
  /** The database to go by: no other process's log may be missing beside it. */
  readonly databasePath: string;
  /** The data directory whose `blobs/` is read. */
  readonly root: string;
  /** Compares only the sizes of contents. */
  readonly isQuick: boolean;
  /** Lets other programs go first: a server runs on the same data. */
  readonly isModest: boolean;
  readonly log: Log;
  readonly onProgress: (progress: VerifyProgress) => void;
  /** Where the bucket was read: all that is wrong with what lies there alone. */
  readonly bucketFaults?: ReadonlyMap<Digest, ContentFault> | undefined;
  /** Reported of each batch of contents that was read whole, and of those that were not. */
  readonly onRead?: (
    read: readonly { readonly digest: Digest; readonly fault: ContentFault | null }[],
  ) => Promise<void>;
}

/** How far it has come. */
export interface VerifyProgress {
  readonly contents: number;
  readonly ofContents: number;
  readonly bytes: number;
  readonly ofBytes: number;
}

/** A content that is not what it should be. */
export interface FaultyContent extends ContentFault {
  readonly digest: Digest;
  readonly sizeBytes: number;
  /** Some of the files that have it, or had. */
  readonly files: readonly UsingFile[];
}

/** What was found. */
export interface Verification {
  readonly contents: number;
  readonly bytes: number;
  /** The first {@link FAULTS_MAX} of them. */
  readonly faults: readonly FaultyContent[];
  readonly faultsTotal: number;
  /** Problems of the database, in words, by ids. */
  readonly problems: readonly string[];
  /** Contents that lie in a bucket and not here. */
  readonly elsewhere: number;
  /** What lies in the store without a row: no fault, it waits for the collector. */
  readonly unlisted: { readonly contents: number; readonly bytes: number };
  /** Files in the store that are no contents. */
  readonly foreign: number;
  readonly seconds: number;
}

/** Faulty contents that are told one by one. */
export const FAULTS_MAX = 10_000;

interface ContentRow {
  readonly id: number;
  readonly digest: Digest;
  readonly sizeBytes: number;
  /** Whether the bucket has it. */
  readonly isElsewhere: boolean;
  /** Whether its last reading found it damaged or missing. */
  readonly isDamaged: boolean;
}

/** A content without a copy on this disk whose object was found damaged when it was last read. */
const DAMAGED_THERE: ContentFault = { kind: "damaged", detail: "its bucket object is damaged" };
const FILES_MAX = 10;
const BATCH_CONTENTS = 200;
const BATCH_BYTES = 64 * 1024 * 1024;
/** Of 256: to open the database for each by itself would take longer than to look. */
const BATCH_FOLDERS = 16;
/** While one thread waits for the disk the other computes. */
const THREADS = 2;
/** Batches under way for each thread: one is read while the other is listed, or noted. */
const BATCHES_PER_THREAD = 2;

/** See the head of this file. @throws Error where nothing can be read at all; SQLiteError where the database can't be */
export async function verify(options: VerifyOptions): Promise<Verification> {
  const startedMs = performance.now();
  const { databasePath, isQuick, isModest } = options;
  const db = openReadOnly(databasePath);
  const readers = Array.from({ length: THREADS }, () => new HashReader({ isQuick, isModest }));
  const looking = new HashReader({ isModest });
  const close = () => {
    for (const reader of [...readers, looking]) reader.close();
  };
  try {
    const contents = new ContentVerifier(db.sqlite, options);
    let unlisted: OrphanedFiles = { contents: 0, bytes: 0, foreign: 0 };
    const found = await together(
      [
        tolerant("rows", () => findProblems(db.sqlite, looking, options)),
        tolerant("all contents", () => contents.run(readers)),
      ],
      () => {
        contents.end();
        close();
      },
    );
    // Afterwards: reading the contents has brought the folders into memory.
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
 * Looks at a part. What can't be looked at in a damaged database is one more problem, and keeps nobody from looking at
 * the rest.
 */
async function tolerant(what: string, look: () => Promise<readonly string[] | void>): Promise<readonly string[]> {
  try {
    return (await look()) ?? [];
  } catch (error) {
    if (!isDamage(error)) throw error;
    return [`${what} could not be verified: ${String(error)}`];
  }
}

/** Waits for all. When one fails, ends the others first, so that none goes on with what is closed then. */
async function together<Result>(tasks: readonly Promise<Result>[], end: () => void): Promise<Result[]> {
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
  looking: HashReader,
  { databasePath, log }: VerifyOptions,
): Promise<readonly string[]> {
  const structure = await looking.lookThrough(databasePath);
  // Counting in a broken structure would only say the same in many words.
  if (structure.length > 0) return structure;
  const reader = new Reader(databasePath, log);
  try {
    const drifts = await recountBlobs(reader);
    const accounts = sqlite.query<{ id: number }, []>("SELECT id FROM accounts WHERE root_id > 0").all();
    for (const { id } of accounts) drifts.push(...(await recountAccount(reader, id)));
    const counted = drifts.map(
      (drift) => `the counter ${drift.counter} of ${drift.of} is ${drift.stored}, but should be ${drift.counted}`,
    );
    return [...(await looking.checkRules(databasePath)), ...counted];
  } finally {
    reader.close();
  }
}

/** Reads all contents that something refers to, in the order in which they came: nearly that in which they lie on a disk. */
class ContentVerifier {
  readonly #options: VerifyOptions;
  readonly #layout: Layout;
  readonly #uses: ContentUses;
  readonly #list;
  readonly #isNamed;
  readonly #sum;
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
    this.#sum = sqlite.query<{ contents: number; bytes: number }, []>(
      "SELECT count(*) AS contents, coalesce(sum(size_bytes), 0) AS bytes FROM blobs WHERE refs > 0",
    );
  }

  /** What was found so far. */
  result(): Pick<Verification, "contents" | "bytes" | "faults" | "faultsTotal" | "elsewhere"> {
    const faults = this.#faults.toSorted((a, b) => (a.digest < b.digest ? -1 : 1));
    const [contents, bytes, faultsTotal, elsewhere] = [this.#contents, this.#bytes, this.#faultsTotal, this.#elsewhere];
    return { contents, bytes, faults, faultsTotal, elsewhere };
  }

  async run(readers: readonly HashReader[]): Promise<void> {
    const total = this.#sum.get() ?? { contents: 0, bytes: 0 };
    const lanes = Array.from({ length: BATCHES_PER_THREAD }, () => readers).flat();
    await together(
      lanes.map((reader) => this.#readWith(reader, total)),
      () => this.end(),
    );
  }

  /** Begins no other batch. */
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

  /** What is wrong is read twice: it may have been removed or replaced while its batch was read. */
  async #read(reader: HashReader, batch: readonly ContentRow[]): Promise<ReadonlyMap<Digest, ContentFault>> {
    const doubtful = (await this.#faultsIn(reader, batch)).map(({ row }) => row);
    const certain = new Map<Digest, ContentFault>();
    for (const { row, fault: found } of doubtful.length === 0 ? [] : await this.#faultsIn(reader, doubtful)) {
      const { digest, sizeBytes } = row;
      const isAway = found.kind === "missing" && row.isElsewhere;
      const fault = isAway ? this.#faultThere(row) : found;
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

  /** What is wrong with a content that lies in the bucket alone: as it was read now, or by its last reading. */
  #faultThere({ digest, isDamaged }: ContentRow): ContentFault | undefined {
    const { bucketFaults } = this.#options;
    if (bucketFaults !== undefined) return bucketFaults.get(digest);
    return isDamaged ? DAMAGED_THERE : undefined;
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

/** Looks at all that lies in the store. */
async function sumOrphanedFiles(readers: readonly HashReader[], options: VerifyOptions): Promise<OrphanedFiles> {
  const top = join(options.root, "blobs", "sha256");
  const names = namesIn(top);
  const sum = { contents: 0, bytes: 0, foreign: 0 };
  const lane = async (reader: HashReader) => {
    while (names.length > 0) {
      const found = await reader.countOrphanedFiles(options.databasePath, top, names.splice(0, BATCH_FOLDERS));
      sum.contents += found.contents;
      sum.bytes += found.bytes;
      sum.foreign += found.foreign;
    }
  };
  await Promise.all(readers.map(lane));
  return sum;
}
