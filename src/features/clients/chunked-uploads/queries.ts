/**
 * The rows of sync clients' uploads, in addition to those in `uploads`. Statements for the writing connection; changes
 * only inside a transaction.
 */
import type { Database } from "bun:sqlite";
import { NO_DEVICE, type Upload } from "../../uploads/chunked/types.ts";
import type { UploadStore } from "../../uploads/chunked/store.ts";
import { type ClientChunk, MAIN_FILE } from "./types.ts";

/** Sums over the stored chunks of an upload. */
export interface StoredChunks {
  readonly count: number;
  readonly sizeBytes: number;
  /** The last number in the main file, and where its bytes end; null and 0 if the file has no chunks. */
  readonly lastNumber: number | null;
  readonly mainBytes: number;
  /** The bytes of the chunks in the main file. */
  readonly usedMainBytes: number;
}

export class ClientUploadRows {
  readonly #sqlite: Database;
  readonly #uploads: UploadStore["rows"];

  constructor(sqlite: Database, uploads: UploadStore["rows"]) {
    this.#sqlite = sqlite;
    this.#uploads = uploads;
  }

  /** The open upload of an account with this name. Index uploads_open. */
  findOpen(userId: number, transfer: string): Upload | undefined {
    const row = this.#sqlite
      .query<{ id: number }, [number, string]>(
        `SELECT id FROM uploads INDEXED BY uploads_open
         WHERE device_id = ?1 AND local_id = ?2 AND ended_at IS NULL ORDER BY id DESC LIMIT 1`,
      )
      .get(NO_DEVICE, transferKey(userId, transfer));
    return row === null ? undefined : this.#uploads.get(row.id);
  }

  /** The number of open uploads of an account. Index uploads_open. */
  countOpen(userId: number): number {
    const key = transferKey(userId, "");
    const row = this.#sqlite
      .query<{ count: number }, [number, string, string]>(
        `SELECT count(*) AS count FROM uploads INDEXED BY uploads_open
         WHERE device_id = ?1 AND local_id >= ?2 AND local_id < ?3 AND ended_at IS NULL`,
      )
      .get(NO_DEVICE, key, `${key.slice(0, -1)}!`);
    return row?.count ?? 0;
  }

  /** The open uploads of all accounts. */
  listOpen(): Upload[] {
    return this.#uploads.listOpen({ deviceId: NO_DEVICE }).filter(({ localId }) => localId.startsWith(`${KEY_START} `));
  }

  /** The chunks of an upload, in their order. */
  chunks(uploadId: number): ClientChunk[] {
    return this.#sqlite
      .query<ClientChunk, [number]>(
        `SELECT number, name, file, offset_bytes AS offsetBytes, size_bytes AS sizeBytes FROM client_chunks
         WHERE upload_id = ?1 ORDER BY number`,
      )
      .all(uploadId);
  }

  findChunk(uploadId: number, number: number): ClientChunk | undefined {
    const row = this.#sqlite
      .query<ClientChunk, [number, number]>(
        `SELECT number, name, file, offset_bytes AS offsetBytes, size_bytes AS sizeBytes FROM client_chunks
         WHERE upload_id = ?1 AND number = ?2`,
      )
      .get(uploadId, number);
    return row ?? undefined;
  }

  stored(uploadId: number): StoredChunks {
    const row = this.#sqlite
      .query<StoredChunks, [number, string]>(
        `SELECT count(*) AS count, coalesce(sum(size_bytes), 0) AS sizeBytes,
           max(CASE WHEN file = ?2 THEN number END) AS lastNumber,
           coalesce(max(CASE WHEN file = ?2 THEN offset_bytes + size_bytes END), 0) AS mainBytes,
           coalesce(sum(CASE WHEN file = ?2 THEN size_bytes END), 0) AS usedMainBytes
         FROM client_chunks WHERE upload_id = ?1`,
      )
      .get(uploadId, MAIN_FILE);
    return row ?? { count: 0, sizeBytes: 0, lastNumber: null, mainBytes: 0, usedMainBytes: 0 };
  }

  /** Adds a chunk, or replaces the one with its number. */
  put(uploadId: number, { number, name, file, offsetBytes, sizeBytes }: ClientChunk): void {
    this.#sqlite
      .query<undefined, [number, number, string, string, number, number]>(
        `INSERT OR REPLACE INTO client_chunks (upload_id, number, name, file, offset_bytes, size_bytes)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)`,
      )
      .run(uploadId, number, name, file, offsetBytes, sizeBytes);
  }

  removeChunk(uploadId: number, number: number): void {
    this.#sqlite
      .query<undefined, [number, number]>("DELETE FROM client_chunks WHERE upload_id = ?1 AND number = ?2")
      .run(uploadId, number);
  }

  removeChunks(uploadId: number): void {
    this.#sqlite.query<undefined, [number]>("DELETE FROM client_chunks WHERE upload_id = ?1").run(uploadId);
  }

  /** Sets the bytes that an upload reserves of its account's quota. */
  setReserved(uploadId: number, bytes: number): void {
    this.#sqlite
      .query<undefined, [number, number]>("UPDATE uploads SET reserved_bytes = ?2, status = 'uploading' WHERE id = ?1")
      .run(uploadId, bytes);
  }
}

const KEY_START = "client";

/** `local_id` of an upload: its account, and the name that the client gave it. */
export function transferKey(userId: number, transfer: string): string {
  return `${KEY_START} ${userId} ${transfer}`;
}
