// Small objects against the tests' S3 service, and services that do not know conditions.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { SmallObjects } from "../../../../src/blobs/s3/small-objects.ts";
import { probeConditions } from "../../../../src/features/storage/replication/probe.ts";
import { TestS3 } from "../../../support/s3-server.ts";

let s3: TestS3;
let objects: SmallObjects;

beforeAll(async () => {
  s3 = await TestS3.start();
});

afterAll(() => s3.stop());

beforeEach(async () => {
  await s3.clear();
  s3.conditions = "known";
  objects = open(2_000);
});

function open(timeoutMs: number, endpoint = s3.settings["LARDER_S3_ENDPOINT"] ?? ""): SmallObjects {
  const keys = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };
  return new SmallObjects({ endpoint, region: "us-east-1", bucket: "larder", isPathStyle: true, ...keys }, timeoutMs);
}

test("objects are written, read, replaced and removed", async () => {
  expect(await objects.read("a/b")).toBeUndefined();
  expect(await objects.exists("a/b")).toBe(false);
  await objects.write("a/b", "one");
  expect(await objects.exists("a/b")).toBe(true);
  await objects.write("a/b", "two");
  expect(await objects.read("a/b")).toBe("two");
  await objects.remove("a/b");
  await objects.remove("a/b");
  expect(await objects.read("a/b")).toBeUndefined();
});

test("a deletion that is delayed on its way is rejected", async () => {
  await objects.write("a/b", "one");
  const send = objects.prepareRemoval("a/b", 1);
  // The service compares whole seconds of its own clock.
  await Bun.sleep(2_100);
  await expect(send()).rejects.toMatchObject({ problem: "refused" });
  expect(await objects.read("a/b")).toBe("one");
  await objects.prepareRemoval("a/b", 60)();
  expect(await objects.read("a/b")).toBeUndefined();
});

test("of many creations at a time one succeeds", async () => {
  const results = await Promise.all(
    Array.from({ length: 12 }, (_, index) => objects.createOnce("lease/1", `${index}`)),
  );
  expect(results.filter((result) => result === "created")).toHaveLength(1);
  expect(await objects.read("lease/1")).toBe(String(results.indexOf("created")));
});

test("only the service's own word for a missing key counts as missing", async () => {
  const server = Bun.serve({ port: 0, fetch: () => new Response("<html>Not here</html>", { status: 404 }) });
  await expect(open(2_000, `http://127.0.0.1:${server.port}`).read("lease/2")).rejects.toThrow(/can't serve now.*404/);
  await expect(open(2_000, `http://127.0.0.1:${server.port}`).exists("lease/2")).rejects.toThrow(
    /can't serve now.*404/,
  );
  await server.stop(true);
});

test("a silent service ends the request", async () => {
  s3.behavior = "hanging";
  await expect(open(50).read("a")).rejects.toThrow("did not answer in time");
});

test("a service that is away, or refuses, is reported as such", async () => {
  await expect(open(2_000, "http://127.0.0.1:9").read("a")).rejects.toMatchObject({ problem: "unreachable" });
  s3.behavior = "failing";
  await expect(objects.createOnce("a", "1")).rejects.toMatchObject({ problem: "unreachable" });
});

test("a service that creates objects only once passes, and nothing is left behind", async () => {
  await probeConditions(objects, "home/");
  expect(await s3.keys("home/probe/")).toEqual([]);
});

test("services that do not know conditions are rejected, with what they did", async () => {
  s3.conditions = "unknown";
  await expect(probeConditions(objects, "home/")).rejects.toThrow(/NotImplemented \(status 501\).*Swift can't/);
  s3.conditions = "ignored";
  await expect(probeConditions(objects, "home/")).rejects.toThrow(/It replaced the object.*Ceph/);
  s3.conditions = "racing";
  await expect(probeConditions(objects, "home/")).rejects.toThrow(/at once for a new key, \d succeeded/);
});
