import { defineText } from "../../base/text.ts";
import type { RecentFile } from "./recent.ts";

/** The text of the home page. */
export const text = defineText("home", {
  title: "Home",
  recent: "Recent",
  pinned: "Pinned items",
  favorites: "Favorites",
  allFavorites: "All favorites",
  activity: "Activity",
  goToFolder: "Go to folder",
  activityOf: (activity: RecentFile["activity"], when: string) => `${ACTIVITIES[activity]} ${when}`,
  sharedWithMe: "Shared with me",
  allShared: "All shared items",
  emptyTitle: "Add your first files",
  emptyHint: "Files that you add, change, or open appear here. You can also drop files anywhere on this page.",
  emptyHintTouch: "Files that you add, change, or open appear here.",
  emptyReadOnly: "Files that you open appear here.",
  uploadFiles: "Upload files",
  connectDevices: "Connect a phone or computer",
});

const ACTIVITIES: Readonly<Record<RecentFile["activity"], string>> = {
  added: "Added",
  edited: "Edited",
  renamed: "Renamed",
  moved: "Moved",
  restored: "Restored",
  changed: "Changed",
  opened: "Opened",
};
