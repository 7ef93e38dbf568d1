// Contents in a bucket, with this disk before it: nobody who uses the API notices, but when the service is away.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { changeRows, evict as evictFrom, pathOf as pathIn, withoutCache } from "../support/bucket.ts";
import { type Account, checksumOf, digestOf, randomContent } from "../support/client.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { jpegPhoto } from "../support/images.ts";
import { runJob } from "../support/jobs.ts";
import { testAllResponses } from "../support/laws.ts";
import { TestS3 } from "../support/s3-server.ts";
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

/** Sends what waits to the bucket. */
async function move(): Promise<void> {
  await runJob(admin.client, "blob-places");
}

/** Far below the minute between two runs of the job, and above the time that a busy machine takes. */
const SOON_MS = 20_000;

async function hasAll(contents: readonly Uint8Array[]): Promise<boolean> {
  const there = await Promise.all(contents.map((content) => s3.has(digestOf(content))));
  return there.every(Boolean);
}

/** How many contents wait for the bucket, as the metrics tell it. */
async function countWaiting(): Promise<number> {
  const { text } = await admin.client.get("/metrics");
  return Number(/^larder_queue_depth\{queue="bucket"\} (\d+)$/m.exec(text)?.[1]);
}

const pathOf = (content: Uint8Array) => pathIn(server, content);
const evict = () => evictFrom({ server, admin });

/** A file of which the server has no copy on its disk. */
async function storedAway(content: Uint8Array, options: { name?: string; type?: string } = {}): Promise<string> {
  const id = await admin.client.storedId(content, options);
  await evict();
  expect(existsSync(pathOf(content))).toBe(false);
  return id;
}

test("an upload is acknowledged on this disk, and then goes to the bucket", async () => {
  const [small, large] = [randomContent(10_000), randomContent(20 * 1024 * 1024 + 5)];
  await admin.client.stored(small);
  await admin.client.stored(large);
  expect(existsSync(pathOf(small))).toBe(true);
  await move();
  expect(await s3.has(digestOf(small))).toBe(true);
  expect(await s3.has(digestOf(large))).toBe(true);
  const before = s3.requests.length;
  await move();
  expect(s3.requests.slice(before).filter((request) => request.startsWith("PUT"))).toEqual([]);
}, 120_000);

test("contents are in the bucket soon after the answer, without the minute's job", async () => {
  const contents = Array.from({ length: 30 }, () => randomContent(10_000));
  await Promise.all(contents.map((content) => admin.client.stored(content)));
  await eventually("the bucket has all", () => hasAll(contents), SOON_MS);
}, 120_000);

test("contents that came during an outage are in the bucket soon after it", async () => {
  const contents = Array.from({ length: 5 }, () => randomContent(10_000));
  s3.mood = "failing";
  try {
    const before = s3.requests.length;
    await Promise.all(contents.map((content) => admin.client.stored(content)));
    await eventually("it was tried", () => s3.requests.length >= before + 3);
  } finally {
    s3.mood = "well";
  }
  await eventually("the bucket has all", () => hasAll(contents), SOON_MS);
}, 120_000);

describe("a file that is in the bucket alone", () => {
  test("is downloaded as any other, and is on this disk then", async () => {
    const content = randomContent(300_000);
    const id = await storedAway(content);
    const head = await admin.client.head(`/api/files/${id}/download`);
    expect(head.header("content-length")).toBe("300000");
    const whole = await admin.client.get(`/api/files/${id}/download`);
    expectStatus(whole, 200);
    expect(whole.header("content-length")).toBe("300000");
    expect(digestOf(whole.bytes)).toBe(digestOf(content));
    expect(existsSync(pathOf(content))).toBe(true);
  }, 120_000);

  test("is downloaded in ranges", async () => {
    const content = randomContent(300_000);
    const id = await storedAway(content);
    const part = await admin.client.get(`/api/files/${id}/download`, { range: "bytes=1000-1999" });
    expectStatus(part, 206);
    expect(part.header("content-range")).toBe("bytes 1000-1999/300000");
    expect(Buffer.from(part.bytes).equals(Buffer.from(content.subarray(1000, 2000)))).toBe(true);
  }, 120_000);

  test("comes as a stream where it is large, and is kept when all of it came", async () => {
    const content = randomContent(65 * 1024 * 1024);
    const id = await storedAway(content);
    const part = await admin.client.get(`/api/files/${id}/download`, { range: "bytes=66000000-66000099" });
    expectStatus(part, 206);
    expect(Buffer.from(part.bytes).equals(Buffer.from(content.subarray(66_000_000, 66_000_100)))).toBe(true);
    const parts = await admin.client.get(`/api/files/${id}/download`, { range: "bytes=0-9,66000000-66000009" });
    expectStatus(parts, 206);
    expect(Buffer.from(parts.bytes).includes(Buffer.from(content.subarray(66_000_000, 66_000_010)))).toBe(true);
    expect(existsSync(pathOf(content))).toBe(false);
    const head = await admin.client.head(`/api/files/${id}/download`);
    expect(head.header("content-length")).toBe(String(content.length));
    const whole = await admin.client.get(`/api/files/${id}/download`);
    expectStatus(whole, 200);
    expect(digestOf(whole.bytes)).toBe(digestOf(content));
    expect(existsSync(pathOf(content))).toBe(true);
  }, 120_000);

  test("is in archives, shares, thumbnails, versions and checks", async () => {
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
    await evict();
    expect(existsSync(pathOf(picture))).toBe(false);
    expect(existsSync(pathOf(old))).toBe(false);
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
    expect(existsSync(pathOf(unread))).toBe(false);
  }, 120_000);

  test("is not missed by the nightly reading of the store", async () => {
    await storedAway(randomContent(5_000));
    await runJob(admin.client, "scrub");
    expect((await admin.client.get("/api/admin/findings")).list("data.findings")).toEqual([]);
  }, 120_000);

  test("need not be sent again by who has it, and may be", async () => {
    const content = randomContent(70_000);
    await storedAway(content);
    const again = await admin.client.stored(content, { name: "again.bin" });
    expect(again.string("data.checksum")).toBe(checksumOf(content));
    expect(existsSync(pathOf(content))).toBe(true);
  }, 120_000);
});

describe("while the service is away", () => {
  test("uploads go on, and what is on this disk is served", async () => {
    s3.mood = "failing";
    try {
      const content = randomContent(50_000);
      const id = await admin.client.storedId(content);
      await admin.client.post("/api/admin/jobs/blob-places/run");
      expectStatus(await admin.client.get(`/api/files/${id}/download`), 200);
      await eventually("a content waits", async () => (await countWaiting()) === 1);
      s3.mood = "well";
      await move();
      expect(await s3.has(digestOf(content))).toBe(true);
      await eventually("none waits", async () => (await countWaiting()) === 0);
    } finally {
      s3.mood = "well";
    }
  }, 120_000);

  test("what lies there alone is answered 503, and comes again with it", async () => {
    const content = randomContent(50_000);
    const id = await storedAway(content);
    s3.mood = "failing";
    try {
      const refused = await admin.client.get(`/api/files/${id}/download`);
      expectError(refused, 503, "provider_unavailable");
      expect(refused.number("error.details.retryAfter")).toBeGreaterThan(0);
    } finally {
      s3.mood = "well";
    }
    await move();
    expectStatus(await admin.client.get(`/api/files/${id}/download`), 200);
  }, 120_000);

  test("the server starts all the same where contents are there already", async () => {
    s3.mood = "failing";
    try {
      await server.restart();
      expect(server.log).toContain("bucket (s3)");
      expectStatus(await admin.client.get("/api/files"), 200);
    } finally {
      s3.mood = "well";
      await server.restart();
    }
  }, 120_000);
});

test("bytes that are not what their digest says are not served, nor kept", async () => {
  const content = randomContent(50_000);
  const id = await storedAway(content);
  s3.mood = "lying";
  try {
    expectError(await admin.client.get(`/api/files/${id}/download`), 500, "content_damaged");
    expect(existsSync(pathOf(content))).toBe(false);
  } finally {
    s3.mood = "well";
  }
  expectStatus(await admin.client.get(`/api/files/${id}/download`), 200);
}, 120_000);

test("a copy here that was found damaged is replaced by the good bytes of the bucket", async () => {
  const content = randomContent(50_000);
  const id = await admin.client.storedId(content);
  await move();
  await Bun.write(pathOf(content), randomContent(50_000));
  const found = await admin.client.get(`/api/files/${id}/checksum`);
  expect(found.at("data.ok")).toBe(false);
  await move();
  const whole = await admin.client.get(`/api/files/${id}/download`);
  expectStatus(whole, 200);
  expect(digestOf(whole.bytes)).toBe(digestOf(content));
}, 120_000);

test("a copy here is not let go where the bucket lost the object: it is sent again", async () => {
  const content = randomContent(40_000);
  await admin.client.stored(content);
  await move();
  const digest = digestOf(content);
  await fetch(
    `${s3.settings["LARDER_S3_ENDPOINT"]}/larder/home/larder/sha256/${digest.slice(0, 2)}/${digest.slice(2, 4)}/${digest}`,
    { method: "DELETE", headers: { "x-amz-content-sha256": digestOf("") } },
  );
  expect(await s3.has(digest)).toBe(false);
  await evict();
  expect(await s3.has(digest)).toBe(true);
  expect(existsSync(pathOf(content))).toBe(true);
}, 120_000);

test("nothing is let go here before a copy of the database knows that it is in the bucket", async () => {
  const content = randomContent(40_000);
  await admin.client.stored(content);
  await move();
  expect(await s3.has(digestOf(content))).toBe(true);
  // The server takes snapshots on its own: none that it can take now is newer than the object's row.
  const inAnHour = Date.now() + 3_600_000;
  const change = (values: string) =>
    changeRows({ server, admin }, `UPDATE remote_blobs SET ${values} WHERE used_at IS NOT NULL`);
  change(`used_at = 1, stored_at = ${inAnHour}`);
  await move();
  expect(existsSync(pathOf(content))).toBe(true);
  change("used_at = 1, stored_at = 1");
  await runJob(admin.client, "snapshot");
  await move();
  expect(existsSync(pathOf(content))).toBe(false);
}, 120_000);

test("what the collector removes goes from the bucket too, and not before", async () => {
  const content = randomContent(40_000);
  const id = await storedAway(content);
  expectStatus(await admin.client.delete(`/api/files/${id}`), 200);
  await move();
  expect(await s3.has(digestOf(content))).toBe(true);
  const collected = await server.larder(["gc", "--now"]);
  expect(collected.code).toBe(0);
  await move();
  expect(await s3.has(digestOf(content))).toBe(false);
}, 120_000);

test("a server without the settings doesn't begin where contents lie in the bucket alone; wrong keys are told", async () => {
  await storedAway(randomContent(10_000));
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

test("another server doesn't take the same place in the bucket", async () => {
  const dataDir = await temporaryDirectory();
  const other = await runLarder(["serve", "--port", "0"], { env: { ...s3.settings, LARDER_DATA: dataDir } });
  expect(other.code).toBe(2);
  expect(other.stderr).toContain("another server");
}, 120_000);

testAllResponses(() => server, { mayFail: [500] });
