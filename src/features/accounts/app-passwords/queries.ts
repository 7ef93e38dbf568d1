import type { Database } from "bun:sqlite";
import type { AppPassword } from "./types.ts";

/** A row of `app_passwords`. */
export interface AppPasswordRow extends Omit<AppPassword, "canWrite"> {
  readonly userId: number;
  readonly canWrite: number;
  readonly revokedAtMs: number | null;
}

/** A new row. */
type NewRow = Pick<
  AppPasswordRow,
  "publicId" | "userId" | "deviceId" | "name" | "canWrite" | "folderId" | "createdAtMs" | "expiresAtMs"
> & { readonly passwordHash: Uint8Array };

const COLUMNS = `id, public_id AS publicId, user_id AS userId, device_id AS deviceId, name, can_write AS canWrite,
  folder_id AS folderId, created_at AS createdAtMs, expires_at AS expiresAtMs, last_used_at AS lastUsedAtMs,
  last_address AS lastAddress, last_client AS lastClient, revoked_at AS revokedAtMs`;

/** The prepared statements about app passwords. */
export function appPasswordQueries(sqlite: Database) {
  return {
    /** Index app_passwords_hash. */
    byHash: sqlite.prepare<AppPasswordRow, [Uint8Array]>(
      `SELECT ${COLUMNS} FROM app_passwords WHERE password_hash = ?1`,
    ),
    byId: sqlite.prepare<AppPasswordRow, [number]>(`SELECT ${COLUMNS} FROM app_passwords WHERE id = ?1`),
    /** Index app_passwords_user; newest first. */
    ofUser: sqlite.prepare<AppPasswordRow, [number]>(
      `SELECT ${COLUMNS} FROM app_passwords WHERE user_id = ?1 AND revoked_at IS NULL ORDER BY id DESC`,
    ),
    /** Index app_passwords_user. */
    count: sqlite.prepare<{ count: number }, [number]>(
      "SELECT count(*) AS count FROM app_passwords WHERE user_id = ?1 AND revoked_at IS NULL",
    ),
    insert: sqlite.prepare<{ id: number }, NewRow[]>(
      `INSERT INTO app_passwords
         (public_id, user_id, device_id, name, password_hash, can_write, folder_id, created_at, expires_at)
       VALUES ($publicId, $userId, $deviceId, $name, $passwordHash, $canWrite, $folderId, $createdAtMs, $expiresAtMs)
       RETURNING id`,
    ),
    /** The hidden device of a new app password, with the same id. No device can register with that. */
    insertDevice: sqlite.prepare<{ id: number }, [number, string, string, number]>(
      `INSERT INTO devices (user_id, public_id, name, platform, registered_at, last_active_at, is_app)
       VALUES (?1, ?2, ?3, 'app', ?4, ?4, 1) RETURNING id`,
    ),
    /** Deletes hidden devices of ended app passwords. The newest stay, and all whose changes can still be undone. */
    forgetDevices: sqlite.prepare<void, [number, number]>(
      `DELETE FROM devices WHERE user_id = ?1 AND is_app = 1 AND removed_at IS NOT NULL
         AND id NOT IN (SELECT id FROM devices WHERE user_id = ?1 AND is_app = 1 AND removed_at IS NOT NULL
           ORDER BY removed_at DESC, id DESC LIMIT ?2)
         AND NOT EXISTS (SELECT 1 FROM undo u WHERE u.account_id = ?1 AND u.device_id = devices.id)`,
    ),
    removeDevice: sqlite.prepare<void, [number, number]>("UPDATE devices SET removed_at = ?2 WHERE id = ?1"),
    revoke: sqlite.prepare<void, [number, number]>("UPDATE app_passwords SET revoked_at = ?2 WHERE id = ?1"),
    /** Deletes revoked app passwords of an account, except the newest. Index app_passwords_user. */
    forgetRevoked: sqlite.prepare<void, [number, number]>(
      `DELETE FROM app_passwords WHERE id IN (SELECT id FROM app_passwords
         WHERE user_id = ?1 AND revoked_at IS NOT NULL ORDER BY id DESC LIMIT -1 OFFSET ?2)`,
    ),
    noteUsed: sqlite.prepare<void, [id: number, nowMs: number, address: string, client: string | null]>(
      "UPDATE app_passwords SET last_used_at = ?2, last_address = ?3, last_client = ?4 WHERE id = ?1",
    ),
    /** Index app_passwords_revoked. */
    sweep: sqlite.prepare<void, [number, number]>(
      `DELETE FROM app_passwords WHERE id IN
         (SELECT id FROM app_passwords WHERE revoked_at IS NOT NULL AND revoked_at < ?1 LIMIT ?2)`,
    ),
  };
}

/** The app password of a row. */
export function toAppPassword({ userId: _userId, revokedAtMs: _revokedAtMs, ...row }: AppPasswordRow): AppPassword {
  return { ...row, canWrite: row.canWrite === 1 };
}
