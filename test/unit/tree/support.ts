import { spyOn } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "../../../src/db/migrate.ts";
import { toDigest } from "../../../src/blobs/digest.ts";
import { type Db, openDatabase } from "../../../src/db/open.ts";
import { Reader } from "../../../src/db/reader.ts";
import { type Transaction, type TransactionBody, Writer } from "../../../src/db/transaction.ts";
import { Trials } from "../../../src/db/trial.ts";
import { TreeReader } from "../../../src/tree/reader.ts";
import { TreeStore } from "../../../src/tree/tables/store.ts";
import { type TreeTrial, TreeTrials } from "../../../src/tree/trial.ts";
import type { NewFile, StoredBlob } from "../../../src/tree/model/types.ts";
import { TreeWriter } from "../../../src/tree/writer.ts";
import { silentLog } from "../../../src/lib/log.ts";

/** A clock that moves only on request. */
export class GivenClock {
  #nowMs = 1_700_000_000_000;

  nowMs(): number {
    return this.#nowMs;
  }

  advance(ms: number): void {
    this.#nowMs += ms;
  }
}

/** A real database file with the tree on it. */
export class TestTree {
  readonly directory = mkdtempSync(join(tmpdir(), "larder-tree-"));
  readonly db: Db;
  readonly clock = new GivenClock();
  readonly writer: Writer;
  readonly thread: Reader;
  readonly store: TreeStore;
  readonly read: TreeReader;
  readonly write: TreeWriter;
  readonly trials: TreeTrials;

  /** How many files and folders each account may hold. */
  maxNodes: number | null = null;

  constructor() {
    const path = join(this.directory, "larder.db");
    this.db = openDatabase(path);
    migrate(this.db.sqlite, silentLog);
    this.writer = new Writer(this.db.sqlite, silentLog);
    this.thread = new Reader(path, silentLog);
    const { thread: reader, writer, clock } = this;
    const options = { reader, writer, clock, log: silentLog, maxNodesOf: () => this.maxNodes };
    this.store = new TreeStore({ ...options, sqlite: this.db.sqlite });
    this.trials = new TreeTrials(new Trials(path, this.writer), options);
    this.read = new TreeReader(this.store);
    this.write = new TreeWriter(this.store);
  }

  get path(): string {
    return join(this.directory, "larder.db");
  }

  /** Makes a user with an empty tree. @returns the account's id */
  addAccount(): number {
    const { sqlite } = this.db;
    const row = sqlite
      .query<{ id: number }, [string]>(
        `INSERT INTO users (public_id, email, email_key, name, role, plan, password_hash, created_at)
         VALUES (?1, ?1, ?1, 'A', 'user', 'free', '', 0) RETURNING id`,
      )
      .get(crypto.randomUUID());
    const id = row?.id ?? 0;
    this.writer.runNow((tx) => {
      sqlite.run("INSERT INTO accounts (id, root_id) VALUES (?, 0)", [id]);
      this.write.createAccountRoot(tx, id);
    });
    return id;
  }

  run<T>(action: TransactionBody<T>): T {
    return this.writer.runNow(action);
  }

  /** Creates a file with defaults for all that a test does not set. */
  addFile(accountId: number, folderPath: string, name: string, changes: Partial<NewFile> = {}) {
    return this.run((tx) => this.createFile(tx, accountId, folderPath, name, changes)).file;
  }

  /** Like {@link addFile}, in a transaction of the caller. */
  createFile(tx: Transaction, accountId: number, folderPath: string, name: string, changes: Partial<NewFile> = {}) {
    return this.write.createFile(tx, {
      accountId,
      createdBy: accountId,
      folderPath,
      name,
      blob: blobOf(name),
      mediaType: "text/plain",
      tags: [],
      metadata: {},
      isPublic: false,
      onConflict: "error",
      quotaBytes: null,
      ...changes,
    });
  }

  addFolder(accountId: number, parentPath: string, name: string) {
    return this.run((tx) => this.write.createFolder(tx, { accountId, parentPath, name, metadata: {} }));
  }

  /** Waits until a large copy has started. */
  async untilStaged(): Promise<void> {
    const staged = this.db.sqlite.query("SELECT id FROM nodes WHERE parent_id IS NULL AND name <> '/'");
    while (staged.get() === null) await this.writer.run(() => undefined);
  }

  close(): void {
    this.thread.close();
    this.db.close();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Trials that pause after each piece of work, and the turns that others had during them. */
export class CountedTrials {
  readonly #trials: TreeTrials;
  turns = 0;

  constructor(trials: TreeTrials) {
    this.#trials = trials;
  }

  run<T>(body: (trial: TreeTrial) => Promise<T>): Promise<T> {
    return this.#trials.run(async (trial) => {
      let nowMs = performance.now();
      const now = spyOn(performance, "now").mockImplementation(() => (nowMs += 1_000));
      let counting = setImmediate(() => count());
      const count = () => {
        this.turns++;
        counting = setImmediate(count);
      };
      try {
        return await body(trial);
      } finally {
        clearImmediate(counting);
        now.mockRestore();
      }
    });
  }
}

/** The blob of a text. */
export function blobOf(text: string, sizeBytes = Buffer.byteLength(text)): StoredBlob {
  const digest = toDigest(new Bun.CryptoHasher("sha256").update(`${text}/${sizeBytes}`).digest("hex"));
  return { digest, sizeBytes, crc32: 0 };
}

/** The reason of the AppError that `action` throws; undefined if it throws none. */
export function reasonOf(action: () => unknown): string | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    return error instanceof Error && "reason" in error ? String(error.reason) : String(error);
  }
}
