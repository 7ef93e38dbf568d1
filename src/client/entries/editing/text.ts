import { defineText } from "../../base/text.ts";

/** The text of image editing. */
export const text = defineText("editing", {
  rotateRight: "Rotate right",
  rotateLeft: "Rotate left",
  crop: "Crop",
  cropTitle: "Crop {name}",
  cropHint:
    "Drag the edges to resize the area, or drag the area to move it. The original is saved as an earlier version.",
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
  tooLarge: "This image is too large to crop in the browser.",
  notLoaded: "This browser can't show this image.",
  heicCrop: "HEIC images can be rotated, but not cropped.",
  tiffCrop: "TIFF images can be rotated, but not cropped.",
  svg: "SVG drawings can't be rotated or cropped.",
  gif: "GIFs and animations can't be edited.",
  otherFormat: "Images in this format can't be edited.",
});
