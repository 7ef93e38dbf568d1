// `larder replica`, and what other commands say about the replica of a running server.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, rm, writeFile } from "node:fs/promises";
import { statSync } from "node:fs";
import { join } from "node:path";
import { expectStatus } from "../support/expect.ts";
import { until } from "../support/litestream.ts";
import { replicatedSettings } from "../support/replicated.ts";
import { TestS3 } from "../support/s3-server.ts";
import { dispose, runLarder, startServer, temporaryDirectory, type TestServer } from "../support/server.ts";

let s3: TestS3;
let server: TestServer;
let folder: string;
let env: Record<string, string>;

beforeAll(async () => {
  s3 = await TestS3.start();
  folder = await temporaryDirectory();
  env = await replicatedSettings(s3, folder);
  server = await startServer({ env, hasAccounts: true });
}, 120_000);
afterAll(async () => {
  await dispose(server);
  await s3.stop();
  await rm(folder, { recursive: true, force: true });
});

test("key makes a private file, once", async () => {
  const path = join(folder, "new.key");
  expect(await runLarder(["replica", "key", path])).toMatchObject({ code: 0, stdout: expect.stringContaining(path) });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const again = await runLarder(["replica", "key", path]);
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining("exists. A key is never replaced") });
});

test("status shows the owner, what is in the bucket, and the lag of the running server", async () => {
  const status = await until(async () => {
    const { code, stdout } = await server.larder(["replica", "status", "--json"], { env });
    expect(code).toBe(0);
    const found = JSON.parse(stdout);
    return found.local?.position !== undefined && found.local.position !== null ? found : undefined;
  }, "the server has published its position");
  expect(status).toMatchObject({
    owner: { epoch: 1, path: "db/00000001", isReleased: false },
    local: { problem: null },
  });
  expect(status.stored.objects).toBeGreaterThan(1);
  expect(status.stored.newestSnapshotAtMs).toBeGreaterThan(Date.now() - 600_000);
  const { stdout } = await server.larder(["replica", "status"], { env });
  expect(stdout).toMatch(/^Owner .*epoch 1\)$/m);
  expect(stdout).toMatch(/^Lag of the server here .* ms$/m);
});

test("doctor and the metrics name the replica", async () => {
  const { stdout } = await server.larder(["doctor"], { env });
  expect(stdout).toMatch(/^ok +replica: s3:\/\/.*litestream 0\.3\.13; \d+ ms late$/m);
  const admin = await server.addUser(["--admin"]);
  const metrics = await admin.client.get("/metrics");
  expectStatus(metrics, 200);
  const text = new TextDecoder().decode(metrics.bytes);
  expect(text).toContain("larder_replica_up 1");
  expect(text).toMatch(/^larder_replica_lag_seconds [\d.]+$/m);
});

test("rotate-secrets sends the new keys, sealed", async () => {
  const sealed = async () =>
    (
      await fetch(`${s3.settings["LARDER_S3_ENDPOINT"]}/${s3.settings["LARDER_S3_BUCKET"]}/replica/secrets/jwt.sealed`)
    ).text();
  const before = await sealed();
  const { code, stdout } = await server.larder(["config", "rotate-secrets"], { env });
  expect(code).toBe(0);
  expect(stdout).toContain("Sent the sealed keys to the replica.");
  expect(await sealed()).not.toBe(before);
});

test("a key file that others can read, or that is none, stops the start before the lease is taken", async () => {
  const path = join(folder, "other.key");
  const start = () =>
    runLarder(["serve", "--data", join(folder, "other")], { env: { ...env, LARDER_REPLICA_KEY_FILE: path } });
  expect(await start()).toMatchObject({ code: 2, stderr: expect.stringContaining(`larder replica key ${path}`) });
  await writeFile(path, "secret\n");
  await chmod(path, 0o644);
  expect(await start()).toMatchObject({ code: 2, stderr: expect.stringContaining(`chmod 600 ${path}`) });
  await chmod(path, 0o600);
  expect(await start()).toMatchObject({ code: 2, stderr: expect.stringContaining("32 bytes in base64") });
});
