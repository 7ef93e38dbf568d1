import type { Database } from "bun:sqlite";
import { type Digest, digestToBytes } from "../../../blobs/digest.ts";

/** A file that uses a blob, for the operator at the terminal. */
export interface UsingFile {
  /** E-mail of the account. */
  readonly account: string;
  readonly path: string;
  /** present: its content; earlier: an earlier version; trash: the file is in the trash. */
  readonly as: "present" | "earlier" | "trash";
}

interface UseRow {
  readonly nodeId: number;
  readonly account: string;
  readonly isPresent: number;
}

interface StepRow {
  readonly name: string;
  readonly parentId: number | null;
}

/** No tree is deeper: a longer chain of parents is circular. */
const DEPTH_MAX = 2_100;

/** Finds the files that use blobs, with their paths. */
export class ContentUses {
  readonly #uses;
  readonly #step;
  readonly #isTrashed;

  constructor(sqlite: Database) {
    // Indexes nodes_blob and versions_blob.
    this.#uses = sqlite.query<UseRow, [Uint8Array, number]>(
      `WITH b AS (SELECT id FROM blobs WHERE digest = ?1),
         n AS (SELECT id, 1 AS isPresent FROM nodes WHERE blob_id = (SELECT id FROM b) UNION ALL
               SELECT node_id, 0 FROM versions WHERE blob_id = (SELECT id FROM b))
       SELECT nodes.id AS nodeId, coalesce(u.email, '') AS account, max(n.isPresent) AS isPresent
       FROM n JOIN nodes ON nodes.id = n.id LEFT JOIN users u ON u.id = nodes.account_id
       GROUP BY nodes.id ORDER BY nodes.id LIMIT ?2`,
    );
    this.#step = sqlite.query<StepRow, [number]>("SELECT name, parent_id AS parentId FROM nodes WHERE id = ?1");
    this.#isTrashed = sqlite.query<{ one: 1 }, [number]>("SELECT 1 AS one FROM trash WHERE node_id = ?1");
  }

  /** The files that use a blob, at most `limit`. */
  find(digest: Digest, limit: number): UsingFile[] {
    return this.#uses.all(digestToBytes(digest), limit).map(({ nodeId, account, isPresent }) => {
      const { path, isTrashed } = this.#pathOf(nodeId);
      return { account, path, as: isTrashed ? "trash" : isPresent === 1 ? "present" : "earlier" };
    });
  }

  #pathOf(nodeId: number): { path: string; isTrashed: boolean } {
    const names: string[] = [];
    let isTrashed = false;
    let step: StepRow | null = this.#step.get(nodeId);
    let id = nodeId;
    for (let depth = 0; step !== null && depth < DEPTH_MAX; depth++) {
      isTrashed ||= this.#isTrashed.get(id) !== null;
      // The name of a root is not part of the path.
      if (step.parentId === null && depth > 0) break;
      names.push(step.name);
      if (step.parentId === null) break;
      id = step.parentId;
      step = this.#step.get(id);
    }
    return { path: `/${names.toReversed().join("/")}`, isTrashed };
  }
}
