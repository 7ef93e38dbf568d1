import { defineText, plural } from "../../base/text.ts";

/** The text of the inbox. */
export const text = defineText("inbox", {
  title: "Notifications",
  open: (unread: number) =>
    unread === 0 ? "Notifications" : plural(unread, "Notifications, # unread", "Notifications, # unread"),
  count: (unread: number) => (unread > 99 ? "99+" : String(unread)),
  none: "No notifications yet",
  noneHint: "When someone shares something with you, or your storage or account needs attention, it appears here.",
  unread: "Unread",
  markRead: (title: string) => `Mark “${title}” as read`,
  markAll: "Mark all as read",
  turnOn: "Turn on notifications in this browser",
  turnOnHint: "You then see them even when Larder is closed.",
});
