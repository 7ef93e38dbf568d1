import { beforeAll, describe, expect, test } from "bun:test";
import { readdir, readFile, truncate, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Account, checksumOf, digestOf, randomContent } from "../support/client.ts";
import { eventually, expectError, expectStatus, timestampPattern } from "../support/expect.ts";
import { runJob } from "../support/jobs.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice } from "../support/mobile.ts";
import { sharedServer } from "../support/server.ts";
import { completeUpload, planUpload, sendChunks, tryInit } from "../support/uploads.ts";

const server = sharedServer({ hasAccounts: true, env: { LARDER_SCRUB_WITHIN: "0s" } });

let admin: Account;

beforeAll(async () => {
  admin = await server().addUser(["--admin"]);
});

/** The path of a blob. */
function blobPath(content: Uint8Array): string {
  const digest = digestOf(content);
  return join(server().dataDir, "blobs/sha256", digest.slice(0, 2), digest.slice(2, 4), digest);
}

/** Flips one bit of a blob on disk, by replacing its file. */
async function flipBit(content: Uint8Array): Promise<Uint8Array> {
  const rotten = Uint8Array.from(content);
  rotten[rotten.length >> 1] = (rotten[rotten.length >> 1] ?? 0) ^ 1;
  const path = blobPath(content);
  await unlink(path);
  await writeFile(path, rotten);
  return rotten;
}

const scrub = () => runJob(admin.client, "scrub");

/** The finding about a blob, open or resolved. */
async function getFinding(content: Uint8Array): Promise<Record<string, unknown> | undefined> {
  const response = await admin.client.get("/api/admin/findings?state=all&limit=100");
  expectStatus(response, 200);
  const all = response.list("data.findings") as Record<string, unknown>[];
  return all.find(({ checksum }) => checksum === checksumOf(content));
}

describe("the scrub", () => {
  const faults = [
    ["a corrupted", flipBit, "damaged", "content_damaged"],
    ["a truncated", (content: Uint8Array) => truncate(blobPath(content), 10), "damaged", "content_damaged"],
    ["a missing", (content: Uint8Array) => unlink(blobPath(content)), "missing", "content_missing"],
  ] as const;

  test.each(faults)(
    "finds %s blob, which is reported, not served, and healed by the same bytes",
    async (_what, hurt, kind, reason) => {
      const { client } = await server().signUp();
      const content = randomContent(200_000);
      const id = await client.storedId(content, { name: "wedding.jpg" });
      const healthy = await client.storedId(randomContent(1_000), { name: "other" });
      await hurt(content);
      await scrub();

      expect(await getFinding(content)).toEqual({
        id: expect.stringMatching(/^fnd_/),
        kind,
        checksum: checksumOf(content),
        size: content.length,
        detail: expect.any(String),
        files: 1,
        foundAt: expect.stringMatching(timestampPattern),
        seenAt: expect.stringMatching(timestampPattern),
        resolvedAt: null,
        resolution: null,
      });
      const rejected = await client.get(`/api/files/${id}/download`);
      expectError(rejected, 500, reason);
      expect(rejected.at("error.details.checksum")).toBe(checksumOf(content));
      expectError(await client.get(`/api/files/${id}/download`, { range: "bytes=0-9" }), 500, reason);
      expectStatus(await client.get(`/api/files/${healthy}/download`), 200);
      // The file itself does not change.
      expect((await client.get(`/api/files/${id}`)).at("data")).toMatchObject({
        name: "wedding.jpg",
        size: content.length,
      });

      const copy = await client.storedId(content, { name: "again.jpg" });
      for (const one of [id, copy]) {
        expect(checksumOf((await client.get(`/api/files/${one}/download`)).bytes)).toBe(checksumOf(content));
      }
      expect(await getFinding(content)).toMatchObject({
        resolution: "healed",
        resolvedAt: expect.stringMatching(timestampPattern),
      });
      await scrub();
      expect((await admin.client.get("/api/admin/findings")).at("data.pagination.total")).toBe(0);
    },
  );

  test("moves damaged bytes to quarantine when good ones replace them, and not before", async () => {
    const { client } = await server().signUp();
    const content = randomContent(50_000);
    await client.stored(content, { name: "a" });
    const rotten = await flipBit(content);
    await scrub();
    expect(await readFile(blobPath(content))).toEqual(Buffer.from(rotten));
    await client.stored(content, { name: "b" });
    const quarantined = join(server().dataDir, "blobs/quarantine", `damaged-${digestOf(content)}`);
    expect(await readFile(quarantined)).toEqual(Buffer.from(rotten));
    expect(await readFile(blobPath(content))).toEqual(Buffer.from(content));
  });

  test("resolves a finding after a manual repair at the next scrub", async () => {
    const { client } = await server().signUp();
    const content = randomContent(50_000);
    const id = await client.storedId(content, { name: "a" });
    await unlink(blobPath(content));
    await scrub();
    expectError(await client.get(`/api/files/${id}/download`), 500, "content_missing");
    await writeFile(blobPath(content), content);
    await scrub();
    expectStatus(await client.get(`/api/files/${id}/download`), 200);
    expect(await getFinding(content)).toMatchObject({ resolution: "healed" });
  });

  test("resolves the finding of a deleted blob once it is collected", async () => {
    const { client } = await server().signUp();
    const content = randomContent(50_000);
    const id = await client.storedId(content, { name: "a" });
    await flipBit(content);
    await scrub();
    expectStatus(await client.delete(`/api/files/${id}`), 200);
    expect(await getFinding(content)).toMatchObject({ files: 0, resolution: null });
    expect((await server().larder(["gc", "--now"])).code).toBe(0);
    expect(await getFinding(content)).toMatchObject({ resolution: "removed" });
  });
});

describe("a failed download", () => {
  test("finds a missing blob without a scrub", async () => {
    const { client } = await server().signUp();
    const content = randomContent(50_000);
    const id = await client.storedId(content, { name: "a" });
    await unlink(blobPath(content));
    expectError(await client.get(`/api/files/${id}/download`), 500, "content_missing");
    await eventually("the finding", async () => (await getFinding(content)) !== undefined);
    await client.stored(content, { name: "b" });
    expect(await getFinding(content)).toMatchObject({ kind: "missing", resolution: "healed" });
  });
});

describe("every upload heals, and none relies on a damaged blob", () => {
  const ways = [
    [
      "PUT of content",
      async (account: Account, content: Uint8Array) => {
        const id = await account.client.storedId("first", { name: "put" });
        expectStatus(await account.client.putContent(id, content), 200);
      },
    ],
    [
      "a chunked upload",
      async (account: Account, content: Uint8Array) => {
        const device = await registerDevice(server(), account);
        const plan = await planUpload(device.client, content, { checksum: checksumOf(content) }, { chunkSize: 65_536 });
        await sendChunks(device.client, plan, content);
        expectStatus(await completeUpload(device.client, plan.uploadId), 200);
      },
    ],
  ] as const;

  test.each(ways)("%s", async (_way, send) => {
    const account = await server().signUp();
    const content = randomContent(150_000);
    const id = await account.client.storedId(content, { name: "a" });
    await flipBit(content);
    await scrub();
    expectError(await account.client.get(`/api/files/${id}/download`), 500, "content_damaged");
    await send(account, content);
    expect(checksumOf((await account.client.get(`/api/files/${id}/download`)).bytes)).toBe(checksumOf(content));
    expect(await getFinding(content)).toMatchObject({ resolution: "healed" });
  });

  test("another account's upload of the same bytes heals", async () => {
    const [one, other] = [await server().signUp(), await server().signUp()];
    const content = randomContent(150_000);
    const id = await one.client.storedId(content, { name: "a" });
    await flipBit(content);
    await scrub();
    await other.client.stored(content, { name: "b" });
    expect(checksumOf((await one.client.get(`/api/files/${id}/download`)).bytes)).toBe(checksumOf(content));
  });
});

describe("a damaged blob", () => {
  test("is sent by no link, in no archive and as no earlier version", async () => {
    const { client } = await server().signUp();
    const content = randomContent(120_000);
    const folder = await client.folderId("album");
    const id = await client.storedId(content, { name: "a.bin" });
    expectStatus(await client.putContent(id, "second"), 200);
    const shared = await client.storedId(content, { name: "b.bin", fields: { folder: "/album" } });
    const token = (await client.post(`/api/files/${shared}/shares`, {})).string("data.token");
    await flipBit(content);
    await scrub();
    expectError(await client.get(`/api/files/${id}/versions/1/download`), 500, "content_damaged");
    expectStatus(await client.get(`/api/files/${id}/download`), 200);
    expect((await server().visitor.get(`/s/${token}/download`)).status).toBe(500);
    // A response that has started can no longer report an error: it breaks off.
    const whole = await client.get(`/api/files/folders/${folder}/archive`).then(
      (response) => response.status === 200,
      () => false,
    );
    expect(whole).toBe(false);
  });

  test("is not reported as stored to a phone, which may upload it again", async () => {
    const account = await server().signUp();
    const device = await registerDevice(server(), account);
    const content = randomContent(50_000);
    const id = await account.client.storedId(content, { name: "a.bin" });
    const init = { size: content.length, checksum: checksumOf(content) };
    expect((await tryInit(device.client, init)).at("data.files.0.alreadyStored")).toBe(true);
    await flipBit(content);
    await scrub();
    const state = (await device.client.get(`/api/mobile/files/${id}/durability`)).at("data");
    expect(state).toMatchObject({ damaged: true, verified: false });
    expect((await tryInit(device.client, init)).at("data.files.0.alreadyStored")).not.toBe(true);
  });
});

describe("notifications about damage", () => {
  test("name the file to the owner and the number of files to administrators; the log has no name", async () => {
    const account = await server().signUp();
    const [phone, adminPhone] = [await registerDevice(server(), account), await registerDevice(server(), admin)];
    const content = randomContent(40_000);
    await account.client.stored(content, { name: "private-letter.txt" });
    await flipBit(content);
    // Further damage within the hour is reported at the end of the next scrub.
    await scrub();
    const inboxOf = async (device: typeof phone) =>
      (await device.client.get("/api/mobile/notifications")).list("data.notifications") as Record<string, unknown>[];
    const [notice] = await inboxOf(phone);
    expect(notice).toMatchObject({ category: "storage", title: "A file is damaged on the server" });
    expect(String(notice?.["body"])).toContain("private-letter.txt");
    const [adminNotice] = await inboxOf(adminPhone);
    expect(adminNotice).toMatchObject({ category: "security", title: "Stored files are damaged" });
    expect(JSON.stringify(adminNotice)).not.toContain("private-letter");
    expect((await admin.client.get("/api/admin/findings")).text).not.toContain("private-letter");
    expect(server().log).not.toContain("private-letter");
    expect(server().log).toContain(checksumOf(content));
  });
});

describe("figures", () => {
  test("stats have the open findings, and within how many days every byte was read", async () => {
    await scrub();
    const response = await admin.client.get("/api/admin/stats");
    expect(response.at("data.integrity")).toEqual({
      openFindings: { damaged: expect.any(Number), missing: 0, unreadable: 0, database: 0 },
      oldestReadingAt: expect.stringMatching(timestampPattern),
      readWithinDays: 0,
      scrubWithinDays: 0,
    });
  });

  test("a store whose disk is missing does not count as lost blobs", async () => {
    const { client } = await server().signUp();
    const content = randomContent(10_000);
    const id = await client.storedId(content, { name: "a" });
    const before = (await admin.client.get("/api/admin/findings?state=all")).at("data.pagination.total");
    const blobs = join(server().dataDir, "blobs");
    const { rename } = await import("node:fs/promises");
    await rename(blobs, `${blobs}-away`);
    await expect(scrub()).rejects.toThrow("scrub");
    await rename(`${blobs}-away`, blobs);
    expect((await admin.client.get("/api/admin/findings?state=all")).at("data.pagination.total")).toBe(before);
    expectStatus(await client.get(`/api/files/${id}/download`), 200);
    expect((await readdir(join(blobs, "incoming"))).length).toBe(0);
  });

  test("invalid queries are rejected", async () => {
    expectError(await admin.client.get("/api/admin/findings?state=none"), 400, "invalid_field", "state");
    expectError(await admin.client.get("/api/admin/findings?page=0"), 400, "invalid_field", "page");
    expectError(await (await server().signUp()).client.get("/api/admin/findings"), 403);
  });
});

testAllResponses(server, { mayFail: [500] });
