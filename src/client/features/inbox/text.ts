import { defineText } from "../../base/text.ts";

/** The text of the inbox. */
export const text = defineText("inbox", {
  title: "Notifications",
  open: "{unread, plural, =0 {Notifications} one {Notifications, # unread} other {Notifications, # unread}}",
  none: "No notifications yet",
  noneHint: "When someone shares something with you, or your storage or account needs attention, it appears here.",
  unread: "Unread",
  markRead: "Mark “{title}” as read",
  markAll: "Mark all as read",
  turnOn: "Turn on notifications in this browser",
  turnOnHint: "You then see them even when Larder is closed.",
});
