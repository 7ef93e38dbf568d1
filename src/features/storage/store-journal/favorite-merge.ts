/**
 * Merges recorded favorites. Marks that a record names are set. In a copy that was just opened, nobody has set or removed
 * any since, so marks that a record does not name are removed too.
 */
import type { Database } from "bun:sqlite";
import type { Writer } from "../../../db/transaction.ts";
import { ChangeBatches } from "./change-batches.ts";
import type { StagedRecords } from "./staged-records.ts";

/** Dependencies of {@link FavoriteMerge}. */
interface FavoriteMergeOptions {
  readonly sqlite: Database;
  readonly writer: Pick<Writer, "run">;
  readonly staged: StagedRecords;
  readonly accountId: number;
  readonly isDryRun: boolean;
  /** Whether the database is a copy that was just opened. */
  readonly isCopy: boolean;
}

/** Merges the favorites among the files and folders of one account. */
export class FavoriteMerge {
  readonly #options: FavoriteMergeOptions;
  readonly #node;
  readonly #markedBy;
  readonly #add;
  readonly #remove;

  constructor(options: FavoriteMergeOptions) {
    this.#options = options;
    const { sqlite } = options;
    this.#node = sqlite.prepare<{ id: number }, [string, number]>(
      "SELECT id FROM nodes WHERE public_id = ?1 AND account_id = ?2",
    );
    this.#markedBy = sqlite.prepare<{ account: string }, [number]>(
      `SELECT u.public_id AS account FROM favorites f INDEXED BY favorites_node JOIN users u ON u.id = f.account_id
       WHERE f.node_id = ?1`,
    );
    this.#add = sqlite.prepare<undefined, [string, number]>(
      "INSERT OR IGNORE INTO favorites (account_id, node_id) SELECT id, ?2 FROM users WHERE public_id = ?1",
    );
    this.#remove = sqlite.prepare<undefined, [string, number]>(
      "DELETE FROM favorites WHERE node_id = ?2 AND account_id = (SELECT id FROM users WHERE public_id = ?1)",
    );
  }

  /** Merges the records. Call when all nodes exist. */
  async apply(): Promise<void> {
    const { staged, accountId, writer, isDryRun, isCopy } = this.#options;
    const batches = new ChangeBatches(isDryRun ? undefined : writer);
    for (const { record } of staged.all()) {
      const nodeId = this.#node.get("file" in record ? record.file : record.folder, accountId)?.id;
      if (nodeId === undefined) continue;
      const recorded = new Set(record.favoriteOf);
      const existing = new Set(this.#markedBy.all(nodeId).map(({ account }) => account));
      for (const account of recorded.difference(existing)) batches.add(() => this.#add.run(account, nodeId));
      if (isCopy) {
        for (const account of existing.difference(recorded)) batches.add(() => this.#remove.run(account, nodeId));
      }
      await batches.runFull();
    }
    await batches.run();
  }
}
