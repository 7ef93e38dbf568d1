/**
 * The table of a comparison of two executables: what is worse than before.
 */
import type { Figure } from "./bench.ts";
import { median } from "./measure.ts";
import { formatAmount, medianOf, ratiosOf, renderColumns } from "./table.ts";

/** How much worse the median ratio must be to count as worse. */
export const TOLERANCE = 0.1;

/** Fewer rounds say nothing about a difference. */
const ROUNDS_MIN = 3;

export type Outcome = "WORSE" | "better" | "same" | "failed" | "";

/**
 * Judges the ratios of now to before. A difference counts if the median is beyond the tolerance, and no round says the
 * opposite: a busy moment of the machine affects single rounds.
 */
export function judge(ratios: readonly number[], better: Figure["better"]): Outcome {
  if (ratios.length < ROUNDS_MIN) return "";
  // Above 1 is worse.
  const costs = ratios.map((ratio) => (better === "lower" ? ratio : 1 / ratio));
  const middle = median(costs);
  if (middle > 1 + TOLERANCE && costs.every((cost) => cost > 1)) return "WORSE";
  if (middle < 1 / (1 + TOLERANCE) && costs.every((cost) => cost < 1)) return "better";
  return "same";
}

/** A figure, or the CPU time that was measured with it, as one line of the table. */
interface Line {
  task: string;
  unit: string;
  now: number | undefined;
  before: number | undefined;
  ratios: number[];
  outcome: Outcome;
}

function linesOf(figure: Figure): Line[] {
  const ratios = ratiosOf(figure.samples, "before");
  const hasFailed = figure.failures.larder !== undefined || figure.failures.before !== undefined;
  const line = {
    task: figure.task,
    unit: figure.unit,
    now: medianOf(figure.samples, "larder"),
    before: medianOf(figure.samples, "before"),
    ratios,
    outcome: hasFailed ? ("failed" as const) : judge(ratios, figure.better),
  };
  if (figure.cpuUnit === undefined) return [line];
  const cpuRatios = ratiosOf(figure.cpu, "before");
  const cpu = {
    task: `  server CPU`,
    unit: figure.cpuUnit,
    now: medianOf(figure.cpu, "larder"),
    before: medianOf(figure.cpu, "before"),
    ratios: cpuRatios,
    outcome: judge(cpuRatios, "lower"),
  };
  return [line, cpu];
}

export function hasRegressed(figure: Figure): boolean {
  return linesOf(figure).some(({ outcome }) => outcome === "WORSE" || outcome === "failed");
}

/** Renders one line for each figure and each CPU time. */
export function renderComparison(figures: readonly Figure[]): string {
  const lines = figures
    .flatMap(linesOf)
    .map(({ task, unit, now, before, ratios, outcome }) => [
      task,
      unit,
      formatAmount(now) || "–",
      formatAmount(before) || "–",
      ratios.length === 0 ? "" : `${median(ratios).toFixed(2)} ×`,
      outcome,
    ]);
  return renderColumns(["task", "unit", "now", "before", "ratio", "outcome"], lines, new Set([2, 3, 4]));
}
