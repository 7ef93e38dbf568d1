import { defineText } from "../../base/text.ts";

/** The text of picture editing. */
export const text = defineText("editing", {
  rotateRight: "Rotate right",
  rotateLeft: "Rotate left",
  crop: "Crop",
  cropTitle: (name: string) => `Crop ${name}`,
  cropHint: "Drag the edges, or move the area. The original stays as an earlier version.",
  save: "Save",
  rotated: "Rotated.",
  cropped: "Cropped.",
  undo: "Undo",
  undone: "Restored the version before.",
  ratio: "Aspect ratio",
  free: "Free",
  original: "Original",
  square: "Square",
  area: "Area to keep",
  left: "Left",
  top: "Top",
  width: "Width",
  height: "Height",
  tooLarge: "This picture is too large to crop in the browser.",
  notLoaded: "The browser can't show this picture.",
  heicCrop: "Larder can't write HEIC pictures, so they can be rotated, but not cropped.",
  gif: "Animations can't be edited.",
  otherFormat: "Pictures of this format can't be edited.",
});
