/**
 * Looks up folder paths by id and ids by path, with a cache. No path is stored: renaming a folder would change it for
 * everything below. A file only refers to its folder, so one path serves a whole page.
 *
 * Earlier versions did not limit the depth of folders. A path over 4,096 bytes can be neither requested nor created. It
 * is shown shortened, from a folder further down: `/…fold_id/rest/of/it`. This bounds responses and memory at any
 * depth.
 */
import type { Database } from "bun:sqlite";
import { fold, joinPath, ROOT_PATH, segmentsOf } from "../../lib/path.ts";
import { PATH_BYTES_MAX } from "./heights.ts";
import { FOLDER } from "../model/rows.ts";

/** The stored name of a root; no other name can contain a slash. */
export const ROOT_NAME = ROOT_PATH;

/** Folders cached, about 200 bytes each. */
const CACHED_MAX = 20_000;
/** From this depth on ancestors are read many levels at a time, and only some folders are cached. */
const SINGLE_LEVELS_MAX = 32;
const LEVELS_PER_QUERY = 1_000;
const CACHED_EVERY = 64;
/** Prefix of a shortened path; the public id of a folder follows. */
const CUT = "/…";

interface Link {
  readonly id: number;
  readonly parent_id: number | null;
  readonly name: string;
}

/** A path and its length. */
interface KnownPath {
  readonly path: string;
  readonly bytes: number;
}

const NO_LINKS: ReadonlyMap<number, Link> = new Map();

/** One for all readers and writers of a database. */
export class FolderPaths {
  readonly #paths = new Map<number, KnownPath>();
  readonly #ids = new Map<string, number>();
  #isFrozen = false;
  readonly #link;
  readonly #links;
  readonly #linksAbove;
  readonly #publicId;
  readonly #rootId;
  readonly #child;
  readonly #above;

  constructor(sqlite: Database) {
    this.#link = sqlite.prepare<Link, [number]>("SELECT id, parent_id, name FROM nodes WHERE id = ?1 AND kind = 0");
    this.#links = sqlite.prepare<Link, [string]>(
      "SELECT n.id, n.parent_id, n.name FROM json_each(?1) j CROSS JOIN nodes n ON n.id = j.value WHERE n.kind = 0",
    );
    this.#linksAbove = sqlite.prepare<Link, [number, number]>(
      `WITH RECURSIVE up(id, parent_id, name) AS (SELECT id, parent_id, name FROM nodes WHERE id = ?1 AND kind = 0
         UNION ALL SELECT n.id, n.parent_id, n.name FROM up JOIN nodes n ON n.id = up.parent_id)
       SELECT id, parent_id, name FROM up LIMIT ?2`,
    );
    this.#publicId = sqlite.prepare<{ publicId: string }, [number]>(
      "SELECT public_id AS publicId FROM nodes WHERE id = ?1",
    );
    this.#rootId = sqlite.prepare<{ root_id: number }, [number]>("SELECT root_id FROM accounts WHERE id = ?1");
    this.#child = sqlite.prepare<{ id: number }, [number, number, string, string]>(
      "SELECT id FROM nodes INDEXED BY nodes_name WHERE parent_id = ?1 AND kind = ?2 AND sort_key = ?3 AND name = ?4",
    );
    this.#above = sqlite.prepare<{ found: number }, [number, number]>(
      `WITH RECURSIVE up(id) AS (SELECT parent_id FROM nodes WHERE id = ?1
         UNION ALL SELECT n.parent_id FROM up JOIN nodes n ON n.id = up.id)
       SELECT 1 AS found FROM up WHERE id = ?2 LIMIT 1`,
    );
  }

  /** Whether a folder is another one or is below it, at any depth. Compares ids. */
  isWithin(folderId: number, otherId: number): boolean {
    return folderId === otherId || this.#above.get(folderId, otherId) !== null;
  }

  /** The folders that are another one or are below it, at any depth. */
  within(folderIds: Iterable<number>, otherId: number): Set<number> {
    const known = new Map<number, boolean>([[otherId, true]]);
    return new Set([...folderIds].filter((folderId) => this.#isBelow(folderId, known)));
  }

  /** Goes up until it meets a folder in `known`, and adds to it the folders on the way. */
  #isBelow(folderId: number, known: Map<number, boolean>): boolean {
    const visited: number[] = [];
    let result = known.get(folderId);
    if (result !== undefined) return result;
    for (const { id, parent_id: parentId } of this.#ancestors(folderId, NO_LINKS)) {
      visited.push(id);
      result = parentId === null ? false : known.get(parentId);
      if (result !== undefined) break;
    }
    for (const id of visited) known.set(id, result ?? false);
    return result ?? false;
  }

  /** Path of a folder; undefined if it is unknown or not reachable from a root (deleted). */
  pathOf(folderId: number): string | undefined {
    return (this.#known(folderId) ?? this.#climb(folderId, new Map()))?.path;
  }

  /** Paths of many folders, read one level at a time. Deleted folders are left out. */
  pathsOf(folderIds: Iterable<number>): Map<number, string> {
    const requested = new Set(folderIds);
    const links = new Map<number, Link>();
    let missing = [...requested].filter((id) => this.#known(id) === undefined);
    while (missing.length > 1) {
      const parents = new Set<number>();
      for (const link of this.#links.all(JSON.stringify(missing))) {
        links.set(link.id, link);
        const parent = link.parent_id;
        if (parent !== null && !links.has(parent) && this.#known(parent) === undefined) parents.add(parent);
      }
      missing = [...parents].filter((id) => !links.has(id));
    }
    const found = new Map<number, string>();
    const inThisCall = new Map<number, KnownPath>();
    for (const id of requested) {
      const known = this.#known(id) ?? inThisCall.get(id) ?? this.#climb(id, inThisCall, links);
      if (known !== undefined) found.set(id, known.path);
    }
    return found;
  }

  /** The folder at a normalized path; undefined if there is none. */
  findId(accountId: number, path: string): number | undefined {
    const key = `${accountId}:${path}`;
    const known = this.#isFrozen ? undefined : this.#ids.get(key);
    if (known !== undefined) return known;
    let id = this.rootOf(accountId);
    for (const name of segmentsOf(path)) {
      if (id === undefined) return undefined;
      id = this.findChild(id, name);
    }
    if (id !== undefined && !this.#isFrozen) {
      if (this.#ids.size >= CACHED_MAX) this.#ids.clear();
      this.#ids.set(key, id);
    }
    return id;
  }

  /** The folder `name` directly inside another. */
  findChild(folderId: number, name: string): number | undefined {
    return this.#child.get(folderId, FOLDER, fold(name), name)?.id;
  }

  /** The root folder of an account; undefined if there is no such account. */
  rootOf(accountId: number): number | undefined {
    const rootId = this.#rootId.get(accountId)?.root_id ?? 0;
    return rootId > 0 ? rootId : undefined;
  }

  /** Stops caching until the open transaction ends: it creates a folder, and its commit may fail. */
  freeze(): void {
    if (this.#isFrozen) return;
    this.#isFrozen = true;
    // Transactions are synchronous: when this runs, the transaction is committed or rolled back.
    queueMicrotask(() => {
      this.#isFrozen = false;
    });
  }

  /** Clears the cache: folders were renamed, moved or cut off, or another process wrote. */
  drop(): void {
    this.#paths.clear();
    this.#ids.clear();
    this.freeze();
  }

  /**
   * Goes up to a root or a folder with a known path, and down again.
   * @param inThisCall paths found for the same caller, cached or not
   * @param links saves queries
   */
  #climb(
    folderId: number,
    inThisCall: Map<number, KnownPath>,
    links: ReadonlyMap<number, Link> = NO_LINKS,
  ): KnownPath | undefined {
    const below: Link[] = [];
    let at: KnownPath | undefined;
    let atId = folderId;
    for (const link of this.#ancestors(folderId, links)) {
      if (link.parent_id === null) {
        if (link.name !== ROOT_NAME) return undefined;
        at = { path: ROOT_PATH, bytes: 0 };
        atId = link.id;
        this.#cache(link.id, at);
        break;
      }
      below.push(link);
      at = this.#known(link.parent_id) ?? inThisCall.get(link.parent_id);
      atId = link.parent_id;
      if (at !== undefined) break;
    }
    if (at === undefined) return undefined;
    for (let left = below.length - 1; left >= 0; left--) {
      const link = below[left];
      if (link === undefined) break;
      at = this.#step(at, atId, link.name);
      atId = link.id;
      inThisCall.set(link.id, at);
      if (left < SINGLE_LEVELS_MAX || left % CACHED_EVERY === 0) this.#cache(link.id, at);
    }
    return at;
  }

  /** A folder and its ancestors, read lazily: one by one at first, then many at a time. */
  *#ancestors(folderId: number, links: ReadonlyMap<number, Link>): Generator<Link> {
    let id: number | null = folderId;
    for (let single = 0; id !== null; ) {
      const link: Link | null = links.get(id) ?? (single++ < SINGLE_LEVELS_MAX ? this.#link.get(id) : null);
      if (link !== null) {
        yield link;
        id = link.parent_id;
        continue;
      }
      if (single <= SINGLE_LEVELS_MAX) return;
      const some: Link[] = this.#linksAbove.all(id, LEVELS_PER_QUERY);
      yield* some;
      id = some.at(-1)?.parent_id ?? null;
    }
  }

  #step({ path, bytes }: KnownPath, folderId: number, name: string): KnownPath {
    const more = 1 + Buffer.byteLength(name);
    if (bytes + more <= PATH_BYTES_MAX) return { path: joinPath(path, name), bytes: bytes + more };
    const from = `${CUT}${this.#publicId.get(folderId)?.publicId ?? ""}`;
    return { path: joinPath(from, name), bytes: Buffer.byteLength(from) + more };
  }

  #known(id: number): KnownPath | undefined {
    return this.#isFrozen ? undefined : this.#paths.get(id);
  }

  #cache(id: number, path: KnownPath): void {
    if (this.#isFrozen) return;
    if (this.#paths.size >= CACHED_MAX) this.#paths.clear();
    this.#paths.set(id, path);
  }
}

/** Whether a path is shortened: for display only, it cannot be resolved. */
export function isShortened(path: string): boolean {
  return path.startsWith(`${CUT}fold_`);
}
