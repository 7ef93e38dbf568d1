import type { Database } from "bun:sqlite";
import { SCOPES } from "../auth/scopes.ts";
import type { ApiKey } from "./types.ts";

/** A row of `api_keys`. */
interface ApiKeyRow {
  readonly id: number;
  readonly publicId: string;
  readonly userId: number;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly lastUsedAtMs: number | null;
  readonly revokedAtMs: number | null;
}

const COLUMNS = `id, public_id AS publicId, user_id AS userId, name, prefix, scopes, created_at AS createdAtMs,
  expires_at AS expiresAtMs, last_used_at AS lastUsedAtMs, revoked_at AS revokedAtMs`;

/** The prepared statements about API keys. */
export function apiKeyQueries(sqlite: Database) {
  return {
    /** Index api_keys_hash. */
    byHash: sqlite.prepare<ApiKeyRow, [Uint8Array]>(`SELECT ${COLUMNS} FROM api_keys WHERE key_hash = ?1`),
    /** Index api_keys_public. */
    byPublicId: sqlite.prepare<ApiKeyRow, [string]>(`SELECT ${COLUMNS} FROM api_keys WHERE public_id = ?1`),
    /** Index api_keys_user; newest first. */
    ofUser: sqlite.prepare<ApiKeyRow, [number]>(
      `SELECT ${COLUMNS} FROM api_keys WHERE user_id = ?1 AND revoked_at IS NULL ORDER BY id DESC`,
    ),
    /** Index api_keys_user. */
    count: sqlite.prepare<{ count: number }, [number]>(
      "SELECT count(*) AS count FROM api_keys WHERE user_id = ?1 AND revoked_at IS NULL",
    ),
    insert: sqlite.prepare<void, [string, number, string, Uint8Array, string, string, number, number | null]>(
      `INSERT INTO api_keys (public_id, user_id, name, key_hash, prefix, scopes, created_at, expires_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
    ),
    /** Index api_keys_public. */
    revoke: sqlite.prepare<void, [string, number, number]>(
      "UPDATE api_keys SET revoked_at = ?3 WHERE public_id = ?1 AND user_id = ?2 AND revoked_at IS NULL",
    ),
    /** Index api_keys_user. */
    revokeAll: sqlite.prepare<void, [number, number]>(
      "UPDATE api_keys SET revoked_at = ?2 WHERE user_id = ?1 AND revoked_at IS NULL",
    ),
    /** Index api_keys_user. Of the revoked keys of an account, the newest ones stay. */
    forgetRevoked: sqlite.prepare<void, [number, number]>(
      `DELETE FROM api_keys WHERE id IN (SELECT id FROM api_keys WHERE user_id = ?1 AND revoked_at IS NOT NULL
         ORDER BY id DESC LIMIT -1 OFFSET ?2)`,
    ),
    noteUsed: sqlite.prepare<void, [number, string]>("UPDATE api_keys SET last_used_at = ?1 WHERE public_id = ?2"),
    /** Index api_keys_revoked. */
    sweep: sqlite.prepare<void, [number, number]>(
      `DELETE FROM api_keys WHERE id IN
         (SELECT id FROM api_keys WHERE revoked_at IS NOT NULL AND revoked_at < ?1 LIMIT ?2)`,
    ),
  };
}

/** The key of a row. */
export function toApiKey(row: ApiKeyRow): ApiKey {
  const { publicId, name, prefix, createdAtMs, expiresAtMs, lastUsedAtMs } = row;
  const stored = row.scopes.split(" ");
  return {
    publicId,
    name,
    prefix,
    scopes: SCOPES.filter((scope) => stored.includes(scope)),
    createdAtMs,
    expiresAtMs,
    lastUsedAtMs,
  };
}
