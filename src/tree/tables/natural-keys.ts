/**
 * Which nodes have no natural key yet. Every write sets the key, so only nodes of a database that was upgraded have none,
 * until {@link NaturalKeys.fill} has reached them.
 */
import type { Database } from "bun:sqlite";
import type { Writer } from "../../db/transaction.ts";
import { naturalKey } from "../../lib/natural-key.ts";

/** Nodes per transaction: about five milliseconds. */
const NODES_PER_STEP = 200;
/** Pause between two steps, in which other requests can write. */
const REST_MS = 5;

/** The natural keys of a database. */
export class NaturalKeys {
  readonly #writer: Writer;
  readonly #inFolder;
  readonly #inAccount;
  readonly #some;
  readonly #set;

  constructor(sqlite: Database, writer: Writer) {
    this.#writer = writer;
    this.#inFolder = sqlite.prepare<{ id: number }, [number, number]>(
      `SELECT id FROM nodes INDEXED BY nodes_natural WHERE parent_id = ?1 AND kind = ?2 AND natural_key IS NULL LIMIT 1`,
    );
    this.#inAccount = sqlite.prepare<{ id: number }, [number]>(
      "SELECT id FROM nodes INDEXED BY nodes_unkeyed WHERE account_id = ?1 AND natural_key IS NULL LIMIT 1",
    );
    this.#some = sqlite.prepare<{ id: number; name: string }, [number]>(
      "SELECT id, name FROM nodes INDEXED BY nodes_unkeyed WHERE natural_key IS NULL LIMIT ?1",
    );
    this.#set = sqlite.prepare<undefined, [number, string]>("UPDATE nodes SET natural_key = ?2 WHERE id = ?1");
  }

  /** Whether children of this kind in a folder have no key. */
  isMissingInFolder(folderId: number, kind: number): boolean {
    return this.#inFolder.get(folderId, kind) !== null;
  }

  /** Whether nodes of an account have no key. */
  isMissingInAccount(accountId: number): boolean {
    return this.#inAccount.get(accountId) !== null;
  }

  /** Whether any node has no key. */
  isMissing(): boolean {
    return this.#some.get(1) !== null;
  }

  /**
   * Computes all missing keys, in short steps. A step that did not commit is repeated, as its nodes still have no key.
   * @returns how many
   */
  async fill(signal: AbortSignal): Promise<number> {
    let filled = 0;
    while (!signal.aborted && this.isMissing()) {
      filled += await this.#writer.run(() => this.fillSome(NODES_PER_STEP), { isQuiet: true });
      await Bun.sleep(REST_MS);
    }
    return filled;
  }

  /** Sets some missing keys, inside a transaction. @returns how many */
  fillSome(limit: number): number {
    const nodes = this.#some.all(limit);
    for (const { id, name } of nodes) this.#set.run(id, naturalKey(name));
    return nodes.length;
  }
}
