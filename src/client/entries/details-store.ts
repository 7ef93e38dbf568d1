import { createStore } from "../base/store.ts";

/** Whether the details panel is open; remembered across pages until the tab is closed. */
export const detailsOpen = createStore(false);
