// Blobs in a bucket, with a cache on the local disk: clients notice nothing except during an outage.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { changeRows, evict as evictFrom, blobPath as pathIn, withoutCache } from "../support/bucket.ts";
import { type Account, checksumOf, digestOf, randomContent } from "../support/client.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { jpegPhoto } from "../support/images.ts";
import { runJob } from "../support/jobs.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { TestS3 } from "../support/s3-server.ts";
import { makeZip } from "../support/zip-files.ts";
import { dispose, runLarder, startServer, temporaryDirectory, type TestServer } from "../support/server.ts";

let s3: TestS3;
let server: TestServer;
let admin: Account;

beforeAll(async () => {
  s3 = await TestS3.start();
  server = await startServer({ env: { ...s3.settings, ...withoutCache } });
  admin = await server.addUser(["--admin"]);
}, 120_000);

afterAll(async () => {
  await dispose(server);
  await s3.stop();
});

/** Sends the queued blobs to the bucket. */
async function sendQueued(): Promise<void> {
  await runJob(admin.client, "blob-places");
}

/** Far below the minute between two runs of the job, but enough for a busy machine. */
const SOON_MS = 20_000;

async function hasAll(contents: readonly Uint8Array[]): Promise<boolean> {
  const there = await Promise.all(contents.map((content) => s3.has(digestOf(content))));
  return there.every(Boolean);
}

/** The number of blobs that wait for the bucket, from the metrics. */
async function countWaiting(): Promise<number> {
  const { text } = await admin.client.get("/metrics");
  return Number(/^larder_queue_depth\{queue="bucket"\} (\d+)$/m.exec(text)?.[1]);
}

const blobPath = (content: Uint8Array) => pathIn(server, content);
const evict = () => evictFrom({ server, admin });

/** Stores a file, and evicts the server's local copy of its blob. */
async function storeInBucketOnly(content: Uint8Array, options: { name?: string; type?: string } = {}): Promise<string> {
  const id = await admin.client.storedId(content, options);
  await evict();
  expect(existsSync(blobPath(content))).toBe(false);
  return id;
}

test("an upload is acknowledged once it is on the local disk, then sent to the bucket", async () => {
  const [small, large] = [randomContent(10_000), randomContent(20 * 1024 * 1024 + 5)];
  await admin.client.stored(small);
  await admin.client.stored(large);
  expect(existsSync(blobPath(small))).toBe(true);
  await sendQueued();
  expect(await s3.has(digestOf(small))).toBe(true);
  expect(await s3.has(digestOf(large))).toBe(true);
  const before = s3.requests.length;
  await sendQueued();
  expect(s3.requests.slice(before).filter((request) => request.startsWith("PUT"))).toEqual([]);
}, 120_000);

test("blobs are in the bucket soon after the response, without waiting for the minute's job", async () => {
  const contents = Array.from({ length: 30 }, () => randomContent(10_000));
  await Promise.all(contents.map((content) => admin.client.stored(content)));
  await eventually("the bucket has all", () => hasAll(contents), SOON_MS);
}, 120_000);

test("blobs uploaded during an outage are in the bucket soon after it", async () => {
  const contents = Array.from({ length: 5 }, () => randomContent(10_000));
  s3.behavior = "failing";
  try {
    const before = s3.requests.length;
    await Promise.all(contents.map((content) => admin.client.stored(content)));
    await eventually("it was tried", () => s3.requests.length >= before + 3);
  } finally {
    s3.behavior = "well";
  }
  await eventually("the bucket has all", () => hasAll(contents), SOON_MS);
}, 120_000);

describe("a file that is only in the bucket", () => {
  test("is downloaded as any other, and cached locally", async () => {
    const content = randomContent(300_000);
    const id = await storeInBucketOnly(content);
    const head = await admin.client.head(`/api/files/${id}/download`);
    expect(head.header("content-length")).toBe("300000");
    const whole = await admin.client.get(`/api/files/${id}/download`);
    expectStatus(whole, 200);
    expect(whole.header("content-length")).toBe("300000");
    expect(digestOf(whole.bytes)).toBe(digestOf(content));
    expect(existsSync(blobPath(content))).toBe(true);
  }, 120_000);

  test("is downloaded in ranges", async () => {
    const content = randomContent(300_000);
    const id = await storeInBucketOnly(content);
    const part = await admin.client.get(`/api/files/${id}/download`, { range: "bytes=1000-1999" });
    expectStatus(part, 206);
    expect(part.header("content-range")).toBe("bytes 1000-1999/300000");
    expect(Buffer.from(part.bytes).equals(Buffer.from(content.subarray(1000, 2000)))).toBe(true);
  }, 120_000);

  test("is streamed if large, and cached once it was read completely", async () => {
    const content = randomContent(65 * 1024 * 1024);
    const id = await storeInBucketOnly(content);
    const part = await admin.client.get(`/api/files/${id}/download`, { range: "bytes=66000000-66000099" });
    expectStatus(part, 206);
    expect(Buffer.from(part.bytes).equals(Buffer.from(content.subarray(66_000_000, 66_000_100)))).toBe(true);
    const parts = await admin.client.get(`/api/files/${id}/download`, { range: "bytes=0-9,66000000-66000009" });
    expectStatus(parts, 206);
    expect(Buffer.from(parts.bytes).includes(Buffer.from(content.subarray(66_000_000, 66_000_010)))).toBe(true);
    expect(existsSync(blobPath(content))).toBe(false);
    const head = await admin.client.head(`/api/files/${id}/download`);
    expect(head.header("content-length")).toBe(String(content.length));
    const whole = await admin.client.get(`/api/files/${id}/download`);
    expectStatus(whole, 200);
    expect(digestOf(whole.bytes)).toBe(digestOf(content));
    expect(existsSync(blobPath(content))).toBe(true);
  }, 120_000);

  test("is listed and extracted if it is an archive", async () => {
    const content = "inside ".repeat(100);
    const zip = makeZip([
      { name: "a/inside.txt", content, isDeflated: true },
      { name: "random", content: Buffer.from(randomContent(50_000)) },
    ]);
    const id = await storeInBucketOnly(zip, { name: "bucket.zip", type: "application/zip" });
    const listed = await admin.client.get(`/api/files/${id}/archive?path=a`);
    expect(listed.strings("data.entries", "path")).toEqual(["a/inside.txt"]);
    await evict();
    expect((await admin.client.get(`/api/files/${id}/archive/entry?path=a/inside.txt`)).text).toBe(content);
    await evict();
    expect(existsSync(blobPath(zip))).toBe(false);
    const begun = await admin.client.post(`/api/files/${id}/extract`, { folderPath: "/extracted" });
    expectStatus(begun, 202);
    await eventually("the archive is extracted", async () => {
      const progress = await admin.client.get(`/api/files/extractions/${begun.string("data.id")}`);
      return progress.at("data.state") === "done";
    });
    expect(await admin.client.names("/extracted/bucket/a")).toEqual(["inside.txt"]);
  }, 120_000);

  test("works in archives, shares, thumbnails, versions and checks", async () => {
    const picture = await jpegPhoto(400, 300);
    const old = randomContent(5_000);
    const unread = randomContent(6_000);
    const [pictureId, textId, unreadId] = [
      await admin.client.storedId(picture, { name: "p.jpg", type: "image/jpeg" }),
      await admin.client.storedId(old),
      await admin.client.storedId(unread),
    ];
    expectStatus(await admin.client.putContent(textId, "new"), 200);
    const shared = await admin.client.post(`/api/files/${textId}/shares`, {});
    // The picture stays while its thumbnail is made.
    await eventually("the picture is only in the bucket", async () => {
      await evict();
      return !existsSync(blobPath(picture));
    });
    expect(existsSync(blobPath(old))).toBe(false);
    const archive = await admin.client.post("/api/files/archive", { fileIds: [pictureId, textId] });
    expectStatus(archive, 200);
    expect(Buffer.from(archive.bytes).includes(Buffer.from(picture))).toBe(true);
    rmSync(join(server.dataDir, "thumbs"), { recursive: true });
    const thumbnail = await admin.client.get(`/api/files/${pictureId}/download?thumbnail=large`);
    expectStatus(thumbnail, 200);
    expect(thumbnail.header("content-type")).toBe("image/webp");
    const version = await admin.client.get(`/api/files/${textId}/versions/1/download`);
    expectStatus(version, 200);
    expect(digestOf(version.bytes)).toBe(digestOf(old));
    const visited = await server.visitor.get(`${new URL(shared.string("data.url")).pathname}/download`);
    expect(visited.text).toBe("new");
    const checked = await admin.client.get(`/api/files/${unreadId}/checksum`);
    expectStatus(checked, 200);
    expect(existsSync(blobPath(unread))).toBe(false);
  }, 120_000);

  test("is not reported by the scrub", async () => {
    await storeInBucketOnly(randomContent(5_000));
    await runJob(admin.client, "scrub");
    expect((await admin.client.get("/api/admin/findings")).list("data.findings")).toEqual([]);
  }, 120_000);

  test("can be uploaded again", async () => {
    const content = randomContent(70_000);
    await storeInBucketOnly(content);
    const again = await admin.client.stored(content, { name: "again.bin" });
    expect(again.string("data.checksum")).toBe(checksumOf(content));
    expect(existsSync(blobPath(content))).toBe(true);
  }, 120_000);
});

describe("during an outage of the bucket", () => {
  test("uploads continue, and local files are served", async () => {
    s3.behavior = "failing";
    try {
      const content = randomContent(50_000);
      const id = await admin.client.storedId(content);
      await admin.client.post("/api/admin/jobs/blob-places/run");
      expectStatus(await admin.client.get(`/api/files/${id}/download`), 200);
      await eventually("one blob is queued", async () => (await countWaiting()) === 1);
      s3.behavior = "well";
      await sendQueued();
      expect(await s3.has(digestOf(content))).toBe(true);
      await eventually("none is queued", async () => (await countWaiting()) === 0);
    } finally {
      s3.behavior = "well";
    }
  }, 120_000);

  test("a file that is only in the bucket gets 503, and is served again afterward", async () => {
    const content = randomContent(50_000);
    const id = await storeInBucketOnly(content);
    s3.behavior = "failing";
    try {
      const refused = await admin.client.get(`/api/files/${id}/download`);
      expectError(refused, 503, "provider_unavailable");
      expect(refused.number("error.details.retryAfter")).toBeGreaterThan(0);
    } finally {
      s3.behavior = "well";
    }
    await sendQueued();
    expectStatus(await admin.client.get(`/api/files/${id}/download`), 200);
  }, 120_000);

  test("the server starts if it already stores blobs", async () => {
    s3.behavior = "failing";
    try {
      await server.restart();
      expect(server.log).toContain("bucket (s3)");
      expectStatus(await admin.client.get("/api/files"), 200);
    } finally {
      s3.behavior = "well";
      await server.restart();
    }
  }, 120_000);
});

test("bytes that don't match their digest are neither served nor cached", async () => {
  const content = randomContent(50_000);
  const id = await storeInBucketOnly(content);
  s3.behavior = "lying";
  try {
    expectError(await admin.client.get(`/api/files/${id}/download`), 500, "content_damaged");
    expect(existsSync(blobPath(content))).toBe(false);
  } finally {
    s3.behavior = "well";
  }
  expectStatus(await admin.client.get(`/api/files/${id}/download`), 200);
}, 120_000);

test("a damaged local copy is replaced by the good bytes of the bucket", async () => {
  const content = randomContent(50_000);
  const id = await admin.client.storedId(content);
  await sendQueued();
  await Bun.write(blobPath(content), randomContent(50_000));
  const found = await admin.client.get(`/api/files/${id}/checksum`);
  expect(found.at("data.ok")).toBe(false);
  await sendQueued();
  const whole = await admin.client.get(`/api/files/${id}/download`);
  expectStatus(whole, 200);
  expect(digestOf(whole.bytes)).toBe(digestOf(content));
}, 120_000);

test("a local copy is kept and sent again if the bucket lost the object", async () => {
  const content = randomContent(40_000);
  await admin.client.stored(content);
  await sendQueued();
  const digest = digestOf(content);
  await fetch(
    `${s3.settings["LARDER_S3_ENDPOINT"]}/larder/home/larder/sha256/${digest.slice(0, 2)}/${digest.slice(2, 4)}/${digest}`,
    { method: "DELETE", headers: { "x-amz-content-sha256": digestOf("") } },
  );
  expect(await s3.has(digest)).toBe(false);
  await evict();
  expect(await s3.has(digest)).toBe(true);
  expect(existsSync(blobPath(content))).toBe(true);
}, 120_000);

test("no local copy is evicted before a database snapshot records it as in the bucket", async () => {
  const content = randomContent(40_000);
  await admin.client.stored(content);
  await sendQueued();
  expect(await s3.has(digestOf(content))).toBe(true);
  // The server also takes snapshots on its own schedule. With this date, none of them is newer than the object's row.
  const inAnHour = Date.now() + 3_600_000;
  const change = (values: string) =>
    changeRows({ server, admin }, `UPDATE remote_blobs SET ${values} WHERE used_at IS NOT NULL`);
  change(`used_at = 1, stored_at = ${inAnHour}`);
  await sendQueued();
  expect(existsSync(blobPath(content))).toBe(true);
  change("used_at = 1, stored_at = 1");
  await runJob(admin.client, "snapshot");
  await sendQueued();
  expect(existsSync(blobPath(content))).toBe(false);
}, 120_000);

test("a blob removed by garbage collection is removed from the bucket afterward", async () => {
  const content = randomContent(40_000);
  const id = await storeInBucketOnly(content);
  expectStatus(await admin.client.delete(`/api/files/${id}`), 200);
  await sendQueued();
  expect(await s3.has(digestOf(content))).toBe(true);
  const collected = await server.larder(["gc", "--now"]);
  expect(collected.code).toBe(0);
  await sendQueued();
  expect(await s3.has(digestOf(content))).toBe(false);
}, 120_000);

test("the server doesn't start without bucket settings if blobs are only in the bucket, or with wrong keys", async () => {
  await storeInBucketOnly(randomContent(10_000));
  await server.stop();
  const none = { LARDER_BLOBS_STORE: "", LARDER_S3_ENDPOINT: "", LARDER_S3_BUCKET: "" };
  const without = await server.larder(["serve", "--port", "0"], { env: none });
  expect(without.code).toBe(2);
  expect(without.stderr).toContain("are only in a bucket");
  await server.start();
  const dataDir = await temporaryDirectory();
  const env = { ...s3.settings, LARDER_S3_ACCESS_KEY_ID: "nobody", LARDER_DATA: dataDir };
  const foreign = { ...env, AWS_SESSION_TOKEN: "of-other-keys" };
  const token = await runLarder(["serve", "--port", "0"], { env: foreign });
  expect(token.code).toBe(2);
  expect(token.stderr).toContain("AWS_SESSION_TOKEN");
  const wrong = await runLarder(["serve", "--port", "0"], { env });
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain("InvalidAccessKeyId");
}, 120_000);

test("another server can't use the same prefix in the bucket", async () => {
  const dataDir = await temporaryDirectory();
  const other = await runLarder(["serve", "--port", "0"], { env: { ...s3.settings, LARDER_DATA: dataDir } });
  expect(other.code).toBe(2);
  expect(other.stderr).toContain("another server");
}, 120_000);

testAllResponses(() => server, { mayFail: [500] });
