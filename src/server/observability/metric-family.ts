/** Metrics of GET /metrics before they become text. */
import type { Histogram } from "../../lib/histogram.ts";

/** Labels of a value, such as a route or a job. Each has few values, and never names or ids of users. */
export type Labels = Readonly<Record<string, string>>;

/** A metric with its values, in the base units of Prometheus: seconds and bytes. */
export type MetricFamily = {
  /** `larder_…`, with its unit at the end, and `_total` for counters. */
  readonly name: string;
  readonly help: string;
} & (
  | { readonly kind: "gauge" | "counter"; readonly values: readonly (readonly [Labels, number])[] }
  | { readonly kind: "histogram"; readonly values: readonly (readonly [Labels, Histogram])[] }
);

/** A gauge without labels. */
export function gauge(name: string, help: string, value: number): MetricFamily {
  return { kind: "gauge", name, help, values: [[{}, value]] };
}

/** A counter without labels, which grows until the next start. */
export function counter(name: string, help: string, value: number): MetricFamily {
  return { kind: "counter", name, help, values: [[{}, value]] };
}

/** A metric with one label. */
export function byLabel(
  kind: "gauge" | "counter",
  name: string,
  help: string,
  label: string,
  values: Iterable<readonly [string, number]>,
): MetricFamily {
  return { kind, name, help, values: [...values].map(([key, value]) => [{ [label]: key }, value]) };
}
