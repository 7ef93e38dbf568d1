/**
 * A transaction that is always rolled back: it shows what changes would do. It has its own connection and may last for
 * many turns of the event loop. Reads continue during a trial and see nothing of it. Writes wait for its end, because
 * SQLite allows one writer at a time.
 */
import type { Database } from "bun:sqlite";
import { openForTrial } from "./open.ts";
import { isBusy, type Transaction, translateSqliteError, type Writer } from "./transaction.ts";

/** An open trial. */
export interface Trial {
  readonly sqlite: Database;
  /** Its effects never run, because nothing is committed. */
  readonly tx: Transaction;
}

/** How long a trial waits for another process that has locked the database. */
const BUSY_WAIT_MS_MAX = 5_000;
const BUSY_RETRY_MS = 20;

/** Runs trials on one database file. */
export class Trials {
  readonly #path: string;
  readonly #writer: Pick<Writer, "pauseDuring">;

  /** @param writer the one that writes to the same file */
  constructor(path: string, writer: Pick<Writer, "pauseDuring">) {
    this.#path = path;
    this.#writer = writer;
  }

  /**
   * Runs `body` in a transaction that begins with the newest committed state, and rolls it back.
   * @throws what `body` throws; AppError database_busy | disk_full | database_error
   */
  run<T>(body: (trial: Trial) => Promise<T>): Promise<T> {
    return this.#writer.pauseDuring(async () => {
      try {
        // Closing rolls back.
        using sqlite = openForTrial(this.#path);
        await begin(sqlite);
        return await body({ sqlite, tx: { afterCommit: () => {} } });
      } catch (error) {
        throw translateSqliteError(error);
      }
    });
  }
}

async function begin(sqlite: Database): Promise<void> {
  const sinceMs = performance.now();
  for (;;) {
    try {
      sqlite.run("BEGIN IMMEDIATE");
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() - sinceMs > BUSY_WAIT_MS_MAX) throw error;
      await Bun.sleep(BUSY_RETRY_MS);
    }
  }
}
