/** Renders metrics in the text format of Prometheus, with its own library. */
import { Counter, Gauge, Histogram as PromHistogram, Registry } from "prom-client";
import type { Histogram } from "../../lib/histogram.ts";
import type { MetricFamily, Labels } from "./metric-family.ts";

/** Media type of {@link renderMetrics}. */
export const METRICS_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** Renders all metrics as one text. */
export async function renderMetrics(families: readonly MetricFamily[]): Promise<string> {
  const registry = new Registry();
  for (const family of families) {
    // The library would render a metric without values as one without labels.
    if (family.values.length === 0) continue;
    const { name, help } = family;
    const labelNames = [...new Set(family.values.flatMap(([labels]) => Object.keys(labels)))];
    const configuration = { name, help, labelNames, registers: [registry] };
    if (family.kind === "histogram") {
      registry.registerMetric(new CountedHistogram({ ...configuration, registers: [] }, family.values));
    } else if (family.kind === "gauge") {
      const gauge = new Gauge(configuration);
      for (const [labels, value] of family.values) gauge.set(labels, value);
    } else {
      const counter = new Counter(configuration);
      for (const [labels, value] of family.values) counter.inc(labels, value);
    }
  }
  return registry.metrics();
}

/** A histogram with given counts. An observation with the library's own histogram is slower than all other counters. */
class CountedHistogram extends PromHistogram {
  readonly #metric: {
    readonly name: string;
    readonly help: string;
    readonly type: "histogram";
    readonly values: unknown;
  };

  constructor(
    configuration: ConstructorParameters<typeof PromHistogram<string>>[0],
    values: readonly (readonly [Labels, Histogram])[],
  ) {
    super(configuration);
    const { name, help } = configuration;
    const lines = values.flatMap(([labels, histogram]) => renderHistogram(name, labels, histogram));
    this.#metric = { name, help, type: "histogram", values: lines };
  }

  /** Called by the library to render the values. */
  getForPromString() {
    return Promise.resolve(this.#metric);
  }
}

function renderHistogram(name: string, labels: Labels, { bounds, counts, sum, count }: Histogram) {
  let below = 0;
  const buckets = [...bounds, "+Inf"].map((le, index) => {
    below += counts[index] ?? 0;
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: below };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels: { ...labels }, value: sum },
    { metricName: `${name}_count`, labels: { ...labels }, value: count },
  ];
}
