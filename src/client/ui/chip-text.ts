import { defineText } from "../base/text.ts";

/** The text of fields that collect people. */
export const chipText = defineText("chips", {
  chosen: "Chosen",
  removeChip: "Remove {name}",
  chipRemoved: "{name} removed.",
  chipsAdded: "{names} added.",
});
