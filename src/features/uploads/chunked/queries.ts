/**
 * The rows of upload sessions, uploads and chunks. Statements for the writing connection; changes only inside a
 * transaction.
 */
import type { Database } from "bun:sqlite";
import { type Digest, digestFromBytes, digestToBytes } from "../../../blobs/digest.ts";
import type { OnConflict } from "../../../tree/model/types.ts";
import type { Upload, UploadStatus } from "./types.ts";

interface UploadRow {
  readonly id: number;
  readonly public_id: string;
  readonly session_id: number;
  readonly account_id: number;
  readonly device_id: number;
  readonly local_id: string;
  readonly name: string;
  readonly folder_path: string;
  readonly size_bytes: number;
  readonly media_type: string | null;
  readonly digest: Uint8Array | null;
  readonly chunk_size_bytes: number;
  readonly total_chunks: number;
  readonly status: UploadStatus;
  readonly reserved_bytes: number;
  readonly on_conflict: OnConflict;
  readonly target_id: string | null;
  readonly base_digest: Uint8Array | null;
  readonly nonce: Uint8Array;
  readonly is_automatic: number;
  readonly expires_at: number;
  readonly file_id: string | null;
}

/** A new row of an upload. */
export type NewUpload = Omit<Upload, "id" | "status" | "expiresAtMs" | "fileId">;

/** The properties by which an upload is recognized when it is offered again. */
interface UploadIdentity {
  readonly deviceId: number;
  readonly localId: string;
  readonly name: string;
  readonly folderPath: string;
  readonly sizeBytes: number;
  readonly digest: Digest;
  readonly targetId: string | undefined;
}

/** 128 bits. */
export const NONCE_BYTES = 16;

const SELECT = "SELECT u.*, s.expires_at FROM uploads u JOIN upload_sessions s ON s.id = u.session_id";

export class UploadRows {
  readonly #sqlite: Database;

  constructor(sqlite: Database) {
    this.#sqlite = sqlite;
  }

  find(publicId: string): Upload | undefined {
    return toUpload(this.#sqlite.query<UploadRow, [string]>(`${SELECT} WHERE u.public_id = ?1`).get(publicId));
  }

  get(id: number): Upload | undefined {
    return toUpload(this.#sqlite.query<UploadRow, [number]>(`${SELECT} WHERE u.id = ?1`).get(id));
  }

  /** Open uploads: of a device, of a session, or all. */
  listOpen(of: { deviceId: number } | { sessionId: number } | "all"): Upload[] {
    const { column, value } =
      of === "all"
        ? { column: "?1", value: 0 }
        : "deviceId" in of
          ? { column: "u.device_id", value: of.deviceId }
          : { column: "u.session_id", value: of.sessionId };
    return this.#sqlite
      .query<UploadRow, [number]>(`${SELECT} WHERE ${column} = ?1 AND u.ended_at IS NULL`)
      .all(value)
      .flatMap((row) => toUpload(row) ?? []);
  }

  /** The newest open upload that a device began for the same file. Index uploads_open. */
  findOpen(identity: UploadIdentity): Upload | undefined {
    const { deviceId, localId, name, folderPath, sizeBytes, digest, targetId = null } = identity;
    return toUpload(
      this.#sqlite
        .query<UploadRow, [number, string, string, string, number, Uint8Array, string | null]>(
          `${SELECT} WHERE u.device_id = ?1 AND u.local_id = ?2 AND u.ended_at IS NULL AND u.name = ?3
             AND u.folder_path = ?4 AND u.size_bytes = ?5 AND u.digest = ?6 AND u.target_id IS ?7
           ORDER BY u.id DESC LIMIT 1`,
        )
        .get(deviceId, localId, name, folderPath, sizeBytes, digestToBytes(digest), targetId),
    );
  }

  /** Expired sessions that still have open uploads, oldest first. */
  listExpiredSessions(nowMs: number, limit: number): number[] {
    return this.#sqlite
      .query<{ id: number }, [number, number]>(
        `SELECT s.id FROM upload_sessions s INDEXED BY upload_sessions_expiry
         WHERE s.expires_at <= ?1 AND EXISTS (SELECT 1 FROM uploads u WHERE u.session_id = s.id AND u.ended_at IS NULL)
         ORDER BY s.expires_at LIMIT ?2`,
      )
      .all(nowMs, limit)
      .map((row) => row.id);
  }

  /** @returns the row id */
  insertSession(session: {
    publicId: string;
    accountId: number;
    deviceId: number;
    nowMs: number;
    expiresAtMs: number;
    options: object;
  }): number {
    const { publicId, accountId, deviceId, nowMs, expiresAtMs, options } = session;
    const { lastInsertRowid } = this.#sqlite
      .query<undefined, [string, number, number, number, number, string]>(
        `INSERT INTO upload_sessions (public_id, account_id, device_id, created_at, expires_at, options)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)`,
      )
      .run(publicId, accountId, deviceId, nowMs, expiresAtMs, JSON.stringify(options));
    return Number(lastInsertRowid);
  }

  /** @returns the row id */
  insert(upload: NewUpload, nowMs: number): number {
    const { lastInsertRowid } = this.#sqlite
      .query<undefined, (string | number | Uint8Array | null)[]>(
        `INSERT INTO uploads (public_id, session_id, account_id, device_id, local_id, name, folder_path, size_bytes,
           media_type, digest, chunk_size_bytes, total_chunks, status, reserved_bytes, on_conflict, target_id, base_digest,
           nonce, is_automatic, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 'pending', ?13, ?14, ?15, ?16, ?17, ?18, ?19)`,
      )
      .run(
        upload.publicId,
        upload.sessionId,
        upload.accountId,
        upload.deviceId,
        upload.localId,
        upload.name,
        upload.folderPath,
        upload.sizeBytes,
        upload.mediaType ?? null,
        toBytes(upload.digest),
        upload.chunkSizeBytes,
        upload.totalChunks,
        upload.reservedBytes,
        upload.onConflict,
        upload.targetId ?? null,
        toBytes(upload.baseDigest),
        upload.nonce,
        upload.isAutomatic ? 1 : 0,
        nowMs,
      );
    return Number(lastInsertRowid);
  }

  setStatus(id: number, status: UploadStatus): void {
    this.#sqlite.query<undefined, [number, string]>("UPDATE uploads SET status = ?2 WHERE id = ?1").run(id, status);
  }

  /** Moves an upload to another session, with the current options of its device. */
  renew(
    id: number,
    identity: Pick<NewUpload, "sessionId" | "mediaType" | "onConflict" | "baseDigest" | "isAutomatic">,
  ): void {
    const { sessionId, mediaType = null, onConflict, baseDigest, isAutomatic } = identity;
    this.#sqlite
      .query<undefined, [number, number, string | null, string, Uint8Array | null, number]>(
        `UPDATE uploads SET session_id = ?2, media_type = ?3, on_conflict = ?4, base_digest = ?5, is_automatic = ?6
         WHERE id = ?1`,
      )
      .run(id, sessionId, mediaType, onConflict, toBytes(baseDigest), isAutomatic ? 1 : 0);
  }

  /** Invalidates all signed addresses of a device's open uploads. */
  renewNonces(deviceId: number): void {
    this.#sqlite
      .query<undefined, [number, number]>(
        "UPDATE uploads SET nonce = randomblob(?2) WHERE device_id = ?1 AND ended_at IS NULL",
      )
      .run(deviceId, NONCE_BYTES);
  }

  /** Extends a session. */
  extend(sessionId: number, expiresAtMs: number): void {
    this.#sqlite
      .query<undefined, [number, number]>("UPDATE upload_sessions SET expires_at = max(expires_at, ?2) WHERE id = ?1")
      .run(sessionId, expiresAtMs);
  }

  /** Ends an upload: releases its reservations and deletes its chunks. */
  end(id: number, status: UploadStatus, nowMs: number, fileId: string | null = null): void {
    this.#sqlite
      .query<undefined, [number, string, number, string | null]>(
        "UPDATE uploads SET status = ?2, ended_at = ?3, file_id = ?4, reserved_bytes = 0 WHERE id = ?1",
      )
      .run(id, status, nowMs, fileId);
    this.#sqlite.query<undefined, [number]>("DELETE FROM upload_chunks WHERE upload_id = ?1").run(id);
  }

  /** Marks the failure as reported. @returns false if it was reported before */
  noteFailure(id: number, nowMs: number): boolean {
    return (
      this.#sqlite
        .query<undefined, [number, number]>("UPDATE uploads SET failed_at = ?2 WHERE id = ?1 AND failed_at IS NULL")
        .run(id, nowMs).changes > 0
    );
  }

  /** The complete, durable chunks, including those that are being replaced. */
  chunks(uploadId: number): { idx: number; is_replacing: number }[] {
    return this.#sqlite
      .query<{ idx: number; is_replacing: number }, [number]>(
        "SELECT idx, is_replacing FROM upload_chunks WHERE upload_id = ?1 ORDER BY idx",
      )
      .all(uploadId);
  }

  hasChunks(uploadId: number): boolean {
    return (
      this.#sqlite
        .query<unknown, [number]>("SELECT 1 FROM upload_chunks WHERE upload_id = ?1 LIMIT 1")
        .get(uploadId) !== null
    );
  }

  addChunk(uploadId: number, index: number): void {
    this.#sqlite
      .query<undefined, [number, number]>("INSERT OR IGNORE INTO upload_chunks (upload_id, idx) VALUES (?1, ?2)")
      .run(uploadId, index);
  }

  setReplacing(uploadId: number, index: number, isReplacing: boolean): void {
    this.#sqlite
      .query<undefined, [number, number, number]>(
        "UPDATE upload_chunks SET is_replacing = ?3 WHERE upload_id = ?1 AND idx = ?2",
      )
      .run(uploadId, index, isReplacing ? 1 : 0);
  }

  removeChunk(uploadId: number, index: number): void {
    this.#sqlite
      .query<undefined, [number, number]>("DELETE FROM upload_chunks WHERE upload_id = ?1 AND idx = ?2")
      .run(uploadId, index);
  }

  /** Whether an open upload has staged bytes under this name. */
  isOpen(publicId: string): boolean {
    return (
      this.#sqlite
        .query<unknown, [string]>("SELECT 1 FROM uploads WHERE public_id = ?1 AND ended_at IS NULL")
        .get(publicId) !== null
    );
  }

  /** Deletes sessions that ended long ago and have no open uploads. @returns how many */
  removeOld(beforeMs: number, limit: number): number {
    return this.#sqlite
      .query<undefined, [number, number]>(
        `DELETE FROM upload_sessions WHERE id IN (
           SELECT s.id FROM upload_sessions s INDEXED BY upload_sessions_expiry WHERE s.expires_at <= ?1
             AND NOT EXISTS (SELECT 1 FROM uploads u WHERE u.session_id = s.id AND u.ended_at IS NULL) LIMIT ?2)`,
      )
      .run(beforeMs, limit).changes;
  }
}

function toBytes(digest: Digest | undefined): Uint8Array | null {
  return digest === undefined ? null : digestToBytes(digest);
}

function toUpload(row: UploadRow | null): Upload | undefined {
  if (row === null) return undefined;
  return {
    id: row.id,
    publicId: row.public_id,
    sessionId: row.session_id,
    accountId: row.account_id,
    deviceId: row.device_id,
    localId: row.local_id,
    name: row.name,
    folderPath: row.folder_path,
    sizeBytes: row.size_bytes,
    chunkSizeBytes: row.chunk_size_bytes,
    totalChunks: row.total_chunks,
    mediaType: row.media_type ?? undefined,
    digest: row.digest === null ? undefined : digestFromBytes(row.digest),
    status: row.status,
    reservedBytes: row.reserved_bytes,
    onConflict: row.on_conflict,
    targetId: row.target_id ?? undefined,
    baseDigest: row.base_digest === null ? undefined : digestFromBytes(row.base_digest),
    nonce: row.nonce,
    isAutomatic: row.is_automatic === 1,
    expiresAtMs: row.expires_at,
    fileId: row.file_id ?? undefined,
  };
}
