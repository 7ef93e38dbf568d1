import { defineText } from "../../base/text.ts";

/** The text of picture editing. */
export const text = defineText("editing", {
  rotateRight: "Rotate right",
  rotateLeft: "Rotate left",
  crop: "Crop",
  cropTitle: (name: string) => `Crop ${name}`,
  cropHint:
    "Drag the edges to resize the area, or drag the area to move it. The original stays as an earlier version.",
  save: "Save",
  rotated: "Rotated.",
  cropped: "Cropped.",
  undo: "Undo",
  undone: "Previous version restored.",
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
  notLoaded: "This browser can't show this picture.",
  heicCrop: "HEIC pictures can be rotated, but not cropped.",
  tiffCrop: "TIFF pictures can be rotated, but not cropped.",
  gif: "GIFs and animations can't be edited.",
  otherFormat: "Pictures of this format can't be edited.",
});
