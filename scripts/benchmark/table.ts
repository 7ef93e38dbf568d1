/**
 * Prints the figures as a table.
 */
import type { Figure, Target } from "./bench.ts";
import { median } from "./measure.ts";
import { type Subject, SUBJECTS } from "./server.ts";

export type TargetResult = "aim" | "ok" | "SHORT" | "failed" | "not measured" | "";

/** The median of a subject's samples; undefined if it was not measured. */
export function medianOf(figure: Figure, subject: Subject): number | undefined {
  const samples = figure.samples[subject];
  return samples === undefined || samples.length === 0 ? undefined : median(samples);
}

/**
 * Larder's figure as a multiple of a baseline's: the median of the ratios of each round, as other load on the machine
 * changes more between rounds than within one.
 */
export function ratio(figure: Figure, against: Subject): number | undefined {
  const own = figure.samples.larder ?? [];
  const base = figure.samples[against] ?? [];
  const ratios = own.flatMap((value, round) => {
    const other = base[round];
    return other === undefined || other === 0 ? [] : [value / other];
  });
  return ratios.length === 0 ? undefined : median(ratios);
}

function isReached(figure: Figure, target: Target, goal: number): boolean | undefined {
  const value = target.against === "number" ? medianOf(figure, "larder") : ratio(figure, target.against);
  if (value === undefined) return undefined;
  return figure.better === "higher" ? value >= goal : value <= goal;
}

/** Checks if the required targets (`ok`) and the further ones (`aim`) are reached. */
export function checkTargets(figure: Figure): TargetResult {
  if (figure.failures.larder !== undefined) return "failed";
  const targets = figure.targets ?? [];
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

function amount(value: number | undefined): string {
  if (value === undefined) return "";
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en");
  return value.toPrecision(3).replace(/\.?0+$/, "");
}

function cell(figure: Figure, subject: Subject): string {
  const failure = figure.failures[subject];
  if (failure !== undefined) return failure === "not installed" ? failure : "failed";
  return amount(medianOf(figure, subject)) || "–";
}

/** Two columns for baselines: the floor and nginx, or the other baselines of the figure. */
const USUAL_BASELINES: readonly Subject[] = ["floor", "nginx"];
const OTHER_BASELINES: readonly Subject[] = ["sharp", "apache", "rclone", "api", "before"];

/** The baseline that a column shows for a figure; undefined if there is none. */
function baselineOf(figure: Figure, column: 0 | 1): Subject | undefined {
  const others = OTHER_BASELINES.filter((subject) => subject in figure.samples || subject in figure.failures);
  return (others.length > 0 ? others : USUAL_BASELINES)[column];
}

function baselineCell(figure: Figure, column: 0 | 1): string {
  const subject = baselineOf(figure, column);
  if (subject === undefined) return "";
  return USUAL_BASELINES.includes(subject) ? cell(figure, subject) : `${subject} ${cell(figure, subject)}`;
}

function ratioCell(figure: Figure, column: 0 | 1): string {
  const subject = baselineOf(figure, column);
  const value = subject === undefined ? undefined : ratio(figure, subject);
  return value === undefined ? "" : `${value.toFixed(2)} ×`;
}

function cpuCell(figure: Figure): string {
  const parts = SUBJECTS.flatMap((subject) => {
    const samples = figure.cpu[subject];
    return samples === undefined ? [] : [`${subject[0]} ${amount(median(samples)) || "0"}`];
  });
  return parts.length === 0 ? "" : `${parts.join(" ")} ${figure.cpuUnit ?? ""}`;
}

function goalText(figure: Figure, target: Target, goal: number): string {
  const sign = figure.better === "higher" ? "≥" : "≤";
  return target.against === "number" ? `${sign} ${amount(goal)}` : `${sign} ${goal} × ${target.against}`;
}

function goalCell(figure: Figure, key: "reach" | "aim"): string {
  return (figure.targets ?? [])
    .flatMap((target) => {
      const goal = target[key];
      return goal === undefined ? [] : [goalText(figure, target, goal)];
    })
    .join(", ");
}

const NUMBER_COLUMNS = new Set([2, 3, 4, 5, 6]);

/** Renders one line for each figure: medians, and Larder's as a multiple of the baselines'. */
export function renderTable(figures: Figure[]): string {
  const header = ["task", "unit", "larder", "floor", "nginx", "÷ floor", "÷ nginx", "server CPU", "reach", "aim", ""];
  const lines = figures.map((figure) => [
    figure.task,
    figure.unit,
    cell(figure, "larder"),
    baselineCell(figure, 0),
    baselineCell(figure, 1),
    ratioCell(figure, 0),
    ratioCell(figure, 1),
    cpuCell(figure),
    goalCell(figure, "reach"),
    goalCell(figure, "aim"),
    checkTargets(figure),
  ]);
  const widths = header.map((_, column) => Math.max(...[header, ...lines].map((line) => line[column]?.length ?? 0)));
  const render = (line: string[]) =>
    line
      .map((text, column) =>
        NUMBER_COLUMNS.has(column) ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd();
  return [render(header), widths.map((width) => "-".repeat(width)).join("  "), ...lines.map(render)].join("\n");
}
