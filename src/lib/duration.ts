const UNITS: readonly [suffix: string, ms: number][] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
];

/** A duration in the form of the API: `"24h"`, `"7d"`, `"90s"`. Uses the largest unit that fits; one day in hours. */
export function formatDuration(ms: number): string {
  for (const [suffix, unit] of UNITS) {
    if (ms % unit === 0 && (suffix !== "d" || ms >= 2 * unit)) return `${ms / unit}${suffix}`;
  }
  return `${Math.round(ms / 1000)}s`;
}
