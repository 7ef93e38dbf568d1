import { defineText } from "../../base/text.ts";

/** The text of a file's list of versions. */
export const text = defineText("versions", {
  versionsOf: (name: string) => `Versions of ${name}`,
  version: (n: number) => `Version ${n}`,
  current: "Current",
  by: (name: string) => `by ${name}`,
  larger: (size: string) => `${size} larger`,
  smaller: (size: string) => `${size} smaller`,
  sameSize: "same size",
  open: "Open",
  download: "Download",
  restore: "Restore",
  restored: (n: number) => `Version ${n} restored. The version it replaced is still in the list.`,
  deleteVersion: "Delete",
  deleteTitle: (n: number) => `Delete version ${n} permanently?`,
  deleteBody: "This can't be undone.",
  deleted: "Version deleted.",
  retention: "Earlier versions use your storage. The oldest ones are deleted automatically.",
});
