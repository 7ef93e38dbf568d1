/** What the button "New" of the frame offers besides uploads: the page that is shown adds its own. */
import { useEffect } from "react";
import type { MenuItem } from "./menu-items.ts";
import { createStore, useStore } from "../base/store.ts";

/** What a page tells the button "New". */
export interface NewMenu {
  readonly items: readonly MenuItem[];
  /** Where uploads go; the account's top folder where the page shows none. */
  readonly folder: string;
  /** False where nothing can be added (a folder that was shared for reading). */
  readonly canUpload?: boolean;
}

const EMPTY_MENU: NewMenu = { items: [], folder: "/" };
const store = createStore<NewMenu>(EMPTY_MENU);

/** Offers `things` at the button "New" while the component is there. Keep the object the same between renders. */
export function useNewMenu(menu: NewMenu): void {
  useEffect(() => {
    store.set(menu);
    return () => {
      if (store.get() === menu) store.set(EMPTY_MENU);
    };
  }, [menu]);
}

/** What the button offers now. */
export function useOfferedNewMenu(): NewMenu {
  return useStore(store);
}
