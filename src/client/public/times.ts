import { formatDate, formatDateTime } from "../base/format.ts";

/** Shows times and days in the reader's format and time zone; without script they are in UTC. */
export function showLocalTimes(root: ParentNode): void {
  rewrite(root, "time[data-instant]", formatDateTime);
  rewrite(root, "time[data-day]", formatDate);
}

function rewrite(root: ParentNode, selector: string, format: (iso: string) => string): void {
  for (const time of root.querySelectorAll<HTMLTimeElement>(selector)) time.textContent = format(time.dateTime);
}
