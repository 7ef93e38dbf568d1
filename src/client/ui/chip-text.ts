import { defineText } from "../base/text.ts";

/** The text of fields that collect people. */
export const chipText = defineText("chips", {
  chosen: "Chosen",
  removeChip: (name: string) => `Remove ${name}`,
  chipRemoved: (name: string) => `${name} removed.`,
  chipsAdded: (names: readonly string[]) => `${names.join(", ")} added.`,
});
