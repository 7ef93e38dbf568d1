import { afterAll, describe, expect, test } from "bun:test";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { type ApiResponse, type Client, digestOf } from "../support/client.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { describeImage, jpegPhoto, pixelAt, pngBomb, tinyPng } from "../support/images.ts";
import { pdf } from "../support/sample-library.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

/** Requests a thumbnail, and repeats while it is pending, as a client does. */
async function getThumbnail(
  client: Client,
  id: string,
  value = "true",
  headers: Record<string, string> = {},
): Promise<ApiResponse> {
  for (let attempt = 0; ; attempt++) {
    const response = await client.get(`/api/files/${id}/download?thumbnail=${value}`, headers);
    if (response.status !== 503 || attempt === 5) return response;
    expectError(response, 503, "thumbnail_pending");
  }
}

describe("a thumbnail", () => {
  test.each([
    ["small", 128, 64],
    ["medium", 512, 256],
    ["true", 512, 256],
    ["1", 512, 256],
    ["large", 1600, 800],
  ])("%s has %d pixels on its longest side", async (value, width, height) => {
    const { client } = await server().signUp();
    const id = await client.storedId(await jpegPhoto(2000, 1000), { name: "p.jpg" });
    const response = await getThumbnail(client, id, value);
    expectStatus(response, 200);
    expect(response.header("content-type")).toBe("image/webp");
    expect(await describeImage(response.bytes)).toEqual({ format: "webp", width, height, hasExif: false });
  });

  test("is medium for an empty value, and false returns the file itself", async () => {
    const { client } = await server().signUp();
    const photo = await jpegPhoto(1000, 500);
    const id = await client.storedId(photo, { name: "p.jpg" });
    expect((await describeImage((await getThumbnail(client, id, "")).bytes)).width).toBe(512);
    expect(digestOf((await getThumbnail(client, id, "false")).bytes)).toBe(digestOf(photo));
  });

  test("is rotated upright, and contains no camera data", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId(await jpegPhoto(800, 400, 6), { name: "p.jpg" });
    const { bytes } = await getThumbnail(client, id);
    expect(await describeImage(bytes)).toEqual({ format: "webp", width: 256, height: 512, hasExif: false });
    const [top, bottom] = [await pixelAt(bytes, 0.5, 0.1), await pixelAt(bytes, 0.5, 0.9)];
    expect(top[0]).toBeGreaterThan(200);
    expect(bottom[2]).toBeGreaterThan(200);
    expect(Buffer.from(bytes).includes("LarderCam")).toBe(false);
  });

  test.each(["png", "jpeg", "webp", "gif", "avif", "tiff"] as const)("is made of %s", async (format) => {
    const { client } = await server().signUp();
    const picture = await sharp(Buffer.from(tinyPng(300, 200)))
      .toFormat(format)
      .toBuffer();
    const stored = await client.stored(picture, { name: `p.${format}` });
    expect(stored.at("data.mimeType")).toBe(`image/${format}`);
    const response = await getThumbnail(client, stored.string("data.id"), "small");
    expect(response.header("content-type")).toBe("image/webp");
    expect(await describeImage(response.bytes)).toMatchObject({ width: 128, height: 85 });
  });

  test("is made of the first page of a PDF", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId(pdf(["A letter"]), { name: "letter.pdf" });
    expect((await client.get(`/api/files/${id}`)).at("data.hasThumbnail")).toBe(true);
    const response = await getThumbnail(client, id, "large");
    expect(await describeImage(response.bytes)).toEqual({ format: "webp", width: 1131, height: 1600, hasExif: false });
  });

  test("is 404 with fallback=none if it cannot be made, and the file is not sent", async () => {
    const { client } = await server().signUp();
    const text = await client.storedId("words", { name: "t.txt" });
    const photo = await client.storedId(await jpegPhoto(300, 300), { name: "p.jpg" });
    expectError(await client.get(`/api/files/${text}/download?thumbnail=small&fallback=none`), 404, "not_found");
    expect((await client.get(`/api/files/${text}`)).at("data.downloadCount")).toBe(0);
    expect((await getThumbnail(client, photo, "small&fallback=none")).header("content-type")).toBe("image/webp");
  });

  test("of a text is its first 2,048 bytes as they are, and neither a download nor counted as one", async () => {
    const { client } = await server().signUp();
    const long = `<h1>${"é".repeat(1500)}`;
    for (const [content, expected] of [
      [long, Buffer.from(long).subarray(0, 2048)],
      ["short", Buffer.from("short")],
      ["", Buffer.alloc(0)],
    ] as const) {
      const id = await client.storedId(content, { name: "page.html" });
      const response = await client.get(`/api/files/${id}/download?thumbnail=text`);
      expectStatus(response, 200);
      expect(Buffer.from(response.bytes).equals(expected)).toBe(true);
      expect(response.header("content-type")).toBe("text/plain; charset=utf-8");
      expect(response.header("content-security-policy")).toContain("sandbox");
      expect(response.header("x-ratelimit-resource")).toBe("general");
      const again = { "if-none-match": response.header("etag") };
      expectStatus(await client.get(`/api/files/${id}/download?thumbnail=text`, again), 304);
      const further = await client.get(`/api/files/${id}/download?thumbnail=text`, { range: "bytes=2048-" });
      expect(further.status).toBe(416);
      expect((await client.get(`/api/files/${id}`)).at("data.downloadCount")).toBe(0);
    }
  });

  test("of a text is only for who may read the file, and not for guests of a link", async () => {
    const { client } = await server().signUp();
    const other = await server().signUp();
    const id = await client.storedId("secret", { name: "t.txt", fields: { isPublic: "true" } });
    expectError(await other.client.get(`/api/files/${id}/download?thumbnail=text`), 404, "not_found");
    const page = new URL((await client.get(`/api/files/${id}`)).string("data.shareLink")).pathname;
    expectError(await server().visitor.get(`${page.replace("/s/", "/api/public/")}/download?thumbnail=text`), 400);
  });

  test("has its own ETag, and supports conditions", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId(await jpegPhoto(300, 300), { name: "p.jpg" });
    const content = (await client.head(`/api/files/${id}/download`)).header("etag");
    const [small, medium] = [await getThumbnail(client, id, "small"), await getThumbnail(client, id, "medium")];
    expect(new Set([content, small.header("etag"), medium.header("etag")]).size).toBe(3);
    const again = await getThumbnail(client, id, "small", { "if-none-match": small.header("etag") });
    expectStatus(again, 304);
    expectStatus(await getThumbnail(client, id, "small", { "if-none-match": content }), 200);
    expect(small.header("x-content-type-options")).toBe("nosniff");
  });

  test("does not count as a download", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId(await jpegPhoto(300, 300), { name: "p.jpg" });
    await getThumbnail(client, id);
    expect((await client.get(`/api/files/${id}`)).at("data.downloadCount")).toBe(0);
  });

  test("is shared by all files with the same content, in any account", async () => {
    const [a, b] = [await server().signUp(), await server().signUp()];
    const photo = await jpegPhoto(640, 480);
    const first = await getThumbnail(a.client, await a.client.storedId(photo, { name: "a.jpg" }), "small");
    const second = await getThumbnail(b.client, await b.client.storedId(photo, { name: "b.jpg" }), "small");
    expect(second.header("etag")).toBe(first.header("etag"));
    expect(digestOf(second.bytes)).toBe(digestOf(first.bytes));
  });

  test("follows new content", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId(tinyPng(300, 300, [255, 0, 0]), { name: "p.png" });
    expect((await pixelAt((await getThumbnail(client, id)).bytes, 0.5, 0.5))[0]).toBeGreaterThan(200);
    await client.putContent(id, tinyPng(300, 300, [0, 0, 255]));
    const [red, , blue] = await pixelAt((await getThumbnail(client, id)).bytes, 0.5, 0.5);
    expect(red).toBeLessThan(50);
    expect(blue).toBeGreaterThan(200);
  });

  test("is made again if the thumbs folder is deleted while the server runs", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId(await jpegPhoto(1000, 600), { name: "p.jpg" });
    const before = await getThumbnail(client, id, "small");
    await rm(join(server().dataDir, "thumbs"), { recursive: true });
    const after = await getThumbnail(client, id, "small");
    expectStatus(after, 200);
    expect(digestOf(after.bytes)).toBe(digestOf(before.bytes));
    const other = await client.storedId(await jpegPhoto(700, 500), { name: "q.jpg" });
    expect((await getThumbnail(client, other)).header("content-type")).toBe("image/webp");
  });

  test("has its URL in thumbnailUrl, and hasThumbnail reports if it exists", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId(await jpegPhoto(300, 300), { name: "p.jpg" });
    await getThumbnail(client, id);
    const info = await client.get(`/api/files/${id}`);
    expect(info.at("data.hasThumbnail")).toBe(true);
    const url = new URL(info.string("data.thumbnailUrl"));
    expect((await client.get(url.pathname + url.search)).header("content-type")).toBe("image/webp");
    const text = await client.storedId("words", { name: "t.txt" });
    expect((await client.get(`/api/files/${text}`)).at("data.hasThumbnail")).toBe(false);
  });

  test.each(["huge", "SMALL", "256", "../../etc/passwd"])("rejects the size %p", async (value) => {
    const { client } = await server().signUp();
    const id = await client.storedId(tinyPng(), { name: "p.png" });
    const response = await client.get(`/api/files/${id}/download?thumbnail=${encodeURIComponent(value)}`);
    expectError(response, 400, "invalid_field", "thumbnail");
  });

  test("of another account's or an unknown file is 404", async () => {
    const [a, b] = [await server().signUp(), await server().signUp()];
    const id = await a.client.storedId(tinyPng(), { name: "p.png" });
    expectError(await getThumbnail(b.client, id), 404);
    expectError(await getThumbnail(a.client, "file_00000000000000000000"), 404);
  });
});

describe("if no thumbnail can be made", () => {
  test.each<[string, string | Uint8Array, string]>([
    ["text", "words", "t.txt"],
    ["an empty file", "", "empty.jpg"],
    ["a PDF that is cut off at its start", "%PDF-1.7 and no more", "cut.pdf"],
    ["a cut PNG", tinyPng(500, 500).subarray(0, 60), "cut.png"],
    [
      "a JPEG with a valid start only",
      Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(5000, 7)]),
      "r.jpg",
    ],
    ["a PNG that claims 60,000 × 60,000 pixels", pngBomb(60_000, 60_000), "bomb.png"],
    ["a PNG that claims 2³¹−1 pixels in a row", pngBomb(2_147_483_647, 1), "row.png"],
    ["text named as an image", "no picture at all", "p.jpg"],
  ])("the file itself is sent: %s", async (_, content, name) => {
    const { client } = await server().signUp();
    const id = await client.storedId(content, { name });
    const response = await getThumbnail(client, id);
    expectStatus(response, 200);
    expect(digestOf(response.bytes)).toBe(digestOf(content));
    expect((await client.get(`/api/files/${id}`)).at("data.hasThumbnail")).toBe(false);
    expectStatus(await client.get("/api/auth/session"), 200);
  });

  test("hostile pictures don't block good ones", async () => {
    const { client } = await server().signUp();
    for (let index = 0; index < 5; index++) {
      const bomb = Buffer.concat([Buffer.from(pngBomb(50_000 + index, 50_000)), Buffer.from([index])]);
      await client.stored(bomb, { name: `bomb${index}.png` });
    }
    const id = await client.storedId(await jpegPhoto(321, 123), { name: "good.jpg" });
    expect((await getThumbnail(client, id)).header("content-type")).toBe("image/webp");
  });
});

describe("SVG", () => {
  let requests = 0;
  const outside = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => {
      requests += 1;
      return new Response(Buffer.from(tinyPng(50, 50)), { headers: { "content-type": "image/png" } });
    },
  });
  afterAll(async () => outside.stop(true));

  test("gets a thumbnail", async () => {
    const { client } = await server().signUp();
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200"><rect width="400" height="200" fill="#f00"/></svg>';
    const id = await client.storedId(svg, { name: "p.svg", type: "image/svg+xml" });
    const response = await getThumbnail(client, id, "small");
    expect(response.header("content-type")).toBe("image/webp");
    expect(await describeImage(response.bytes)).toMatchObject({ width: 128, height: 64 });
  });

  test("loads no external URL or file", async () => {
    const { client } = await server().signUp();
    const address = `http://127.0.0.1:${outside.port}/x.png`;
    const svg = `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY e SYSTEM "${address}"><!ENTITY f SYSTEM "file:///etc/passwd">]>
      <svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="300" height="300">
      <style>@import url("${address}");</style><image xlink:href="${address}" width="300" height="300"/>
      <image href="file:///etc/hostname" width="9" height="9"/><use xlink:href="${address}#a"/><text y="20">&f;</text></svg>`;
    const id = await client.storedId(svg, { name: "p.svg", type: "image/svg+xml" });
    expectStatus(await getThumbnail(client, id), 200);
    expect(requests).toBe(0);
  });

  test("with deeply nested entities or elements takes bounded time", async () => {
    const { client } = await server().signUp();
    const entities = Array.from(
      { length: 12 },
      (_, index) => `<!ENTITY e${index + 1} "${`&e${index};`.repeat(10)}">`,
    ).join("");
    const laughs = `<!DOCTYPE svg [<!ENTITY e0 "ha">${entities}]><svg xmlns="http://www.w3.org/2000/svg"><text>&e12;</text></svg>`;
    const deep = `<svg xmlns="http://www.w3.org/2000/svg">${"<g>".repeat(20_000)}${"</g>".repeat(20_000)}</svg>`;
    for (const svg of [laughs, deep]) {
      const id = await client.storedId(svg, { name: "p.svg", type: "image/svg+xml" });
      expect([200, 503]).toContain((await getThumbnail(client, id)).status);
    }
    expectStatus(await client.get("/api/auth/session"), 200);
  }, 120_000);
});

const folder = join(import.meta.dir, "../fixtures/images");

describe("real pictures", () => {
  test.each([
    "plain.png",
    "plain.webp",
    "plain.avif",
    "plain.tiff",
    "animated.gif",
    "rotated-p3.jpg",
    "small-transparent.png",
  ])("%s gets a thumbnail", async (name) => {
    const picture = Bun.file(join(folder, name));
    if (!(await picture.exists())) {
      console.warn(`skipped: no ${name} in ${folder}`);
      return;
    }
    const { client } = await server().signUp();
    const response = await getThumbnail(client, await client.storedId(await picture.bytes(), { name }));
    expect({ name, type: response.header("content-type") }).toEqual({ name, type: "image/webp" });
  });

  test("from iPhones (HEIC) get a thumbnail without further software", async () => {
    const names = (await readdir(folder).catch(() => [])).filter((name) => /\.hei[cf]$/i.test(name));
    if (names.length === 0) console.warn(`skipped: no HEIC picture in ${folder}`);
    const { client } = await server().signUp();
    for (const name of names) {
      const id = await client.storedId(await Bun.file(join(folder, name)).bytes(), { name });
      const response = await getThumbnail(client, id);
      expect({ name, type: response.header("content-type") }).toEqual({ name, type: "image/webp" });
    }
  }, 120_000);
});

testAllResponses(server);
