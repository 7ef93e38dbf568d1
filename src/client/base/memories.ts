/** What the first script and the photos page need to know about "On this day". */
import { readStored } from "./stored.ts";

/** The setting with the day on which the person last hid the row. */
export const MEMORIES_HIDDEN_ON = "memories-dismissed";

/** Today in the time zone of the browser, as `2026-07-01`. */
export function localDate(): string {
  const now = new Date();
  return [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
}

/** Whether the row is shown on a day. */
export function areMemoriesShown(date: string): boolean {
  return readStored(MEMORIES_HIDDEN_ON) !== date;
}
