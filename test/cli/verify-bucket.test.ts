// larder verify --bucket, and the nightly scrub of the bucket.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { evict, blobPath, withoutCache } from "../support/bucket.ts";
import { type Account, checksumOf, digestOf, randomContent } from "../support/client.ts";
import { expectError } from "../support/expect.ts";
import { runJob } from "../support/jobs.ts";
import { TestS3 } from "../support/s3-server.ts";
import { dispose, startServer, type TestServer } from "../support/server.ts";

let s3: TestS3;
let server: TestServer;
let admin: Account;
const contents = [randomContent(300_000), randomContent(9 * 1024 * 1024), randomContent(0), randomContent(1)];
const [first = randomContent(0), second = randomContent(0)] = contents;
let ids: string[];

beforeAll(async () => {
  s3 = await TestS3.start();
  server = await startServer({ env: { ...s3.settings, ...withoutCache } });
  admin = await server.addUser(["--admin"]);
  ids = [];
  for (const content of contents) ids.push(await admin.client.storedId(content));
  await evict({ server, admin });
  for (const content of contents) expect(existsSync(blobPath(server, content))).toBe(false);
}, 120_000);
beforeEach(async () => {
  s3.behavior = "well";
  for (const content of contents) await s3.put(digestOf(content), content);
});
afterAll(async () => {
  await dispose(server);
  await s3.stop();
});

async function verify(...flags: string[]) {
  const { code, stdout, stderr } = await server.larder(["verify", "--bucket", "--json", ...flags]);
  const report: unknown = stdout === "" ? undefined : JSON.parse(stdout);
  return { code, report, stderr };
}

test("reads the blobs that only the bucket has, and stores none of them here", async () => {
  const { code, report } = await verify("--rate", "1GB");
  expect({ code, report }).toMatchObject({ code: 0, report: { ok: true, bucket: { contents: 4 }, findings: [] } });
  for (const content of contents) expect(existsSync(blobPath(server, content))).toBe(false);
}, 120_000);

// Before the tests that read damaged objects, because the server reads those again some seconds later.
test("asks above --max-bytes; without a terminal, it reads nothing and names the flag", async () => {
  const before = s3.requests.length;
  const refused = await verify("--max-bytes", "1MB");
  expect(refused).toMatchObject({ code: 2, report: undefined });
  expect(refused.stderr).toContain("--max-bytes 10MB");
  expect(s3.requests.slice(before).filter((request) => request.includes("/sha256/"))).toEqual([]);
  expect(await verify("--max-bytes", "10MB", "--rate", "1GB")).toMatchObject({ code: 0 });
}, 120_000);

test("names and records damaged and missing objects, and resolves them when they are good again", async () => {
  await s3.corrupt(digestOf(first));
  await s3.remove(digestOf(second));
  const bad = await verify("--rate", "1GB");
  expect(bad).toMatchObject({ code: 1, report: { ok: false, damaged: 1, missing: 1 } });
  expect(JSON.stringify(bad.report)).toContain("its bucket object has a different checksum");
  const open = await admin.client.get("/api/admin/findings");
  expect(open.strings("data.findings", "checksum").toSorted()).toEqual([first, second].map(checksumOf).toSorted());
  expectError(await admin.client.get(`/api/files/${ids[0]}/download`), 500, "content_damaged");

  await s3.put(digestOf(first), first);
  await s3.put(digestOf(second), second);
  // The comparison of the bucket with the database finds the lost object again.
  await runJob(admin.client, "bucket-stock");
  expect(await verify("--rate", "1GB")).toMatchObject({ code: 0, report: { bucket: { contents: 4 } } });
  expect((await admin.client.get("/api/admin/findings")).list("data.findings")).toEqual([]);
}, 120_000);

test("does not exceed --rate", async () => {
  const startedMs = performance.now();
  expect(await verify("--rate", "5MB")).toMatchObject({ code: 0 });
  // 9.3 MB.
  expect(performance.now() - startedMs).toBeGreaterThan(1_700);
}, 120_000);

test("an outage is not a finding: exit 2", async () => {
  s3.behavior = "failing";
  const { code, stderr } = await verify();
  expect(code).toBe(2);
  expect(stderr).toContain("can't serve now");
  s3.behavior = "well";
  expect((await admin.client.get("/api/admin/findings")).list("data.findings")).toEqual([]);
}, 120_000);

test.each([
  [["verify", "--max-bytes", "1GB"], "--bucket"],
  [["verify", "--bucket", "--quick"], "--quick"],
  [["verify", "--bucket", "--rate", "fast"], "not a valid size"],
])("%p is refused", async (flags, word) => {
  const { code, stderr } = await server.larder(flags);
  expect(code).toBe(2);
  expect(stderr).toContain(word);
});

test("the nightly scrub of the bucket runs only if the settings turn it on", async () => {
  const result = async () => {
    const ran = await admin.client.post("/api/admin/jobs/bucket-scrub/run");
    return ran.string("data.lastResult");
  };
  expect(await result()).toContain("turned off");
  await server.restart({ env: { LARDER_S3_SCRUB: "on", LARDER_S3_VERIFY_RATE: "1GB" } });
  expect(await result()).toContain("4 blobs read");
  await s3.corrupt(digestOf(first));
  expect(await result()).toContain("1 new findings");
  const found = await admin.client.get("/api/admin/findings");
  expect(found.strings("data.findings", "checksum")).toEqual([checksumOf(first)]);
}, 120_000);
