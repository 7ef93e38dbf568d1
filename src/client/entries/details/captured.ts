/** Formats the capture time of a photo in the local time of the place. */
import { formatDateTime, locale } from "../../base/format.ts";

const WITH_OFFSET = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?([+-]\d{2}:\d{2})$/;

/**
 * When a photo was taken, in the local time of the place, with the UTC offset if the camera recorded one. A time
 * without an offset is shown in the reader's own time zone.
 */
export function formatCaptured(iso: string): string {
  const [, clock, offset] = WITH_OFFSET.exec(iso) ?? [];
  if (clock === undefined || offset === undefined) return formatDateTime(iso);
  const shown = new Intl.DateTimeFormat(locale(), {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone: "UTC",
  }).format(new Date(`${clock}Z`));
  return `${shown} (UTC${offset})`;
}
