/** Shows times in the reader's format and time zone; without script they are in UTC. */
export function showLocalTimes(root: ParentNode): void {
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  for (const time of root.querySelectorAll<HTMLTimeElement>("time[data-instant]")) {
    const instant = new Date(time.dateTime);
    if (!Number.isNaN(instant.getTime())) time.textContent = format.format(instant);
  }
}
