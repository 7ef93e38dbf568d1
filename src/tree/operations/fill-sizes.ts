/**
 * Adds up the sizes of folders that have none: those of a database that was upgraded or rebuilt. From the bottom up, in
 * short steps. A step that did not commit is repeated, as its folders still have no size.
 */
import { rows } from "../../db/reader.ts";
import type { TreeStore } from "../tables/store.ts";

/** Folders looked at in one transaction. */
const FOLDERS_PER_STEP = 100;
/** Children added up in one transaction; a folder with more is added up in the reading thread. */
const CHILDREN_MAX = 2_000;
/** How often the sum of a large folder is read again if the folder changed since. */
const ATTEMPTS = 3;
/** Pause between two steps, in which other requests can write. */
const REST_MS = 5;

interface UnfilledFolder {
  readonly id: number;
  readonly children: number;
  readonly rev: number;
}

interface Sum {
  readonly bytes: number;
  /** Direct folders that have no size. */
  readonly missing: number;
}

const SUM = `SELECT files + folders AS bytes, missing FROM
  (SELECT ifnull(sum(size_bytes), 0) AS files FROM nodes INDEXED BY nodes_size WHERE parent_id = ?1 AND kind = 1),
  (SELECT ifnull(sum(f.tree_bytes), 0) AS folders, count(*) - count(f.tree_bytes) AS missing
   FROM nodes n INDEXED BY nodes_name CROSS JOIN folders f ON f.node_id = n.id WHERE n.parent_id = ?1 AND n.kind = 0)`;
const REV = "SELECT children_rev AS rev FROM folders WHERE node_id = ?1 AND bytes IS NULL";

/** Fills folders without a size until none is left. @returns how many */
export async function fillSizes(store: TreeStore, signal: AbortSignal): Promise<number> {
  let filled = 0;
  // Folders are mostly created after the folder above, so most get their size in the first pass.
  for (let last = -1; last !== 0 && !signal.aborted; filled += last) last = await fillOnce(store, signal);
  return filled;
}

/** Passes once over the folders without a size, newest first. @returns how many were filled */
async function fillOnce(store: TreeStore, signal: AbortSignal): Promise<number> {
  let filled = 0;
  for (let beforeId = Number.MAX_SAFE_INTEGER; beforeId > 0 && !signal.aborted; ) {
    const step = await store.writer.run(() => fillSome(store, beforeId), { isQuiet: true });
    filled += step.filled;
    beforeId = step.nextId;
    if (step.large !== undefined && (await fillLarge(store, step.large))) filled++;
    await Bun.sleep(REST_MS);
  }
  return filled;
}

/** @returns `large`: a folder for {@link fillLarge}; `nextId`: where to continue, 0 at the end */
function fillSome(store: TreeStore, beforeId: number): { filled: number; large?: UnfilledFolder; nextId: number } {
  const unfilled = store.sqlite
    .query<UnfilledFolder, [number, number]>(
      `SELECT node_id AS id, child_files + child_folders AS children, children_rev AS rev
       FROM folders INDEXED BY folders_unfilled WHERE bytes IS NULL AND node_id < ?1 ORDER BY node_id DESC LIMIT ?2`,
    )
    .all(beforeId, FOLDERS_PER_STEP);
  const sumOf = store.sqlite.query<Sum, [number]>(SUM);
  let filled = 0;
  let children = 0;
  for (const folder of unfilled) {
    if (folder.children > CHILDREN_MAX) return { filled, large: folder, nextId: folder.id };
    children += folder.children;
    if (children > CHILDREN_MAX) return { filled, nextId: folder.id + 1 };
    if (fill(store, folder.id, sumOf.get(folder.id))) filled++;
  }
  return { filled, nextId: unfilled.length < FOLDERS_PER_STEP ? 0 : (unfilled.at(-1)?.id ?? 0) };
}

/** Adds up a large folder in the reading thread. @returns false if it failed: the next pass tries again */
async function fillLarge(store: TreeStore, folder: UnfilledFolder): Promise<boolean> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) if (await tryToFill(store, folder)) return true;
  return false;
}

/** @returns false if the folder changed since the sum was read, or a folder below has no size */
async function tryToFill(store: TreeStore, { id }: UnfilledFolder): Promise<boolean> {
  const [before, sums] = await store.reader.read([rows<{ rev: number }>(REV, [id]), rows<Sum>(SUM, [id])]);
  return store.writer.run(
    () => {
      const now = store.sqlite.query<{ rev: number }, [number]>(REV).get(id);
      return now !== null && now.rev === before[0]?.rev && fill(store, id, sums[0] ?? null);
    },
    { isQuiet: true },
  );
}

/** Stores the size of a folder, unless a folder below has none yet. */
function fill(store: TreeStore, id: number, sum: Sum | null): boolean {
  if (sum === null || sum.missing > 0) return false;
  // A size that the parent includes already is replaced when the folder is refreshed.
  store.sqlite
    .query<undefined, [number, number]>(
      "UPDATE folders SET bytes = ?2, tree_bytes = ifnull(tree_bytes, ?2) WHERE node_id = ?1",
    )
    .run(id, sum.bytes);
  return true;
}
