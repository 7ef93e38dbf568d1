/** Finds files in the store without a row. Reads for long: for threads and commands. */
import type { Database } from "bun:sqlite";
import * as fs from "node:fs";
import { join } from "node:path";
import { digestToBytes } from "../../../blobs/digest.ts";
import { Layout } from "../../../blobs/layout.ts";
import { errorCode } from "../../../lib/error.ts";

/** Counts of files in a store that are no blobs with a row. */
export interface OrphanedFiles {
  readonly contents: number;
  readonly bytes: number;
  /** Files that are no blobs. */
  readonly foreign: number;
}

const FIRST_BYTE = /^[0-9a-f]{2}$/;

/**
 * Counts orphaned files in some folders of the store.
 * @param top their parent: `blobs/sha256`
 * @param firsts their names: first bytes of digests, or names of foreign folders
 */
export function countOrphanedFiles(sqlite: Database, top: string, firsts: readonly string[]): OrphanedFiles {
  const find = sqlite.query<{ one: 1 }, [Uint8Array]>("SELECT 1 AS one FROM blobs WHERE digest = ?1");
  let [contents, bytes, foreign] = [0, 0, 0];
  for (const first of firsts) {
    const files = filesIn(join(top, first));
    // Queried after the names were read: blobs that were stored in between have their rows.
    const listed = listedUnder(sqlite, first);
    for (const { name, leaf } of files) {
      if (listed.has(name)) continue;
      const digest = Layout.digestOf(name);
      if (digest === undefined) foreign++;
      else if (find.get(digestToBytes(digest)) === null) {
        contents++;
        bytes += fs.lstatSync(join(leaf, name), { throwIfNoEntry: false })?.size ?? 0;
      }
    }
  }
  return { contents, bytes, foreign };
}

/** The files in the subfolders of a folder. */
function filesIn(folder: string): { readonly name: string; readonly leaf: string }[] {
  return namesIn(folder).flatMap((second) => {
    const leaf = join(folder, second);
    return namesIn(leaf).map((name) => ({ name, leaf }));
  });
}

/** Names in a folder; none if it is no folder or can't be read: its blobs are reported as missing then. */
export function namesIn(folder: string): string[] {
  try {
    return fs.readdirSync(folder);
  } catch (error) {
    if (errorCode(error) !== undefined) return [];
    throw error;
  }
}

/** Digests with a row that belong to a folder, in one query: single queries would each be a transaction. */
function listedUnder(sqlite: Database, firstByte: string): ReadonlySet<string> {
  if (!FIRST_BYTE.test(firstByte)) return new Set();
  const rows = sqlite.query<{ hex: string }, [Uint8Array, Uint8Array]>(
    "SELECT lower(hex(digest)) AS hex FROM blobs WHERE digest BETWEEN ?1 AND ?2",
  );
  const bound = (rest: string) => Buffer.from(firstByte + rest.repeat(31), "hex");
  return new Set(rows.all(bound("00"), bound("ff")).map(({ hex }) => hex));
}
