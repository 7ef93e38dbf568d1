// Whose a bucket without a replica is: one server deletes objects, copies and other stores do not.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { OWNER_MARKER, TestS3 } from "../support/s3-server.ts";
import { dispose, startServer, temporaryDirectory, type TestServer } from "../support/server.ts";

let s3: TestS3;
const servers: TestServer[] = [];
const folders: string[] = [];

beforeAll(async () => {
  s3 = await TestS3.start();
});

afterEach(async () => {
  for (const server of servers.splice(0)) await dispose(server);
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
  await s3.clear();
  s3.conditions = "known";
});

afterAll(() => s3.stop());

async function start(dataDir?: string): Promise<TestServer> {
  const server = await startServer({ env: s3.settings, ...(dataDir !== undefined && { dataDir }) });
  servers.push(server);
  return server;
}

const marker = async (): Promise<unknown> => JSON.parse((await s3.readObject(OWNER_MARKER)) ?? "");
const COPY = "Another copy of this data directory owns the bucket";

test("of fresh servers that find a free bucket at the same time, one becomes its owner", async () => {
  const results = await Promise.allSettled([start(), start(), start()]);
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const result of results) {
    if (result.status === "rejected") expect(String(result.reason)).toContain("has the data of another server");
  }
});

test("the copy of a stopped server does not own the bucket, its original does", async () => {
  const server = await start();
  await server.stop();
  const folder = await temporaryDirectory();
  folders.push(folder);
  const copied = join(folder, "copy");
  await cp(server.dataDir, copied, { recursive: true, preserveTimestamps: true });
  const copy = await start(copied);
  await server.start();
  expect(copy.log).toContain(COPY);
  expect(server.log).not.toContain(COPY);
  expect((await copy.larder(["doctor"])).stdout).toMatch(/in use by another copy of this data directory/);
  expect((await server.larder(["doctor"])).stdout).toMatch(/in use by this server/);
});

test("a marker of an older version, without a directory, becomes one with it", async () => {
  const server = await start();
  const first = await marker();
  await server.stop();
  await s3.writeObject(OWNER_MARKER, JSON.stringify({ ...Object(first), directory: undefined }));
  await server.start();
  expect(await marker()).toEqual(first);
  expect(server.log).not.toContain(COPY);
});

test.each(["unknown", "ignored"] as const)("a service without conditions (%s) has an owner too", async (conditions) => {
  s3.conditions = conditions;
  await start();
  expect(await marker()).toMatchObject({ directory: expect.any(String) });
});
