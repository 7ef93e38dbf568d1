import { describe, expect, test } from "bun:test";
import { decode } from "../../../src/client/entries/preview/content.ts";
import { languageOf, previewKind } from "../../../src/client/entries/preview/kind.ts";
import { fitOnStage, clampToStage, panBy, WHOLE, zoomAt } from "../../../src/client/entries/preview/zoom.ts";

describe("how a file is shown", () => {
  test.each([
    ["a.jpg", "image/jpeg", "image"],
    ["a.heic", "image/heic", "image"],
    ["a.mp4", "video/mp4", "video"],
    ["a.ts", "video/mp2t", "code"],
    ["a.flac", "audio/flac", "audio"],
    ["a.pdf", "application/pdf", "pdf"],
    ["README.md", "application/octet-stream", "markdown"],
    ["a.html", "text/html", "code"],
    ["Dockerfile", "application/octet-stream", "code"],
    ["notes.txt", "text/plain", "text"],
    ["data.unknown", "application/ld+json", "text"],
    ["a.zip", "application/zip", "archive"],
    ["noending", "application/octet-stream", "none"],
  ] as const)("%s of %s", (name, mimeType, kind) => {
    expect(previewKind({ name, mimeType })).toBe(kind);
  });

  test("languages are recognized by extension, in any case", () => {
    expect(languageOf("A.PY")).toBe("python");
    expect(languageOf("a.txt")).toBeUndefined();
  });
});

describe("decoding text", () => {
  test("UTF-8, UTF-16 and Latin-1 are recognized, and binary data is not shown", () => {
    expect(decode(new TextEncoder().encode("Äpfel")).text).toBe("Äpfel");
    expect(decode(new Uint8Array([0xff, 0xfe, 0x41, 0, 0xc4, 0])).text).toBe("AÄ");
    expect(decode(new Uint8Array([0xc4, 0x70])).text).toBe("Äp");
    expect(decode(new Uint8Array([1, 0, 2]))).toEqual({ text: "", isBinary: true });
  });

  test("a character that is cut off at the end is dropped", () => {
    expect(decode(new TextEncoder().encode("aä").subarray(0, 2)).text).toBe("a");
  });
});

describe("zooming", () => {
  const stage = { width: 1000, height: 500 };

  test("the point under the pointer stays in place", () => {
    const point = { x: 120, y: -40 };
    const before = { scale: 2, x: 30, y: 10 };
    const after = zoomAt(before, 1.7, point);
    const onPicture = (view: typeof before) => [(point.x - view.x) / view.scale, (point.y - view.y) / view.scale];
    expect(onPicture(after)[0]).toBeCloseTo(onPicture(before)[0] ?? 0);
    expect(onPicture(after)[1]).toBeCloseTo(onPicture(before)[1] ?? 0);
  });

  test("ends at the whole image, and at sixteen times its size", () => {
    expect(zoomAt(WHOLE, 0.1, { x: 0, y: 0 }).scale).toBe(1);
    expect(zoomAt(WHOLE, 100, { x: 0, y: 0 }).scale).toBe(16);
  });

  test("no edge of the image moves inside the stage", () => {
    const picture = fitOnStage({ width: 4000, height: 1000 }, stage);
    expect(picture).toEqual({ width: 1000, height: 250 });
    expect(clampToStage(panBy({ scale: 1, x: 0, y: 0 }, { x: 500, y: 500 }), picture, stage)).toEqual(WHOLE);
    expect(clampToStage({ scale: 3, x: 9000, y: -9000 }, picture, stage)).toEqual({ scale: 3, x: 1000, y: -125 });
    expect(fitOnStage({ width: 10, height: 10 }, stage)).toEqual({ width: 10, height: 10 });
  });
});
