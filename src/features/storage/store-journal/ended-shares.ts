/**
 * Links and shares that have ended: a line each in a file beside the contents, on disk before a revocation is answered. The
 * objects follow some seconds later; without the line, a database lost in between would open the link again when it is
 * rebuilt, and so would one that was put back to an earlier time.
 */
import type { Database } from "bun:sqlite";
import { type FileHandle, mkdir, open, readFile, rename, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Writer } from "../../../db/transaction.ts";
import type { Log } from "../../../lib/log.ts";
import { isMissing, syncFolder } from "./object-file.ts";

/** What {@link EndedShares} works with. */
export interface EndedSharesOptions {
  readonly sqlite: Database;
  readonly writer: Pick<Writer, "run">;
  /** `blobs/journal/` */
  readonly root: string;
  readonly log: Log;
  /** Throws where the disk with the store is not there. */
  readonly checkStore: () => void;
}

/** Rows that a trigger left; written in one go. */
const BATCH = 1_000;
/** Where the file is larger than this, old notes are dropped: newer objects that were set aside are kept for a month. */
const COMPACTED_BYTES = 1024 * 1024;
const NOTED_MS = 90 * 24 * 60 * 60 * 1000;

interface EndedRow {
  readonly id: string;
  readonly at: number;
}

/** The file of ended shares, and the rows that wait to be written to it. */
export class EndedShares {
  readonly #options: EndedSharesOptions;
  readonly #waiting;
  readonly #forget;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: EndedSharesOptions) {
    this.#options = options;
    this.#waiting = options.sqlite.prepare<EndedRow, [number]>(
      "SELECT public_id AS id, ended_at AS at FROM ended_shares LIMIT ?1",
    );
    this.#forget = options.sqlite.prepare<undefined, [string]>("DELETE FROM ended_shares WHERE public_id = ?1");
  }

  /**
   * Notes what has ended; durable on return. A failure is only logged: the share is ended here in any case, and the note is
   * tried again with the next objects.
   */
  async note(): Promise<void> {
    const writing = this.#writing.then(() => this.#write());
    this.#writing = writing.catch(() => undefined);
    try {
      await writing;
    } catch (error) {
      this.#options.log.error("Could not write ended shares to the metadata journal; will retry.", {
        error,
      });
    }
  }

  /** Drops what is older than anything that could contradict it, where the file has grown. For the start. */
  async compact(nowMs: number): Promise<void> {
    const path = endedSharesPath(this.#options.root);
    if (((await sizeOf(path)) ?? 0) > COMPACTED_BYTES) await compact(path, nowMs - NOTED_MS);
  }

  async #write(): Promise<void> {
    const { root, writer, checkStore } = this.#options;
    for (;;) {
      const rows = this.#waiting.all(BATCH);
      if (rows.length === 0) return;
      checkStore();
      await append(endedSharesPath(root), rows);
      await writer.run(
        () => {
          for (const { id } of rows) this.#forget.run(id);
        },
        { isQuiet: true },
      );
    }
  }
}

/**
 * Ids of all shares that are noted to have ended; none where there is no file. A line that was cut short is passed over.
 * @param sqlite whose ended shares count, too, where they are not noted yet
 */
export async function readEndedShares(root: string, sqlite?: Database): Promise<ReadonlySet<string>> {
  const waiting = sqlite?.query<{ id: string }, []>("SELECT public_id AS id FROM ended_shares").all() ?? [];
  return new Set([...(await readRows(endedSharesPath(root))), ...waiting].map(({ id }) => id));
}

/** Beside the records of accounts, where earlier versions of the program pass it over. */
function endedSharesPath(root: string): string {
  return join(root, "accounts", "ended-shares.jsonl");
}

async function append(path: string, rows: readonly EndedRow[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, "a+", 0o600);
  let isNew: boolean;
  try {
    const { size } = await file.stat();
    // After a line that a crash cut short a new one begins.
    await file.appendFile((await endsInLine(file, size)) ? toLines(rows) : `\n${toLines(rows)}`);
    await file.datasync();
    isNew = size === 0;
  } finally {
    await file.close();
  }
  if (isNew) for (const folder of [dirname(path), dirname(dirname(path))]) await syncFolder(folder);
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function endsInLine(file: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  await file.read(last, 0, 1, size - 1);
  return last.toString() === "\n";
}

async function compact(path: string, olderThanMs: number): Promise<void> {
  const rows = (await readRows(path)).filter(({ at }) => at >= olderThanMs);
  const partial = `${path}.part`;
  const file = await open(partial, "w", 0o600);
  try {
    await file.writeFile(toLines(rows));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(partial, path);
  await syncFolder(dirname(path));
}

function toLines(rows: readonly EndedRow[]): string {
  return rows.map(({ id, at }) => `${JSON.stringify({ ended: id, at })}\n`).join("");
}

async function readRows(path: string): Promise<EndedRow[]> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
  return text.split("\n").flatMap((line) => parseRow(line) ?? []);
}

function parseRow(line: string): EndedRow | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== "object" || value === null || !("ended" in value) || typeof value.ended !== "string")
      return undefined;
    return { id: value.ended, at: "at" in value && typeof value.at === "number" ? value.at : 0 };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
