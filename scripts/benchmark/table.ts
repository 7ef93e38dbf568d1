/**
 * Prints the figures as a table.
 */
import type { Figure, Samples, Target } from "./bench.ts";
import { median } from "./measure.ts";
import { type Subject, SUBJECTS } from "./server.ts";

export type TargetResult = "aim" | "ok" | "SHORT" | "failed" | "not measured" | "";

/** The median of a subject's samples; undefined if it was not measured. */
export function medianOf(samples: Samples, subject: Subject): number | undefined {
  const own = samples[subject] ?? [];
  return own.length === 0 ? undefined : median(own);
}

/** Larder's samples as multiples of a baseline's in the same rounds. */
export function ratiosOf(samples: Samples, against: Subject): number[] {
  const base = samples[against] ?? [];
  return (samples.larder ?? []).flatMap((value, round) => {
    const other = base[round];
    return other === undefined || other === 0 ? [] : [value / other];
  });
}

/**
 * Larder's figure as a multiple of a baseline's: the median of the ratios of each round, as other load on the machine
 * changes more between rounds than within one.
 */
export function ratio(figure: Figure, against: Subject): number | undefined {
  const ratios = ratiosOf(figure.samples, against);
  return ratios.length === 0 ? undefined : median(ratios);
}

/** Whether Larder reaches a goal; undefined if it or the baseline was not measured. */
function isReached(figure: Figure, target: Target, goal: number): boolean | undefined {
  const value = target.against === "number" ? medianOf(figure.samples, "larder") : ratio(figure, target.against);
  if (value === undefined) return undefined;
  return figure.better === "higher" ? value >= goal : value <= goal;
}

/** A baseline that is not installed can't be compared with. The table says so, and it is no failure. */
function isComparable(figure: Figure, { against }: Target): boolean {
  return against === "number" || figure.failures[against] !== "not installed";
}

/** Checks if the required targets (`ok`) and the further ones (`aim`) are reached. */
export function checkTargets(figure: Figure): TargetResult {
  if (figure.failures.larder !== undefined) return "failed";
  const targets = (figure.targets ?? []).filter((target) => isComparable(figure, target));
  if (targets.length === 0) return "";
  const checkGoals = (key: "reach" | "aim") =>
    targets.flatMap((target) => {
      const goal = target[key];
      return goal === undefined ? [] : [isReached(figure, target, goal)];
    });
  const reached = checkGoals("reach");
  if (reached.includes(undefined)) return "not measured";
  if (reached.includes(false)) return "SHORT";
  const aimed = checkGoals("aim");
  return aimed.length > 0 && aimed.every((each) => each === true) ? "aim" : "ok";
}

/** Three significant digits, and whole numbers from 100; empty if there is no value. */
export function formatAmount(value: number | undefined): string {
  if (value === undefined) return "";
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en");
  const text = value.toPrecision(3);
  return text.includes(".") && !text.includes("e") ? text.replace(/\.?0+$/, "") : text;
}

function cell(figure: Figure, subject: Subject): string {
  const failure = figure.failures[subject];
  if (failure !== undefined) return failure === "not installed" ? failure : "failed";
  return formatAmount(medianOf(figure.samples, subject)) || "–";
}

/** The measured baselines of a figure, and those that failed. */
function baselinesOf(figure: Figure): Subject[] {
  return SUBJECTS.slice(1).filter(
    (subject) => subject in figure.samples || (figure.failures[subject] ?? "not installed") !== "not installed",
  );
}

function ratioCell(figure: Figure): string {
  const ratios = baselinesOf(figure).map((subject) => ratio(figure, subject));
  return ratios.map((value) => (value === undefined ? "–" : `${value.toFixed(2)} ×`)).join(", ");
}

function cpuCell(figure: Figure): string {
  const parts = SUBJECTS.flatMap((subject) => {
    const value = medianOf(figure.cpu, subject);
    return value === undefined ? [] : [`${subject[0]} ${formatAmount(value)}`];
  });
  return parts.length === 0 ? "" : `${parts.join(" ")} ${figure.cpuUnit ?? ""}`;
}

function goalText(figure: Figure, target: Target, goal: number): string {
  const sign = figure.better === "higher" ? "≥" : "≤";
  return target.against === "number" ? `${sign} ${formatAmount(goal)}` : `${sign} ${goal} × ${target.against}`;
}

function goalCell(figure: Figure, key: "reach" | "aim"): string {
  return (figure.targets ?? [])
    .flatMap((target) => {
      const goal = target[key];
      return goal === undefined ? [] : [goalText(figure, target, goal)];
    })
    .join(", ");
}

/** Renders lines in columns, those with numbers aligned to the right. */
export function renderColumns(header: string[], lines: string[][], numberColumns: ReadonlySet<number>): string {
  const widths = header.map((_, column) => Math.max(...[header, ...lines].map((line) => line[column]?.length ?? 0)));
  const render = (line: string[]) =>
    line
      .map((text, column) =>
        numberColumns.has(column) ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd();
  return [render(header), widths.map((width) => "-".repeat(width)).join("  "), ...lines.map(render)].join("\n");
}

/** Renders one line for each figure: medians, and Larder's as a multiple of the baselines'. */
export function renderTable(figures: readonly Figure[]): string {
  const header = ["task", "unit", "larder", "baselines", "ratio", "server CPU", "reach", "aim", ""];
  const lines = figures.map((figure) => [
    figure.task,
    figure.unit,
    cell(figure, "larder"),
    baselinesOf(figure)
      .map((subject) => `${subject} ${cell(figure, subject)}`)
      .join(", "),
    ratioCell(figure),
    cpuCell(figure),
    goalCell(figure, "reach"),
    goalCell(figure, "aim"),
    checkTargets(figure),
  ]);
  return renderColumns(header, lines, new Set([2, 4]));
}
