import { useEffect, useRef, useState } from "react";
import type uPlot from "uplot";
import { useTheme } from "../../../base/theme.ts";
import { loadScript } from "../../../ui/lazy-part.ts";
import { formatNumber, locale } from "../../../base/format.ts";
import { text } from "../text.ts";

/** A line of a plot: a value for each day; null if unknown. */
export interface Series {
  readonly label: string;
  readonly values: readonly (number | null)[];
  readonly color: "accent" | "warning" | "focus" | "muted";
}

const HEIGHT = 220;
const DAY_SECONDS = 86_400;
/** Grid steps in whole days, so that no date is shown twice. */
const DAY_STEPS = [1, 2, 5, 7, 14, 30, 61, 91, 182, 365].map((days) => days * DAY_SECONDS);
/** From this many days on, dates have a year. */
const YEAR_SHOWN_DAYS = 300;

/** Grid steps that are whole bytes or whole files. */
const POWERS_OF_TWO = Array.from({ length: 52 }, (_, power) => 2 ** power);
const ROUND_NUMBERS = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/**
 * A plot of lines over days. The canvas is described by `summary` and by the table next to it. If the plot library
 * can't be loaded, the summary is shown instead, and loading is tried again with the next data.
 */
export function Plot({
  days,
  series,
  summary,
  periodDays,
  format = formatNumber,
  isBytes = false,
}: {
  /** Timestamps in milliseconds. */
  readonly days: readonly number[];
  readonly series: readonly Series[];
  readonly summary: string;
  /** The range of the plot, up to the last day. */
  readonly periodDays: number;
  readonly format?: (value: number) => string;
  /** The values are sizes: grid lines are at powers of two. */
  readonly isBytes?: boolean;
}) {
  const ref = useRef<HTMLDivElement>(null);
  const theme = useTheme();
  const [isLost, setLost] = useState(false);
  useEffect(() => {
    const host = ref.current;
    if (host === null) return;
    const unmounted = new AbortController();
    void loadScript(() => import("uplot")).then(
      ({ default: Plotter }) => {
        if (unmounted.signal.aborted) return;
        setLost(false);
        draw(Plotter, host, { days, series, periodDays, format, isBytes }, unmounted.signal);
      },
      () => setLost(true),
    );
    return () => unmounted.abort();
  }, [days, series, periodDays, format, isBytes, theme]);
  return (
    <div className="w-full" style={{ minHeight: HEIGHT }}>
      <div ref={ref} role="img" aria-label={summary} hidden={isLost} className="overflow-hidden" />
      {isLost && (
        <>
          <p className="text-sm">{summary}</p>
          <p role="status" className="mt-2 text-sm text-muted">
            {text.plotFailed}
          </p>
        </>
      )}
    </div>
  );
}

interface PlotState {
  readonly days: readonly number[];
  readonly periodDays: number;
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  readonly isBytes: boolean;
}

/** Draws into `host` and follows its width and the color scheme, until `signal` is aborted. */
function draw(
  Plotter: typeof uPlot,
  host: HTMLElement,
  { days, series, periodDays, format, isBytes }: PlotState,
  signal: AbortSignal,
): void {
  let plot: uPlot | undefined;
  const lastSeconds = (days.at(-1) ?? 0) / 1000;
  const xRange: [number, number] = [lastSeconds - (periodDays - 1) * DAY_SECONDS, lastSeconds];
  const start = () => {
    plot?.destroy();
    const line = colorOf(host, "line");
    const axis: uPlot.Axis = {
      stroke: colorOf(host, "muted"),
      grid: { stroke: line, width: 1 },
      ticks: { stroke: line, width: 1 },
    };
    plot = new Plotter(
      {
        width: host.clientWidth,
        height: HEIGHT,
        legend: { show: true, live: false },
        cursor: { show: false },
        scales: {
          x: { time: false, range: () => xRange },
          y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : isBytes ? 1024 : 1] },
        },
        axes: [
          {
            ...axis,
            incrs: DAY_STEPS,
            space: 70,
            values: (_, ticks) => ticks.map((tick) => dayName(tick, periodDays >= YEAR_SHOWN_DAYS)),
          },
          {
            ...axis,
            size: 70,
            incrs: isBytes ? POWERS_OF_TWO : ROUND_NUMBERS,
            values: (_, ticks) => ticks.map(format),
          },
        ],
        series: [
          {},
          ...series.map(({ label, color }) => ({
            label,
            stroke: colorOf(host, color),
            width: 2,
            points: { show: days.length < 15 },
            spanGaps: false,
          })),
        ],
      },
      [days.map((ms) => ms / 1000), ...series.map(({ values }) => [...values])],
      host,
    );
  };
  start();
  const resized = new ResizeObserver(() => plot?.setSize({ width: host.clientWidth, height: HEIGHT }));
  resized.observe(host);
  const scheme = window.matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", start, { signal });
  signal.addEventListener("abort", () => {
    resized.disconnect();
    plot?.destroy();
  });
}

/** A color of the style sheet in the current color scheme, for the canvas. */
function colorOf(host: HTMLElement, name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  host.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function dayName(seconds: number, hasYear: boolean): string {
  return new Date(seconds * 1000).toLocaleDateString(locale(), {
    ...(hasYear ? { year: "numeric" } : { day: "numeric" }),
    month: "short",
    timeZone: "UTC",
  });
}
