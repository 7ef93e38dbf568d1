/** The page that `/` opens; chosen in the settings and stored on this device. */
import { readStored, writeStored } from "./stored.ts";

/** Pages to start with. The first one is the default. */
export const START_PAGES = ["home", "files", "photos"] as const;

/** One of {@link START_PAGES}. */
export type StartPage = (typeof START_PAGES)[number];

const STORED_AS = "start-page";

/** The chosen start page. */
export function startPage(): StartPage {
  const stored = readStored(STORED_AS);
  return START_PAGES.find((page) => page === stored) ?? START_PAGES[0];
}

/** Stores another start page. */
export function setStartPage(page: StartPage): void {
  writeStored(STORED_AS, page === START_PAGES[0] ? undefined : page);
}
