import { useQuery } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import type { Entry } from "../api/types.ts";
import { useOverlay } from "../base/overlays.ts";
import { useTextSearch } from "../base/search-params.ts";
import { createStore, useStore } from "../base/store.ts";
import type { Pages } from "./collection/use-pages.ts";
import { entryQuery } from "./entry-query.ts";

/** From this width on, the details are a panel next to the list. Below, they cover it. */
export const WIDE = window.matchMedia("(min-width: 64rem)");

/** Whether the panel is open; remembered across pages until the tab is closed. */
const panelOpen = createStore(false);

/** The details next to a list, and how to open and close them. */
export interface DetailsState {
  readonly isOpen: boolean;
  readonly entry: Entry | undefined;
  /** Whether the address opens them. */
  readonly hasAddress: boolean;
  toggle(): void;
  close(): void;
}

/**
 * The details of a list. On wide screens they are a panel that follows the selection. On others they cover the list, so
 * that Back closes them: the address names the entry (`details=`).
 * @param entry the selected entry, or the one at the cursor
 */
export function useDetailsState(entry: Entry | undefined, pages: Pick<Pages<Entry>, "known">): DetailsState {
  const isPanelOpen = useStore(panelOpen);
  const isWide = useIsWide();
  const overlay = useOverlay("details");
  const { view } = useTextSearch();
  // Over a preview, they are the details of the file in it.
  const id = view === undefined ? overlay.value : undefined;
  const listed = id === undefined ? undefined : [...pages.known().values()].find((one) => one.id === id);
  const { data } = useQuery({ ...entryQuery(id ?? ""), enabled: id !== undefined && listed === undefined });
  if (id !== undefined) {
    return { isOpen: true, entry: listed ?? data, hasAddress: true, toggle: overlay.close, close: overlay.close };
  }
  const close = () => panelOpen.set(false);
  // Opened when the window was wider, they stay open.
  if (isPanelOpen) return { isOpen: true, entry, hasAddress: false, toggle: close, close };
  const open = () => {
    if (isWide) panelOpen.set(true);
    else if (entry !== undefined) overlay.open(entry.id);
  };
  return { isOpen: false, entry, hasAddress: false, toggle: open, close };
}

/** Whether the details are next to the list. */
export function useIsWide(): boolean {
  return useSyncExternalStore(followWidth, () => WIDE.matches);
}

function followWidth(onChange: () => void): () => void {
  WIDE.addEventListener("change", onChange);
  return () => WIDE.removeEventListener("change", onChange);
}
