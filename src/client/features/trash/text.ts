import { defineText } from "../../base/text.ts";

/** The text of the trash page. */
export const text = defineText("trash", {
  title: "Trash",
  explained: "Items are deleted permanently when they expire. Until then, they use your storage.",
  listLabel: "Items in trash",
  empty: "Empty trash",
  restore: "Restore",
  remove: "Delete permanently",
  from: "Original location",
  deleted: "Deleted",
  expires: "Expires",
  subtitle: "Deleted {deleted} · {daysLeft, plural, =0 {expires today} one {# day left} other {# days left}}",
  emptyTitle: "Trash is empty",
  emptyHint: "Items you delete appear here. You can restore them until they expire.",
  confirmEmptyTitle: "Empty trash?",
  confirmEmptyBody:
    "{n, plural, one {# item will be deleted permanently. This can't be undone.} other {# items will be deleted permanently. This can't be undone.}}",
  confirmRemoveTitle: "{n, plural, one {Delete # item permanently?} other {Delete # items permanently?}}",
  confirmRemoveBody: "This can't be undone.",
  deletedPermanently: "{n, plural, one {# item deleted permanently.} other {# items deleted permanently.}}",
  deleting: "Deleting…",
});
