import { defineText } from "../../base/text.ts";

/** The texts of pins. */
export const text = defineText("pins", {
  title: "Pinned",
  unpin: "Unpin",
  moveUp: "Move up",
  moveDown: "Move down",
  undo: "Undo",
  pinned: (name: string) => `${name} is pinned to the sidebar.`,
  unpinned: (name: string) => `${name} is no longer pinned.`,
  moved: (name: string) => `${name} moved.`,
  menuOf: (name: string) => `More actions for the pin ${name}`,
  sharedBy: (name: string) => `Shared by ${name}`,
});
