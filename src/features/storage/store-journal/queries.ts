import type { Database } from "bun:sqlite";
import { numbers, type Read } from "../../../db/reader.ts";
import { AlbumRecords } from "./album-records.ts";
import { type AccountRecord, type GroupMembership, type JournaledRow, parseAvatar, parseList } from "./records.ts";

/** The progress of the objects of an account. */
export interface Position {
  readonly accountId: number;
  /** Name of the folder of its objects. */
  readonly publicId: string;
  /** Number of the last object. */
  readonly number: number;
  /** Journal number up to which the objects are complete. */
  readonly seq: number;
  /** Size of the newest full object; 0 if one is to be written. */
  readonly fullBytes: number;
  /** Size of all objects after it. */
  readonly laterBytes: number;
  readonly epoch: string;
}

/** An account with changes that are to be written. */
export interface PendingAccount {
  readonly accountId: number;
  readonly publicId: string;
}

/** A queued rescan of a node, inserted by a trigger; node 0 is the account itself, and a negative one an album. */
export interface Rescan {
  readonly nodeId: number;
  readonly times: number;
  /** The public id, if the node may be deleted without a journal entry. */
  readonly gone: string | null;
}

/** A change in an account's journal. */
export interface JournalEntry {
  readonly seq: number;
  readonly nodeId: number;
  /** The public id of a node that this change deleted. */
  readonly gone: string | null;
}

const VERSIONS = `(SELECT json_group_array(json_object('version', v.version, 'sha256', lower(hex(vb.digest)), 'size', v.size_bytes,
    'crc32', vb.crc32, 'type', v.media_type, 'at', v.created_at, 'until', v.replaced_at,
    'by', (SELECT public_id FROM users WHERE id = v.created_by)))
  FROM (SELECT * FROM versions WHERE node_id = n.id ORDER BY version) v CROSS JOIN blobs vb ON vb.id = v.blob_id)`;

const sharesSql = (
  condition: string,
): string => `(SELECT json_group_array(json_object('id', s.public_id, 'kind', s.kind, 'nonce', lower(hex(s.nonce)),
    'tokenHash', lower(hex(s.token_hash)), 'created', s.created_at, 'epoch', s.grant_epoch, 'label', s.label,
    'expires', s.expires_at, 'pinned', s.pinned_version, 'hidesLocation', s.hides_location, 'canWrite', s.can_write,
    'showsVersions', s.shows_versions, 'maxUploadsPerAddress', s.max_uploads_per_address,
    'recipient', (SELECT public_id FROM users WHERE id = s.recipient_id), 'recipientEmail', s.recipient_email_key,
    'group', (SELECT public_id FROM groups WHERE id = s.group_id), 'groupName', (SELECT name FROM groups WHERE id = s.group_id),
    'hiddenBy', CASE WHEN EXISTS (SELECT 1 FROM hidden_shares h WHERE h.share_id = s.id) THEN json((SELECT json_group_array(u.public_id)
      FROM hidden_shares h JOIN users u ON u.id = h.user_id WHERE h.share_id = s.id)) END,
    'passwordHash', s.password_hash, 'maxDownloads', s.max_downloads, 'downloads', nullif(s.downloads, 0),
    'maxUploadBytes', s.max_upload_bytes, 'uploadedBytes', nullif(s.uploaded_bytes, 0)))
  FROM shares s WHERE ${condition})`;

const FORMER_LOCATIONS = `(SELECT json_group_array(json_object('seq', p.seq, 'at', p.at, 'name', p.name,
    'in', (SELECT public_id FROM nodes WHERE id = p.parent_id)))
  FROM (SELECT * FROM former_places WHERE node_id = n.id ORDER BY seq) p)`;

const FAVORITE_OF = `(SELECT json_group_array(u.public_id) FROM favorites f INDEXED BY favorites_node
  JOIN users u ON u.id = f.account_id WHERE f.node_id = n.id)`;

const CREATED_SEQ = `CASE WHEN n.created_seq >= 0 THEN n.created_seq
  ELSE ifnull((SELECT s.created_seq FROM nodes s WHERE s.id = -n.created_seq), 0) END`;

const COLUMNS = `n.id, n.kind, n.public_id AS publicId, n.parent_id AS parentId,
  (SELECT public_id FROM nodes WHERE id = n.parent_id) AS parent, n.name, n.created_at AS createdAt,
  n.modified_at AS modifiedAt, n.metadata, n.version, lower(hex(b.digest)) AS digest, n.size_bytes AS sizeBytes, b.crc32,
  n.media_type AS mediaType, n.content_at AS contentAt, (SELECT public_id FROM users WHERE id = n.content_by) AS contentBy,
  n.original_name AS originalName, n.file_modified_at AS fileModifiedAt, n.captured_at AS capturedAt,
  n.is_public AS isPublic, n.tags, CASE WHEN n.version > 1 THEN nullif(${VERSIONS}, '[]') END AS versions,
  nullif(${sharesSql("s.node_id = n.id")}, '[]') AS shares, ${CREATED_SEQ} AS born,
  (SELECT at FROM journal j WHERE j.account_id = n.account_id AND j.seq = ${CREATED_SEQ}) AS bornAt,
  nullif(${FORMER_LOCATIONS}, '[]') AS places, nullif(${FAVORITE_OF}, '[]') AS favoriteOf, t.trashed_at AS trashedAt, (SELECT public_id FROM nodes WHERE id = t.parent_id) AS trashedIn, t.folder AS trashedPath`;
const TABLES = "nodes n LEFT JOIN blobs b ON b.id = n.blob_id LEFT JOIN trash t ON t.node_id = n.id";

/**
 * The ids of all nodes of an account, ascending: of its tree, its trash, and folders that are not attached yet or wait
 * to be reaped. From parent to child, because no index is by account, and each account would cost a scan of all nodes.
 */
export function nodeIdsOf(accountId: number): Read<Float64Array> {
  return numbers(
    `WITH RECURSIVE below(id) AS (
       SELECT root_id FROM accounts WHERE id = ?1
       UNION ALL SELECT node_id FROM trash INDEXED BY trash_account WHERE account_id = ?1
       UNION ALL SELECT id FROM nodes INDEXED BY nodes_name
         WHERE parent_id IS NULL AND kind = 0 AND name <> '/' AND account_id = ?1
       UNION ALL SELECT n.id FROM below CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent_id = below.id)
     SELECT group_concat(id) FROM (SELECT id FROM below ORDER BY id)`,
    [accountId],
  );
}

/**
 * Reads what is to be written to the store journal, and its progress. Changes are made inside the caller's transaction.
 */
export class StoreJournalTables {
  /** The albums of the same database. */
  readonly albums: AlbumRecords;
  readonly #sqlite: Database;
  readonly #mark;
  readonly #pending;
  readonly #position;
  readonly #setPosition;
  readonly #forget;
  readonly #forgetRescans;
  readonly #head;
  readonly #journal;
  readonly #byIds;
  readonly #rescans;
  readonly #albumRescans;
  readonly #dequeueRescan;
  readonly #account;
  readonly #erased;
  readonly #headsAtStart: ReadonlyMap<number, number>;

  constructor(sqlite: Database) {
    this.#sqlite = sqlite;
    this.albums = new AlbumRecords(sqlite, sharesSql("s.album_id = a.id"));
    const heads = sqlite.prepare<{ id: number; seq: number }, []>("SELECT id, seq FROM accounts").all();
    this.#headsAtStart = new Map(heads.map(({ id, seq }) => [id, seq]));
    this.#mark = sqlite.prepare<{ own: number; others: number }, []>(
      "SELECT total_changes() AS own, (SELECT data_version FROM pragma_data_version) AS others",
    );
    this.#pending = sqlite.prepare<PendingAccount, [string]>(
      `SELECT a.id AS accountId, u.public_id AS publicId FROM accounts a JOIN users u ON u.id = a.id
         LEFT JOIN store_journal s ON s.account_id = a.id
       WHERE a.root_id > 0 AND (s.account_id IS NULL OR s.seq < a.seq OR s.full_bytes = 0 OR s.epoch <> ?1
         OR a.id IN (SELECT account_id FROM store_journal_again)) ORDER BY a.id`,
    );
    this.#position = sqlite.prepare<Position, [number]>(
      `SELECT account_id AS accountId, public_id AS publicId, number, seq, full_bytes AS fullBytes,
         later_bytes AS laterBytes, epoch FROM store_journal WHERE account_id = ?1`,
    );
    this.#setPosition = sqlite.prepare<undefined, [number, string, number, number, number, number, string]>(
      `INSERT OR REPLACE INTO store_journal (account_id, public_id, number, seq, full_bytes, later_bytes, epoch)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`,
    );
    this.#forget = sqlite.prepare<undefined, [number]>("DELETE FROM store_journal WHERE account_id = ?1");
    this.#forgetRescans = sqlite.prepare<undefined, [number]>("DELETE FROM store_journal_again WHERE account_id = ?1");
    this.#head = sqlite.prepare<{ seq: number }, [number]>("SELECT seq FROM accounts WHERE id = ?1");
    this.#journal = sqlite.prepare<JournalEntry, [number, number, number]>(
      `SELECT j.seq, j.node_id AS nodeId,
         (SELECT public_id FROM tombstones t WHERE t.account_id = j.account_id AND t.seq = j.seq) AS gone
       FROM journal j WHERE j.account_id = ?1 AND j.seq > ?2 ORDER BY j.seq LIMIT ?3`,
    );
    this.#byIds = sqlite.prepare<JournaledRow, [string]>(
      `SELECT ${COLUMNS} FROM json_each(?1) j CROSS JOIN ${TABLES} WHERE n.id = j.value`,
    );
    this.#rescans = sqlite.prepare<Rescan, [number, number, number]>(
      `SELECT node_id AS nodeId, times, gone FROM store_journal_again WHERE account_id = ?1 AND node_id > ?2
       ORDER BY node_id LIMIT ?3`,
    );
    this.#albumRescans = sqlite.prepare<Rescan, [number, number]>(
      `SELECT node_id AS nodeId, times, gone FROM store_journal_again WHERE account_id = ?1 AND node_id < 0
       ORDER BY node_id LIMIT ?2`,
    );
    this.#dequeueRescan = sqlite.prepare<undefined, [number, number, number]>(
      "DELETE FROM store_journal_again WHERE account_id = ?1 AND node_id = ?2 AND times = ?3",
    );
    this.#account = sqlite.prepare<
      Omit<
        AccountRecord,
        "settings" | "quota" | "disabled" | "unconfirmedSince" | "historySince" | "groups" | "avatar"
      > &
        AccountRest,
      [number]
    >(
      `SELECT u.public_id AS account, u.email, u.name, u.role, u.plan, u.created_at AS created, u.settings AS settingsJson,
         u.disabled_at AS disabledAt, a.quota_bytes AS quotaBytes, u.email_unconfirmed_since AS unconfirmedSince,
         (SELECT json_group_array(json_object('id', g.public_id, 'name', g.name, 'created', g.created_at, 'added', m.added_at))
           FROM group_members m JOIN groups g ON g.id = m.group_id WHERE m.user_id = u.id) AS groupsJson,
         (SELECT json_object('digest', lower(hex(p.digest)), 'large', lower(hex(p.large)), 'small', lower(hex(p.small)),
           'changed', p.changed_at) FROM avatars p WHERE p.user_id = u.id) AS avatarJson,
         (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'history_since') AS historySince FROM users u JOIN accounts a ON a.id = u.id WHERE u.id = ?1`,
    );
    this.#erased = sqlite.prepare<PendingAccount, []>(
      `SELECT s.account_id AS accountId, s.public_id AS publicId FROM store_journal s LEFT JOIN accounts a ON a.id = s.account_id
       WHERE a.id IS NULL OR a.root_id <= 0`,
    );
  }

  /** A mark that changes with every change of the database, by this process or another one. */
  changeMark(): string {
    const mark = this.#mark.get();
    return `${mark?.own ?? 0}/${mark?.others ?? 0}`;
  }

  /** Accounts with changes that are to be written, and all accounts that were not written in this epoch. */
  pendingAccounts(epoch: string): PendingAccount[] {
    return this.#pending.all(epoch);
  }

  /** Erased accounts that still have objects. */
  erasedAccounts(): PendingAccount[] {
    return this.#erased.all();
  }

  /** Undefined for an account without objects. */
  positionOf(accountId: number): Position | undefined {
    return this.#position.get(accountId) ?? undefined;
  }

  /** The positions of all accounts that have objects. */
  positions(): Position[] {
    return StoreJournalTables.readPositions(this.#sqlite);
  }

  /** Like {@link positions}, for any database. */
  static readPositions(sqlite: Database): Position[] {
    return sqlite
      .query<Position, []>(
        `SELECT account_id AS accountId, public_id AS publicId, number, seq, full_bytes AS fullBytes,
           later_bytes AS laterBytes, epoch FROM store_journal`,
      )
      .all();
  }

  setPosition(position: Position): void {
    const { accountId, publicId, number, seq, fullBytes, laterBytes, epoch } = position;
    this.#setPosition.run(accountId, publicId, number, seq, fullBytes, laterBytes, epoch);
  }

  forget(accountId: number): void {
    this.#forget.run(accountId);
    this.#forgetRescans.run(accountId);
  }

  headOf(accountId: number): number {
    return this.#head.get(accountId)?.seq ?? 0;
  }

  /** The head of the account's journal when this process started. */
  headAtStart(accountId: number): number {
    return this.#headsAtStart.get(accountId) ?? this.headOf(accountId);
  }

  journalAfter(accountId: number, seq: number, limit: number): JournalEntry[] {
    return this.#journal.all(accountId, seq, limit);
  }

  /** Nodes by id; deleted ones are left out. */
  nodes(ids: readonly number[]): JournaledRow[] {
    return this.#byIds.all(JSON.stringify(ids));
  }

  /** Queued rescans of an account, after a node. */
  rescans(accountId: number, afterNodeId: number, limit: number): Rescan[] {
    return this.#rescans.all(accountId, afterNodeId, limit);
  }

  /** Queued rescans of albums of an account: their negated ids are in the place of a node's. */
  albumRescans(accountId: number, limit: number): Rescan[] {
    return this.#albumRescans.all(accountId, limit);
  }

  /** Deletes a rescan that {@link rescans} returned, unless the node changed again since. */
  dequeueRescan(accountId: number, { nodeId, times }: Rescan): void {
    this.#dequeueRescan.run(accountId, nodeId, times);
  }

  account(accountId: number): AccountRecord | undefined {
    const row = this.#account.get(accountId);
    if (row === null) return undefined;
    const { settingsJson, disabledAt, quotaBytes, unconfirmedSince, historySince, groupsJson, avatarJson, ...rest } =
      row;
    const settings: unknown = JSON.parse(settingsJson);
    return {
      ...rest,
      ...(quotaBytes !== null && { quota: quotaBytes }),
      ...(disabledAt !== null && { disabled: disabledAt }),
      settings,
      ...(unconfirmedSince !== null && { unconfirmedSince }),
      ...(historySince !== null && { historySince }),
      ...(groupsJson !== "[]" && { groups: parseList<GroupMembership>(groupsJson) }),
      ...(avatarJson !== null && { avatar: parseAvatar(avatarJson) }),
    };
  }
}

interface AccountRest {
  readonly settingsJson: string;
  readonly disabledAt: number | null;
  readonly quotaBytes: number | null;
  readonly unconfirmedSince: number | null;
  readonly historySince: number | null;
  /** JSON array of {@link GroupMembership}. */
  readonly groupsJson: string;
  /** JSON of {@link AvatarContent}; null without a picture. */
  readonly avatarJson: string | null;
}
