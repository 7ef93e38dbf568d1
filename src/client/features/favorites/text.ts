import { defineText } from "../../base/text.ts";

/** The text of the favorites page. */
export const text = defineText("favorites", {
  title: "Favorites",
  listLabel: "Favorites",
  emptyTitle: "No favorites yet",
  emptyHint: "Select a file or folder and press Shift+S, or choose Add to favorites from its menu.",
  folderPath: "Location",
  sharedWithMe: "Shared with me",
});
