import { useEffect, useRef, useState } from "react";
import type uPlot from "uplot";
import { useTheme } from "../../../base/theme.ts";
import { loadScript } from "../../../ui/lazy-part.ts";
import { formatNumber } from "../../../base/format.ts";
import { text } from "../text.ts";

/** A line of a plot: a value for each day, null where nobody knows one. */
export interface Series {
  readonly label: string;
  readonly values: readonly (number | null)[];
  readonly color: "accent" | "warning" | "focus" | "muted";
}

const HEIGHT = 220;

/** Steps of the grid; none is part of a byte or of a file. */
const POWERS_OF_TWO = Array.from({ length: 52 }, (_, power) => 2 ** power);
const ROUND_NUMBERS = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/**
 * Lines over days. The drawing is a picture; what it shows is in `summary`, and in the table beside it. Where what draws
 * can't be loaded, the summary stands in its place; it is asked for again with the next days.
 */
export function Plot({
  days,
  series,
  summary,
  format = formatNumber,
  isBytes = false,
}: {
  /** Instants, in milliseconds. */
  readonly days: readonly number[];
  readonly series: readonly Series[];
  readonly summary: string;
  readonly format?: (value: number) => string;
  /** Sizes: the lines of the grid stand at powers of two. */
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
      ({ default: Drawing }) => {
        if (unmounted.signal.aborted) return;
        setLost(false);
        draw(Drawing, host, { days, series, format, isBytes }, unmounted.signal);
      },
      () => setLost(true),
    );
    return () => unmounted.abort();
  }, [days, series, format, isBytes, theme]);
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
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  readonly isBytes: boolean;
}

/** Draws into `host` and follows its width and the device's scheme, until `signal`. */
function draw(
  Drawing: typeof uPlot,
  host: HTMLElement,
  { days, series, format, isBytes }: PlotState,
  signal: AbortSignal,
): void {
  let plot: uPlot | undefined;
  const begin = () => {
    plot?.destroy();
    const line = colorOf(host, "line");
    const axis: uPlot.Axis = {
      stroke: colorOf(host, "muted"),
      grid: { stroke: line, width: 1 },
      ticks: { stroke: line, width: 1 },
    };
    plot = new Drawing(
      {
        width: host.clientWidth,
        height: HEIGHT,
        legend: { show: true, live: false },
        cursor: { show: false },
        scales: { y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1] } },
        axes: [
          { ...axis, values: (_, ticks) => ticks.map((tick) => dayName(tick)) },
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
            points: { show: days.length < 3 },
            spanGaps: false,
          })),
        ],
      },
      [days.map((ms) => ms / 1000), ...series.map(({ values }) => [...values])],
      host,
    );
  };
  begin();
  const resized = new ResizeObserver(() => plot?.setSize({ width: host.clientWidth, height: HEIGHT }));
  resized.observe(host);
  const scheme = window.matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", begin, { signal });
  signal.addEventListener("abort", () => {
    resized.disconnect();
    plot?.destroy();
  });
}

/** A colour of the style sheet as a canvas takes it: in the scheme that holds now. */
function colorOf(host: HTMLElement, name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  host.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function dayName(seconds: number): string {
  return new Date(seconds * 1000).toLocaleDateString(document.documentElement.lang || "en", {
    day: "numeric",
    month: "short",
    timeZone: "UTC",
  });
}
