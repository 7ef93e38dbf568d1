/** The rows of `shares`, without the counts that are not written yet: see `statistics.ts`. */
import type { Database } from "bun:sqlite";
import { naturalOrder, numbers, type Reader } from "../../../db/reader.ts";
import { isForUser } from "../../library/permissions/recipients.ts";
import { FOLDER } from "../../../tree/model/rows.ts";
import type { SortOrder } from "../../../tree/model/types.ts";
import { hashShareToken, isShareToken } from "./tokens.ts";
import type { NewShare, Share, SharedItem, SharesQuery } from "./types.ts";

interface ShareRow extends Omit<Share, "hidesLocation" | "canWrite" | "showsVersions"> {
  readonly hidesLocation: number;
  readonly canWrite: number;
  readonly showsVersions: number | null;
}

/** The columns of a new share that the request does not set. */
interface ShareIdentity {
  readonly publicId: string;
  readonly accountId: number;
  readonly nodeId: number | null;
  readonly albumId: number | null;
  readonly nonce: Uint8Array;
  readonly hash: Uint8Array;
  readonly createdAtMs: number;
  readonly pinnedVersion: number | null;
  readonly recipientId: number | null;
  readonly groupId: number | null;
}

const SELECT = `SELECT id, public_id AS publicId, account_id AS accountId, node_id AS nodeId,
  album_id AS albumId, kind, nonce,
  created_at AS createdAtMs, label, expires_at AS expiresAtMs, password_hash AS passwordHash, grant_epoch AS grantEpoch,
  max_downloads AS maxDownloads, downloads, views, last_accessed_at AS lastAccessedAtMs,
  downloaded_at AS downloadedAtMs, pinned_version AS pinnedVersion, hides_location AS hidesLocation,
  max_upload_bytes AS maxUploadBytes, max_uploads_per_address AS maxUploadsPerAddress, uploads, uploaded_bytes AS uploadedBytes, can_write AS canWrite,
  shows_versions AS showsVersions, recipient_email_key AS recipientEmailKey, recipient_id AS recipientId, group_id AS groupId,
  CASE WHEN group_id IS NOT NULL THEN (SELECT g.public_id FROM groups g WHERE g.id = group_id)
    WHEN recipient_email_key IS NULL THEN (SELECT u.public_id FROM users u WHERE u.id = recipient_id) END AS recipientPublicId,
  CASE WHEN group_id IS NOT NULL THEN (SELECT g.name FROM groups g WHERE g.id = group_id)
    WHEN recipient_email_key IS NULL THEN (SELECT u.name FROM users u WHERE u.id = recipient_id) END AS recipientName
  FROM shares`;

/** Excludes nodes that went to the trash with a folder above them. */
const IS_NOT_IN_TRASH = "NOT EXISTS (SELECT 1 FROM trash WHERE trash.node_id = shares.node_id)";

/** Up to this many files and folders in the trash, looking up their shares is faster than looking up the node of each share. */
const TRASH_NODES_MAX = 1_000;

/** The number of shares in {@link ShareRows.ofAccount}. For 10,000 of them, it takes 0.2 ms from indexes, else 1.1 ms. */
const COUNT_OF_ACCOUNT = `SELECT CASE
  WHEN (SELECT trash_nodes FROM accounts WHERE id = ?1) <= ${TRASH_NODES_MAX} THEN
    (SELECT count(*) FROM shares INDEXED BY shares_account WHERE account_id = ?1)
    - (SELECT count(*) FROM trash INDEXED BY trash_account CROSS JOIN shares INDEXED BY shares_node
        ON shares.node_id = trash.node_id WHERE trash.account_id = ?1 AND shares.account_id = ?1)
  ELSE (SELECT count(*) FROM shares INDEXED BY shares_account WHERE account_id = ?1 AND ${IS_NOT_IN_TRASH})
  END AS total`;

/** Most shares that one file, folder or album may have. */
export const SHARES_OF_NODE_MAX = 1_000;

/** The rows of shares. Call the methods that write inside a transaction. */
export class ShareRows {
  readonly #statements;
  readonly #ofNode;
  readonly #ofAlbum;

  constructor(sqlite: Database) {
    this.#ofNode = targetStatements(sqlite, "node_id", "shares_node");
    this.#ofAlbum = targetStatements(sqlite, "album_id", "shares_album");
    this.#statements = {
      // These three by their unique indexes.
      byToken: sqlite.prepare<ShareRow, [Uint8Array]>(`${SELECT} WHERE token_hash = ?1`),
      byPublicId: sqlite.prepare<ShareRow, [string]>(`${SELECT} WHERE public_id = ?1`),
      byId: sqlite.prepare<ShareRow, [number]>(`${SELECT} WHERE id = ?1`),
      // By its primary key, and those of group_members and hidden_shares.
      isFor: sqlite.prepare<{ one: 1 }, [number, number]>(
        `SELECT 1 AS one FROM shares s WHERE s.id = ?1 AND ${isForUser("s", "?2")}`,
      ),
      // By shares_account.
      ofAccount: { asc: ofAccount(sqlite, "asc"), desc: ofAccount(sqlite, "desc") },
      count: sqlite.prepare<{ total: number }, [number]>(COUNT_OF_ACCOUNT),
      insert: sqlite.prepare(
        `INSERT INTO shares (public_id, account_id, node_id, kind, nonce, token_hash, created_at, label, expires_at,
           password_hash, max_downloads, pinned_version, hides_location, max_upload_bytes, can_write,
           recipient_email_key, recipient_id, shows_versions, max_uploads_per_address, album_id, group_id)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)`,
      ),
      update: sqlite.prepare(
        `UPDATE shares SET label = ?2, expires_at = ?3, password_hash = ?4, max_downloads = ?5, pinned_version = ?6,
           hides_location = ?7, max_upload_bytes = ?8, can_write = ?9, shows_versions = ?10, max_uploads_per_address = ?11,
           grant_epoch = grant_epoch + 1 WHERE id = ?1`,
      ),
      // By primary key.
      showAgain: sqlite.prepare("DELETE FROM hidden_shares WHERE share_id = ?1"),
      delete: sqlite.prepare("DELETE FROM shares WHERE id = ?1"),
      take: sqlite.prepare(
        `UPDATE shares SET downloads = downloads + 1, last_accessed_at = ?2, downloaded_at = coalesce(downloaded_at, ?2)
         WHERE id = ?1 AND (max_downloads IS NULL OR downloads + ?3 < max_downloads)`,
      ),
      addCounts: sqlite.prepare(
        `UPDATE shares SET downloads = downloads + ?2, views = views + ?3,
           last_accessed_at = max(coalesce(last_accessed_at, 0), ?4),
           downloaded_at = CASE WHEN ?2 > 0 THEN coalesce(downloaded_at, ?4) ELSE downloaded_at END WHERE id = ?1`,
      ),
      addUpload: sqlite.prepare(
        `UPDATE shares SET uploads = uploads + 1, uploaded_bytes = uploaded_bytes + ?2,
           last_accessed_at = max(coalesce(last_accessed_at, 0), ?3)
         WHERE id = ?1 AND (max_upload_bytes IS NULL OR uploaded_bytes + ?2 <= max_upload_bytes)`,
      ),
      setGuessesNotified: sqlite.prepare(
        `UPDATE shares SET guesses_notified_at = ?2
         WHERE id = ?1 AND (guesses_notified_at IS NULL OR guesses_notified_at <= ?3)`,
      ),
      // By primary key.
      openedSince: sqlite.prepare<{ openedAtMs: number }, [number, Uint8Array, number]>(
        "SELECT opened_at AS openedAtMs FROM share_openers WHERE share_id = ?1 AND address_hash = ?2 AND opened_at > ?3",
      ),
      noteOpener: sqlite.prepare(
        `INSERT INTO share_openers (share_id, address_hash, opened_at) VALUES (?1, ?2, ?3)
         ON CONFLICT DO UPDATE SET opened_at = max(opened_at, excluded.opened_at)`,
      ),
      // By share_openers_age.
      sweepOpeners: sqlite.prepare(
        `DELETE FROM share_openers WHERE (share_id, address_hash) IN
           (SELECT share_id, address_hash FROM share_openers WHERE opened_at <= ?1 ORDER BY opened_at LIMIT ?2)`,
      ),
      // By shares_expiry.
      sweep: sqlite.prepare(
        `DELETE FROM shares WHERE id IN (SELECT id FROM shares INDEXED BY shares_expiry
           WHERE expires_at IS NOT NULL AND expires_at < ?1 ORDER BY expires_at LIMIT ?2)`,
      ),
    };
  }

  /** The share with this token; undefined for unknown, ended and malformed tokens. */
  findByToken(token: string): Share | undefined {
    return isShareToken(token) ? toShare(this.#statements.byToken.get(hashShareToken(token))) : undefined;
  }

  find(publicId: string): Share | undefined {
    return toShare(this.#statements.byPublicId.get(publicId));
  }

  findById(id: number): Share | undefined {
    return toShare(this.#statements.byId.get(id));
  }

  /** Whether a share between accounts is for an account. */
  isFor(shareId: number, userId: number): boolean {
    return this.#statements.isFor.get(shareId, userId) !== null;
  }

  /** The shares of a file, a folder or an album, oldest first. */
  of({ kind, id }: SharedItem): Share[] {
    const { list } = kind === "album" ? this.#ofAlbum : this.#ofNode;
    return list.all(id).flatMap((row) => toShare(row) ?? []);
  }

  countOf({ kind, id }: SharedItem): number {
    const { count } = kind === "album" ? this.#ofAlbum : this.#ofNode;
    return count.get(id)?.total ?? 0;
  }

  /** In the order of their creation, without shares of nodes that are in the trash themselves. */
  ofAccount(accountId: number, { order, offset, limit }: Omit<SharesQuery, "sort">): Share[] {
    return this.#statements.ofAccount[order].all(accountId, limit, offset).flatMap((row) => toShare(row) ?? []);
  }

  /** A page of the same shares in another order, which the reading thread determines. */
  async sortedOfAccount(reader: Reader, accountId: number, query: SharesQuery): Promise<Share[]> {
    const { sort, order, offset, limit } = query;
    const from = `shares INDEXED BY shares_account LEFT JOIN nodes n ON n.id = shares.node_id
      LEFT JOIN albums a ON a.id = shares.album_id WHERE shares.account_id = ?1 AND ${IS_NOT_IN_TRASH}`;
    // Shares without an end come last.
    const byExpiry = `SELECT group_concat(id) FROM (SELECT shares.id AS id FROM ${from}
      ORDER BY shares.expires_at ${order} NULLS LAST, shares.id ${order})`;
    const ids =
      sort === "natural"
        ? naturalOrder(
            // Albums are listed with the folders.
            `SELECT shares.id AS id, coalesce(n.kind, ${FOLDER}) AS kind, coalesce(n.name, a.name) AS name FROM ${from}`,
            [accountId],
            order,
          )
        : numbers(byExpiry, [accountId]);
    const [sorted] = await reader.read([ids]);
    return [...sorted.subarray(offset, offset + limit)].flatMap((id) => this.findById(id) ?? []);
  }

  countOfAccount(accountId: number): number {
    return this.#statements.count.get(accountId)?.total ?? 0;
  }

  insert(identity: ShareIdentity, share: NewShare): void {
    const { publicId, accountId, nodeId, albumId, nonce, hash, createdAtMs, pinnedVersion, recipientId, groupId } =
      identity;
    this.#statements.insert.run(
      publicId,
      accountId,
      nodeId,
      share.kind,
      nonce,
      hash,
      createdAtMs,
      share.label,
      share.expiresAtMs,
      share.passwordHash,
      share.maxDownloads,
      pinnedVersion,
      share.hidesLocation ? 1 : 0,
      share.maxUploadBytes,
      share.canWrite ? 1 : 0,
      share.recipientEmailKey,
      recipientId,
      numberOrNull(share.showsVersions),
      share.maxUploadsPerAddress,
      albumId,
      groupId,
    );
  }

  /** Writes the columns of a share that may change. Earlier grants end. */
  update(share: Share): void {
    this.#statements.update.run(
      share.id,
      share.label,
      share.expiresAtMs,
      share.passwordHash,
      share.maxDownloads,
      share.pinnedVersion,
      share.hidesLocation ? 1 : 0,
      share.maxUploadBytes,
      share.canWrite ? 1 : 0,
      numberOrNull(share.showsVersions),
      share.maxUploadsPerAddress,
    );
  }

  /** Shows a share of a group again to the members who hid it. */
  showAgain(id: number): void {
    this.#statements.showAgain.run(id);
  }

  delete(id: number): void {
    this.#statements.delete.run(id);
  }

  /** Counts one download, if one is left after the `waiting` ones that are not written yet. @returns whether one was */
  takeDownload(id: number, nowMs: number, waiting: number): boolean {
    return this.#statements.take.run(id, nowMs, waiting).changes > 0;
  }

  addCounts(id: number, counts: { downloads: number; views: number; lastAtMs: number }): void {
    this.#statements.addCounts.run(id, counts.downloads, counts.views, counts.lastAtMs);
  }

  /** Counts a file of a drop box, if it still fits. @returns whether it does */
  addUpload(id: number, sizeBytes: number, nowMs: number): boolean {
    return this.#statements.addUpload.run(id, sizeBytes, nowMs).changes > 0;
  }

  /** Records that the owner is notified of guesses. @returns false if they were already notified since an instant */
  setGuessesNotified(id: number, nowMs: number, sinceMs: number): boolean {
    return this.#statements.setGuessesNotified.run(id, nowMs, sinceMs).changes > 0;
  }

  /** When an address last opened a locked share, if that was after an instant. */
  findOpened(id: number, addressHash: Uint8Array, sinceMs: number): number | undefined {
    return this.#statements.openedSince.get(id, addressHash, sinceMs)?.openedAtMs;
  }

  /** Records that an address opened a locked share. */
  noteOpener(id: number, addressHash: Uint8Array, nowMs: number): void {
    this.#statements.noteOpener.run(id, addressHash, nowMs);
  }

  /** Deletes addresses that opened nothing since an instant, oldest first. @returns how many */
  sweepOpeners(untilMs: number, limit: number): number {
    return this.#statements.sweepOpeners.run(untilMs, limit).changes;
  }

  /** Removes shares that expired before an instant, oldest first. @returns how many */
  sweep(expiredBeforeMs: number, limit: number): number {
    return this.#statements.sweep.run(expiredBeforeMs, limit).changes;
  }
}

function targetStatements(sqlite: Database, column: "node_id" | "album_id", index: string) {
  return {
    list: sqlite.prepare<ShareRow, [number]>(`${SELECT} WHERE ${column} = ?1 ORDER BY id LIMIT ${SHARES_OF_NODE_MAX}`),
    count: sqlite.prepare<{ total: number }, [number]>(
      `SELECT count(*) AS total FROM shares INDEXED BY ${index} WHERE ${column} = ?1`,
    ),
  };
}

function toShare(row: ShareRow | null): Share | undefined {
  if (row === null) return undefined;
  const showsVersions = row.showsVersions === null ? null : row.showsVersions === 1;
  return { ...row, hidesLocation: row.hidesLocation === 1, canWrite: row.canWrite === 1, showsVersions };
}

function ofAccount(sqlite: Database, order: SortOrder) {
  return sqlite.prepare<ShareRow, [number, number, number]>(
    `${SELECT} WHERE account_id = ?1 AND ${IS_NOT_IN_TRASH} ORDER BY id ${order} LIMIT ?2 OFFSET ?3`,
  );
}

function numberOrNull(value: boolean | null): number | null {
  return value === null ? null : Number(value);
}
