/**
 * Recent files: those that an account added, changed or opened, by the latest of these. Changes come from the journal, in
 * which the last change of each file stays, so no write costs more because of this list. Openings are stored apart, within a
 * second of the request.
 */
import type { Database } from "bun:sqlite";
import type { Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import { WriteBehind } from "../../../jobs/write-behind.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { User } from "../../accounts/users/types.ts";
import { itemRightsOf, OWN_ITEM } from "../permissions/item-rights.ts";
import type { Permissions } from "../permissions/permissions.ts";
import { type ChangeRow, type OpenedRow, RecentRows } from "./queries.ts";
import type { RecentFile, RecentKind, RecentPosition } from "./types.ts";

/** Dependencies of {@link RecentFiles}. */
export interface RecentFilesOptions {
  readonly sqlite: Database;
  readonly writer: Writer;
  readonly log: Log;
  readonly clock: Clock;
  readonly tree: Pick<TreeReader, "findByIds">;
  readonly permissions: Pick<Permissions, "file">;
}

/** Opened files of an account. */
const OPENED_MAX = 100;
/** Unwritten openings of all accounts. If the database can't be written for long, further ones are dropped. */
const PENDING_MAX = 10_000;
/** Journal rows read at once, */
const CHUNK = 256;
/** and for one page, in some milliseconds. The next page continues after them. */
const SCANNED_MAX = 2_048;
/** A version is stored shortly before its journal row. */
const SAME_CHANGE_MS = 1_000;

/** Before all changes and openings. */
const BEGINNING: RecentPosition = {
  seq: Number.MAX_SAFE_INTEGER,
  openedAtMs: Number.MAX_SAFE_INTEGER,
  openedThen: 0,
};

/** Notes which files are opened, and lists the recent ones. */
export class RecentFiles {
  readonly #options: RecentFilesOptions;
  readonly #rows: RecentRows;
  readonly #writeBehind: WriteBehind<Map<number, Map<number, number>>>;
  /** Unwritten openings: times by row id of the file, by account. */
  #pending = new Map<number, Map<number, number>>();
  #pendingCount = 0;

  constructor(options: RecentFilesOptions) {
    this.#options = options;
    this.#rows = new RecentRows(options.sqlite);
    this.#writeBehind = new WriteBehind({
      writer: options.writer,
      log: options.log,
      what: "opened files",
      take: () => {
        const taken = this.#pending;
        this.#pending = new Map();
        this.#pendingCount = 0;
        return taken;
      },
      isWaiting: () => this.#pending.size > 0,
      write: (taken) => {
        for (const [accountId, files] of taken) {
          for (const [nodeId, atMs] of files) this.#rows.add(accountId, nodeId, atMs);
          this.#rows.trim(accountId, OPENED_MAX);
        }
      },
      giveBack: (taken) => {
        for (const [accountId, files] of taken) {
          for (const [nodeId, atMs] of files) this.#add(accountId, nodeId, atMs);
        }
      },
    });
  }

  /** Notes that the user opened a file, their own or a received one. @throws AppError not_found */
  noteOpened(user: User, publicId: string): void {
    const { node } = this.#options.permissions.file(user, publicId, "read");
    this.#add(user.id, node.id, this.#options.clock.nowMs());
    this.#writeBehind.note();
  }

  /**
   * A page of the recent files that the user can see, newest first, and where the next one begins: undefined at the end.
   * A page may have fewer files than `limit` before the end.
   */
  list(user: User, limit: number, from: RecentPosition = BEGINNING): { files: RecentFile[]; next?: RecentPosition } {
    const opened = this.#opened(user);
    const openedAt = new Map(opened.map(({ nodeId, atMs }) => [nodeId, atMs]));
    const files: RecentFile[] = [];
    let { seq } = from;
    let index = indexOf(opened, from);
    /** Adds what was opened since a time. */
    const addOpened = (sinceMs: number) => {
      for (
        let row = opened[index];
        files.length < limit && row !== undefined && row.atMs >= sinceMs;
        row = opened[index]
      ) {
        const file = this.#asOpened(user, row);
        if (file !== undefined) files.push(file);
        index += 1;
      }
    };
    for (let scanned = 0; scanned < SCANNED_MAX && files.length < limit; scanned += CHUNK) {
      const changes = this.#rows.changesBefore(user.id, seq, CHUNK);
      const known = this.#filesOf(changes);
      for (const change of changes) {
        addOpened(change.atMs);
        if (files.length >= limit) break;
        seq = change.seq;
        const file = known.get(change.nodeId ?? 0);
        const isOpenedSince = (openedAt.get(change.nodeId ?? 0) ?? -1) >= change.atMs;
        if (file !== undefined && !isOpenedSince) {
          files.push({ file, kind: kindOf(change), atMs: change.atMs, ...OWN_ITEM });
        }
      }
      if (changes.length < CHUNK && files.length < limit) {
        addOpened(0);
        if (files.length < limit) return { files };
        seq = 0;
      }
    }
    const { openedAtMs, openedThen } = positionAt(opened, index);
    return { files, next: { seq, openedAtMs, openedThen } };
  }

  /** Writes the openings that are not in the database yet; at shutdown. */
  flush(): Promise<void> {
    return this.#writeBehind.flush();
  }

  /** The files that the user opened after their last change, latest first. */
  #opened(user: User): OpenedRow[] {
    const unwritten = [...(this.#pending.get(user.id) ?? [])];
    return this.#rows
      .opened(user.id, unwritten)
      .filter(({ atMs, changedAtMs }) => changedAtMs === null || atMs >= changedAtMs);
  }

  /** The existing files of these changes by row id. Those in the trash are left out. */
  #filesOf(changes: readonly ChangeRow[]): ReadonlyMap<number, FileNode> {
    const ids = changes.flatMap(({ nodeId }) => nodeId ?? []);
    if (ids.length === 0) return new Map();
    const found = this.#options.tree.findByIds(ids);
    return new Map(found.flatMap((node) => (node.kind === "file" ? [[node.id, node] as const] : [])));
  }

  /** An opened file as the user sees it now; undefined if they can't see it any more. */
  #asOpened(user: User, { publicId, atMs }: OpenedRow): RecentFile | undefined {
    try {
      const permitted = this.#options.permissions.file(user, publicId, "read");
      return { file: permitted.node, kind: "opened", atMs, ...itemRightsOf(permitted) };
    } catch (error) {
      if (error instanceof AppError) return undefined;
      throw error;
    }
  }

  #add(accountId: number, nodeId: number, atMs: number): void {
    const files = this.#pending.get(accountId) ?? new Map<number, number>();
    const before = files.get(nodeId);
    if (before === undefined) {
      if (this.#pendingCount >= PENDING_MAX) return;
      this.#pendingCount += 1;
    }
    this.#pending.set(accountId, files);
    files.set(nodeId, Math.max(before ?? 0, atMs));
  }
}

function kindOf(change: ChangeRow): RecentKind {
  const { seq, atMs, createdSeq, formerParentId, parentId, version, contentAtMs } = change;
  if (createdSeq === seq) return "added";
  if (formerParentId !== null)
    return formerParentId === 0 ? "restored" : formerParentId === parentId ? "renamed" : "moved";
  const isNewContent = (version ?? 1) > 1 && contentAtMs !== null && Math.abs(atMs - contentAtMs) < SAME_CHANGE_MS;
  return isNewContent ? "edited" : "changed";
}

/** The index of the first row after a position. */
function indexOf(rows: readonly OpenedRow[], { openedAtMs, openedThen }: RecentPosition): number {
  const sooner = rows.filter(({ atMs }) => atMs > openedAtMs).length;
  const then = rows.filter(({ atMs }) => atMs === openedAtMs).length;
  return sooner + Math.min(then, openedThen);
}

/** The position after `count` rows. */
function positionAt(rows: readonly OpenedRow[], count: number): Pick<RecentPosition, "openedAtMs" | "openedThen"> {
  const last = rows[count - 1];
  if (last === undefined) return BEGINNING;
  return { openedAtMs: last.atMs, openedThen: rows.slice(0, count).filter(({ atMs }) => atMs === last.atMs).length };
}
