import type { Transaction, Writer } from "../../../db/transaction.ts";

/** A change that is made inside a transaction. */
export type Change = (tx: Transaction) => void;

/** Changes in one transaction; other writers get their turn between transactions. */
const BATCH = 50;

/** Collects changes and makes them, many in one transaction. */
export class ChangeBatches {
  readonly #writer: Pick<Writer, "run"> | undefined;
  #collected: Change[] = [];

  /** @param writer undefined for a dry run, which makes none of them */
  constructor(writer: Pick<Writer, "run"> | undefined) {
    this.#writer = writer;
  }

  add(change: Change): void {
    this.#collected.push(change);
  }

  /** Makes the collected changes if there are enough for a transaction. */
  async runFull(): Promise<void> {
    if (this.#collected.length >= BATCH) await this.run();
  }

  /** Makes the collected changes. */
  async run(): Promise<void> {
    const changes = this.#collected;
    this.#collected = [];
    if (changes.length === 0) return;
    await this.#writer?.run(
      (tx) => {
        for (const change of changes) change(tx);
      },
      // Changes count what they did, outside of the database.
      { isRepeatable: false },
    );
  }

  /** Makes a change of each item. */
  async each<Item>(items: readonly Item[], change: (tx: Transaction, item: Item) => void): Promise<void> {
    for (const item of items) {
      this.add((tx) => change(tx, item));
      await this.runFull();
    }
    await this.run();
  }
}
