import { defineText } from "../../base/text.ts";

/** The text of the favorites page. */
export const text = defineText("favorites", {
  title: "Favorites",
  listLabel: "Favorites",
  emptyTitle: "No favorites yet",
  emptyHint: "Choose “Add to favorites” in the menu of a file or folder.",
  sharedWithMe: "Shared with me",
});
