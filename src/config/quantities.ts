/** Sizes and durations as people write them. Units of size are 1024-based throughout. */

const SIZE_UNITS = ["", "K", "M", "G", "T", "P"];
const SIZE_PATTERN = /^(\d+(?:\.\d+)?)\s*(?:([KMGTP])(?:i?B)?|B)?$/i;

const DURATION_UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
const DURATION_PATTERN = /^(?:\d+[smhdw])+$/;
const DURATION_PART = /(\d+)([smhdw])/g;

/** Bytes of `"10MB"`, `"1.5 GiB"`, `"512k"` or `"4096"`; undefined if the text is not a size. */
export function parseSize(text: string): number | undefined {
  const match = SIZE_PATTERN.exec(text.trim());
  if (match === null) return undefined;
  const bytes = Math.round(Number(match[1]) * 1024 ** SIZE_UNITS.indexOf((match[2] ?? "").toUpperCase()));
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** The shortest text that {@link parseSize} reads as exactly these bytes: `"10MB"`, `"1025"`. */
export function formatSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && value % 1024 === 0 && unit < SIZE_UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return unit === 0 ? String(value) : `${value}${SIZE_UNITS[unit] ?? ""}B`;
}

/** A size for people, rounded to one decimal: `"1.4 GB"`. */
export function describeSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit < SIZE_UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  const rounded = unit === 0 ? value : Math.round(value * 10) / 10;
  return `${rounded} ${SIZE_UNITS[unit] ?? ""}B`;
}

/** Milliseconds of `"30s"`, `"1h30m"` or `"7d"`; undefined if the text is not a duration, or has no unit. */
export function parseDuration(text: string): number | undefined {
  const plain = text.trim().toLowerCase();
  if (!DURATION_PATTERN.test(plain)) return undefined;
  let ms = 0;
  for (const [, amount, unit] of plain.matchAll(DURATION_PART)) {
    ms += Number(amount) * (DURATION_UNITS[unit ?? ""] ?? 0);
  }
  return Number.isSafeInteger(ms) ? ms : undefined;
}
