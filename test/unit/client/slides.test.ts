import { expect, test } from "bun:test";
import { neighborOf, slidesOf } from "../../../src/client/entries/slideshow/slides.ts";

const file = (id: string, mimeType: string, hasThumbnail = true) => ({ id, name: id, mimeType, hasThumbnail });

const FILES = [
  file("a", "image/jpeg"),
  file("b", "application/pdf"),
  file("c", "video/mp4", false),
  file("d", "image/x-broken", false),
  file("e", "image/png"),
];

test("a slideshow has the photos that can be shown, and videos", () => {
  expect(slidesOf(FILES).map(({ id }) => id)).toEqual(["a", "c", "e"]);
});

test("the first slide follows the last, and one slide has no neighbor", () => {
  const slides = slidesOf(FILES);
  expect(neighborOf(slides, "a", 1)?.id).toBe("c");
  expect(neighborOf(slides, "e", 1)?.id).toBe("a");
  expect(neighborOf(slides, "a", -1)?.id).toBe("e");
  expect(neighborOf(slides.slice(0, 1), "a", 1)).toBeUndefined();
  expect(neighborOf([], "a", 1)).toBeUndefined();
});
