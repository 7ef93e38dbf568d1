// blobs.acknowledge = bucket: a file is in the bucket before a row names it, and before any response says that it is stored.
import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { type Account, type Client, digestOf, randomContent } from "../support/client.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { runJob } from "../support/jobs.ts";
import { registerDevice } from "../support/mobile.ts";
import { file, form, formType } from "../support/multipart.ts";
import { replicatedSettings } from "../support/replicated.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { TestS3 } from "../support/s3-server.ts";
import { dispose, startServer, temporaryDirectory, type TestServer } from "../support/server.ts";
import { connectSyncClient } from "../support/sync-client.ts";
import { appendTus, createTus, headTus } from "../support/tus.ts";
import { completeUpload, planUpload, sendChunks } from "../support/uploads.ts";
import { connectDav, type DavClient } from "../support/webdav.ts";

let s3: TestS3;
let server: TestServer;
let admin: Account;
let phone: Client;
let dav: DavClient;
let folder: string;

beforeAll(async () => {
  s3 = await TestS3.start();
  folder = await temporaryDirectory();
  const settings = await replicatedSettings(s3, folder);
  server = await startServer({ env: { ...settings, LARDER_BLOBS_ACKNOWLEDGE: "bucket" }, hasAccounts: true });
  admin = await server.addUser(["--admin"]);
  phone = (await registerDevice(server, admin)).client;
  dav = await connectDav(admin);
}, 120_000);
afterEach(() => {
  s3.behavior = "well";
  s3.onRequest = () => {};
});
afterAll(async () => {
  await dispose(server);
  await s3.stop();
  await rm(folder, { recursive: true, force: true });
});

/** How many of these contents have a row in the running server's database. */
function countNamed(contents: readonly Uint8Array[]): number {
  const db = new Database(join(server.dataDir, "larder.db"), { readonly: true });
  try {
    const find = db.query("SELECT 1 FROM blobs WHERE digest = unhex(?1)");
    return contents.filter((content) => find.get(digestOf(content)) !== null).length;
  } finally {
    db.close();
  }
}

const isNamed = (content: Uint8Array) => countNamed([content]) === 1;

/** Whether a request sends a file to the bucket, or this file. */
function isTransfer(request: string, content?: Uint8Array): boolean {
  return request.startsWith("PUT") && request.includes(`/sha256/`) && (!content || request.includes(digestOf(content)));
}

/** A small JPEG that no other test has. */
async function picture(): Promise<Uint8Array<ArrayBuffer>> {
  const background = { r: Math.floor(Math.random() * 256), g: Math.floor(Math.random() * 256), b: 7 };
  return new Uint8Array(
    await sharp({ create: { width: 30, height: 20, channels: 3, background } })
      .jpeg()
      .toBuffer(),
  );
}

describe("the bucket has a file when its upload is confirmed:", () => {
  test.each([0, 20_000, 3_000_000, 20 * 1024 * 1024 + 5])("a form with %d bytes", async (size) => {
    const content = randomContent(size);
    await admin.client.stored(content, { name: `form-${size}.bin` });
    expect(await s3.has(digestOf(content))).toBe(true);
  });

  test("a new content of a file", async () => {
    const content = randomContent(5_000);
    const id = await admin.client.storedId("old content");
    expectStatus(await admin.client.putContent(id, content), 200);
    expect(await s3.has(digestOf(content))).toBe(true);
  });

  test("an edited picture", async () => {
    const id = await admin.client.storedId(await picture(), { name: "edited.jpg", type: "image/jpeg" });
    const edited = await admin.client.post(`/api/files/${id}/edit`, { rotate: 90 });
    expectStatus(edited, 200);
    expect(await s3.has(edited.string("data.checksum").replace("sha256:", ""))).toBe(true);
  });

  test("WebDAV", async () => {
    expectStatus(await dav.put("dav.txt", "by WebDAV"), 201);
    expect(await s3.has(digestOf("by WebDAV"))).toBe(true);
  });

  test("chunks of a sync program", async () => {
    const sync = await connectSyncClient(server);
    const content = randomContent(70_000);
    expectStatus(await sync.begin("t1"), 201);
    expectStatus(await sync.put("t1", "0000000000000000", content), 201);
    expectStatus(await sync.finish("t1", "chunks.bin"), 201);
    expect(await s3.has(digestOf(content))).toBe(true);
  });

  test("tus", async () => {
    const content = randomContent(50_000);
    const path = await createTus(admin.client, content.length, { filename: "tus.bin" });
    expectStatus(await appendTus(admin.client, path, 0, content), 204);
    expect(await s3.has(digestOf(content))).toBe(true);
  });

  test("a form and chunks from a phone", async () => {
    const [whole, chunked] = [randomContent(4_000), randomContent(5_000)];
    const body = form([file("whole.bin", whole)]);
    expectStatus(
      await phone.request("POST", "/api/mobile/upload", { body, headers: { "content-type": formType } }),
      201,
    );
    expect(await s3.has(digestOf(whole))).toBe(true);
    const plan = await planUpload(phone, chunked, { name: "chunked.bin" });
    await sendChunks(phone, plan, chunked);
    expectStatus(await completeUpload(phone, plan.uploadId), 200);
    expect(await s3.has(digestOf(chunked))).toBe(true);
  });

  test("a drop box", async () => {
    const box = await admin.client.folderId("box");
    const share = await admin.client.post(`/api/files/folders/${box}/shares`, { permissions: "upload" });
    const content = randomContent(3_000);
    const options = { body: form([file("guest.bin", content)]), headers: { "content-type": formType } };
    const path = `/api/public/${share.string("data.token")}/upload`;
    expectStatus(await server.visitor.request("POST", path, options), 201);
    expect(await s3.has(digestOf(content))).toBe(true);
  });

  test("larder import", async () => {
    const source = join(folder, "source");
    await mkdir(source);
    const contents = Array.from({ length: 40 }, () => randomContent(1_000));
    await Promise.all(contents.map((content, index) => writeFile(join(source, `${index}.bin`), content)));
    let [named, sent] = [0, 0];
    s3.onRequest = async (request) => {
      if (!isTransfer(request)) return;
      named += countNamed(contents);
      // The server must not take the objects of the command for those of deleted files.
      if (++sent === contents.length) await runJob(admin.client, "blob-places");
    };
    const imported = await server.larder(["import", source, "--user", admin.email]);
    expect(imported).toMatchObject({ code: 0 });
    expect(named).toBe(0);
    for (const content of contents) expect(await s3.has(digestOf(content))).toBe(true);
  });
});

test("a file is in the bucket before any row names it", async () => {
  const content = randomContent(10_000);
  const states: boolean[] = [];
  s3.onRequest = (request) => {
    if (isTransfer(request, content)) states.push(isNamed(content));
  };
  await admin.client.stored(content, { name: "before.bin" });
  expect(states).toEqual([false]);
  expect(isNamed(content)).toBe(true);
});

test("a file that the bucket has is not sent again, also by uploads at the same time", async () => {
  const content = randomContent(10_000);
  const names = Array.from({ length: 8 }, (_, index) => `same-${index}.bin`);
  await Promise.all(names.map((name) => admin.client.stored(content, { name })));
  await admin.client.stored(content, { name: "later.bin" });
  await runJob(admin.client, "blob-places");
  const puts = s3.requests.filter((line) => isTransfer(line, content));
  expect(puts).toHaveLength(1);
});

describe("without the bucket", () => {
  /** Ends an outage. The server notices it within seconds, without a request. */
  async function recover(): Promise<void> {
    s3.behavior = "well";
    await eventually("changes are accepted again", async () => {
      return (await admin.client.post("/api/users/notifications/read", {})).status !== 503;
    });
  }

  test("an upload gets 503 and leaves nothing; repeated, it makes one file", async () => {
    const content = randomContent(20_000);
    const key = { "idempotency-key": crypto.randomUUID() };
    s3.behavior = "failing";
    const rejected = await admin.client.upload(content, { name: "outage.bin", headers: key });
    expectError(rejected, 503, "provider_unavailable");
    expect(rejected.number("error.details.retryAfter")).toBeGreaterThan(0);
    expect(isNamed(content)).toBe(false);
    expect(await Bun.file(join(server.dataDir, "blobs/sha256", digestOf(content).slice(0, 2))).exists()).toBe(false);
    await recover();
    expectStatus(await admin.client.upload(content, { name: "outage.bin", headers: key }), 201);
    expectStatus(await admin.client.upload(content, { name: "outage.bin", headers: key }), 201);
    expect((await admin.client.names("/")).filter((name) => name.startsWith("outage"))).toEqual(["outage.bin"]);
  });

  test("chunks and tus continue where they were", async () => {
    const content = randomContent(5_000);
    const plan = await planUpload(phone, content, { name: "outage-chunks.bin" });
    await sendChunks(phone, plan, content);
    const path = await createTus(admin.client, content.length, { filename: "outage-tus.bin" });
    s3.behavior = "failing";
    expectError(await completeUpload(phone, plan.uploadId), 503, "provider_unavailable");
    expectError(await appendTus(admin.client, path, 0, content), 503, "provider_unavailable");
    expect(isNamed(content)).toBe(false);
    await recover();
    expectStatus(await completeUpload(phone, plan.uploadId), 200);
    const head = await headTus(admin.client, path);
    const offset = Number(head.header("upload-offset"));
    if (offset < content.length)
      expectStatus(await appendTus(admin.client, path, offset, content.subarray(offset)), 204);
    const names = await admin.client.names("/");
    expect(names.filter((name) => name.startsWith("outage-")).toSorted()).toEqual([
      "outage-chunks.bin",
      "outage-tus.bin",
    ]);
  });

  test("a large upload that loses the bucket in its middle leaves nothing", async () => {
    const content = randomContent(20 * 1024 * 1024 + 7);
    s3.onRequest = (request) => {
      if (isTransfer(request, content) && request.includes("partNumber=2")) s3.behavior = "failing";
    };
    expectError(await admin.client.upload(content, { name: "middle.bin" }), 503, "provider_unavailable");
    expect(isNamed(content)).toBe(false);
    s3.onRequest = () => {};
    await recover();
    await admin.client.stored(content, { name: "middle.bin" });
    expect(await s3.has(digestOf(content))).toBe(true);
  });

  test("changes wait for the replica, then get 503; reads continue", async () => {
    const [content, later] = [randomContent(9_000), randomContent(9_000)];
    const [key, isBack] = [{ "idempotency-key": crypto.randomUUID() }, Promise.withResolvers<void>()];
    s3.onRequest = (request) =>
      request.startsWith("PUT") && request.includes("/replica/db/") ? isBack.promise : undefined;
    const unconfirmed = await admin.client.upload(content, { name: "replica-away.bin", headers: key });
    expectError(unconfirmed, 503, "provider_unavailable");
    expect(unconfirmed.headers.get("etag")).toBeNull();
    expectError(await admin.client.upload(later, { name: "rejected.bin" }), 503, "provider_unavailable");
    expect(isNamed(later)).toBe(false);
    expectStatus(await admin.client.get("/api/files"), 200);
    isBack.resolve();
    await recover();
    expectStatus(await admin.client.upload(content, { name: "replica-away.bin", headers: key }), 201);
    expect((await admin.client.names("/")).filter((name) => name.startsWith("replica-away"))).toEqual([
      "replica-away.bin",
    ]);
  });

  test("an object that arrives changed is not acknowledged", async () => {
    const content = randomContent(8_000);
    s3.behavior = "mangling";
    expectError(await admin.client.upload(content, { name: "mangled.bin" }), 503, "provider_unavailable");
    expect(isNamed(content)).toBe(false);
    await recover();
    await admin.client.stored(content, { name: "mangled.bin" });
    expect(await s3.has(digestOf(content))).toBe(true);
  });
});

testAllResponses(() => server);
