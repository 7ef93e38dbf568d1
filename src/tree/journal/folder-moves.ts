/** The journal number of the latest rename or move of a folder or of any folder above it. */
import type { TreeStore } from "../tables/store.ts";

/** Returns that number for a folder; 0 for null. Valid until the account changes. */
export type LatestMove = (folderId: number | null) => number;

interface FolderLink {
  readonly id: number;
  readonly parentId: number | null;
  readonly pathSeq: number;
}

/** From this depth on the ancestors are read many levels at a time. */
const SINGLE_LEVELS_MAX = 16;
const LEVELS_PER_QUERY = 1_000;
/** Folders whose latest move is cached, about 50 bytes each. */
const CACHED_MAX = 100_000;

/** Looks up latest moves. One for all accounts of a database. */
export class FolderMoves {
  readonly #store: TreeStore;
  readonly #link;
  readonly #linksAbove;
  /** The numbers found for the last page, valid until the account changes. */
  #cached: { readonly accountId: number; readonly headSeq: number; readonly latest: Map<number, number> } | undefined;

  constructor(store: TreeStore) {
    this.#store = store;
    this.#link = store.sqlite.prepare<FolderLink, [number]>(
      `SELECT n.id, n.parent_id AS parentId, f.path_seq AS pathSeq FROM nodes n JOIN folders f ON f.node_id = n.id
       WHERE n.id = ?1`,
    );
    this.#linksAbove = store.sqlite.prepare<FolderLink, [number, number]>(
      `WITH RECURSIVE up(id, parent_id) AS (SELECT id, parent_id FROM nodes WHERE id = ?1
         UNION ALL SELECT n.id, n.parent_id FROM up JOIN nodes n ON n.id = up.parent_id)
       SELECT up.id, up.parent_id AS parentId, f.path_seq AS pathSeq FROM up CROSS JOIN folders f ON f.node_id = up.id
       LIMIT ?2`,
    );
  }

  /** The look-up for an account as it is now. */
  latestMove(accountId: number): LatestMove {
    const latest = this.#cacheOf(accountId);
    return (folderId) => this.#find(folderId, latest);
  }

  #cacheOf(accountId: number): Map<number, number> {
    const headSeq = this.#store.accounts.headOf(accountId);
    const cached = this.#cached;
    const isValid = cached?.accountId === accountId && cached.headSeq === headSeq && cached.latest.size < CACHED_MAX;
    if (isValid) return cached.latest;
    const latest = new Map<number, number>();
    this.#cached = { accountId, headSeq, latest };
    return latest;
  }

  /** Reads each folder once, however many lie below it. */
  #find(folderId: number | null, latest: Map<number, number>): number {
    const ancestors: FolderLink[] = [];
    let id = folderId;
    let found: number | undefined;
    while (id !== null && found === undefined) {
      found = latest.get(id);
      if (found !== undefined) break;
      const isDeep = ancestors.length >= SINGLE_LEVELS_MAX;
      const links = isDeep ? this.#linksAbove.all(id, LEVELS_PER_QUERY) : [this.#link.get(id)];
      id = null;
      for (const link of links) {
        if (link === null) break;
        found = latest.get(link.id);
        if (found !== undefined) break;
        ancestors.push(link);
        id = link.parentId;
      }
    }
    found ??= 0;
    for (const ancestor of ancestors.reverse()) {
      found = Math.max(found, ancestor.pathSeq);
      latest.set(ancestor.id, found);
    }
    return found;
  }
}
