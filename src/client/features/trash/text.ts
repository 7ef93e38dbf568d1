import { defineText, plural } from "../../base/text.ts";

/** Words of the trash page. */
export const text = defineText("trash", {
  title: "Trash",
  explained: "What is here is deleted for good when its time is over. Until then it counts in your storage.",
  listLabel: "What is in the trash",
  empty: "Empty the trash",
  restore: "Put back",
  remove: "Delete for good",
  from: "Was in",
  deleted: "Deleted",
  keptUntil: "Kept until",
  subtitle: (deleted: string, until: string) => `Deleted ${deleted} · kept until ${until}`,
  emptyTitle: "The trash is empty",
  emptyHint: "What you delete comes here first and can be put back for a while.",
  confirmEmptyTitle: "Empty the trash?",
  confirmEmptyBody: "Everything in it is deleted for good. This can't be taken back.",
  confirmRemoveTitle: (n: number) => plural(n, "Delete # item for good?", "Delete # items for good?"),
  confirmRemoveBody: "This can't be taken back.",
  emptied: (n: number) => plural(n, "# item deleted for good.", "# items deleted for good."),
  deleting: "Deleting…",
});
