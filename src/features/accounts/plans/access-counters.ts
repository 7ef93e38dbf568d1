import type { Db } from "../../../db/open.ts";
import type { Writer } from "../../../db/transaction.ts";
import { WriteBehind } from "../../../jobs/write-behind.ts";
import type { Log } from "../../../lib/log.ts";

/** How often a file was downloaded, and when last; null if never. */
export interface NodeAccess {
  readonly downloads: number;
  readonly lastAccessedAtMs: number | null;
}

/** Dependencies of {@link AccessCounters}. */
interface AccessCountersOptions {
  readonly db: Db;
  readonly writer: Writer;
  readonly log: Log;
  /** Most files with unwritten counts; default 50,000. */
  readonly pendingMax?: number;
}

interface PendingAccess {
  downloads: number;
  lastAccessedAtMs: number;
}

const PENDING_MAX = 50_000;
const KNOWN_MAX = 10_000;
const NEVER: NodeAccess = { downloads: 0, lastAccessedAtMs: null };

/**
 * Downloads by file, with deferred writes. Reading them here is exact at any time; the database follows within a
 * second. If the database can't be written for long, counts of further files are dropped, so that memory is bounded.
 */
export class AccessCounters {
  readonly #options: AccessCountersOptions;
  readonly #pendingMax: number;
  readonly #writeBehind: WriteBehind<Map<number, PendingAccess>>;
  readonly #select;
  /**
   * Rows as they are in the database, which only this class writes. Reading them there would cost more than the rest of
   * a request.
   */
  readonly #known = new Map<number, { readonly publicId: string; readonly stored: NodeAccess | undefined }>();
  #pending = new Map<number, PendingAccess>();
  #hasDropped = false;

  constructor(options: AccessCountersOptions) {
    this.#options = options;
    this.#pendingMax = options.pendingMax ?? PENDING_MAX;
    const { sqlite } = options.db;
    this.#select = sqlite.prepare<PendingAccess, [number]>(
      "SELECT downloads, last_accessed_at AS lastAccessedAtMs FROM node_access WHERE node_id = ?1",
    );
    // A file that was deleted since then gets no row.
    const add = sqlite.prepare(
      `INSERT INTO node_access (node_id, downloads, last_accessed_at)
       SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM nodes WHERE id = ?1)
       ON CONFLICT DO UPDATE SET downloads = downloads + excluded.downloads,
         last_accessed_at = max(last_accessed_at, excluded.last_accessed_at)`,
    );
    this.#writeBehind = new WriteBehind({
      writer: options.writer,
      log: options.log,
      what: "download counts",
      take: () => {
        const taken = this.#pending;
        this.#pending = new Map();
        this.#hasDropped = false;
        return taken;
      },
      isWaiting: () => this.#pending.size > 0,
      write: (taken) => {
        for (const [nodeId, access] of taken) {
          add.run(nodeId, access.downloads, access.lastAccessedAtMs);
          this.#known.delete(nodeId);
        }
      },
      giveBack: (taken) => {
        for (const [nodeId, access] of taken) this.#add(nodeId, access.downloads, access.lastAccessedAtMs);
      },
    });
  }

  /** Records that a file was read. @param downloads 0 if this continues a download that is already counted */
  note(nodeId: number, nowMs: number, downloads: 0 | 1 = 1): void {
    this.#add(nodeId, downloads, nowMs);
    this.#writeBehind.note();
  }

  /**
   * One file's accesses up to this moment.
   * @param publicId distinguishes the file from an earlier one with the same row id
   */
  read(nodeId: number, publicId: string): NodeAccess {
    let known = this.#known.get(nodeId);
    if (known?.publicId !== publicId) {
      known = { publicId, stored: this.#select.get(nodeId) ?? undefined };
      if (this.#known.size >= KNOWN_MAX) this.#known.clear();
      this.#known.set(nodeId, known);
    }
    return this.overlay(nodeId, known.stored);
  }

  /**
   * Adds the unwritten counts to a row that a query has just read from `node_access` for this file (undefined: no row).
   * For lists that join the table themselves. Call it in the same tick as the query.
   */
  overlay(nodeId: number, stored: NodeAccess | undefined): NodeAccess {
    const waiting = this.#pending.get(nodeId);
    if (waiting === undefined) return stored ?? NEVER;
    if (stored === undefined) return { downloads: waiting.downloads, lastAccessedAtMs: waiting.lastAccessedAtMs };
    return {
      downloads: stored.downloads + waiting.downloads,
      lastAccessedAtMs: Math.max(stored.lastAccessedAtMs ?? 0, waiting.lastAccessedAtMs),
    };
  }

  /**
   * Drops the unwritten counts of a file that is being deleted, because its row id may be reused. The tree deletes its
   * row.
   */
  forget(nodeId: number): void {
    this.#known.delete(nodeId);
    this.#pending.delete(nodeId);
  }

  /** Writes the counts that are not in the database yet; at shutdown. */
  flush(): Promise<void> {
    return this.#writeBehind.flush();
  }

  #add(nodeId: number, downloads: number, atMs: number): void {
    const waiting = this.#pending.get(nodeId);
    if (waiting !== undefined) {
      waiting.downloads += downloads;
      waiting.lastAccessedAtMs = Math.max(waiting.lastAccessedAtMs, atMs);
      return;
    }
    if (this.#pending.size >= this.#pendingMax) {
      if (!this.#hasDropped)
        this.#options.log.warn("Too many download counts are waiting for the database; dropping some.");
      this.#hasDropped = true;
      return;
    }
    this.#pending.set(nodeId, { downloads, lastAccessedAtMs: atMs });
  }
}
