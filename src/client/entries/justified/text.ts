import { defineText, plural } from "../../base/text.ts";

/** The text of grids of photos. */
export const text = defineText("photo-grid", {
  isFavorite: "Favorite",
  photo: (name: string, when: string) => `Photo ${name}, ${when}`,
  livePhoto: (name: string, when: string) => `Photo ${name}, Live, ${when}`,
  live: "Live",
  video: (name: string, when: string, length: string) => `Video ${name}, ${length}, ${when}`,
  select: (name: string) => `Select ${name}`,
  shortcuts: "Photos",
  keyMove: "Move between photos",
  keyOpen: "Open photo",
  keySelect: "Select photo",
  keyRange: "Select a range",
  clear: "Clear selection",
  dragging: (n: number) => plural(n, "Move # item", "Move # items"),
});
