import type { Database } from "bun:sqlite";
import { isForUser, sharesForUser } from "../../library/permissions/recipients.ts";
import type { ReceivedRow, UnconfirmedRow } from "./types.ts";

const COLUMNS = `shares.id, shares.public_id AS publicId, account_id AS accountId, node_id AS nodeId, album_id AS albumId, can_write AS canWrite,
  coalesce(shows_versions, can_write) AS showsVersions,
  shares.created_at AS createdAtMs, expires_at AS expiresAtMs, label, group_id AS groupId,
  (SELECT g.public_id FROM groups g WHERE g.id = group_id) AS groupPublicId,
  (SELECT g.name FROM groups g WHERE g.id = group_id) AS groupName`;

/** Most shares that are listed. */
const LISTED_MAX = 1_000;

/** Shares between accounts, from their recipients' side. */
export function receivedQueries(sqlite: Database) {
  return {
    /** Newest first. Indexes shares_recipient, group_members_user, shares_group. */
    ofRecipient: sqlite.prepare<ReceivedRow, [number, number]>(
      `SELECT ${COLUMNS} FROM ${sharesForUser("?1")} r CROSS JOIN shares ON shares.id = r.id
       WHERE kind = 'account' AND (expires_at IS NULL OR expires_at > ?2)
       ORDER BY shares.id DESC LIMIT ${LISTED_MAX}`,
    ),
    /** A share with an account. Index shares_public. */
    find: sqlite.prepare<ReceivedRow, [string, number]>(
      `SELECT ${COLUMNS} FROM shares WHERE public_id = ?1 AND kind = 'account' AND ${isForUser("shares", "?2")}`,
    ),
    /** Shares that wait for an email. Index shares_waiting. */
    waiting: sqlite.prepare<ReceivedRow, [string, number]>(
      `SELECT ${COLUMNS} FROM shares INDEXED BY shares_waiting
       WHERE recipient_email_key = ?1 AND kind = 'account' AND recipient_id IS NULL
         AND (expires_at IS NULL OR expires_at > ?2)
       ORDER BY id`,
    ),
    /**
     * Waiting shares that accounts would have received already if no confirmation of their email were required: all
     * shares for the email of the sign-up; for a changed email, those created since the change. By account, from an id
     * on. Indexes users_unconfirmed, shares_waiting.
     */
    waitingUnconfirmed: sqlite.prepare<UnconfirmedRow, [number, number, number]>(
      `SELECT ${COLUMNS}, users.id AS recipientId
       FROM users INDEXED BY users_unconfirmed
       CROSS JOIN shares INDEXED BY shares_waiting ON recipient_email_key = users.email_key
       WHERE users.id >= ?3 AND email_unconfirmed_since IS NOT NULL AND kind = 'account' AND recipient_id IS NULL
         AND (expires_at IS NULL OR expires_at > ?1)
         AND (email_unconfirmed_since = users.created_at OR shares.created_at > email_unconfirmed_since)
       ORDER BY users.id LIMIT ?2`,
    ),
    assign: sqlite.prepare<undefined, [number, number]>("UPDATE shares SET recipient_id = ?2 WHERE id = ?1"),
    /** Hides a share of a group from one of its members. */
    hide: sqlite.prepare<undefined, [number, number]>(
      "INSERT OR IGNORE INTO hidden_shares (share_id, user_id) VALUES (?1, ?2)",
    ),
    remove: sqlite.prepare<undefined, [number]>("DELETE FROM shares WHERE id = ?1"),
  };
}
