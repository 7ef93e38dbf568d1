// Only one server writes to a store that has a replica. The others say who owns it.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Account } from "../support/client.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { replicatedSettings } from "../support/replicated.ts";
import { TestS3 } from "../support/s3-server.ts";
import { dispose, runLarder, startServer, temporaryDirectory, TestServer } from "../support/server.ts";

let s3: TestS3;
let folder: string;
let env: Record<string, string>;
const servers: TestServer[] = [];

beforeAll(async () => {
  s3 = await TestS3.start();
});

beforeEach(async () => {
  await s3.clear();
  s3.conditions = "known";
  folder = await temporaryDirectory();
  env = { ...(await replicatedSettings(s3, folder)), LARDER_REPLICA_LEASE: "2s" };
});

afterEach(async () => {
  s3.behavior = "well";
  for (const server of servers.splice(0)) {
    server.signal("SIGCONT");
    await dispose(server);
  }
  await rm(folder, { recursive: true, force: true });
});

afterAll(() => s3.stop());

async function start(dataDir?: string): Promise<TestServer> {
  const server = await startServer({
    env,
    hasAccounts: dataDir === undefined,
    ...(dataDir !== undefined && { dataDir }),
  });
  servers.push(server);
  return server;
}

/** The output of a server that does not start. */
async function startProblem(dataDir: string): Promise<string> {
  const command = ["serve", "--data", dataDir, "--host", "127.0.0.1", "--port", "0"];
  const { code, stdout, stderr } = await runLarder(command, { env });
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  return stderr;
}

/** Another machine takes over. */
async function takeOver(epoch: number): Promise<void> {
  const previous: unknown = JSON.parse((await s3.readObject(`replica/lease/0000000${epoch - 1}`)) ?? "");
  const lease = {
    ...Object(previous),
    epoch,
    path: `db/0000000${epoch}`,
    holder: "b",
    bootId: "b",
    host: "machine-b",
    run: "b",
  };
  await s3.writeObject(`replica/lease/0000000${epoch}`, JSON.stringify(lease));
}

function write(account: Account, name: string) {
  return account.client.put("/api/users/profile", { name });
}

/** Repeats a request until it has this status: the server learns of a change within its lease time. */
async function until(status: number, request: () => Promise<{ status: number }>): Promise<void> {
  const deadlineMs = Date.now() + 30_000;
  for (;;) {
    const response = await request();
    if (response.status === status) return;
    if (Date.now() > deadlineMs) throw new Error(`status ${response.status} instead of ${status}`);
  }
}

const leases = () => s3.keys("replica/lease/");

test("of two fresh servers at one path, one starts, and the other names it", async () => {
  const results = await Promise.allSettled([start(), start()]);
  const failed = results.find((result) => result.status === "rejected");
  expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(String(failed?.reason)).toMatch(/belongs to another store, of .*epoch 1\)|epoch 1\) owns this store/);
  expect(await leases()).toEqual(["replica/lease/00000001"]);
});

test("a copied directory never starts as the owner", async () => {
  const server = await start();
  await server.stop();
  const copy = join(folder, "copy");
  await cp(server.dataDir, copy, { recursive: true, preserveTimestamps: true });
  const problem = await startProblem(copy);
  expect(problem).toMatch(/epoch 1\) owns this store.*larder standby.*larder promote/);
  await server.start();
  expect(await leases()).toEqual(["replica/lease/00000001", "replica/lease/00000002"]);
});

test("after a stop or a crash the owner continues with the same path", async () => {
  const server = await start();
  expect(server.log).toMatch(/owns the store.*db\/00000001/);
  await server.restart();
  await server.kill9();
  await server.start();
  expect(await leases()).toHaveLength(3);
  expect(JSON.parse((await s3.readObject("replica/lease/00000003")) ?? "")).toMatchObject({ path: "db/00000001" });
});

test("a stop releases the lease", async () => {
  const server = await start();
  await server.stop();
  expect(JSON.parse((await s3.readObject("replica/heartbeat/00000001")) ?? "")).toMatchObject({ isReleased: true });
});

test("an owner that was stopped past its lease confirms nothing after another server took over", async () => {
  const server = await start();
  const account = await server.signUp();
  expectStatus(await write(account, "before"), 200);
  server.signal("SIGSTOP");
  await takeOver(2);
  server.signal("SIGCONT");
  await until(503, () => write(account, `after-${crypto.randomUUID()}`));
  await until(503, () => server.visitor.get("/health/ready"));
  const ready = await server.visitor.get("/health/ready");
  expect(ready.text).toMatch(/machine-b.*has taken over.*larder standby/);
  expectStatus(await server.visitor.get("/health/live"), 200);
  expectError(await account.client.get("/api/files"), 503, "provider_unavailable");
  expect((await server.visitor.get("/")).status).toBe(503);
});

test("an old owner does not start again", async () => {
  const server = await start();
  await server.kill9();
  await takeOver(2);
  expect(await startProblem(server.dataDir)).toMatch(/machine-b.*epoch 2\) owns this store.*larder standby/);
  const added = await server.larder(["user", "add", "eve@example.org", "--password-stdin"], {
    stdin: "correct horse 1\n",
  });
  expect(added).toMatchObject({ code: 2, stderr: expect.stringMatching(/machine-b.*owns this store/) });
});

test("an owner that was paused and not replaced continues", async () => {
  const server = await start();
  const account = await server.signUp();
  server.signal("SIGSTOP");
  // Longer than the lease: a stopped process reports nothing that could be awaited.
  await Bun.sleep(2_500);
  server.signal("SIGCONT");
  await until(200, () => write(account, `after-${crypto.randomUUID()}`));
});

test("while the bucket is away, nothing can be changed, everything on this disk can be read, and then it continues", async () => {
  const server = await start();
  const account = await server.signUp();
  // On a busy machine, the lease may have to be renewed first.
  await until(200, () => write(account, `one-${crypto.randomUUID()}`));
  s3.behavior = "failing";
  await until(503, () => write(account, `two-${crypto.randomUUID()}`));
  expectError(await write(account, "three"), 503, "provider_unavailable");
  expectStatus(await account.client.get("/api/files"), 200);
  s3.behavior = "well";
  await until(200, () => write(account, `four-${crypto.randomUUID()}`));
});

test.each([
  ["unknown", /NotImplemented \(status 501\)/],
  ["ignored", /It replaced the object/],
] as const)("a service that does not create objects only once (%s) is rejected in words", async (conditions, what) => {
  s3.conditions = conditions;
  const directory = join(folder, "new");
  const problem = await startProblem(directory);
  expect(problem).toMatch(what);
  expect(problem).toMatch(/can't make sure that only one server writes/);
});
