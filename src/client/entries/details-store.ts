import { createStore } from "../base/store.ts";

/** Whether the details are shown beside lists; kept from page to page until the tab is closed. */
export const detailsOpen = createStore(false);
