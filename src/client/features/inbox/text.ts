import { defineText, plural } from "../../base/text.ts";

/** The text of the inbox. */
export const text = defineText("inbox", {
  title: "Notifications",
  open: (unread: number) =>
    unread === 0 ? "Notifications" : plural(unread, "Notifications, # unread", "Notifications, # unread"),
  none: "No notifications yet",
  noneHint: "Notifications about shares, storage, and your account appear here.",
  unread: "Unread",
  close: "Close",
});
