// `larder user app-password`, and what becomes of app passwords when a server is restored or rebuilt.
import { describe, expect, test } from "bun:test";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { createAppPassword, openDav, sendDav } from "../support/app-passwords.ts";
import { expectStatus } from "../support/expect.ts";
import { runInProcess } from "../support/in-process.ts";
import { asObject } from "../support/openapi.ts";
import { runLarder, sharedServer, temporaryDirectory, withServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });
const inProcess = (args: string[]) => runInProcess(args, { env: server().commandEnv, stdin: "" });

describe("user app-password", () => {
  test("prints the password alone, and it works at once", async () => {
    const { email, client } = await server().signUp();
    const { code, stdout } = await server().larder(["user", "app-password", email, "--name", "laptop"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^([a-z2-9]{5}-){5}[a-z2-9]{5}\n$/);
    const appPassword = { username: email, password: stdout.trim() };
    expectStatus(await sendDav(server(), appPassword, "PUT", "a.txt", { body: "x" }), 201);
    const list = await client.get("/api/users/app-passwords");
    expect(list.list("data.appPasswords")).toMatchObject([{ name: "laptop", access: "write", folder: "/" }]);
  });

  test("prints everything as JSON, reads only, and opens one folder", async () => {
    const { email, client } = await server().signUp();
    await client.folderId("scans");
    const args = ["user", "app-password", email, "--name", "scanner", "--read-only", "--folder", "/scans", "--json"];
    const { code, stdout } = await inProcess(args);
    expect(code).toBe(0);
    const record = asObject(JSON.parse(stdout)) ?? {};
    expect(record).toMatchObject({ name: "scanner", access: "read", folder: "/scans", username: email });
    expect(record["url"]).toEndWith("/dav/");
    const appPassword = { username: email, password: String(record["password"]) };
    expectStatus(await openDav(server(), appPassword), 200);
    expectStatus(await sendDav(server(), appPassword, "PUT", "a.txt", { body: "x" }), 403);
  });

  test("is audited without the password", async () => {
    const [account, admin] = [await server().signUp(), await server().addUser(["--admin"])];
    const { stdout } = await inProcess(["user", "app-password", account.email, "--name", "laptop"]);
    const audit = await admin.client.get(`/api/admin/audit?limit=100&user=${account.id}`);
    expect(audit.list("data.entries")).toContainEqual(
      expect.objectContaining({ action: "user.app_password", via: expect.objectContaining({ kind: "cli" }) }),
    );
    expect(audit.text).not.toContain(stdout.trim());
  });

  test("creates none without a name, for unknown and disabled accounts, and for missing folders", async () => {
    const { email, id, client } = await server().signUp();
    const command = ["user", "app-password"];
    const attempts = [
      [...command, email],
      [...command, "nobody@example.org", "--name", "x"],
      [...command, email, "--name", "x", "--folder", "/missing"],
    ];
    for (const args of attempts) {
      const { code, stdout } = await inProcess(args);
      expect({ args, isFailed: code !== 0, stdout }).toEqual({ args, isFailed: true, stdout: "" });
    }
    expect((await client.get("/api/users/app-passwords")).list("data.appPasswords")).toEqual([]);
    await server().change(id, { disabled: true });
    const { code, stdout } = await inProcess([...command, email, "--name", "x"]);
    expect({ isFailed: code !== 0, stdout }).toEqual({ isFailed: true, stdout: "" });
  });
});

test("user set --end-keys ends app passwords", async () => {
  const account = await server().signUp();
  const appPassword = await createAppPassword(account);
  expectStatus(await openDav(server(), appPassword), 200);
  const args = ["user", "set", account.email, "--password-stdin", "--end-keys"];
  expect((await server().larder(args, { stdin: "another password" })).code).toBe(0);
  expectStatus(await openDav(server(), appPassword), 401);
});

test("a restored backup has them, unless --sign-out ends them", async () => {
  await withServer({}, async (own) => {
    const account = await own.signUp();
    const appPassword = await createAppPassword(account);
    const flow = await own.visitor.request("POST", "/login/v2");
    const path = `/api/users/login-flows/${flow.string("login").split("/").at(-1)}`;
    expectStatus(await account.client.post(path, { currentPassword: account.password }), 200);
    const backup = join(await temporaryDirectory(), "backup");
    expect((await own.larder(["backup", backup])).code).toBe(0);
    for (const [flags, status, pollStatus] of [
      [[], 200, 200],
      [["--sign-out"], 401, 404],
    ] as const) {
      const dataDir = join(await temporaryDirectory(), "data");
      const restored = await runLarder(["restore", backup, "--data", dataDir, ...flags]);
      expect({ code: restored.code, stderr: restored.stderr }).toEqual({ code: 0, stderr: expect.any(String) });
      await withServer({ dataDir }, async (copy) => {
        expectStatus(await openDav(copy, appPassword), status);
        // A person agreed to the sign-in of a program before the backup.
        expectStatus(await copy.visitor.post("/login/v2/poll", { token: flow.string("poll.token") }), pollStatus);
      });
      await rm(dataDir, { recursive: true });
    }
    await rm(backup, { recursive: true });
  });
});

test("a rebuilt server has none, and the command says so", async () => {
  await withServer({}, async (own) => {
    const appPassword = await createAppPassword(await own.signUp());
    await own.stop();
    const database = (await readdir(own.dataDir)).filter((name) => name.startsWith("larder.db"));
    for (const name of database) await rm(join(own.dataDir, name));
    const { code, stdout, stderr } = await own.larder(["rebuild", "--force"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
    expect(stdout).toContain("app passwords");
    await own.start();
    expectStatus(await openDav(own, appPassword), 401);
  });
});
