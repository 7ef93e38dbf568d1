/** How this browser shows lists of files; stored on the device. */
import { createStore, useStore } from "../base/store.ts";
import { readStored, writeStored } from "../base/stored.ts";
import {
  DEFAULT_LIST,
  type ListKind,
  type ListPreferences,
  readPreferences,
  type ViewPreferences,
} from "./read-preferences.ts";

const STORED_AS = "files-view";

const store = createStore(readPreferences(readStored(STORED_AS)));

/** The preferences, and a function to change some of them. */
export function useViewPreferences(): [ViewPreferences, (changes: Partial<ViewPreferences>) => void] {
  return [useStore(store), change];
}

/** The preferences of one kind of list. */
export function useListPreferences(kind: ListKind): ListPreferences {
  return useStore(store).lists[kind] ?? DEFAULT_LIST;
}

/** Changes the preferences of one kind of list. */
export function changeList(kind: ListKind, alter: (before: ListPreferences) => Partial<ListPreferences>): void {
  const { lists } = store.get();
  const before = lists[kind] ?? DEFAULT_LIST;
  change({ lists: { ...lists, [kind]: { ...before, ...alter(before) } } });
}

function change(changes: Partial<ViewPreferences>): void {
  store.update((before) => ({ ...before, ...changes }));
  writeStored(STORED_AS, JSON.stringify(store.get()));
}
