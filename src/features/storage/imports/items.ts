import type { Database } from "bun:sqlite";
import { type Digest, digestFromBytes, digestToBytes } from "../../../blobs/digest.ts";

/** A file that was imported. */
export interface ImportedItem {
  readonly version: string;
  /** Row id of the file; it may be gone. */
  readonly nodeId: number;
  /** The content as it was in the source. */
  readonly digest: Digest;
}

interface ItemRow extends Omit<ImportedItem, "digest"> {
  readonly digest: Uint8Array;
}

const KEY_BYTES = 16;
/** Copies of one content that are looked at. */
const COPIES_MAX = 16;

/** What was imported into accounts. Changes are made inside a transaction. */
export class ImportedItems {
  readonly #find;
  readonly #withContent;
  readonly #put;

  constructor(sqlite: Database) {
    this.#find = sqlite.prepare<ItemRow, [number, Uint8Array]>(
      "SELECT version, node_id AS nodeId, digest FROM import_items WHERE account_id = ?1 AND key = ?2",
    );
    this.#withContent = sqlite.prepare<{ nodeId: number }, [number, Uint8Array, number]>(
      `SELECT node_id AS nodeId FROM import_items INDEXED BY import_items_digest
       WHERE account_id = ?1 AND digest = ?2 LIMIT ?3`,
    );
    this.#put = sqlite.prepare<undefined, [number, Uint8Array, string, number, Uint8Array]>(
      `INSERT INTO import_items (account_id, key, version, node_id, digest) VALUES (?1, ?2, ?3, ?4, ?5)
       ON CONFLICT (account_id, key) DO UPDATE SET version = ?3, node_id = ?4, digest = ?5`,
    );
  }

  find(accountId: number, key: Uint8Array): ImportedItem | undefined {
    const row = this.#find.get(accountId, key);
    return row === null ? undefined : { ...row, digest: digestFromBytes(row.digest) };
  }

  /** Row ids of files that were imported with this content; they may be gone. */
  withContent(accountId: number, digest: Digest): number[] {
    return this.#withContent.all(accountId, digestToBytes(digest), COPIES_MAX).map(({ nodeId }) => nodeId);
  }

  put(accountId: number, key: Uint8Array, { version, nodeId, digest }: ImportedItem): void {
    this.#put.run(accountId, key, version, nodeId, digestToBytes(digest));
  }
}

/** The key of a file of a source: a digest, because paths in sources can be long. */
export function itemKey(sourceIdentity: string, fileKey: string): Uint8Array {
  return new Bun.CryptoHasher("sha256").update(`${sourceIdentity}\0${fileKey}`).digest().subarray(0, KEY_BYTES);
}
