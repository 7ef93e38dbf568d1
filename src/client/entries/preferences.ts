/** How this browser shows lists of files; stored on the device. */
import { createStore, useStore } from "../base/store.ts";
import { readStored, writeStored } from "../base/stored.ts";
import { readPreferences, type ViewPreferences } from "./read-preferences.ts";

const STORED_AS = "files-view";

const store = createStore(readPreferences(readStored(STORED_AS)));

/** The preferences, and a function to change some of them. */
export function useViewPreferences(): [ViewPreferences, (changes: Partial<ViewPreferences>) => void] {
  return [useStore(store), change];
}

function change(changes: Partial<ViewPreferences>): void {
  store.update((before) => ({ ...before, ...changes }));
  writeStored(STORED_AS, JSON.stringify(store.get()));
}
