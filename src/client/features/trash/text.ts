import { defineText, plural } from "../../base/text.ts";

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
  subtitle: (deleted: string, daysLeft: number) =>
    `Deleted ${deleted} · ${daysLeft === 0 ? "expires today" : plural(daysLeft, "# day left", "# days left")}`,
  emptyTitle: "Trash is empty",
  emptyHint: "Items you delete appear here. You can restore them until they expire.",
  confirmEmptyTitle: "Empty trash?",
  confirmEmptyBody: (n: number) =>
    plural(
      n,
      "# item will be deleted permanently. This can't be undone.",
      "# items will be deleted permanently. This can't be undone.",
    ),
  confirmRemoveTitle: (n: number) => plural(n, "Delete # item permanently?", "Delete # items permanently?"),
  confirmRemoveBody: "This can't be undone.",
  deletedPermanently: (n: number) => plural(n, "# item deleted permanently.", "# items deleted permanently."),
  deleting: "Deleting…",
});
