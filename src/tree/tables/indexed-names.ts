import type { Database } from "bun:sqlite";
import type { DeferredWork } from "../../db/transaction.ts";

interface NameChange {
  readonly id: number;
  readonly sortKey: string;
  readonly isRemoved: boolean;
}

/**
 * The full-text index of names (`node_names`). Changes are written at the end of a commit, because the index writes its
 * pages whenever a savepoint ends, which would be once per transaction.
 */
export class IndexedNames implements DeferredWork {
  #changes: NameChange[] = [];
  readonly #insert;
  readonly #remove;

  constructor(sqlite: Database) {
    this.#insert = sqlite.prepare<undefined, [number, string]>("INSERT INTO node_names (rowid, t) VALUES (?1, ?2)");
    this.#remove = sqlite.prepare<undefined, [number, string]>(
      "INSERT INTO node_names (node_names, rowid, t) VALUES ('delete', ?1, ?2)",
    );
  }

  get length(): number {
    return this.#changes.length;
  }

  /** Adds the name of a node, by its sort key. */
  insert(id: number, sortKey: string): void {
    this.#changes.push({ id, sortKey, isRemoved: false });
  }

  /** Removes the name of a node: the sort key must be the one that was inserted. */
  remove(id: number, sortKey: string): void {
    this.#changes.push({ id, sortKey, isRemoved: true });
  }

  undoTo(length: number): void {
    this.#changes.length = length;
  }

  write(): void {
    const changes = this.#changes;
    this.#changes = [];
    for (const { id, sortKey, isRemoved } of changes) (isRemoved ? this.#remove : this.#insert).run(id, sortKey);
  }
}
