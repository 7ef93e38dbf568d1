import { defineText } from "../../base/text.ts";

/** The text of a file's list of versions. */
export const text = defineText("versions", {
  versionsOf: (name: string) => `Versions of ${name}`,
  version: (n: number) => `Version ${n}`,
  current: "Present",
  by: (name: string) => `by ${name}`,
  larger: (size: string) => `${size} larger than before`,
  smaller: (size: string) => `${size} smaller than before`,
  sameSize: "as large as before",
  open: "Open",
  download: "Download",
  restore: "Bring back",
  restored: (n: number) => `Version ${n} is the content again. What was there is kept as a version.`,
  deleteVersion: "Delete",
  deleteTitle: (n: number) => `Delete version ${n} for good?`,
  deleteBody: "It can't be brought back afterwards.",
  deleted: "The version was deleted.",
  kept: "Earlier versions are kept for a time and count in your storage.",
});
