/** The entries of the frame's "New" button besides uploads, which the current page adds. */
import { useEffect } from "react";
import type { MenuItem } from "./menu-items.ts";
import { createStore, useStore } from "../base/store.ts";

/** What a page adds to the "New" button. */
interface NewMenu {
  readonly items: readonly MenuItem[];
  /** The folder that uploads go to; by default the account's root folder. */
  readonly folder: string;
  /** False if nothing can be uploaded, for example in a read-only shared folder. */
  readonly canUpload?: boolean;
}

const EMPTY_MENU: NewMenu = { items: [], folder: "/" };
const store = createStore<NewMenu>(EMPTY_MENU);

/** Sets the entries of the "New" button while the component is mounted. Keep the object the same between renders. */
export function useNewMenu(menu: NewMenu): void {
  useEffect(() => {
    store.set(menu);
    return () => {
      if (store.get() === menu) store.set(EMPTY_MENU);
    };
  }, [menu]);
}

/** The current entries of the "New" button. */
export function useOfferedNewMenu(): NewMenu {
  return useStore(store);
}
