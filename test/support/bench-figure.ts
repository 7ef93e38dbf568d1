import type { Figure } from "../../scripts/benchmark/bench.ts";

/** A figure of a benchmark, without samples. */
export function figure(change: Partial<Figure>): Figure {
  return {
    task: "uploads",
    unit: "files/s",
    better: "higher",
    row: "r",
    samples: {},
    cpu: {},
    failures: {},
    ...change,
  };
}
