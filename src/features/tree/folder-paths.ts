/**
 * Folder ids and paths, both ways, with what was found lately kept in memory. A path is stored nowhere: a renamed
 * folder would change it for all below. Files hang on a folder, so one path serves a whole page.
 */
import type { Database } from "bun:sqlite";
import { invariant } from "../../lib/invariant.ts";
import { fold, joinPath, ROOT_PATH, segmentsOf } from "../../lib/path.ts";
import { FOLDER } from "./rows.ts";

/** The stored name of a root: no other node can have a slash in its name. */
export const ROOT_NAME = ROOT_PATH;

/** Folders remembered, about 200 bytes each. */
const REMEMBERED_MAX = 20_000;
/** Far beyond what a path of 4,096 bytes allows; a longer chain is a circle. */
const DEPTH_MAX = 20_000;

interface Link {
  readonly id: number;
  readonly parent_id: number | null;
  readonly name: string;
}

const NO_LINKS: ReadonlyMap<number, Link> = new Map();

/** See the head of the file. One for all readers and writers of a database. */
export class FolderPaths {
  readonly #paths = new Map<number, string>();
  readonly #ids = new Map<string, number>();
  #isFrozen = false;
  readonly #link;
  readonly #links;
  readonly #rootId;
  readonly #child;

  constructor(sqlite: Database) {
    this.#link = sqlite.prepare<Link, [number]>("SELECT id, parent_id, name FROM nodes WHERE id = ?1 AND kind = 0");
    this.#links = sqlite.prepare<Link, [string]>(
      "SELECT n.id, n.parent_id, n.name FROM json_each(?1) j CROSS JOIN nodes n ON n.id = j.value WHERE n.kind = 0",
    );
    this.#rootId = sqlite.prepare<{ root_id: number }, [number]>("SELECT root_id FROM accounts WHERE id = ?1");
    this.#child = sqlite.prepare<{ id: number }, [number, number, string, string]>(
      "SELECT id FROM nodes INDEXED BY nodes_name WHERE parent_id = ?1 AND kind = ?2 AND sort_key = ?3 AND name = ?4",
    );
  }

  /** Path of a folder; undefined where it is unknown or its chain does not end at a root: it is gone then. */
  pathOf(folderId: number): string | undefined {
    return this.#known(folderId) ?? this.#climb(folderId, NO_LINKS);
  }

  /** Paths of many folders, read a level at a time; those that are gone are left out. */
  pathsOf(folderIds: Iterable<number>): Map<number, string> {
    const wanted = new Set(folderIds);
    const links = new Map<number, Link>();
    let missing = [...wanted].filter((id) => this.#known(id) === undefined);
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
    for (const id of wanted) {
      const path = this.#known(id) ?? this.#climb(id, links);
      if (path !== undefined) found.set(id, path);
    }
    return found;
  }

  /** The folder at a normalised path; undefined where there is none. */
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
      if (this.#ids.size >= REMEMBERED_MAX) this.#ids.clear();
      this.#ids.set(key, id);
    }
    return id;
  }

  /** The folder `name` directly inside another. */
  findChild(folderId: number, name: string): number | undefined {
    return this.#child.get(folderId, FOLDER, fold(name), name)?.id;
  }

  /** The root folder of an account; undefined where there is no such account. */
  rootOf(accountId: number): number | undefined {
    const rootId = this.#rootId.get(accountId)?.root_id ?? 0;
    return rootId > 0 ? rootId : undefined;
  }

  /** A folder was made in the open transaction: it must not be remembered before the commit, which may fail. */
  freeze(): void {
    if (this.#isFrozen) return;
    this.#isFrozen = true;
    // Deeds are synchronous: when this runs, the transaction is committed or undone.
    queueMicrotask(() => {
      this.#isFrozen = false;
    });
  }

  /** Folders were renamed, moved, cut off, or another process wrote: all that is remembered is void. */
  drop(): void {
    this.#paths.clear();
    this.#ids.clear();
    this.freeze();
  }

  /** Goes up to a root or to a folder whose path is known; `links` saves look-ups. */
  #climb(folderId: number, links: ReadonlyMap<number, Link>): string | undefined {
    const below: Link[] = [];
    let path: string | undefined;
    for (let id = folderId; path === undefined; path ??= this.#known(id)) {
      const link = links.get(id) ?? this.#link.get(id);
      if (link === null) return undefined;
      if (link.parent_id === null) {
        if (link.name !== ROOT_NAME) return undefined;
        path = ROOT_PATH;
        this.#remember(id, path);
      } else {
        below.push(link);
        id = link.parent_id;
      }
      invariant(below.length < DEPTH_MAX, "folders form a tree");
    }
    for (const link of below.reverse()) {
      path = joinPath(path, link.name);
      this.#remember(link.id, path);
    }
    return path;
  }

  #known(id: number): string | undefined {
    return this.#isFrozen ? undefined : this.#paths.get(id);
  }

  #remember(id: number, path: string): void {
    if (this.#isFrozen) return;
    if (this.#paths.size >= REMEMBERED_MAX) this.#paths.clear();
    this.#paths.set(id, path);
  }
}
