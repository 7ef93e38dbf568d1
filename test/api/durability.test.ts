import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { takeSnapshot } from "../../src/db/snapshot.ts";
import { checksumOf, digestOf, randomContent } from "../support/client.ts";
import { expectError, expectStatus, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice } from "../support/mobile.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

async function registerPhone() {
  const account = await server().signUp();
  const { client: device } = await registerDevice(server(), account);
  return { web: account.client, device };
}

/** The path of a blob. */
function blobPath(content: string | Uint8Array): string {
  const digest = digestOf(content);
  return join(server().dataDir, "blobs", "sha256", digest.slice(0, 2), digest.slice(2, 4), digest);
}

/** Creates a database snapshot as the server does. */
function addSnapshot(): void {
  const db = new Database(join(server().dataDir, "larder.db"));
  try {
    takeSnapshot(db, join(server().dataDir, "snapshots"), "test");
  } finally {
    db.close();
  }
}

describe("GET /api/mobile/files/{id}/durability", () => {
  test("reports that the content is stored, and when it was last verified", async () => {
    const { device } = await registerPhone();
    const content = randomContent(1000);
    const id = await device.storedId(content);
    const path = `/api/mobile/files/${id}/durability`;
    const first = await device.get(path);
    expectStatus(first, 200);
    expect(first.at("data")).toEqual({
      fileId: id,
      checksum: checksumOf(content),
      stored: true,
      storedAt: expect.stringMatching(timestampPattern),
      verifiedAt: null,
      verified: false,
      damaged: false,
      snapshotAt: null,
    });
    const beforeMs = Date.now();
    const read = await device.get(`${path}?verify=true`);
    expect(read.at("data")).toMatchObject({ stored: true, verified: true, damaged: false });
    const verifiedAt = read.string("data.verifiedAt");
    expect(Date.parse(verifiedAt)).toBeGreaterThanOrEqual(beforeMs);
    expect((await device.get(path)).at("data")).toMatchObject({ verifiedAt, verified: true });
  });

  test("includes verifications by GET /api/files/{id}/checksum", async () => {
    const { web, device } = await registerPhone();
    const id = await device.storedId(randomContent(1000));
    expectStatus(await web.get(`/api/files/${id}/checksum`), 200);
    const response = await device.get(`/api/mobile/files/${id}/durability`);
    expect(response.at("data.verified")).toBe(true);
    expect(response.string("data.verifiedAt")).toMatch(timestampPattern);
  });

  test("finds damaged and missing content, and content that was stored again", async () => {
    const { device } = await registerPhone();
    const [content, lost] = [randomContent(1000), randomContent(2000)];
    const [id, lostId] = [await device.storedId(content), await device.storedId(lost)];
    const verifyFile = async (fileId: string) =>
      (await device.get(`/api/mobile/files/${fileId}/durability?verify=1`)).at("data");
    expect(await verifyFile(id)).toMatchObject({ verified: true });
    await writeFile(blobPath(content), randomContent(1000));
    expect(await verifyFile(id)).toMatchObject({ stored: true, verified: false, damaged: true });
    expect((await device.get(`/api/mobile/files/${id}/durability`)).at("data")).toMatchObject({
      verified: false,
      damaged: true,
    });
    await rm(blobPath(lost));
    expect(await verifyFile(lostId)).toMatchObject({
      stored: false,
      verified: false,
      damaged: true,
      reason: "content_missing",
    });
    await device.stored(content, { name: "again" });
    expect(await verifyFile(id)).toMatchObject({ stored: true, verified: true, damaged: false });
  });

  test("reports whether the content matches a checksum", async () => {
    const { device } = await registerPhone();
    const id = await device.storedId("held");
    const path = `/api/mobile/files/${id}/durability?checksum=`;
    expect((await device.get(path + checksumOf("held"))).at("data.matches")).toBe(true);
    expect((await device.get(path + checksumOf("other"))).at("data.matches")).toBe(false);
    expectError(await device.get(`${path}abc`), 400, "invalid_field", "checksum");
    expectError(await device.get(`/api/mobile/files/${id}/durability?verify=maybe`), 400, "invalid_field", "verify");
  });

  test("reports the newest database snapshot that has this content", async () => {
    const { web, device } = await registerPhone();
    const id = await device.storedId("first");
    const path = `/api/mobile/files/${id}/durability`;
    addSnapshot();
    const at = (await device.get(path)).string("data.snapshotAt");
    expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(60_000);
    const late = await device.storedId("late");
    await web.putContent(id, "second");
    await writeFile(join(server().dataDir, "snapshots", "larder-2099-01-01T00-00-00-000Z-broken.db"), "no database");
    expect((await device.get(path)).at("data.snapshotAt")).toBeNull();
    expect((await device.get(`/api/mobile/files/${late}/durability`)).at("data.snapshotAt")).toBeNull();
    addSnapshot();
    const response = await device.post("/api/mobile/files/durability", { fileIds: [id, late] });
    for (const time of response.strings("data.files", "snapshotAt")) expect(time > at).toBe(true);
  });

  test("is 404 for another user's file, an unknown one and a folder; only for devices", async () => {
    const [mine, theirs] = [await registerPhone(), await registerPhone()];
    const id = await theirs.device.storedId("theirs");
    const folder = await mine.web.folderId("folder");
    for (const fileId of [id, "file_none", folder])
      expectError(await mine.device.get(`/api/mobile/files/${fileId}/durability`), 404, "not_found");
    expectError(await theirs.web.get(`/api/mobile/files/${id}/durability`), 401);
    expectError(await theirs.web.post("/api/mobile/files/durability", { fileIds: [id] }), 401);
  });
});

describe("POST /api/mobile/files/durability", () => {
  test("reports on each file separately, in order", async () => {
    const { device } = await registerPhone();
    const ids = await Promise.all(["a", "b"].map((content) => device.storedId(content, { name: content })));
    const response = await device.post("/api/mobile/files/durability", {
      fileIds: [ids[1], "file_none"],
      files: [{ fileId: ids[0], checksum: checksumOf("a") }],
      verify: true,
    });
    expectStatus(response, 200);
    expect(response.list("data.files")).toMatchObject([
      { fileId: ids[1], stored: true, verified: true },
      { fileId: "file_none", stored: false, error: { details: { reason: "not_found" } } },
      { fileId: ids[0], stored: true, verified: true, matches: true },
    ]);
    expect(response.at("data.files.0.matches")).toBeUndefined();
  });

  test("accepts 500 files; rejects more, none, and malformed requests", async () => {
    const { device } = await registerPhone();
    const post = (body: object) => device.post("/api/mobile/files/durability", body);
    const many = (count: number) => Array.from({ length: count }, () => "file_none");
    expect((await post({ fileIds: many(500) })).list("data.files")).toHaveLength(500);
    expect((await post({ fileIds: [] })).list("data.files")).toEqual([]);
    expectError(await post({ fileIds: many(501) }), 400, "invalid_field", "fileIds");
    expectError(await post({ fileIds: many(300), files: many(201).map((fileId) => ({ fileId })) }), 400);
    expectError(await post({}), 400, "invalid_field", "fileIds");
    expectError(await post({ fileIds: [1] }), 400, "invalid_field", "fileIds.0");
    expectError(await post({ files: [{ fileId: "a", checksum: "sha1:1" }] }), 400, "invalid_field");
    expectError(await post({ fileIds: ["a"], verify: "yes" }), 400, "invalid_field", "verify");
  });
});

testAllResponses(server);
