/** Shows times and days in the reader's format and time zone; without script they are in UTC. */
export function showLocalTimes(root: ParentNode): void {
  rewrite(root, "time[data-instant]", { dateStyle: "medium", timeStyle: "short" });
  rewrite(root, "time[data-day]", { dateStyle: "medium" });
}

function rewrite(root: ParentNode, selector: string, options: Intl.DateTimeFormatOptions): void {
  const format = new Intl.DateTimeFormat(undefined, options);
  for (const time of root.querySelectorAll<HTMLTimeElement>(selector)) {
    const instant = new Date(time.dateTime);
    if (!Number.isNaN(instant.getTime())) time.textContent = format.format(instant);
  }
}
