/** The numbers of children of folders, and the bytes in them. */
import type { Database } from "bun:sqlite";
import type { Transaction } from "../../db/transaction.ts";
import { invariant } from "../../lib/invariant.ts";
import type { Clock } from "../../lib/clock.ts";
import { FILE, FOLDER } from "../model/rows.ts";
import type { SortKeys } from "../model/sorts.ts";
import type { FolderStates } from "./folder-states.ts";
import type { PageIndex } from "./page-index.ts";

/** A child that was added to a folder (`after` alone), removed from it (`before` alone) or changed (both). */
interface ChildChange {
  readonly accountId: number;
  readonly folderId: number;
  /** `nodes.kind` */
  readonly kind: number;
  readonly before?: SortKeys | undefined;
  readonly after?: SortKeys | undefined;
  /** Whether a file got another version. */
  readonly isContent?: boolean;
}

/** Folder, folders added, files added, bytes added, time of a change that listings show. */
type Counting = [number, number, number, number | null, number | null];

/** Dependencies of {@link ChildCounts}. */
interface ChildCountsOptions {
  readonly states: FolderStates;
  readonly pageIndex: PageIndex;
  readonly clock: Clock;
}

/** The counts in `folders`. Every change runs inside a transaction. */
export class ChildCounts {
  readonly #options: ChildCountsOptions;
  readonly #countChildren;
  readonly #countChildrenWithRev;
  readonly #setCounts;

  constructor(sqlite: Database, options: ChildCountsOptions) {
    this.#options = options;
    const counting = `UPDATE folders SET children_rev = children_rev + 1, child_folders = child_folders + ?2,
      child_files = child_files + ?3, bytes = bytes + ?4, children_at = ifnull(?5, children_at) WHERE node_id = ?1`;
    this.#countChildren = sqlite.prepare<undefined, Counting>(counting);
    this.#countChildrenWithRev = sqlite.prepare<{ children_rev: number }, Counting>(
      `${counting} RETURNING children_rev`,
    );
    this.#setCounts = sqlite.prepare<undefined, [number, number, number, number]>(
      "UPDATE folders SET child_folders = ?2, child_files = ?3, bytes = bytes + ?4 WHERE node_id = ?1",
    );
  }

  /** Sets the number of children of a new folder, and adds the size of its files. */
  set(accountId: number, folderId: number, count: { folders: number; files: number; bytes: number }): void {
    this.#setCounts.run(folderId, count.folders, count.files, count.bytes);
    this.#options.states.mark(accountId, folderId);
  }

  /** Updates the counts and the size of a folder, and marks it if listings show the change. */
  changed(tx: Transaction, { accountId, folderId, kind, before, after, isContent = false }: ChildChange): void {
    const { states, pageIndex, clock } = this.#options;
    const change = (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
    const isShown = change !== 0 || isContent || before?.name !== after?.name || before?.file_at !== after?.file_at;
    const counting: Counting = [
      folderId,
      kind === FOLDER ? change : 0,
      kind === FILE ? change : 0,
      this.#addedBytes(kind, before, after),
      isShown ? clock.nowMs() : null,
    ];
    if (isShown) states.mark(accountId, folderId);
    if (!pageIndex.watches(folderId)) {
      this.#countChildren.run(...counting);
      return;
    }
    const row = this.#countChildrenWithRev.get(...counting);
    invariant(row !== null, "a folder has a row of counts");
    tx.afterCommit(() => pageIndex.apply({ folderId, kind, rev: row.children_rev, before, after }));
  }

  /** What a change adds to `folders.bytes`; null if the size of a folder is not known yet. */
  #addedBytes(kind: number, before: SortKeys | undefined, after: SortKeys | undefined): number | null {
    if (kind === FILE) return (after?.size_bytes ?? 0) - (before?.size_bytes ?? 0);
    const moved = after === undefined ? before : before === undefined ? after : undefined;
    if (moved === undefined) return 0;
    const bytes = this.#options.states.bytesInParent(moved.id);
    return after === undefined && bytes !== null ? -bytes : bytes;
  }
}
