/**
 * Names inside one folder. Files and folders share one name space, which the one writer keeps by two seeks. A taken name
 * becomes `stem (n).ext` with the lowest free number; where it was found last is remembered, so that the thousandth
 * `IMG.jpg` costs no thousand probes.
 */
import type { Database } from "bun:sqlite";
import type { Transaction } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { fold } from "../../lib/path.ts";

const NAME_BYTES_MAX = 255;
const HINTS_MAX = 1_000;

/** A name before and from its last dot. A dot in front belongs to the stem: `.profile` has no extension. */
export function splitName(name: string): { stem: string; extension: string } {
  const dot = name.lastIndexOf(".");
  return dot <= 0 ? { stem: name, extension: "" } : { stem: name.slice(0, dot), extension: name.slice(dot) };
}

/**
 * `stem (number)extension`, the stem cut at a character boundary (a whole grapheme) so that all fits 255 bytes of
 * UTF-8. An extension that leaves no room for a stem is cut with it.
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

/** The longest beginning of `text` of whole graphemes that fits; of whole code points where the first grapheme does not. */
function cutToBytes(text: string, bytesMax: number): string {
  if (Buffer.byteLength(text) <= bytesMax) return text;
  const take = (pieces: Iterable<string>): string => {
    let kept = "";
    let bytes = 0;
    for (const piece of pieces) {
      bytes += Buffer.byteLength(piece);
      if (bytes > bytesMax) break;
      kept += piece;
    }
    return kept;
  };
  const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return take(Array.from(graphemes.segment(text), ({ segment }) => segment)) || take(text);
}

/** 409 for a name that is taken. */
export function nameTaken(name: string): AppError {
  return new AppError(
    "name_taken",
    `"${name}" already exists in this folder. Choose another name, or remove the existing item.`,
    {
      field: "name",
      name,
    },
  );
}

/** Who holds a name. */
export interface NameHolder {
  readonly id: number;
  /** `nodes.kind` */
  readonly kind: number;
}

/** Looks names up and numbers them. */
export class Names {
  /** By folder and name: every number below the one kept is taken. */
  readonly #hints = new Map<string, number>();
  /** The same, known in the deed that goes on. */
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

  /** Who has this name in the folder. */
  find(folderId: number, name: string): NameHolder | undefined {
    return this.#holder.get(folderId, fold(name), name) ?? undefined;
  }

  /** A taken name with the lowest free number. */
  numbered(tx: Transaction, folderId: number, name: string): string {
    const key = hintKey(folderId, name);
    const inTransaction = this.#hintsOf(tx);
    const number = this.#lowestFree(folderId, name, inTransaction.get(key) ?? this.#hints.get(key) ?? 1);
    inTransaction.set(key, number + 1);
    tx.afterCommit(() => {
      if (this.#hints.size >= HINTS_MAX) this.#hints.clear();
      this.#hints.set(key, number + 1);
    });
    return numberedName(name, number);
  }

  /** A name of the folder became free: a lower number than remembered may be the lowest now. */
  freed(tx: Transaction, folderId: number): void {
    forgetFolder(this.#hintsOf(tx), folderId);
    // At once for the deeds that follow in this transaction, and again after what they have remembered by then.
    forgetFolder(this.#hints, folderId);
    tx.afterCommit(() => forgetFolder(this.#hints, folderId));
  }

  /** Forgets all: another process wrote. */
  drop(): void {
    this.#hints.clear();
  }

  #hintsOf(tx: Transaction): Map<string, number> {
    if (this.#inTransaction?.tx !== tx) this.#inTransaction = { tx, hints: new Map() };
    return this.#inTransaction.hints;
  }

  #lowestFree(folderId: number, name: string, from: number): number {
    // The stem is cut by the number of digits, so each power of ten is a search of its own.
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
