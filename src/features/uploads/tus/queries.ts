/**
 * The rows of tus uploads, in addition to those in `uploads`. Statements for the writing connection; changes only
 * inside a transaction.
 */
import type { Database } from "bun:sqlite";
import { invariant } from "../../../lib/invariant.ts";
import type { UploadStore } from "../chunked/store.ts";
import { NO_DEVICE, type Upload } from "../chunked/types.ts";
import type { TusKind, TusSender, TusUpload } from "./types.ts";

interface TusRow {
  readonly upload_id: number;
  readonly sender_id: number | null;
  readonly share_id: string | null;
  readonly kind: TusKind;
  readonly parts: string | null;
  readonly offset_bytes: number;
  readonly is_length_known: number;
  readonly metadata: string;
}

export class TusRows {
  readonly #sqlite: Database;
  readonly #uploads: UploadStore["rows"];

  constructor(sqlite: Database, uploads: UploadStore["rows"]) {
    this.#sqlite = sqlite;
    this.#uploads = uploads;
  }

  find(publicId: string): TusUpload | undefined {
    const upload = this.#uploads.find(publicId);
    return upload && this.#of(upload);
  }

  get(uploadId: number): TusUpload | undefined {
    const upload = this.#uploads.get(uploadId);
    return upload && this.#of(upload);
  }

  /** Open uploads below a {@link senderKey} or {@link sendingKey}, newest first. Index uploads_open. */
  listOpenOf(key: string, limit: number): TusUpload[] {
    return this.#sqlite
      .query<{ id: number }, [number, string, string, number]>(
        `SELECT id FROM uploads INDEXED BY uploads_open
         WHERE device_id = ?1 AND local_id >= ?2 AND local_id < ?3 AND ended_at IS NULL ORDER BY id DESC LIMIT ?4`,
      )
      .all(NO_DEVICE, key, keyRangeEnd(key), limit)
      .flatMap(({ id }) => this.get(id) ?? []);
  }

  /** The number of those uploads. Index uploads_open. */
  countOpenOf(key: string): number {
    return (
      this.#sqlite
        .query<{ count: number }, [number, string, string]>(
          `SELECT count(*) AS count FROM uploads INDEXED BY uploads_open
           WHERE device_id = ?1 AND local_id >= ?2 AND local_id < ?3 AND ended_at IS NULL`,
        )
        .get(NO_DEVICE, key, keyRangeEnd(key))?.count ?? 0
    );
  }

  /** Bytes of quota that those uploads reserve. Index uploads_open. */
  sumReservedBytes(key: string): number {
    return (
      this.#sqlite
        .query<{ bytes: number }, [number, string, string]>(
          `SELECT ifnull(sum(reserved_bytes), 0) AS bytes FROM uploads INDEXED BY uploads_open
           WHERE device_id = ?1 AND local_id >= ?2 AND local_id < ?3 AND ended_at IS NULL`,
        )
        .get(NO_DEVICE, key, keyRangeEnd(key))?.bytes ?? 0
    );
  }

  /** All open uploads. Index uploads_open. */
  listOpen(): TusUpload[] {
    return this.#sqlite
      .query<{ id: number }, [number]>(
        "SELECT id FROM uploads INDEXED BY uploads_open WHERE device_id = ?1 AND ended_at IS NULL",
      )
      .all(NO_DEVICE)
      .flatMap(({ id }) => this.get(id) ?? []);
  }

  insert({ upload, senderId, shareId, kind, parts, lengthBytes, metadata }: TusUpload): void {
    this.#sqlite
      .query<undefined, [number, number | null, string | null, string, string | null, number, string]>(
        `INSERT INTO tus_uploads (upload_id, sender_id, share_id, kind, parts, is_length_known, metadata)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`,
      )
      .run(
        upload.id,
        senderId ?? null,
        shareId ?? null,
        kind,
        parts.length === 0 ? null : JSON.stringify(parts),
        lengthBytes === undefined ? 0 : 1,
        metadata,
      );
  }

  setOffset(uploadId: number, offsetBytes: number): void {
    this.#sqlite
      .query<undefined, [number, number]>("UPDATE tus_uploads SET offset_bytes = ?2 WHERE upload_id = ?1")
      .run(uploadId, offsetBytes);
  }

  /** Sets the length, once the client has sent it. */
  setLength(uploadId: number, lengthBytes: number): void {
    this.#sqlite
      .query<undefined, [number]>("UPDATE tus_uploads SET is_length_known = 1 WHERE upload_id = ?1")
      .run(uploadId);
    this.#sqlite
      .query<undefined, [number, number]>("UPDATE uploads SET size_bytes = ?2 WHERE id = ?1")
      .run(uploadId, lengthBytes);
  }

  /** Records the final upload that a part was joined into. */
  setJoined(uploadId: number, finalId: string): void {
    this.#sqlite
      .query<undefined, [number, string]>("UPDATE tus_uploads SET parts = ?2 WHERE upload_id = ?1")
      .run(uploadId, JSON.stringify([finalId]));
  }

  /** Sets the bytes of quota that an upload reserves. */
  setReserved(uploadId: number, reservedBytes: number): void {
    this.#sqlite
      .query<undefined, [number, number]>("UPDATE uploads SET reserved_bytes = ?2 WHERE id = ?1")
      .run(uploadId, reservedBytes);
  }

  #of(upload: Upload): TusUpload | undefined {
    const row = this.#sqlite.query<TusRow, [number]>("SELECT * FROM tus_uploads WHERE upload_id = ?1").get(upload.id);
    if (row === null) return undefined;
    return {
      upload,
      senderId: row.sender_id ?? undefined,
      shareId: row.share_id ?? undefined,
      kind: row.kind,
      parts: readParts(row.parts),
      offsetBytes: row.offset_bytes,
      lengthBytes: row.is_length_known === 1 ? upload.sizeBytes : undefined,
      metadata: row.metadata,
    };
  }
}

/** The key under which all uploads of an account, or of all guests of a drop box, are found. */
export function senderKey({ senderId, shareId }: Pick<TusSender, "senderId" | "shareId">): string {
  return shareId ?? `account ${senderId}`;
}

/** The key under which an upload is stored; that of a guest's upload includes their address. */
export function sendingKey(sender: Pick<TusSender, "senderId" | "shareId" | "address">): string {
  const key = senderKey(sender);
  return sender.address === undefined ? key : `${key} ${sender.address}`;
}

/** The end of the key range: the key and its continuations after a space. */
function keyRangeEnd(key: string): string {
  return `${key}!`;
}

function readParts(json: string | null): string[] {
  if (json === null) return [];
  const parts: unknown = JSON.parse(json);
  invariant(
    Array.isArray(parts) && parts.every((part) => typeof part === "string"),
    "parts are stored as a list of ids",
  );
  return parts;
}
