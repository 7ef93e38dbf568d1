import { defineText } from "../../base/text.ts";

/** The text of a file's list of versions. */
export const text = defineText("versions", {
  versionsOf: "Versions of {name}",
  version: "Version {n}",
  current: "Current",
  by: "by {name}",
  larger: "{size} larger",
  smaller: "{size} smaller",
  sameSize: "same size",
  open: "Open",
  download: "Download",
  restore: "Restore",
  restored: "Version {n} restored. The version it replaced is still in the list.",
  deleteVersion: "Delete",
  deleteTitle: "Delete version {n} permanently?",
  deleteBody: "This can't be undone.",
  deleted: "Version deleted.",
  retention: "Earlier versions use your storage. The oldest ones are deleted automatically.",
});
