import type { Database } from "bun:sqlite";
import { type Digest, digestFromBytes, digestToBytes } from "../../../blobs/digest.ts";
import { newId } from "../../../lib/id.ts";
import type { Finding, FindingKind, OpenFindings } from "./types.ts";

/** A query for findings. */
export interface FindingQuery {
  readonly state: "open" | "resolved" | "all";
  readonly offset: number;
  readonly limit: number;
}

interface FindingRow extends Omit<Finding, "digest"> {
  readonly digest: Uint8Array | null;
}

const STATES: Readonly<Record<FindingQuery["state"], string>> = {
  open: "resolved_at IS NULL",
  resolved: "resolved_at IS NOT NULL",
  all: "TRUE",
};

/** How long resolved findings are stored. */
export const FINDINGS_RETENTION_MS = 365 * 24 * 60 * 60 * 1000;

/**
 * Findings are stored until a year after they were resolved. A trigger resolves the finding of a blob when its row says
 * that it is whole again, or is deleted.
 */
export class Findings {
  readonly #note;
  readonly #notifyAgain;
  readonly #resolveDatabase;
  readonly #counts;
  readonly #sweep;
  readonly #lists;

  constructor(sqlite: Database) {
    this.#note = sqlite.prepare<
      { isNew: number },
      [string, FindingKind, Uint8Array | null, number | null, string, number, number | null]
    >(
      `INSERT INTO findings (public_id, kind, digest, size_bytes, detail, found_at, seen_at, told_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7)
       ON CONFLICT (coalesce(digest, x'')) WHERE resolved_at IS NULL
       DO UPDATE SET kind = excluded.kind, detail = excluded.detail, seen_at = excluded.seen_at
       RETURNING public_id = ?1 AS isNew`,
    );
    this.#notifyAgain = sqlite.prepare<void, [Uint8Array]>(
      "UPDATE findings SET told_at = NULL WHERE coalesce(digest, x'') = ?1 AND resolved_at IS NULL",
    );
    this.#resolveDatabase = sqlite.prepare<void, [number]>(
      `UPDATE findings SET resolved_at = max(seen_at, ?1), resolution = 'healed'
       WHERE coalesce(digest, x'') = x'' AND resolved_at IS NULL`,
    );
    this.#counts = sqlite.prepare<{ kind: FindingKind; open: number }, []>(
      "SELECT kind, count(*) AS open FROM findings WHERE resolved_at IS NULL GROUP BY kind",
    );
    this.#sweep = sqlite.prepare<void, [number]>("DELETE FROM findings WHERE resolved_at < ?1");
    const list = (state: FindingQuery["state"]) => ({
      rows: sqlite.query<FindingRow, [number, number]>(
        `SELECT f.public_id AS publicId, f.kind, f.digest, f.size_bytes AS sizeBytes, f.detail, f.found_at AS foundAtMs,
           f.seen_at AS seenAtMs, f.resolved_at AS resolvedAtMs, f.resolution,
           (SELECT count(*) FROM nodes WHERE blob_id = b.id)
             + (SELECT count(DISTINCT node_id) FROM versions WHERE blob_id = b.id) AS files
         FROM findings f LEFT JOIN blobs b ON b.digest = f.digest
         WHERE ${STATES[state]} ORDER BY f.id DESC LIMIT ?1 OFFSET ?2`,
      ),
      count: sqlite.query<{ total: number }, []>(`SELECT count(*) AS total FROM findings WHERE ${STATES[state]}`),
    });
    this.#lists = { open: list("open"), resolved: list("resolved"), all: list("all") };
  }

  /**
   * Records a fault, or that it still exists. Called inside a transaction.
   * @param digest undefined for a fault of the database
   * @param notifiedAtMs the current time if nobody is to be notified
   * @returns whether the fault is new
   */
  note(
    kind: FindingKind,
    content: { readonly digest: Digest; readonly sizeBytes: number } | undefined,
    detail: string,
    nowMs: number,
    notifiedAtMs: number | null = null,
  ): boolean {
    const digest = content === undefined ? null : digestToBytes(content.digest);
    const row = this.#note.get(
      newId("fnd", nowMs),
      kind,
      digest,
      content?.sizeBytes ?? null,
      detail,
      nowMs,
      notifiedAtMs,
    );
    return row?.isNew === 1;
  }

  /** Queues another notification of an open finding. Called inside a transaction. */
  notifyAgain(digest: Digest): void {
    this.#notifyAgain.run(digestToBytes(digest));
  }

  /** Resolves the finding of the database. Called inside a transaction. */
  resolveDatabase(nowMs: number): void {
    this.#resolveDatabase.run(nowMs);
  }

  /** Deletes findings that were resolved before `beforeMs`. Called inside a transaction. */
  sweep(beforeMs: number): void {
    this.#sweep.run(beforeMs);
  }

  /** Counts of open findings. Scans the open ones; usually there are none. */
  countOpen(): OpenFindings {
    const open = { damaged: 0, missing: 0, unreadable: 0, database: 0 };
    for (const row of this.#counts.all()) open[row.kind] = row.open;
    return open;
  }

  /** A page of findings, newest first, and the total number. */
  list({ state, offset, limit }: FindingQuery): { findings: Finding[]; total: number } {
    const { rows, count } = this.#lists[state];
    const findings = rows
      .all(limit, offset)
      .map((row) => ({ ...row, digest: row.digest === null ? null : digestFromBytes(row.digest) }));
    return { findings, total: count.get()?.total ?? 0 };
  }
}
