/** Instants of pictures: what the clock showed where one was taken. */
import { formatDateTime } from "../../base/format.ts";

const WITH_OFFSET = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?([+-]\d{2}:\d{2})$/;

/**
 * When a picture was taken, by the clock of that place, with its distance from UTC where the camera told one. Times
 * without an offset are shown in the reader's own.
 */
export function formatCaptured(iso: string): string {
  const [, clock, offset] = WITH_OFFSET.exec(iso) ?? [];
  if (clock === undefined || offset === undefined) return formatDateTime(iso);
  const shown = new Intl.DateTimeFormat(document.documentElement.lang || "en", {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone: "UTC",
  }).format(new Date(`${clock}Z`));
  return `${shown} (UTC${offset})`;
}
