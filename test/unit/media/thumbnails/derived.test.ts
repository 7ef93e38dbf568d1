import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DerivedStore } from "../../../../src/blobs/derived.ts";
import { toDigest } from "../../../../src/blobs/digest.ts";

const DIGEST = toDigest("ab12".padEnd(64, "0"));
let directory: string;
let store: DerivedStore;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "larder-derived-"));
  store = new DerivedStore(join(directory, "thumbs"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** The header of a WebP, with a body of `bodyBytes`. */
function webp(bodyBytes: number): Buffer {
  const bytes = Buffer.alloc(12 + bodyBytes);
  bytes.write("RIFF", 0, "latin1");
  bytes.writeUInt32LE(bytes.byteLength - 8, 4);
  bytes.write("WEBP", 8, "latin1");
  return bytes;
}

test("a stored variant is found, in folders by the first two bytes of the digest", async () => {
  await store.put(DIGEST, "medium", webp(100));
  expect(store.find(DIGEST, "medium")).toEqual({
    path: join(directory, "thumbs/ab/12", `${DIGEST}.medium.webp`),
    sizeBytes: 112,
  });
  expect(store.find(DIGEST, "small")).toBeUndefined();
  expect(readdirSync(join(directory, "thumbs/.tmp"))).toEqual([]);
});

test("empty, truncated and foreign files count as absent, and are replaced", async () => {
  await store.put(DIGEST, "medium", webp(100));
  const path = store.path(DIGEST, "medium");
  for (const bytes of [Buffer.alloc(0), webp(100).subarray(0, 50), Buffer.alloc(112), Buffer.from("<html></html>")]) {
    writeFileSync(path, bytes);
    expect(store.find(DIGEST, "medium")).toBeUndefined();
  }
  await store.put(DIGEST, "medium", webp(100));
  expect(store.find(DIGEST, "medium")?.sizeBytes).toBe(112);
});

test("removing deletes the given variants, and ignores missing ones", async () => {
  await store.put(DIGEST, "medium", webp(1));
  await store.put(DIGEST, "small", webp(1));
  store.remove(DIGEST, ["medium", "large"]);
  expect(store.find(DIGEST, "medium")).toBeUndefined();
  expect(store.find(DIGEST, "small")).toBeDefined();
});

test("twenty concurrent writers of a variant leave one complete file and nothing else", async () => {
  await Promise.all(Array.from({ length: 20 }, () => store.put(DIGEST, "medium", webp(5000))));
  expect(store.find(DIGEST, "medium")?.sizeBytes).toBe(5012);
  expect(readdirSync(join(directory, "thumbs/.tmp"))).toEqual([]);
});

test("the sweep at startup deletes half-written files of a killed process", async () => {
  await store.put(DIGEST, "medium", webp(1));
  writeFileSync(join(directory, "thumbs/.tmp/left"), "half");
  await store.sweep();
  expect(existsSync(join(directory, "thumbs/.tmp"))).toBe(false);
  expect(store.find(DIGEST, "medium")).toBeDefined();
});
