/** Positions in the photo list as clients see them. */
import { invalidField } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";
import type { PhotoPosition } from "./types.ts";

const DAY_MS = 86_400_000;
/** Years 0 to 9999, as dates are written. */
const LAST_DAY = Math.floor(Date.UTC(9999, 11, 31) / DAY_MS);

/** Before all photos. */
export const NEWEST: PhotoPosition = {
  day: Number.MAX_SAFE_INTEGER,
  takenAtMs: Number.MAX_SAFE_INTEGER,
  nodeId: Number.MAX_SAFE_INTEGER,
};

/** A position as text; it stays valid while photos are added, removed or moved. */
export function toCursor({ takenAtMs, nodeId }: PhotoPosition): string {
  return Buffer.from(`${takenAtMs}.${nodeId}`).toString("base64url");
}

/** The inverse. @throws AppError invalid_field if it is no cursor of an earlier page */
export function readCursor(text: string): PhotoPosition {
  const [, takenAt = "", id = ""] =
    /^(-?\d{1,15})\.(\d{1,15})$/.exec(Buffer.from(text, "base64url").toString("latin1")) ?? [];
  if (id === "")
    throw invalidField(
      "cursor",
      say`The cursor is not valid. Send nextCursor from the previous page, or leave it out.`,
    );
  const takenAtMs = Number(takenAt);
  return { day: Math.floor(takenAtMs / DAY_MS), takenAtMs, nodeId: Number(id) };
}

/**
 * The position before the photos of a day (`2026-01-05`), or of the last day of a month (`2026-01`) or a year (`2026`).
 * @throws AppError invalid_field
 */
export function readDatePosition(text: string): PhotoPosition {
  const [, year = "", month, date] = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$/.exec(text) ?? [];
  const start = new Date(0);
  start.setUTCFullYear(Number(year), Number(month ?? 1) - 1, Number(date ?? 1));
  const isThere = year !== "" && start.toISOString().startsWith(text);
  if (!isThere)
    throw invalidField("at", say`at must be a day, a month or a year, such as 2026-01-05, 2026-01 or 2026.`);
  const next = new Date(start);
  if (date !== undefined) next.setUTCDate(next.getUTCDate() + 1);
  else if (month !== undefined) next.setUTCMonth(next.getUTCMonth() + 1);
  else next.setUTCFullYear(next.getUTCFullYear() + 1);
  // Everything before the first moment of the next day.
  return { day: Math.floor(next.getTime() / DAY_MS), takenAtMs: next.getTime(), nodeId: 0 };
}

/** The day of a date, such as `2026-01-05`, in days since 1970. @throws AppError invalid_field */
export function readDay(text: string | undefined): number {
  const time = Date.parse(`${text}T00:00:00Z`);
  const isDay = text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(time);
  if (!isDay || !new Date(time).toISOString().startsWith(text))
    throw invalidField("date", say`date must be a day, such as 2026-01-05.`);
  return Math.floor(time / DAY_MS);
}

/** A day as text: `2026-01-05`. */
export function toDate(day: number): string {
  return new Date(Math.min(day, LAST_DAY) * DAY_MS).toISOString().slice(0, 10);
}
