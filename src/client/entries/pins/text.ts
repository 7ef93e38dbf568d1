import { defineText } from "../../base/text.ts";

/** The texts of pins. */
export const text = defineText("pins", {
  title: "Pinned",
  unpin: "Unpin",
  moveUp: "Move up",
  moveDown: "Move down",
  undo: "Undo",
  pinned: "{name} is pinned to the sidebar.",
  unpinned: "{name} is no longer pinned.",
  moved: "{name} moved.",
  menuOf: "More actions for the pin {name}",
  sharedBy: "Shared by {name}",
});
