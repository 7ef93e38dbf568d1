import { defineText } from "../../base/text.ts";

/** The text of the home page. */
export const text = defineText("home", {
  title: "Home",
  recent: "Recent",
  pinned: "Pinned items",
  favorites: "Favorites",
  allFavorites: "All favorites",
  activity: "Activity",
  goToFolder: "Go to folder",
  activities: {
    added: "Added {when}",
    edited: "Edited {when}",
    renamed: "Renamed {when}",
    moved: "Moved {when}",
    restored: "Restored {when}",
    changed: "Changed {when}",
    opened: "Opened {when}",
  },
  sharedWithMe: "Shared with me",
  allShared: "All shared items",
  emptyTitle: "Add your first files",
  emptyHint: "Files that you add, change, or open appear here. You can also drop files anywhere on this page.",
  emptyHintTouch: "Files that you add, change, or open appear here.",
  emptyReadOnly: "Files that you open appear here.",
  uploadFiles: "Upload files",
  connectDevices: "Connect a phone or computer",
  importFiles: "Import from another service",
});
