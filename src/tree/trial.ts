import type { Trial, Trials } from "../db/trial.ts";
import type { TreeOptions } from "./tables/store.ts";
import { openTree } from "./tree.ts";
import type { TreeReader } from "./reader.ts";
import type { TreeWriter } from "./writer.ts";

/** A tree for trial changes: they are all rolled back in the end, nobody else sees them, and no events are emitted. */
export interface TreeTrial extends Trial {
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
}

/** Tries changes of the tree; for dry runs. */
export class TreeTrials {
  readonly #trials: Trials;
  readonly #options: Omit<TreeOptions, "sqlite" | "events">;

  constructor(trials: Trials, options: Omit<TreeOptions, "sqlite" | "events">) {
    this.#trials = trials;
    this.#options = options;
  }

  /** @throws what `body` throws, and what {@link Trials.run} does */
  run<T>(body: (trial: TreeTrial) => Promise<T>): Promise<T> {
    return this.#trials.run((trial) => {
      const { reader: tree, writer: treeWriter } = openTree({ ...this.#options, sqlite: trial.sqlite });
      return body({ ...trial, tree, treeWriter });
    });
  }
}
