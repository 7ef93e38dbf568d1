import type { Database } from "bun:sqlite";

/** Files of one account that have damaged blobs. */
interface AffectedBlob {
  files: number;
  /** Names of some of its files. */
  readonly names: [string, ...string[]];
}

/** A report of new findings: one part for administrators, one for each owner. */
interface DamageReport {
  readonly contents: number;
  readonly database: boolean;
  readonly administrators: readonly number[];
  readonly owners: ReadonlyMap<number, AffectedBlob>;
}

interface FileRow {
  readonly accountId: number;
  readonly name: string;
}

/** Findings in one report; the next report has the rest. */
const REPORTED_MAX = 500;
const NAMES_MAX = 3;

/** Finds findings that were not reported, and the accounts that they affect. */
export class AffectedFiles {
  readonly #unreported;
  readonly #markReported;
  readonly #administrators;
  readonly #files;

  constructor(sqlite: Database) {
    this.#unreported = sqlite.prepare<{ id: number; digest: Uint8Array | null }, [number]>(
      "SELECT id, digest FROM findings WHERE resolved_at IS NULL AND told_at IS NULL ORDER BY id LIMIT ?1",
    );
    this.#markReported = sqlite.prepare<void, [number, number]>("UPDATE findings SET told_at = ?2 WHERE id = ?1");
    this.#administrators = sqlite.prepare<{ id: number }, []>(
      "SELECT id FROM users WHERE role = 'admin' AND disabled_at IS NULL AND email <> ''",
    );
    // Indexes nodes_blob and versions_blob.
    this.#files = sqlite.prepare<FileRow, [Uint8Array]>(
      `WITH b AS (SELECT id FROM blobs WHERE digest = ?1),
         n AS (SELECT id FROM nodes WHERE blob_id = (SELECT id FROM b) UNION
               SELECT node_id FROM versions WHERE blob_id = (SELECT id FROM b))
       SELECT account_id AS accountId, name FROM nodes WHERE id IN (SELECT id FROM n) ORDER BY id`,
    );
  }

  /** Marks findings as reported. Called inside a transaction. @returns the report; undefined without new findings */
  takeUnreported(nowMs: number): DamageReport | undefined {
    const unreported = this.#unreported.all(REPORTED_MAX);
    if (unreported.length === 0) return undefined;
    const owners = new Map<number, AffectedBlob>();
    for (const { id, digest } of unreported) {
      this.#markReported.run(id, nowMs);
      for (const { accountId, name } of digest === null ? [] : this.#files.all(digest)) {
        owners.set(accountId, addFile(owners.get(accountId), name));
      }
    }
    return {
      contents: unreported.filter(({ digest }) => digest !== null).length,
      database: unreported.some(({ digest }) => digest === null),
      administrators: this.#administrators.all().map(({ id }) => id),
      owners,
    };
  }
}

function addFile(affected: AffectedBlob | undefined, name: string): AffectedBlob {
  if (affected === undefined) return { files: 1, names: [name] };
  affected.files++;
  if (affected.names.length < NAMES_MAX) affected.names.push(name);
  return affected;
}
