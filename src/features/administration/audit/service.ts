import type { Db } from "../../../db/open.ts";
import type { Reader } from "../../../db/reader.ts";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { WriteBehind } from "../../../jobs/write-behind.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import { DeferredEntries, GATHER_MS, type WaitingEntry } from "./deferred-entries.ts";
import { auditBefore, auditPage, auditWrites } from "./queries.ts";
import type { AuditEntry, AuditFilter, AuditRow } from "./types.ts";

/** Dependencies of {@link AuditLog}. */
interface AuditLogOptions {
  readonly db: Db;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  /** How long rows are stored. */
  readonly keepMs: number;
}

const EXPORT_ROWS = 500;
const SWEEP_ROWS = 1_000;
const SWEEP_REST_MS = 5;

/**
 * The audit log: who did what, from where, and when. {@link write} adds an entry in the transaction of the action.
 * {@link record} adds one before the response. {@link note} adds one that a crash may lose with the last second.
 */
export class AuditLog {
  readonly #options: AuditLogOptions;
  readonly #writes: ReturnType<typeof auditWrites>;
  readonly #deferred: DeferredEntries;
  readonly #writeBehind: WriteBehind<WaitingEntry[]>;
  #gathering: ReturnType<typeof setTimeout> | undefined;

  constructor(options: AuditLogOptions) {
    this.#options = options;
    const { clock, writer, log } = options;
    const writes = auditWrites(options.db.sqlite);
    const deferred = new DeferredEntries(clock);
    this.#writes = writes;
    this.#deferred = deferred;
    this.#writeBehind = new WriteBehind({
      writer,
      log,
      what: "audit log",
      take: () => deferred.take(),
      isWaiting: () => deferred.isReady,
      write: (taken) => {
        for (const { entry, atMs } of taken) writes.insert(entry, atMs);
      },
      giveBack: (taken) => deferred.giveBack(taken),
    });
  }

  /** Writes an entry in the caller's transaction: it is as durable as the action. */
  write(_tx: Transaction, entry: AuditEntry): void {
    this.#writes.insert(entry, this.#options.clock.nowMs());
  }

  /** Writes an entry; durable when this returns. @throws AppError disk_full | database_busy | database_error */
  async record(entry: AuditEntry): Promise<void> {
    await this.#options.writer.run((tx) => this.write(tx, entry));
  }

  /** Writes an entry within a second; repetitions within a minute share a row. */
  note(entry: AuditEntry): void {
    if (this.#deferred.add(entry)) this.#writeBehind.note();
    this.#gather();
  }

  /** A page of the log, newest first. */
  async page(
    filter: AuditFilter,
    page: number,
    limit: number,
  ): Promise<{ entries: readonly AuditRow[]; total: number }> {
    const [entries, [total = 0]] = await this.#options.reader.read(auditPage(filter, limit, (page - 1) * limit));
    return { entries, total };
  }

  /** The whole log, newest first, in pages. Entries written during the export are not in it. */
  async *pages(filter: AuditFilter): AsyncGenerator<readonly AuditRow[]> {
    let beforeId = Number.MAX_SAFE_INTEGER;
    for (;;) {
      const [page] = await this.#options.reader.read([auditBefore(filter, beforeId, EXPORT_ROWS)]);
      if (page.length > 0) yield page;
      const last = page.at(-1);
      if (last === undefined || page.length < EXPORT_ROWS) return;
      beforeId = last.id;
    }
  }

  /** Deletes entries that are older than the retention. @returns how many rows */
  async sweep(signal: AbortSignal): Promise<number> {
    const { writer, clock, keepMs } = this.#options;
    await writer.run(() => this.#writes.setKeep(keepMs));
    let removed = 0;
    while (!signal.aborted) {
      const some = await writer.run(() => this.#writes.sweep(clock.nowMs() - keepMs, SWEEP_ROWS));
      removed += some;
      if (some < SWEEP_ROWS) break;
      await Bun.sleep(SWEEP_REST_MS);
    }
    return removed;
  }

  /** Writes the deferred entries; at shutdown. */
  async flush(): Promise<void> {
    clearTimeout(this.#gathering);
    this.#deferred.close(true);
    if (this.#deferred.isReady) this.#writeBehind.note();
    await this.#writeBehind.flush();
  }

  /** Writes grouped entries when their minute ends. */
  #gather(): void {
    if (this.#gathering !== undefined) return;
    this.#gathering = setTimeout(() => {
      this.#gathering = undefined;
      this.#deferred.close();
      if (this.#deferred.isReady) this.#writeBehind.note();
      if (this.#deferred.isGathering) this.#gather();
    }, GATHER_MS);
    // This timer does not keep the process alive: the shutdown writes the grouped entries.
    this.#gathering.unref();
  }
}
