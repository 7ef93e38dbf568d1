/**
 * What folders show of everything below them: an ETag and a size, for clients that compare folders to find changes.
 *
 * A change of a child updates only the row of its folder (`folders.bytes`) and marks the folder in `changed_folders`.
 * Before somebody reads ETags, the marked folders are refreshed: each of them and each folder above gets the next number
 * (`tree_rev`), and its size (`tree_bytes`) is added to its parent. So a write costs the same at any depth, and a
 * thousand writes into one folder raise the numbers above it once.
 *
 * At every commit, `bytes` is the sum of the direct files and of the refreshed sizes of the direct folders. A folder that
 * is moved takes its refreshed size along. Later changes are added along its new path. Sizes are null in an
 * upgraded database until they are added up (`operations/fill-sizes.ts`): null plus anything is null, so the folders
 * above have no size either.
 */
import type { Database } from "bun:sqlite";
import type { Clock } from "../../lib/clock.ts";
import type { FolderState, TreeNode } from "../model/types.ts";

/** Marked folders refreshed in one transaction: at a depth of 20 about 6 ms. Fewer of deeper ones. */
const REFRESHED_AT_ONCE = 64;
/** Folders changed in one transaction. */
const CHANGED_AT_ONCE = REFRESHED_AT_ONCE * 24;
/** Marked folders whose growth is added up for a listing, in a few milliseconds. */
const ADDED_UP_MAX = 512;
/** LIMIT of a query without one. */
const NO_LIMIT = -1;

interface StateRow {
  readonly id: number;
  readonly rev: number;
  readonly sizeBytes: number | null;
  readonly changedAtMs: number;
}

/** A folder that is being refreshed. */
interface OpenFolder {
  readonly id: number;
  readonly parentId: number | null;
  bytes: number | null;
  readonly treeBytes: number | null;
}

/** The states in `folders`, and the rows of `changed_folders`. Every change runs inside a transaction. */
export class FolderStates {
  readonly #clock: Clock;
  readonly #suffix: string;
  readonly #mark;
  readonly #touch;
  readonly #firstMarked;
  readonly #firstAccount;
  readonly #marked;
  readonly #unmark;
  readonly #upwards;
  readonly #publish;
  readonly #treeBytes;
  readonly #states;

  /**
   * @param epoch differs after a restore or a rebuild, and in a copy of a stopped server's directory, which give row ids and
   *   numbers again, to other folders and states
   */
  constructor(sqlite: Database, clock: Clock, epoch: string) {
    this.#clock = clock;
    this.#suffix = epoch === "" ? "" : `-${Bun.hash(epoch).toString(36)}`;
    this.#mark = sqlite.prepare<undefined, [number, number]>(
      "INSERT OR IGNORE INTO changed_folders (account_id, node_id) VALUES (?1, ?2)",
    );
    this.#touch = sqlite.prepare<undefined, [number, number]>("UPDATE folders SET children_at = ?2 WHERE node_id = ?1");
    this.#firstMarked = sqlite.prepare<{ one: 1 }, [number]>(
      "SELECT 1 AS one FROM changed_folders WHERE account_id = ?1 LIMIT 1",
    );
    this.#firstAccount = sqlite.prepare<{ accountId: number }, [number]>(
      "SELECT account_id AS accountId FROM changed_folders WHERE account_id > ?1 ORDER BY account_id LIMIT 1",
    );
    this.#marked = sqlite.prepare<{ id: number }, [number, number]>(
      "SELECT node_id AS id FROM changed_folders WHERE account_id = ?1 LIMIT ?2",
    );
    this.#unmark = sqlite.prepare<undefined, [number, string]>(
      "DELETE FROM changed_folders WHERE account_id = ?1 AND node_id IN (SELECT value FROM json_each(?2))",
    );
    // Ends at a root, at a folder in the trash (its parent is minus its own id) or at the top of a cut-off tree.
    this.#upwards = sqlite.prepare<OpenFolder, [string, number]>(
      `WITH RECURSIVE up(id, parent_id) AS (
         SELECT n.id, n.parent_id FROM json_each(?1) j CROSS JOIN nodes n ON n.id = j.value
         UNION SELECT n.id, n.parent_id FROM up CROSS JOIN nodes n ON n.id = up.parent_id)
       SELECT up.id, up.parent_id AS parentId, f.bytes, f.tree_bytes AS treeBytes
       FROM up CROSS JOIN folders f ON f.node_id = up.id LIMIT ?2`,
    );
    // Begins at the current time, so that a rebuilt database (`larder rebuild`) gives other numbers than the former one. While
    // a size is unknown, a new `children_rev` invalidates a sum that was read before.
    this.#publish = sqlite.prepare<undefined, [number, number | null, number]>(
      `UPDATE folders SET bytes = ?2, tree_bytes = ?2, tree_rev = max(tree_rev + 1, ?3),
         children_rev = children_rev + (?2 IS NULL) WHERE node_id = ?1`,
    );
    this.#treeBytes = sqlite.prepare<{ treeBytes: number | null }, [number]>(
      "SELECT tree_bytes AS treeBytes FROM folders WHERE node_id = ?1",
    );
    this.#states = sqlite.prepare<StateRow, [string]>(
      `SELECT f.node_id AS id, f.tree_rev AS rev, f.tree_bytes AS sizeBytes,
         ifnull(f.children_at, (SELECT created_at FROM nodes WHERE id = f.node_id)) AS changedAtMs
       FROM json_each(?1) j CROSS JOIN folders f ON f.node_id = j.value`,
    );
  }

  /** Marks a folder whose children were changed in a way that listings show. */
  mark(accountId: number, folderId: number): void {
    this.#mark.run(accountId, folderId);
  }

  /** The same for a change that is not in the tables of the tree. */
  noteChange(accountId: number, folderId: number): void {
    this.#touch.run(folderId, this.#clock.nowMs());
    this.mark(accountId, folderId);
  }

  /** The refreshed size of a folder: what `bytes` of its parent includes. */
  bytesInParent(folderId: number): number | null {
    return this.#treeBytes.get(folderId)?.treeBytes ?? null;
  }

  /** Whether an account has marked folders. One look into an index. */
  isMarked(accountId: number): boolean {
    return this.#firstMarked.get(accountId) !== null;
  }

  /**
   * Whether nothing in a folder and below it has changed since it was refreshed. Also false while so many folders of the
   * account are marked that looking at all of them would take too long.
   */
  isFresh(accountId: number, folderId: number): boolean {
    const marked = this.#marked.all(accountId, REFRESHED_AT_ONCE).map(({ id }) => id);
    if (marked.length === 0) return true;
    if (marked.length === REFRESHED_AT_ONCE) return false;
    const folders = this.#foldersAbove(marked, CHANGED_AT_ONCE + 1);
    return folders.length <= CHANGED_AT_ONCE && !folders.some(({ id }) => id === folderId);
  }

  /**
   * The exact sizes of folders of an account: the stored ones, with what marked folders below them grew by. Null until sizes
   * are added up, and while very many folders are marked.
   */
  sizes(accountId: number, ids: readonly number[]): Map<number, number | null> {
    const sizes = new Map([...this.read(ids)].map(([id, { sizeBytes }]) => [id, sizeBytes]));
    const marked = this.#marked.all(accountId, ADDED_UP_MAX).map(({ id }) => id);
    if (marked.length === 0) return sizes;
    const above = this.#foldersAbove(marked, CHANGED_AT_ONCE + 1);
    const isKnown = marked.length < ADDED_UP_MAX && above.length <= CHANGED_AT_ONCE;
    if (!isKnown) return new Map(ids.map((id) => [id, null]));
    for (const { id, bytes } of addUpwards(above)) if (sizes.has(id)) sizes.set(id, bytes);
    return sizes;
  }

  /** The same for the folders among nodes of any accounts. */
  sizesOf(nodes: readonly TreeNode[]): Map<number, number | null> {
    const folders = nodes.filter(({ kind }) => kind === "folder");
    const sizes = [...Map.groupBy(folders, ({ accountId }) => accountId)].flatMap(([accountId, own]) => {
      const ids = own.map(({ id }) => id);
      return [...this.sizes(accountId, ids)];
    });
    return new Map(sizes);
  }

  /** The next account with marked folders. */
  nextMarkedAccount(afterId: number): number | undefined {
    return this.#firstAccount.get(afterId)?.accountId;
  }

  /** Refreshes some marked folders of an account. @returns how many, and whether these were all */
  refreshSome(accountId: number): { readonly refreshed: number; readonly isAll: boolean } {
    const marked = this.#marked.all(accountId, REFRESHED_AT_ONCE).map(({ id }) => id);
    if (marked.length === 0) return { refreshed: 0, isAll: true };
    let refreshed = marked;
    let folders = this.#foldersAbove(refreshed, CHANGED_AT_ONCE + 1);
    while (folders.length > CHANGED_AT_ONCE && refreshed.length > 1) {
      refreshed = refreshed.slice(0, refreshed.length >> 1);
      folders = this.#foldersAbove(refreshed, CHANGED_AT_ONCE + 1);
    }
    // A single folder is refreshed with all above it, however deep it is.
    if (folders.length > CHANGED_AT_ONCE) folders = this.#foldersAbove(refreshed, NO_LIMIT);
    const nowMs = this.#clock.nowMs();
    for (const { id, bytes } of addUpwards(folders)) this.#publish.run(id, bytes, nowMs);
    this.#unmark.run(accountId, JSON.stringify(refreshed));
    const isAll = refreshed.length === marked.length && refreshed.length < REFRESHED_AT_ONCE;
    return { refreshed: refreshed.length, isAll };
  }

  /** These folders and all above them, at most `limit`. */
  #foldersAbove(ids: readonly number[], limit: number): OpenFolder[] {
    return this.#upwards.all(JSON.stringify(ids), limit);
  }

  /** The states of folders by row id. */
  read(ids: readonly number[]): Map<number, FolderState> {
    return new Map(
      this.#states.all(JSON.stringify(ids)).map(({ id, rev, sizeBytes, changedAtMs }) => {
        const etag = `"${id.toString(36)}-${rev.toString(36)}${this.#suffix}"`;
        return [id, { etag, sizeBytes, changedAtMs }];
      }),
    );
  }
}

/** Adds what the sizes of folders grew by to the folders above, from the bottom up. */
function addUpwards(folders: readonly OpenFolder[]): readonly OpenFolder[] {
  const byId = new Map(folders.map((folder) => [folder.id, folder]));
  const childrenLeft = new Map<number, number>();
  for (const { parentId } of folders) {
    if (parentId !== null) childrenLeft.set(parentId, (childrenLeft.get(parentId) ?? 0) + 1);
  }
  const ready = folders.filter(({ id }) => !childrenLeft.has(id));
  for (let folder = ready.pop(); folder !== undefined; folder = ready.pop()) {
    const { parentId, bytes, treeBytes } = folder;
    const parent = parentId === null ? undefined : byId.get(parentId);
    if (parent === undefined) continue;
    const added = bytes === null || treeBytes === null ? null : bytes - treeBytes;
    parent.bytes = parent.bytes === null || added === null ? null : parent.bytes + added;
    const left = (childrenLeft.get(parent.id) ?? 0) - 1;
    childrenLeft.set(parent.id, left);
    if (left === 0) ready.push(parent);
  }
  return folders;
}
