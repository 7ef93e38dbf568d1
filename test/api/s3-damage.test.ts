// Objects in the bucket that are damaged, truncated or lost: they are recorded, repaired by an upload, and cause no
// outage.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { evict, blobPath, changeRows, withoutCache } from "../support/bucket.ts";
import { type Account, checksumOf, digestOf, randomContent } from "../support/client.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { runJob } from "../support/jobs.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { TestS3 } from "../support/s3-server.ts";
import { dispose, startServer, type TestServer } from "../support/server.ts";

let s3: TestS3;
let server: TestServer;
let admin: Account;

beforeAll(async () => {
  s3 = await TestS3.start();
  server = await startServer({ env: { ...s3.settings, ...withoutCache } });
  admin = await server.addUser(["--admin"]);
}, 120_000);
afterEach(() => {
  s3.behavior = "well";
  s3.cut.clear();
});
afterAll(async () => {
  await dispose(server);
  await s3.stop();
});

/** Stores files, and evicts the server's local copies of their blobs. */
async function storeInBucketOnly(...contents: Uint8Array[]): Promise<string[]> {
  const ids: string[] = [];
  for (const content of contents) ids.push(await admin.client.storedId(content));
  await evict({ server, admin });
  for (const content of contents) expect(existsSync(blobPath(server, content))).toBe(false);
  return ids;
}

/** Kinds of the open findings of a blob. */
async function findingsOf(content: Uint8Array, state = "open"): Promise<string[]> {
  const response = await admin.client.get(`/api/admin/findings?limit=100&state=${state}`);
  return response
    .list("data.findings")
    .flatMap((_, index) =>
      response.string(`data.findings.${index}.checksum`) === checksumOf(content)
        ? [response.string(`data.findings.${index}.kind`)]
        : [],
    );
}

async function untilFound(content: Uint8Array, kind: string): Promise<void> {
  await eventually(`a finding: ${kind}`, async () => (await findingsOf(content)).includes(kind));
}

const download = (id: string) => admin.client.get(`/api/files/${id}/download`);

describe("a damaged object", () => {
  test("is recorded on read, and replaced by an upload of the same file", async () => {
    const content = randomContent(50_000);
    const [id = ""] = await storeInBucketOnly(content);
    await s3.corrupt(digestOf(content));
    expectError(await download(id), 500, "content_damaged");
    await untilFound(content, "damaged");
    expectError(await download(id), 500, "content_damaged");
    const verified = await server.larder(["verify"]);
    expect(verified.code).toBe(1);
    expect(verified.stdout).toContain("its bucket object is damaged");

    await admin.client.stored(content, { name: "again.bin" });
    await eventually("the object is good again", () => s3.has(digestOf(content)));
    await eventually("the finding is resolved", async () => (await findingsOf(content)).length === 0);
    await evict({ server, admin });
    expect(existsSync(blobPath(server, content))).toBe(false);
    const whole = await download(id);
    expectStatus(whole, 200);
    expect(digestOf(whole.bytes)).toBe(digestOf(content));
  }, 120_000);

  test("is replaced by an upload before anyone reads it, even if its ETag is unchanged", async () => {
    const content = randomContent(50_000);
    const [id = ""] = await storeInBucketOnly(content);
    await s3.corruptSilently(digestOf(content));
    await admin.client.stored(content, { name: "again.bin" });
    await eventually("the object is good again", () => s3.has(digestOf(content)));
    await evict({ server, admin });
    expect(digestOf((await download(id)).bytes)).toBe(digestOf(content));
  }, 120_000);

  test("keeps the local copy when the cache is trimmed", async () => {
    const [small, large] = [randomContent(50_000), randomContent(9 * 1024 * 1024)];
    for (const content of [small, large]) {
      await admin.client.stored(content);
      // If the object changed before the server knew of it, it would be sent again.
      await runJob(admin.client, "blob-places");
      await s3.corrupt(digestOf(content));
    }
    await evict({ server, admin });
    for (const content of [small, large]) {
      expect(existsSync(blobPath(server, content))).toBe(true);
      expect(await s3.has(digestOf(content))).toBe(true);
      expect(await findingsOf(content, "resolved")).toEqual(["damaged"]);
    }
    await evict({ server, admin });
    for (const content of [small, large]) expect(existsSync(blobPath(server, content))).toBe(false);
  }, 120_000);

  test("is served again once it is repaired", async () => {
    const content = randomContent(50_000);
    const [id = ""] = await storeInBucketOnly(content);
    await s3.corrupt(digestOf(content));
    expectError(await download(id), 500, "content_damaged");
    await untilFound(content, "damaged");
    await s3.replace(digestOf(content), () => content);
    await server.restart();
    // The server re-reads an object that it knows as damaged, because a client requests it.
    await eventually("it is served", async () => (await download(id)).status === 200);
    expect(await findingsOf(content)).toEqual([]);
  }, 120_000);
});

describe("a truncated object", () => {
  test.each([
    ["ends before its length", (digest: string) => s3.replace(digest, (bytes) => bytes.slice(0, 1000)), 500],
    ["breaks off with the right length", async (digest: string) => void s3.cut.add(digest), 503],
  ])(
    "%s: it counts as damaged, and other files are served",
    async (_name, spoil, first) => {
      const [content, other] = [randomContent(50_000), randomContent(20_000)];
      const [id = "", otherId = ""] = await storeInBucketOnly(content, other);
      await spoil(digestOf(content));
      expectError(await download(id), first);
      expectStatus(await download(otherId), 200);
      await untilFound(content, "damaged");
      expectError(await download(id), 500, "content_damaged");
      expect((await admin.client.get("/metrics")).text).toContain("larder_bucket_up 1");
    },
    120_000,
  );
});

describe("the comparison of the bucket with the database", () => {
  test("finds missing and truncated objects, with one line in the log", async () => {
    const lost = Array.from({ length: 20 }, () => randomContent(5_000));
    const cut = randomContent(5_000);
    const ids = await storeInBucketOnly(...lost, cut);
    for (const content of lost) await s3.remove(digestOf(content));
    await s3.replace(digestOf(cut), (bytes) => bytes.slice(0, 100));
    const before = server.log.length;
    await runJob(admin.client, "bucket-stock");
    for (const content of lost) expect(await findingsOf(content)).toEqual(["missing"]);
    expect(await findingsOf(cut)).toEqual(["damaged"]);
    expect(server.log.slice(before).match(/damaged or missing/g)).toHaveLength(1);
    expectError(await download(ids[0] ?? ""), 500, "content_missing");
    expectError(await download(ids.at(-1) ?? ""), 500, "content_damaged");
  }, 120_000);

  test("uploads local copies again", async () => {
    const content = randomContent(5_000);
    await admin.client.stored(content);
    // The job runs now, so that it doesn't check this blob again on its own.
    await runJob(admin.client, "blob-places");
    await s3.remove(digestOf(content));
    await runJob(admin.client, "bucket-stock");
    expect(await s3.has(digestOf(content))).toBe(true);
    expect(await findingsOf(content)).toEqual([]);
    expect(await findingsOf(content, "resolved")).toEqual(["missing"]);
  }, 120_000);

  test("resolves a finding when the object is back", async () => {
    const content = randomContent(5_000);
    const [id = ""] = await storeInBucketOnly(content);
    await s3.remove(digestOf(content));
    await runJob(admin.client, "bucket-stock");
    expect(await findingsOf(content)).toEqual(["missing"]);
    await s3.put(digestOf(content), content);
    await runJob(admin.client, "bucket-stock");
    expect(await findingsOf(content)).toEqual([]);
    expectStatus(await download(id), 200);
  }, 120_000);

  test("resolves a finding when the object is back and has a row already", async () => {
    const content = randomContent(5_000);
    const [id = ""] = await storeInBucketOnly(content);
    await s3.remove(digestOf(content));
    await runJob(admin.client, "bucket-stock");
    await s3.put(digestOf(content), content);
    // A transfer that began before the loss was recorded inserts the row.
    changeRows(
      { server, admin },
      `INSERT INTO remote_blobs (digest, size_bytes, stored_at) VALUES (x'${digestOf(content)}', 5000, 1)`,
    );
    expect(await findingsOf(content)).toEqual(["missing"]);
    await runJob(admin.client, "bucket-stock");
    expect(await findingsOf(content)).toEqual([]);
    expectStatus(await download(id), 200);
  }, 120_000);
});

test("blobs missing both locally and in the bucket cause one line in the log, and findings", async () => {
  const contents = Array.from({ length: 20 }, () => randomContent(5_000));
  s3.behavior = "failing";
  for (const content of contents) await admin.client.stored(content);
  await server.stop();
  for (const content of contents) rmSync(blobPath(server, content));
  s3.behavior = "well";
  await server.start();
  const before = server.log.length;
  await runJob(admin.client, "blob-places");
  await runJob(admin.client, "blob-places");
  for (const content of contents) expect(await findingsOf(content)).toEqual(["missing"]);
  expect(server.log.slice(before).match(/damaged or missing/g)).toHaveLength(1);
}, 120_000);

testAllResponses(() => server, { mayFail: [500] });
