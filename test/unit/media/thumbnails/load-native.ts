/* Loads the libraries that the JSON argument describes, in a process of its own, and reports the result. */
import {
  type EmbeddedSharp,
  loadEmbeddedSharp,
  type NativeOptions,
  setNativeOptions,
} from "../../../../src/features/media/thumbnails/native.ts";

const given: { embedded: EmbeddedSharp; options: NativeOptions } = JSON.parse(process.argv[2] ?? "");
setNativeOptions(given.options);
const addon = loadEmbeddedSharp(given.embedded);
console.log(typeof addon === "object" && addon !== null && "pipeline" in addon ? "loaded" : "not an addon");
