import { defineText } from "../../base/text.ts";

/** The text of the slideshow. */
export const text = defineText("slideshow", {
  title: "Slideshow",
  start: "Slideshow",
  play: "Play",
  pause: "Pause",
  previous: "Previous",
  next: "Next",
  close: "End slideshow",
  interval: "Time per photo",
  seconds: "{n} s",
});
