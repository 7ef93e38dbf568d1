import type { Database } from "bun:sqlite";

/** What one account has of damaged contents. */
export interface AffectedBlob {
  files: number;
  /** Names of some of its files. */
  readonly names: string[];
}

/** What is to be told: to each administrator, and to each owner. */
export interface News {
  readonly contents: number;
  readonly database: boolean;
  readonly administrators: readonly number[];
  readonly owners: ReadonlyMap<number, AffectedBlob>;
}

interface FileRow {
  readonly accountId: number;
  readonly name: string;
}

/** Findings told at once; the rest is told with the next. */
const AT_ONCE_MAX = 500;
const NAMES_MAX = 3;

/** Whom findings concern, and which of them nobody was told of yet. */
export class AffectedFiles {
  readonly #untold;
  readonly #told;
  readonly #administrators;
  readonly #files;

  constructor(sqlite: Database) {
    this.#untold = sqlite.query<{ id: number; digest: Uint8Array | null }, [number]>(
      "SELECT id, digest FROM findings WHERE resolved_at IS NULL AND told_at IS NULL ORDER BY id LIMIT ?1",
    );
    this.#told = sqlite.query<void, [number, number]>("UPDATE findings SET told_at = ?2 WHERE id = ?1");
    this.#administrators = sqlite.query<{ id: number }, []>(
      "SELECT id FROM users WHERE role = 'admin' AND disabled_at IS NULL AND email <> ''",
    );
    // Indexes nodes_blob and versions_blob.
    this.#files = sqlite.query<FileRow, [Uint8Array]>(
      `WITH b AS (SELECT id FROM blobs WHERE digest = ?1),
         n AS (SELECT id FROM nodes WHERE blob_id = (SELECT id FROM b) UNION
               SELECT node_id FROM versions WHERE blob_id = (SELECT id FROM b))
       SELECT account_id AS accountId, name FROM nodes WHERE id IN (SELECT id FROM n) ORDER BY id`,
    );
  }

  /** What nobody was told of yet, noted as told. A deed. @returns undefined where there is nothing to tell */
  takeNews(nowMs: number): News | undefined {
    const untold = this.#untold.all(AT_ONCE_MAX);
    if (untold.length === 0) return undefined;
    const owners = new Map<number, AffectedBlob>();
    for (const { id, digest } of untold) {
      this.#told.run(id, nowMs);
      for (const { accountId, name } of digest === null ? [] : this.#files.all(digest)) {
        const concerned = owners.get(accountId) ?? { files: 0, names: [] };
        concerned.files++;
        if (concerned.names.length < NAMES_MAX) concerned.names.push(name);
        owners.set(accountId, concerned);
      }
    }
    return {
      contents: untold.filter(({ digest }) => digest !== null).length,
      database: untold.some(({ digest }) => digest === null),
      administrators: this.#administrators.all().map(({ id }) => id),
      owners,
    };
  }
}
