import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import type { ThumbnailVariant } from "../../../../src/features/media/thumbnails/sizes.ts";
import { makeZip } from "../../../support/document-files.ts";
import { pdf } from "../../../support/sample-library.ts";
import { Bench, FIXTURES } from "./support.ts";

const hasFfmpeg = Bun.which("ffmpeg") !== null;

async function render(bench: Bench, fixture: string, mediaType: string, variant: ThumbnailVariant) {
  const response = await bench.service.get(bench.add(fixture), mediaType, variant, 30_000);
  if (response.state !== "ready") throw new Error(`${fixture}: ${JSON.stringify(response)}`);
  const bytes = readFileSync(response.path);
  expect(bytes.byteLength).toBe(response.sizeBytes);
  return { bytes, metadata: await sharp(bytes).metadata() };
}

async function pixelAt(bytes: Buffer, x: number, y: number): Promise<number[]> {
  const { data, info } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const at = (y * info.width + x) * info.channels;
  return [...data.subarray(at, at + 3)];
}

describe("each format becomes a WebP of the right size", () => {
  const cases: [fixture: string, mediaType: string, width: number, height: number][] = [
    ["rotated-p3.jpg", "image/jpeg", 384, 512],
    ["plain.png", "image/png", 512, 384],
    ["plain.webp", "image/webp", 512, 384],
    ["plain.avif", "image/avif", 512, 384],
    ["plain.tiff", "image/tiff", 400, 300],
    ["animated.gif", "image/gif", 320, 200],
    ["small-transparent.png", "image/png", 100, 60],
    ["external-reference.svg", "image/svg+xml", 512, 256],
    ["phone.heic", "image/heic", 512, 384],
  ];
  if (hasFfmpeg) cases.push(["clip.mp4", "video/mp4", 512, 288]);

  test.each(cases)("%s", async (fixture, mediaType, width, height) => {
    await using bench = new Bench();
    const { metadata } = await render(bench, fixture, mediaType, "medium");
    expect({ format: metadata.format, width: metadata.width, height: metadata.height }).toEqual({
      format: "webp",
      width,
      height,
    });
    expect(metadata.pages ?? 1).toBe(1);
  });
});

test("the three variants have longest sides of 128, 512 and 1600, and are never enlarged", async () => {
  await using bench = new Bench();
  const wide = await sharp({ create: { width: 2400, height: 1200, channels: 3, background: "#336699" } })
    .jpeg()
    .toBuffer();
  const digest = await bench.addBytes(wide);
  const sizes: Record<string, [number, number]> = {};
  for (const variant of ["small", "medium", "large"] as const) {
    const response = await bench.service.get(digest, "image/jpeg", variant, 30_000);
    if (response.state !== "ready") throw new Error(JSON.stringify(response));
    const { width, height } = await sharp(readFileSync(response.path)).metadata();
    sizes[variant] = [width, height];
  }
  expect(sizes).toEqual({ small: [128, 64], medium: [512, 256], large: [1600, 800] });
});

test("a picture is rotated according to its EXIF data, converted to sRGB, and loses its metadata", async () => {
  await using bench = new Bench();
  const { bytes, metadata } = await render(bench, "rotated-p3.jpg", "image/jpeg", "medium");
  expect(metadata.exif).toBeUndefined();
  expect(metadata.icc).toBeUndefined();
  expect(metadata.xmp).toBeUndefined();
  expect(metadata.orientation).toBeUndefined();
  expect(bytes.includes("Secret Artist")).toBe(false);
  // The mark in the upper left of the stored picture is in the upper right when displayed.
  expect(await pixelAt(bytes, metadata.width - 20, 20)).toEqual(await readExpectedColor("rotated-p3.jpg"));
});

test("the embedded profile of a HEIC is applied, so that its colors equal those of the same picture as PNG", async () => {
  await using bench = new Bench();
  const heic = await render(bench, "phone.heic", "image/heic", "medium");
  const png = await render(bench, "plain.png", "image/png", "medium");
  const [red, green, blue] = await pixelAt(heic.bytes, 400, 200);
  const [redThere, greenThere, blueThere] = await pixelAt(png.bytes, 400, 200);
  expect(Math.abs((red ?? 0) - (redThere ?? 255))).toBeLessThan(16);
  expect(Math.abs((green ?? 0) - (greenThere ?? 255))).toBeLessThan(16);
  expect(Math.abs((blue ?? 0) - (blueThere ?? 255))).toBeLessThan(16);
});

test("the first frame of an animation is rendered", async () => {
  await using bench = new Bench();
  const { bytes } = await render(bench, "animated.gif", "image/gif", "small");
  const [red = 0, , blue = 255] = await pixelAt(bytes, 10, 10);
  expect(red).toBeGreaterThan(200);
  expect(blue).toBeLessThan(50);
});

test("transparency is kept", async () => {
  await using bench = new Bench();
  const { metadata } = await render(bench, "small-transparent.png", "image/png", "small");
  expect(metadata.hasAlpha).toBe(true);
});

test("references in an SVG are not loaded", async () => {
  let hits = 0;
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => {
      hits += 1;
      return new Response("body { }");
    },
  });
  await using bench = new Bench();
  const text = readFileSync(join(FIXTURES, "external-reference.svg"), "utf8");
  const digest = await bench.addBytes(text.replaceAll("REFERENCE", `http://127.0.0.1:${server.port}`));
  const response = await bench.service.get(digest, "image/svg+xml", "medium", 30_000);
  expect(response.state).toBe("ready");
  expect(hits).toBe(0);
});

test("an SVG with a huge declared size is rendered small", async () => {
  await using bench = new Bench();
  const digest = await bench.addBytes(
    '<svg xmlns="http://www.w3.org/2000/svg" width="90000" height="45000"><rect width="90000" height="45000"/></svg>',
  );
  const response = await bench.service.get(digest, "image/svg+xml", "medium", 30_000);
  if (response.state !== "ready") throw new Error(JSON.stringify(response));
  const { width, height } = await sharp(readFileSync(response.path)).metadata();
  expect([width, height]).toEqual([512, 256]);
});

/** The color of the mark according to libvips, after the profile is applied. */
async function readExpectedColor(fixture: string): Promise<number[]> {
  const bytes = await sharp(join(FIXTURES, fixture)).autoOrient().resize(384, 512).webp({ effort: 2 }).toBuffer();
  return pixelAt(bytes, 384 - 20, 20);
}

describe("documents", () => {
  async function medium(bench: Bench, bytes: Uint8Array, mediaType: string) {
    const response = await bench.service.get(await bench.addBytes(bytes), mediaType, "medium", 30_000);
    return response.state === "ready" ? readFileSync(response.path) : response;
  }
  const picture = () =>
    sharp({ create: { width: 300, height: 400, channels: 3, background: "#ff0000" } })
      .png()
      .toBuffer();

  test("a PDF shows its first page, drawn on white", async () => {
    await using bench = new Bench();
    const bytes = await medium(bench, pdf(["First page"]), "application/pdf");
    if (!(bytes instanceof Buffer)) throw new Error(JSON.stringify(bytes));
    expect(await sharp(bytes).metadata()).toMatchObject({ format: "webp", width: 362, height: 512 });
    expect(await pixelAt(bytes, 5, 5)).toEqual([255, 255, 255]);
    const { channels } = await sharp(bytes).stats();
    expect(channels[0]?.min).toBeLessThan(100);
  });

  test.each([
    ["application/vnd.oasis.opendocument.text", "Thumbnails/thumbnail.png"],
    ["application/vnd.openxmlformats-officedocument.presentationml.presentation", "docProps/thumbnail.jpeg"],
  ])("%s shows the picture that it contains", async (mediaType, name) => {
    await using bench = new Bench();
    const bytes = await medium(bench, makeZip({ [name]: await picture() }), mediaType);
    if (!(bytes instanceof Buffer)) throw new Error(JSON.stringify(bytes));
    expect((await pixelAt(bytes, 100, 100))[0]).toBeGreaterThan(240);
  });

  test("a book shows its cover", async () => {
    await using bench = new Bench();
    const book = makeZip({
      "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OPS/b.opf"/></rootfiles></container>',
      "OPS/b.opf": '<package><manifest><item id="c" properties="cover-image" href="c.png"/></manifest></package>',
      "OPS/c.png": await picture(),
    });
    expect(await medium(bench, book, "application/epub+zip")).toBeInstanceOf(Buffer);
  });

  const ODT = "application/vnd.oasis.opendocument.text";
  const odt = (text: string) => makeZip({ "content.xml": `<x><text:p>${text}</text:p></x>` });

  test("an office document without a picture shows its first lines", async () => {
    await using bench = new Bench();
    const bytes = await medium(bench, odt("A letter (to Zoë) \\ 5 €. ".repeat(200)), ODT);
    if (!(bytes instanceof Buffer)) throw new Error(JSON.stringify(bytes));
    expect(await sharp(bytes).metadata()).toMatchObject({ format: "webp", width: 362, height: 512 });
    const { channels } = await sharp(bytes).stats();
    expect(channels[0]?.mean).toBeWithin(150, 250);
  });

  test("one with an embedded picture of another type shows its first lines", async () => {
    await using bench = new Bench();
    const svg = "<svg xmlns='http://www.w3.org/2000/svg'/>";
    const bytes = makeZip({ "Thumbnails/thumbnail.png": svg, "content.xml": "<x><text:p>text</text:p></x>" });
    expect(await medium(bench, bytes, ODT)).toBeInstanceOf(Buffer);
  });

  test.each([
    ["without text", odt(" "), "it has neither a preview picture nor text"],
    [
      "in letters of no font",
      odt("世界".repeat(50)),
      "it has no preview picture, and letters that no built-in font has",
    ],
  ])("an office document %s has none, for good", async (_, bytes, reason) => {
    await using bench = new Bench();
    expect(await medium(bench, bytes, ODT)).toEqual({ state: "none", reason });
    expect(bench.recorded).toMatchObject([{ reason }]);
  });
});
