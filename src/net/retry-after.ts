/** Longer waits are not accepted. */
const RETRY_AFTER_MS_MAX = 24 * 60 * 60 * 1000;

/**
 * The value of a Retry-After header in milliseconds from now, at most a day (RFC 9110 §10.2.3: seconds, or a date).
 * @returns undefined if the header is missing or invalid
 */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  const isDate = /^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/.test(text);
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : isDate ? Date.parse(text) - nowMs : Number.NaN;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), RETRY_AFTER_MS_MAX);
}
