import type { Database } from "bun:sqlite";
import type { Passkey } from "./types.ts";

/** A row of `passkeys`. */
export interface PasskeyRow {
  readonly publicId: string;
  readonly userId: number;
  readonly name: string;
  readonly rpId: string;
  readonly credentialId: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly counter: number;
  readonly transports: string;
  readonly isBackedUp: number;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
}

/** A new row, in the order of its parameters. */
type NewRow = [string, number, string, string, Uint8Array, Uint8Array, number, string, number, number];

const COLUMNS = `public_id AS publicId, user_id AS userId, name, rp_id AS rpId, credential_id AS credentialId,
  public_key AS publicKey, counter, transports, is_backed_up AS isBackedUp, created_at AS createdAtMs,
  last_used_at AS lastUsedAtMs`;

/** The prepared statements about passkeys. */
export function passkeyQueries(sqlite: Database) {
  return {
    /** Index passkeys_credential. */
    byCredential: sqlite.prepare<PasskeyRow, [Uint8Array]>(`SELECT ${COLUMNS} FROM passkeys WHERE credential_id = ?1`),
    /** Index passkeys_public. */
    byPublicId: sqlite.prepare<PasskeyRow, [string]>(`SELECT ${COLUMNS} FROM passkeys WHERE public_id = ?1`),
    /** Index passkeys_user; newest first. */
    ofUser: sqlite.prepare<PasskeyRow, [number]>(`SELECT ${COLUMNS} FROM passkeys WHERE user_id = ?1 ORDER BY id DESC`),
    /** Index passkeys_user. */
    count: sqlite.prepare<{ count: number }, [number]>("SELECT count(*) AS count FROM passkeys WHERE user_id = ?1"),
    insert: sqlite.prepare<void, NewRow>(
      `INSERT INTO passkeys (public_id, user_id, name, rp_id, credential_id, public_key, counter, transports,
         is_backed_up, created_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)`,
    ),
    rename: sqlite.prepare<void, [string, string]>("UPDATE passkeys SET name = ?2 WHERE public_id = ?1"),
    noteUsed: sqlite.prepare<void, [string, number, number, number]>(
      "UPDATE passkeys SET counter = ?2, is_backed_up = ?3, last_used_at = ?4 WHERE public_id = ?1",
    ),
    remove: sqlite.prepare<void, [string]>("DELETE FROM passkeys WHERE public_id = ?1"),
  };
}

/** The passkey of a row. */
export function toPasskey(row: PasskeyRow): Passkey {
  const { publicId, name, rpId, isBackedUp, createdAtMs, lastUsedAtMs } = row;
  return { publicId, name, rpId, isBackedUp: isBackedUp === 1, createdAtMs, lastUsedAtMs };
}
