import type { Database } from "bun:sqlite";

/** A former location of a node, and when it ended. */
export interface FormerLocationRow {
  readonly atMs: number;
  /** 0 for the trash. */
  readonly parentId: number;
  readonly name: string;
  readonly deviceId: string | null;
  readonly deviceName: string | null;
}

/** The user and the device that created a node. */
export interface CreationRow {
  readonly userId: number | null;
  readonly deviceId: string | null;
  readonly deviceName: string | null;
}

/** A share that a node has. */
export interface ShareRow {
  readonly atMs: number;
  readonly kind: "public" | "link" | "upload" | "account";
}

/** An entry of the audit log about a node. */
export interface AuditRow {
  readonly atMs: number;
  readonly action: string;
  readonly userId: string | null;
}

/** Rows read per kind, the newest ones. */
const ROWS_MAX = 1_000;

/** The records about one node in several tables, each read through an index. */
export class ActivityRows {
  readonly #formerLocations;
  readonly #creation;
  readonly #shares;
  readonly #auditEntries;

  constructor(sqlite: Database) {
    // The key of former_places, then that of the journal.
    this.#formerLocations = sqlite.prepare<FormerLocationRow, [number]>(
      `SELECT p.at AS atMs, p.parent_id AS parentId, p.name, d.public_id AS deviceId, d.name AS deviceName
       FROM former_places p
       LEFT JOIN journal j ON j.account_id = p.account_id AND j.seq = p.seq
       LEFT JOIN devices d ON d.id = j.device_id
       WHERE p.node_id = ?1 ORDER BY p.seq DESC LIMIT ${ROWS_MAX}`,
    );
    this.#creation = sqlite.prepare<CreationRow, [number]>(
      `SELECT CASE WHEN n.version = 1 THEN n.content_by
           ELSE (SELECT v.created_by FROM versions v WHERE v.node_id = n.id AND v.version = 1) END AS userId,
         d.public_id AS deviceId, d.name AS deviceName
       FROM nodes n
       LEFT JOIN journal j ON j.account_id = n.account_id AND j.seq = n.created_seq
       LEFT JOIN devices d ON d.id = j.device_id
       WHERE n.id = ?1`,
    );
    this.#shares = sqlite.prepare<ShareRow, [number]>(
      `SELECT created_at AS atMs, kind FROM shares INDEXED BY shares_node WHERE node_id = ?1
       ORDER BY id DESC LIMIT ${ROWS_MAX}`,
    );
    this.#auditEntries = sqlite.prepare<AuditRow, [string]>(
      `SELECT at AS atMs, action, user_id AS userId FROM audit INDEXED BY audit_target
       WHERE target_id = ?1 AND outcome = 'done' AND action IN ('version.delete', 'file.download')
       ORDER BY id DESC LIMIT ${ROWS_MAX}`,
    );
  }

  /** The former locations of a node, latest first. */
  formerLocations(nodeId: number): FormerLocationRow[] {
    return this.#formerLocations.all(nodeId);
  }

  creation(nodeId: number): CreationRow | undefined {
    return this.#creation.get(nodeId) ?? undefined;
  }

  /** The current shares of a node, newest first. */
  shares(nodeId: number): ShareRow[] {
    return this.#shares.all(nodeId);
  }

  /** Entries recorded only in the audit log, newest first. */
  auditEntries(publicId: string): AuditRow[] {
    return this.#auditEntries.all(publicId);
  }
}
