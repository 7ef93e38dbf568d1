/**
 * Links and shares that have ended: one line each in a file of the store journal, on disk before the response to a
 * revocation. The objects of the journal follow some seconds later. Without the line, a database that was lost in
 * between would open the link again when it is rebuilt, and so would a restored one. Deleted groups and memberships that
 * ended have lines too, for the same reason.
 */
import type { Database } from "bun:sqlite";
import { type FileHandle, mkdir, open, readFile, rename, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Writer } from "../../../db/transaction.ts";
import type { Log } from "../../../lib/log.ts";
import { isMissing, syncFolder } from "./object-file.ts";

/** Dependencies of {@link EndedShares}. */
export interface EndedSharesOptions {
  readonly sqlite: Database;
  readonly writer: Pick<Writer, "run">;
  /** `blobs/journal/` */
  readonly root: string;
  readonly log: Log;
  /** Throws if the store's disk is missing. */
  readonly checkStore: () => void;
}

/** Rows of the table `ended_shares` that are written together. */
const BATCH = 1_000;
/** Old notes are deleted once the file is larger than this. Nothing that could contradict them is stored longer. */
const COMPACTED_BYTES = 1024 * 1024;
const NOTED_MS = 90 * 24 * 60 * 60 * 1000;

interface EndedRow {
  readonly id: string;
  readonly at: number;
}

/** Writes ended shares from their table to the file. */
export class EndedShares {
  readonly #options: EndedSharesOptions;
  readonly #pending;
  readonly #forget;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: EndedSharesOptions) {
    this.#options = options;
    this.#pending = options.sqlite.prepare<EndedRow, [number]>(
      "SELECT public_id AS id, ended_at AS at FROM ended_shares LIMIT ?1",
    );
    this.#forget = options.sqlite.prepare<undefined, [string]>("DELETE FROM ended_shares WHERE public_id = ?1");
  }

  /**
   * Writes the shares that have ended; durable on return. A failure is only logged: the share has ended in the database
   * in any case, and the next objects retry the write.
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

  /** Deletes old notes from a file that has grown. Call at start. */
  async compact(nowMs: number): Promise<void> {
    const path = endedSharesPath(this.#options.root);
    if (((await sizeOf(path)) ?? 0) > COMPACTED_BYTES) await compact(path, nowMs - NOTED_MS);
  }

  async #write(): Promise<void> {
    const { root, writer, checkStore } = this.#options;
    for (;;) {
      const rows = this.#pending.all(BATCH);
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
 * Ids of all shares, groups and memberships that are noted as ended; none if the file is missing. Skips a truncated line.
 * @param sqlite database whose ended shares count as well, if they are not written yet
 */
export async function readEndedShares(root: string, sqlite?: Database): Promise<ReadonlySet<string>> {
  const unwritten = sqlite?.query<{ id: string }, []>("SELECT public_id AS id FROM ended_shares").all() ?? [];
  return new Set([...(await readRows(endedSharesPath(root))), ...unwritten].map(({ id }) => id));
}

/** Next to the records of accounts, where earlier versions of Larder ignore it. */
function endedSharesPath(root: string): string {
  return join(root, "accounts", "ended-shares.jsonl");
}

async function append(path: string, rows: readonly EndedRow[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, "a+", 0o600);
  let isNew: boolean;
  try {
    const { size } = await file.stat();
    // A crash may have truncated the last line: the next one begins on a line of its own.
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
