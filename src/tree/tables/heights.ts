/**
 * Limits on the depth of folders. Each folder stores an upper bound of the depth and path length below it
 * (`folders.levels_below`, `folders.bytes_below`). It is at least the bound of each child plus the step to that child.
 * Creating, moving and restoring folders raise the bounds of all ancestors; nothing lowers them. So checking a move
 * costs a few rows for a subtree of any size. The subtree is searched only if the bound exceeds the limit, and only
 * along the high bounds.
 */
import type { Database } from "bun:sqlite";
import { AppError } from "../../errors.ts";
import { segmentsOf } from "../../lib/path.ts";
import { say } from "../../translations/say.ts";

/** Folders from the root to a folder, including itself. */
export const LEVELS_MAX = 256;
/** Bytes of a folder's whole path in UTF-8, without the name of a file in it. */
export const PATH_BYTES_MAX = 4_096;
/** Folders searched for one that is too deep (some tens of milliseconds); beyond this number the bound decides. */
const SEARCHED_MAX = 20_000;

/** The size of a path: the number of folders, and the bytes of their names with a slash before each. */
export interface PathSize {
  readonly levels: number;
  readonly bytes: number;
}

/** The empty path. */
export const EMPTY_PATH: PathSize = { levels: 0, bytes: 0 };

/** The size of one step to a folder of this name. */
export function sizeOfStep(name: string): PathSize {
  return { levels: 1, bytes: 1 + Buffer.byteLength(name) };
}

/** The size of a normalized path. */
export function sizeOfPath(path: string): PathSize {
  return segmentsOf(path).reduce((size, name) => addSizes(size, sizeOfStep(name)), EMPTY_PATH);
}

/** The size of one path after another. */
export function addSizes(one: PathSize, other: PathSize): PathSize {
  return { levels: one.levels + other.levels, bytes: one.bytes + other.bytes };
}

interface Child {
  readonly id: number;
  readonly bytes: number;
  readonly levelsBelow: number;
  readonly bytesBelow: number;
}

/** Stores the bounds of folders and checks the limits. */
export class Heights {
  readonly #raise;
  readonly #step;
  readonly #below;
  readonly #sizeOfPathTo;
  readonly #children;

  constructor(sqlite: Database) {
    this.#raise = sqlite.prepare<undefined, [number, number, number]>(
      `UPDATE folders SET levels_below = max(levels_below, ?2), bytes_below = max(bytes_below, ?3)
       WHERE node_id = ?1 AND (levels_below < ?2 OR bytes_below < ?3)`,
    );
    this.#step = sqlite.prepare<{ parentId: number | null; bytes: number }, [number]>(
      "SELECT parent_id AS parentId, 1 + octet_length(name) AS bytes FROM nodes WHERE id = ?1",
    );
    this.#below = sqlite.prepare<PathSize, [number]>(
      "SELECT levels_below AS levels, bytes_below AS bytes FROM folders WHERE node_id = ?1",
    );
    this.#sizeOfPathTo = sqlite.prepare<PathSize, [number]>(
      `WITH RECURSIVE up(parent_id, bytes) AS (SELECT parent_id, 1 + octet_length(name) FROM nodes WHERE id = ?1
         UNION ALL SELECT n.parent_id, 1 + octet_length(n.name) FROM up JOIN nodes n ON n.id = up.parent_id)
       SELECT count(*) AS levels, ifnull(sum(bytes), 0) AS bytes FROM up WHERE parent_id IS NOT NULL`,
    );
    this.#children = sqlite.prepare<Child, [number, number]>(
      `SELECT n.id, 1 + octet_length(n.name) AS bytes, f.levels_below AS levelsBelow, f.bytes_below AS bytesBelow
       FROM nodes n INDEXED BY nodes_name CROSS JOIN folders f ON f.node_id = n.id
       WHERE n.parent_id = ?1 AND n.kind = 0 LIMIT ?2`,
    );
  }

  /** The bound of a folder: the largest depth and path length below it. */
  boundBelow(folderId: number): PathSize {
    return this.#below.get(folderId) ?? EMPTY_PATH;
  }

  /** The size of the path to a folder from the root, or from the top of a cut-off tree. */
  sizeOfPathTo(folderId: number): PathSize {
    return this.#sizeOfPathTo.get(folderId) ?? EMPTY_PATH;
  }

  /** Raises the bounds of a folder and its ancestors for a child of this name and what is below that child. */
  raise(folderId: number, childName: string, belowChild: PathSize): void {
    let bound = addSizes(sizeOfStep(childName), belowChild);
    let id: number | null = folderId;
    while (id !== null && id > 0 && this.#raise.run(id, bound.levels, bound.bytes).changes > 0) {
      const step = this.#step.get(id);
      if (step === null) return;
      bound = { levels: bound.levels + 1, bytes: bound.bytes + step.bytes };
      id = step.parentId;
    }
  }

  /**
   * Rejects a new location of a folder if the folder, or anything below it, would be too deep or have too long a path.
   * @param sourceId the folder itself, or the one it is a copy of
   * @param former the path of its former location: a path that does not get longer is accepted, however long it is
   * @throws AppError path_too_long
   */
  rejectTooDeep(sourceId: number, parentId: number, name: string, former?: PathSize): void {
    this.rejectTooDeepPath(sourceId, addSizes(this.sizeOfPathTo(parentId), sizeOfStep(name)), former);
  }

  /** The same for a folder that need not exist yet. @param to the size of its path */
  rejectTooDeepPath(sourceId: number, to: PathSize, former?: PathSize): void {
    const levelsLeft = former !== undefined && to.levels <= former.levels ? Infinity : LEVELS_MAX - to.levels;
    const bytesLeft = former !== undefined && to.bytes <= former.bytes ? Infinity : PATH_BYTES_MAX - to.bytes;
    if (levelsLeft < 0 || bytesLeft < 0) throw pathTooLong();
    const below = this.boundBelow(sourceId);
    if (below.levels <= levelsLeft && below.bytes <= bytesLeft) return;
    if (this.#exceeds(sourceId, levelsLeft, bytesLeft)) throw pathTooLong();
  }

  /** Whether any folder below is farther away than this. Searches only below folders whose bound allows it. */
  #exceeds(folderId: number, levelsMax: number, bytesMax: number): boolean {
    const open = [{ id: folderId, ...EMPTY_PATH }];
    let left = SEARCHED_MAX;
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const children = this.#children.all(at.id, left);
      left -= children.length;
      if (left <= 0) return true;
      const levels = at.levels + 1;
      for (const child of children) {
        const bytes = at.bytes + child.bytes;
        if (levels > levelsMax || bytes > bytesMax) return true;
        const isOpen = levels + child.levelsBelow > levelsMax || bytes + child.bytesBelow > bytesMax;
        if (isOpen) open.push({ id: child.id, levels, bytes });
      }
    }
    return false;
  }
}

/** @throws AppError path_too_long if a new folder would be too deep or have too long a path */
export function rejectTooLong(size: PathSize): void {
  if (size.levels > LEVELS_MAX || size.bytes > PATH_BYTES_MAX) throw pathTooLong();
}

/** The error for a location that is too deep. */
export function pathTooLong(): AppError {
  return new AppError(
    "path_too_long",
    say`Folders can have at most ${LEVELS_MAX} levels, and paths ${PATH_BYTES_MAX} bytes. Choose a folder at a higher level, or shorter names.`,
    { field: "folder", levels: LEVELS_MAX, bytes: PATH_BYTES_MAX },
  );
}

/**
 * Sets the bounds of all folders of an account written without them: the deepest folder of a branch is the bound for
 * the whole branch.
 */
export function backfillHeights(sqlite: Database, accountId: number): void {
  sqlite.run(
    `CREATE TEMP TABLE folder_depths AS
     WITH RECURSIVE s(id, branch, levels, bytes) AS (
       SELECT id, 0, 0, 0 FROM nodes WHERE kind = 0
         AND id IN (SELECT root_id FROM accounts WHERE id = ?1 UNION ALL SELECT node_id FROM trash WHERE account_id = ?1)
       UNION ALL
       SELECT n.id, iif(s.levels = 0, n.id, s.branch), s.levels + 1, s.bytes + 1 + octet_length(n.name)
       FROM s CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent_id = s.id AND n.kind = 0)
     SELECT * FROM s`,
    [accountId],
  );
  sqlite.run(
    `UPDATE folders SET levels_below = b.levels - d.levels, bytes_below = b.bytes - d.bytes FROM temp.folder_depths d
     JOIN (SELECT branch, max(levels) AS levels, max(bytes) AS bytes FROM temp.folder_depths GROUP BY branch) b
       ON b.branch = d.branch
     WHERE d.branch > 0 AND folders.node_id = d.id`,
  );
  sqlite.run(
    `UPDATE folders SET levels_below = t.levels, bytes_below = t.bytes
     FROM (SELECT n.parent_id AS id, max(1 + f.levels_below) AS levels,
         max(1 + octet_length(n.name) + f.bytes_below) AS bytes
       FROM temp.folder_depths d CROSS JOIN nodes n ON n.id = d.branch CROSS JOIN folders f ON f.node_id = n.id
       WHERE d.id = d.branch GROUP BY n.parent_id) t
     WHERE folders.node_id = t.id`,
  );
  sqlite.run("DROP TABLE temp.folder_depths");
}
