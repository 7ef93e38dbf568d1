import { defineText } from "../../base/text.ts";

/** The text of the favorites page. */
export const text = defineText("favorites", {
  title: "Favorites",
  listLabel: "Favorites",
  emptyTitle: "No favorites yet",
  emptyHint: "Choose “Add to favorites” in the menu of a file or folder.",
  folderPath: "Location",
  sharedWithMe: "Shared with me",
});
