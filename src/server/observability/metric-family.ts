/** What a figure of GET /metrics is made of, before it becomes text. */
import type { Histogram } from "../../lib/histogram.ts";

/** By which of several things a figure is told: a route, a job. Few values each, never anybody's names or ids. */
export type Labels = Readonly<Record<string, string>>;

/** One name and all that is told under it. Seconds and bytes, as Prometheus wants them. */
export type Family = {
  /** `larder_…`, with its unit at the end, and `_total` for counters. */
  readonly name: string;
  readonly help: string;
} & (
  | { readonly kind: "gauge" | "counter"; readonly values: readonly (readonly [Labels, number])[] }
  | { readonly kind: "histogram"; readonly values: readonly (readonly [Labels, Histogram])[] }
);

/** A figure that has no labels. */
export function gauge(name: string, help: string, value: number): Family {
  return { kind: "gauge", name, help, values: [[{}, value]] };
}

/** A figure that only grows until the next start, without labels. */
export function counter(name: string, help: string, value: number): Family {
  return { kind: "counter", name, help, values: [[{}, value]] };
}

/** A figure by one label. */
export function byLabel(
  kind: "gauge" | "counter",
  name: string,
  help: string,
  label: string,
  values: Iterable<readonly [string, number]>,
): Family {
  return { kind, name, help, values: [...values].map(([key, value]) => [{ [label]: key }, value]) };
}
