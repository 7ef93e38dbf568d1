import type { Database } from "bun:sqlite";
import type { Invite } from "./types.ts";

const INVITE = `SELECT i.public_id AS publicId, coalesce(i.email, i.email_key) AS email, i.role, i.plan,
  i.created_at AS createdAtMs, i.expires_at AS expiresAtMs, i.used_at AS usedAtMs,
  nullif(m.email, '') AS createdBy, nullif(u.email, '') AS usedBy
  FROM invites i LEFT JOIN users m ON m.id = i.created_by LEFT JOIN users u ON u.id = i.used_by
  WHERE i.kind = 'invite'`;

type Text = string | null;

/** The prepared statements about invitations. They exclude the row of the setup link. */
export function inviteQueries(sqlite: Database) {
  return {
    insert: sqlite.prepare<void, [string, Uint8Array, Text, Text, string, Text, number, number, number | null]>(
      `INSERT INTO invites (public_id, token_hash, kind, email, email_key, role, plan, created_at, expires_at, created_by)
       VALUES (?1, ?2, 'invite', ?3, ?4, ?5, ?6, ?7, ?8, ?9)`,
    ),
    /** Index invites_public. */
    byPublicId: sqlite.prepare<Invite, [string]>(`${INVITE} AND i.public_id = ?1`),
    /** By the primary key, backwards; a job keeps the table small. */
    page: sqlite.prepare<Invite, [number, number]>(`${INVITE} ORDER BY i.id DESC LIMIT ?1 OFFSET ?2`),
    count: sqlite.prepare<{ count: number }, []>("SELECT count(*) AS count FROM invites WHERE kind = 'invite'"),
    remove: sqlite.prepare<void, [string]>("DELETE FROM invites WHERE kind = 'invite' AND public_id = ?1"),
    sweep: sqlite.prepare<void, [number, number]>(
      `DELETE FROM invites WHERE id IN
         (SELECT id FROM invites WHERE kind = 'invite' AND max(coalesce(used_at, 0), expires_at) < ?1 LIMIT ?2)`,
    ),
  };
}
