import { defineText } from "../../base/text.ts";

/** The text of grids of photos. */
export const text = defineText("photo-grid", {
  isFavorite: "Favorite",
  photo: "Photo {name}, {when}",
  livePhoto: "Photo {name}, Live, {when}",
  live: "Live",
  video: "Video {name}, {length}, {when}",
  select: "Select {name}",
  shortcuts: "Photos",
  keyMove: "Move between photos",
  keyOpen: "Open photo",
  keySelect: "Select photo",
  keyRange: "Select a range",
  clear: "Clear selection",
  dragging: "{n, plural, one {Move # item} other {Move # items}}",
});
