/**
 * Names within a folder. Files and folders share one namespace, which the single writer enforces with two index seeks.
 * A taken name becomes `stem (n).ext` with the lowest free number. The last number found is cached, so that the
 * thousandth `IMG.jpg` does not need a thousand queries.
 */
import type { Database } from "bun:sqlite";
import type { Transaction } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { fold } from "../../lib/path.ts";
import { say } from "../../translations/say.ts";

const NAME_BYTES_MAX = 255;
const HINTS_MAX = 1_000;

/** Splits a name at its last dot. A leading dot belongs to the stem: `.profile` has no extension. */
export function splitName(name: string): { stem: string; extension: string } {
  const dot = name.lastIndexOf(".");
  return dot <= 0 ? { stem: name, extension: "" } : { stem: name.slice(0, dot), extension: name.slice(dot) };
}

/**
 * `stem (number)extension`, with the stem cut at a grapheme boundary to fit 255 bytes of UTF-8. An extension that
 * leaves no space for a stem is cut with it.
 */
export function numberedName(name: string, number: number): string {
  const { stem, extension, suffix } = parts(name, String(number));
  return `${stem}${suffix}${extension}`;
}

function parts(name: string, digits: string): { stem: string; suffix: string; extension: string } {
  const suffix = ` (${digits})`;
  let { stem, extension } = splitName(name);
  if (Buffer.byteLength(extension) + suffix.length >= NAME_BYTES_MAX) {
    stem = name;
    extension = "";
  }
  const room = NAME_BYTES_MAX - suffix.length - Buffer.byteLength(extension);
  return { stem: cutToBytes(stem, room), suffix, extension };
}

/** The longest prefix of whole graphemes that fits; of whole code points if the first grapheme does not fit. */
function cutToBytes(text: string, bytesMax: number): string {
  if (Buffer.byteLength(text) <= bytesMax) return text;
  const take = (parts: Iterable<string>): string => {
    let prefix = "";
    let bytes = 0;
    for (const part of parts) {
      bytes += Buffer.byteLength(part);
      if (bytes > bytesMax) break;
      prefix += part;
    }
    return prefix;
  };
  const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return take(Array.from(graphemes.segment(text), ({ segment }) => segment)) || take(text);
}

/** 409 for a name that is taken. */
export function nameTaken(name: string): AppError {
  return new AppError(
    "name_taken",
    say`"${name}" already exists in this folder. Choose another name, or remove the existing item.`,
    {
      field: "name",
      name,
    },
  );
}

/** The node that has a name. */
interface NameHolder {
  readonly id: number;
  /** `nodes.kind` */
  readonly kind: number;
}

/** Looks names up and numbers them. */
export class Names {
  /** By folder and name: every number below the cached one is taken. */
  readonly #hints = new Map<string, number>();
  /** The same for the open transaction. */
  #inTransaction: { readonly tx: Transaction; readonly hints: Map<string, number> } | undefined;
  readonly #holder;
  readonly #firstFree;

  constructor(sqlite: Database) {
    this.#holder = sqlite.prepare<NameHolder, [number, string, string]>(
      `SELECT id, kind FROM nodes INDEXED BY nodes_name
        WHERE parent_id = ?1 AND kind IN (0, 1) AND sort_key = ?2 AND name = ?3`,
    );
    this.#firstFree = sqlite.prepare<{ free: number }, [number, number, number, string, string, string, string]>(
      `WITH RECURSIVE taken(number) AS (
         SELECT ?2 UNION ALL SELECT number + 1 FROM taken
          WHERE number <= ?3 AND EXISTS (SELECT 1 FROM nodes INDEXED BY nodes_name WHERE parent_id = ?1
            AND kind IN (0, 1) AND sort_key = ?4 || number || ?5 AND name = ?6 || number || ?7))
       SELECT max(number) AS free FROM taken`,
    );
  }

  /** The node with this name in the folder. */
  find(folderId: number, name: string): NameHolder | undefined {
    return this.#holder.get(folderId, fold(name), name) ?? undefined;
  }

  /** A taken name with the lowest free number. */
  numbered(tx: Transaction, folderId: number, name: string): string {
    const key = hintKey(folderId, name);
    const inTransaction = this.#hintsFor(tx);
    const number = this.#lowestFree(folderId, name, inTransaction.get(key) ?? this.#hints.get(key) ?? 1);
    inTransaction.set(key, number + 1);
    tx.afterCommit(() => {
      if (this.#hints.size >= HINTS_MAX) this.#hints.clear();
      this.#hints.set(key, number + 1);
    });
    return numberedName(name, number);
  }

  /** A name in the folder became free: the lowest free number may now be below the cached one. */
  freed(tx: Transaction, folderId: number): void {
    forgetFolder(this.#hintsFor(tx), folderId);
    // Now for what follows in this transaction, and after the commit for what is cached until then.
    forgetFolder(this.#hints, folderId);
    tx.afterCommit(() => forgetFolder(this.#hints, folderId));
  }

  /** Clears the cache: another process wrote. */
  drop(): void {
    this.#hints.clear();
  }

  #hintsFor(tx: Transaction): Map<string, number> {
    if (this.#inTransaction?.tx !== tx) this.#inTransaction = { tx, hints: new Map() };
    return this.#inTransaction.hints;
  }

  #lowestFree(folderId: number, name: string, from: number): number {
    // The number of digits decides where the stem is cut, so each power of ten is searched separately.
    for (let lowest = from; ; ) {
      const highest = 10 ** String(lowest).length - 1;
      const { stem, extension } = parts(name, String(lowest));
      const before = `${stem} (`;
      const after = `)${extension}`;
      const free =
        this.#firstFree.get(folderId, lowest, highest, fold(before), fold(after), before, after)?.free ?? lowest;
      if (free <= highest) return free;
      lowest = free;
    }
  }
}

function forgetFolder(hints: Map<string, number>, folderId: number): void {
  for (const key of hints.keys()) if (key.startsWith(`${folderId}/`)) hints.delete(key);
}

function hintKey(folderId: number, name: string): string {
  return `${folderId}/${name}`;
}
