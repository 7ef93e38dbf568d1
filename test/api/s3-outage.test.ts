// An outage of the bucket, as administrators see it.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { type Account, randomContent } from "../support/client.ts";
import { eventually } from "../support/expect.ts";
import { runJob } from "../support/jobs.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice, type TestDevice } from "../support/mobile.ts";
import { TestS3 } from "../support/s3-server.ts";
import { dispose, startServer, type TestServer } from "../support/server.ts";

let s3: TestS3;
let server: TestServer;
let admin: Account;
let user: Account;

beforeAll(async () => {
  s3 = await TestS3.start();
  server = await startServer({ env: s3.settings });
  admin = await server.addUser(["--admin"]);
  user = await server.addUser(["--role", "user"]);
}, 120_000);
afterEach(() => {
  s3.behavior = "well";
});
afterAll(async () => {
  await dispose(server);
  await s3.stop();
});

const check = () => runJob(admin.client, "blob-places");

/** Titles of a device's notifications about the bucket. */
async function messagesOf(phone: TestDevice): Promise<string[]> {
  const inbox = await phone.client.get("/api/mobile/notifications?limit=100");
  return inbox.strings("data.notifications", "title").filter((title) => title.includes("bucket"));
}

const health = (headers: Record<string, string> = {}) => admin.client.get("/api/admin/health", headers);
const metric = async (name: string) =>
  Number(new RegExp(`^${name} (\\S+)$`, "m").exec((await admin.client.get("/metrics")).text)?.[1]);

// First, because a phone registered during an outage may get the notification of an earlier test's outage.
test("administrators get one notification per outage, and no one else does", async () => {
  const [adminPhone, userPhone] = [await registerDevice(server, admin), await registerDevice(server, user)];
  s3.behavior = "failing";
  for (let count = 0; count < 4; count++) await check();
  expect(await messagesOf(adminPhone)).toHaveLength(1);
  s3.behavior = "well";
  await check();
  s3.behavior = "failing";
  for (let count = 0; count < 2; count++) await check();
  await eventually("the second outage", async () => (await messagesOf(adminPhone)).length === 2);
  expect(await messagesOf(userPhone)).toEqual([]);
}, 120_000);

test("health reports a working bucket", async () => {
  await check();
  const response = await health();
  expect(response.at("data.bucket")).toEqual({ isUp: true, problem: null, since: null, waiting: 0 });
  expect(await metric("larder_bucket_up")).toBe(1);
  expect(await metric("larder_bucket_outage_seconds")).toBe(0);
});

test("health, metrics and doctor report an outage, with the number of local blobs", async () => {
  s3.behavior = "failing";
  for (let count = 0; count < 3; count++) await admin.client.stored(randomContent(1_000));
  await check();
  const response = await health();
  expect(response.at("data.status")).toBe("error");
  expect(response.at("data.bucket")).toMatchObject({ isUp: false, waiting: 3 });
  expect(response.string("data.bucket.problem")).toContain("can't serve now");
  expect(Date.parse(response.string("data.bucket.since"))).toBeLessThanOrEqual(Date.now());
  const problems = response.list("data.problems").map((_, index) => response.string(`data.problems.${index}.about`));
  expect(problems).toContain("bucket");
  const german = (await health({ "accept-language": "de" })).list("data.problems");
  expect(german).toContainEqual({
    severity: "error",
    about: "bucket",
    message: expect.stringContaining("3 Inhalte liegen nur auf diesem Datenträger."),
  });
  expect(await metric("larder_bucket_up")).toBe(0);
  expect(await metric("larder_bucket_outage_seconds")).toBeGreaterThan(0);
  const doctor = await server.larder(["doctor", "--json"]);
  const found: unknown = JSON.parse(doctor.stdout);
  expect(found).toMatchObject({
    findings: expect.arrayContaining([
      expect.objectContaining({
        about: "bucket",
        state: "wrong",
        text: expect.stringContaining("3 blobs are stored only on this disk"),
      }),
    ]),
  });
  s3.behavior = "well";
  await check();
  expect((await health()).at("data.bucket")).toEqual({ isUp: true, problem: null, since: null, waiting: 0 });
}, 120_000);

testAllResponses(() => server);
