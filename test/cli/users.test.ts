import { describe, expect, test } from "bun:test";
import { readdir, rm, writeFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { Client, freshEmail } from "../support/client.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { runInProcess } from "../support/in-process.ts";
import { registerDevice } from "../support/mobile.ts";
import { asObject } from "../support/openapi.ts";
import { runLarder, sharedServer, temporaryDirectory, withServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });
const password = "correct horse battery";

/** Runs a command in this process, while the server runs. */
const inProcess = (args: string[], stdin = "") => runInProcess(args, { env: server().commandEnv, stdin });

describe("user add", () => {
  test("creates an account immediately, while the server runs", async () => {
    const email = freshEmail();
    const flags = [
      "--name",
      "Ada Lovelace",
      "--plan",
      "pro",
      "--role",
      "user",
      "--quota",
      "123456",
      "--password-stdin",
    ];
    const added = await server().larder(["user", "add", email, ...flags], { stdin: password });
    expect({ code: added.code, stderr: added.stderr }).toEqual({ code: 0, stderr: expect.any(String) });
    const response = await server().visitor.post("/api/auth/signin", { email, password });
    expectStatus(response, 200);
    const client = new Client(server(), response.string("token"));
    expect((await client.get("/api/users/profile")).json).toMatchObject({
      data: { email, name: "Ada Lovelace", role: "user", plan: "pro" },
    });
    expect((await client.get("/api/users/usage")).at("data.storage.quota")).toBe(123_456);
  });

  test("reads the password from a file, without its line end", async () => {
    const folder = await temporaryDirectory();
    try {
      await writeFile(join(folder, "password"), `${password}\n`);
      const email = freshEmail();
      const args = ["user", "add", email, "--password-file", join(folder, "password")];
      expect((await server().larder(args)).code).toBe(0);
      expectStatus(await server().visitor.post("/api/auth/signin", { email, password }), 200);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("rejects an existing or invalid address, a short password, and unknown values, and creates nothing", async () => {
    const { email } = await server().signUp();
    const rows: [string[], string][] = [
      [["user", "add", email.toUpperCase(), "--password-stdin"], password],
      [["user", "add", "no address", "--password-stdin"], password],
      [["user", "add", freshEmail(), "--password-stdin"], "short"],
      [["user", "add", freshEmail(), "--role", "king", "--password-stdin"], password],
      [["user", "add", freshEmail(), "--plan", "gold", "--password-stdin"], password],
      [["user", "add", freshEmail(), "--quota", "-1", "--password-stdin"], password],
      [["user", "add", freshEmail(), "--password-file", "/nonexistent"], ""],
      [["user", "add", freshEmail()], ""],
      [["user", "add"], ""],
    ];
    const count = async () => (await inProcess(["user", "list", "--json"])).stdout.split("@").length;
    const before = await count();
    const taken = await server().larder(["user", "add", email.toUpperCase(), "--password-stdin"], { stdin: password });
    expect({ code: taken.code, hasMessage: taken.stderr.trim() !== "" }).toEqual({ code: 1, hasMessage: true });
    for (const [args, stdin] of rows) {
      const { code, stderr } = await inProcess(args, stdin);
      expect({ args, refused: code !== 0, hasMessage: stderr.trim() !== "" }).toEqual({
        args,
        refused: true,
        hasMessage: true,
      });
    }
    expect(await count()).toBe(before);
  });
});

describe("user set", () => {
  test("changes role and plan immediately", async () => {
    const { client, email } = await server().signUp();
    expect((await server().larder(["user", "set", email, "--plan", "pro"])).code).toBe(0);
    const signedIn = await server().visitor.post("/api/auth/signin", { email, password });
    const fresh = new Client(server(), signedIn.string("token"));
    expect((await fresh.get("/api/users/profile")).at("data.plan")).toBe("pro");
    expect((await inProcess(["user", "set", email, "--role", "viewer"])).code).toBe(0);
    const upload = await client.upload("x");
    expect([401, 403]).toContain(upload.status);
  });

  test("changes the password immediately, and ends the old sessions", async () => {
    const { client, email } = await server().signUp();
    const set = await server().larder(["user", "set", email, "--password-stdin"], { stdin: "another password" });
    expect(set.code).toBe(0);
    expectError(await server().visitor.post("/api/auth/signin", { email, password }), 401, "bad_credentials");
    expectStatus(await server().visitor.post("/api/auth/signin", { email, password: "another password" }), 200);
    expectError(await client.get("/api/auth/session"), 401, "revoked_token");
  });

  test("disables immediately: no session and no link works, and the reason needs the right password", async () => {
    const { client, email } = await server().signUp();
    const id = await client.storedId("x", { fields: { isPublic: "true" } });
    const link = new URL((await client.get(`/api/files/${id}`)).string("data.shareLink")).pathname;
    expect((await server().larder(["user", "set", email, "--disable"])).code).toBe(0);
    const refused = await client.get("/api/files");
    expect([401, 403]).toContain(refused.status);
    expectError(await server().visitor.post("/api/auth/signin", { email, password }), 403, "account_disabled");
    const wrong = await server().visitor.post("/api/auth/signin", { email, password: "wrong password" });
    expectError(wrong, 401, "bad_credentials");
    expectStatus(await server().visitor.get(`${link}/download`), 404);
    expect((await inProcess(["user", "set", email, "--enable"])).code).toBe(0);
    expectStatus(await server().visitor.post("/api/auth/signin", { email, password }), 200);
  });

  test("of an unknown account is rejected", async () => {
    expect((await inProcess(["user", "set", freshEmail(), "--plan", "pro"])).code).not.toBe(0);
  });
});

describe("user set, like the PATCH of an administrator,", () => {
  test("resets the quota to the plan's, and notifies the owner of a new password", async () => {
    const account = await server().signUp();
    const phone = await registerDevice(server(), account);
    expect((await inProcess(["user", "set", account.email, "--quota", "10"])).code).toBe(0);
    expect((await phone.client.get("/api/users/usage")).at("data.storage.quota")).toBe(10);
    expect((await inProcess(["user", "set", account.email, "--quota", "plan"])).code).toBe(0);
    expect((await phone.client.get("/api/users/usage")).at("data.storage.quota")).toBe(null);
    const next = "another password";
    expect((await inProcess(["user", "set", account.email, "--password-stdin"], next)).code).toBe(0);
    expectError(await phone.client.get("/api/users/usage"), 401, "revoked_token");
    const again = await registerDevice(server(), { ...account, password: next });
    const inbox = await again.client.get("/api/mobile/notifications");
    expect(inbox.strings("data.notifications", "body").join(" ")).toContain(
      "password of your account was changed by an administrator",
    );
  });
});

describe("user invite", () => {
  test("prints a link for one account, while the server runs", async () => {
    const email = freshEmail();
    const flags = ["--email", email, "--role", "viewer", "--plan", "pro", "--expires", "2h", "--json"];
    const { code, stdout } = await server().larder(["user", "invite", "--port", String(server().port), ...flags]);
    expect(code).toBe(0);
    const made = asObject(JSON.parse(stdout)) ?? {};
    expect(made["url"]).toBe(`${server().url}/invite?token=${String(made["invite"])}`);
    const left = Date.parse(String(made["expiresAt"])) - Date.now();
    expect(left).toBeGreaterThan(7_100_000);
    expect(left).toBeLessThanOrEqual(7_200_000);
    const response = await server().visitor.post("/api/auth/signup", { email, password, invite: made["invite"] });
    expectStatus(response, 201);
    const profile = await new Client(server(), response.string("token")).get("/api/users/profile");
    expect(profile.at("data")).toMatchObject({ role: "viewer", plan: "pro" });
  });

  test("prints only the link, and rejects unknown values", async () => {
    const { code, stdout } = await server().larder(["user", "invite"]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^http\S+\/invite\?token=[\w-]{22,}\n$/),
    });
    for (const flags of [
      ["--expires", "soon"],
      ["--role", "king"],
      ["--plan", "gold"],
      ["--email", "nobody"],
      ["--port", "0"],
    ]) {
      const refused = await inProcess(["user", "invite", ...flags]);
      expect({ flags, refused: refused.code !== 0, stdout: refused.stdout }).toEqual({
        flags,
        refused: true,
        stdout: "",
      });
    }
  });
});

describe("user erase", () => {
  test("requires --yes, then deletes the account immediately", async () => {
    const { client, email } = await server().signUp();
    expect((await inProcess(["user", "erase", email])).code).not.toBe(0);
    expectStatus(await client.get("/api/files"), 200);
    expect((await server().larder(["user", "erase", email, "--yes"])).code).toBe(0);
    expectError(await client.get("/api/files"), 401, "revoked_token");
    expect((await inProcess(["user", "erase", email, "--yes"])).code).not.toBe(0);
    expect((await inProcess(["user", "list"])).stdout).not.toContain(email);
  });

  test("keeps the last administrator", async () => {
    const users: { email: string; role: string }[] = JSON.parse((await inProcess(["user", "list", "--json"])).stdout);
    const [admin, ...others] = users.filter(({ role }) => role === "admin");
    if (admin === undefined || others.length > 0) throw new Error("there must be one administrator");
    const { email } = admin;
    const { code, stderr } = await server().larder(["user", "erase", email, "--yes"]);
    expect({ code: code !== 0, hasMessage: stderr.includes("only administrator") }).toEqual({
      code: true,
      hasMessage: true,
    });
    expectStatus(await server().visitor.post("/api/auth/signin", { email, password }), 200);
  });
});

describe("user list", () => {
  test("shows every account, as text and as JSON, without secrets", async () => {
    const { email, id } = await server().signUp();
    const text = await server().larder(["user", "list"]);
    expect({ code: text.code, listed: text.stdout.includes(email) }).toEqual({ code: 0, listed: true });
    const { code, stdout } = await server().larder(["user", "list", "--json"]);
    expect(code).toBe(0);
    const parsed: unknown = JSON.parse(stdout);
    const users = Array.isArray(parsed) ? parsed : asObject(parsed)?.["users"];
    expect(users).toContainEqual(expect.objectContaining({ id, email, role: "user", plan: "enterprise" }));
    expect(stdout).not.toMatch(/argon2|hash/i);
  });
});

describe("user token", () => {
  test("prints only the token, which works immediately", async () => {
    const { email, id } = await server().signUp();
    const { code, stdout } = await server().larder(["user", "token", email]);
    expect(code).toBe(0);
    const token = stdout.trim();
    expect(token.split(".")).toHaveLength(3);
    const session = await new Client(server(), token).get("/api/auth/session");
    expectStatus(session, 200);
    expect(session.at("user.id")).toBe(id);
  });

  test("prints token, expiry and user as JSON", async () => {
    const { email, id } = await server().signUp();
    const { code, stdout } = await server().larder(["user", "token", email, "--json"]);
    expect(code).toBe(0);
    const response = asObject(JSON.parse(stdout)) ?? {};
    expect(response).toMatchObject({ expiresIn: expect.stringMatching(/^\d+[smhd]$/), user: { id, email } });
    expectStatus(await new Client(server(), String(response["token"])).get("/api/auth/session"), 200);
  });

  test("of an unknown account is rejected, and prints no token", async () => {
    const { code, stdout } = await inProcess(["user", "token", freshEmail()]);
    expect({ code: code !== 0, stdout }).toEqual({ code: true, stdout: "" });
  });

  test("ends with sign-out everywhere, like any other session", async () => {
    const { client, email } = await server().signUp();
    const token = (await inProcess(["user", "token", email])).stdout.trim();
    await client.post("/api/auth/signout", { everywhere: true });
    expectError(await new Client(server(), token).get("/api/auth/session"), 401, "revoked_token");
  });
});

describe("user setup-link", () => {
  const empty = sharedServer();

  test("rejects port 0, whose address is unknown, and leaves the earlier link", async () => {
    const own = empty();
    const { code, stdout } = await own.larder(["user", "setup-link", "--port", "0"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expectStatus(await own.visitor.get(/\/setup\?token=[\w-]+/.exec(own.log)?.[0] ?? ""), 200);
  });

  test("starts with the public address, or with host, port, and base path", async () => {
    const rows: [Record<string, string>, string][] = [
      [{ LARDER_PUBLIC_URL: "https://x.example/files" }, "https://x.example/files/setup?token="],
      [{ LARDER_BASE_PATH: "/files" }, "http://127.0.0.1:8790/files/setup?token="],
      [{ LARDER_HOST: "::1", LARDER_PORT: "9000" }, "http://[::1]:9000/setup?token="],
    ];
    for (const [env, start] of rows) {
      const { code, stdout } = await runInProcess(["user", "setup-link"], { env: { ...empty().commandEnv, ...env } });
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/token=[\w-]+\n$/) });
      expect(stdout).toStartWith(start);
    }
  });

  // It began with http://0.0.0.0:8790, which no other machine can open.
  test("has an address of this machine if the server listens on all of them", async () => {
    const env = { ...empty().commandEnv, LARDER_HOST: "0.0.0.0" };
    const { hostname } = new URL((await runInProcess(["user", "setup-link"], { env })).stdout.trim());
    const [first = "127.0.0.1"] = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .flatMap(({ internal, family, address }) => (internal || family !== "IPv4" ? [] : [address]));
    expect(hostname).toBe(first);
  });

  test("is rejected if there is an administrator, and prints no link", async () => {
    const { code, stdout, stderr } = await inProcess(["user", "setup-link"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("larder user add");
  });

  test("creates no database", async () => {
    const folder = await temporaryDirectory();
    try {
      const { code } = await runInProcess(["user", "setup-link"], { env: { LARDER_DATA: folder } });
      expect({ code, files: await readdir(folder) }).toEqual({ code: 2, files: [] });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  // The last one, because it creates an administrator.
  test("prints a new link while the server runs, and ends the earlier one", async () => {
    const own = empty();
    await own.restart();
    const printed = /.*(\/setup\?token=[\w-]+)/s.exec(own.log)?.[1] ?? "";
    expectStatus(await own.visitor.get(printed), 200);
    const { code, stdout } = await own.larder(["user", "setup-link", "--port", String(own.port)]);
    expect(code).toBe(0);
    const link = stdout.trimEnd();
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/setup\?token=[\w-]{22,}$/);
    expect(link).toStartWith(`${own.url}/`);
    expectStatus(await own.visitor.get(printed), 404);
    const { pathname, search, searchParams } = new URL(link);
    expectStatus(await own.visitor.get(pathname + search), 200);
    const form = { token: searchParams.get("token") ?? "", email: "root@example.com", password, use: "accounts" };
    const made = await own.visitor.request("POST", pathname, { body: new URLSearchParams(form).toString() });
    expectStatus(made, 201);
    expectStatus(await own.visitor.post("/api/auth/signin", { email: "root@example.com", password }), 200);
    expectStatus(await own.visitor.get(pathname + search), 404);
  });
});

describe("the first administrator", () => {
  test("comes from the environment, with the password in a file", async () => {
    const folder = await temporaryDirectory();
    try {
      await writeFile(join(folder, "password"), `${password}\n`);
      const env = { LARDER_ADMIN_EMAIL: "root@example.com", LARDER_ADMIN_PASSWORD_FILE: join(folder, "password") };
      await withServer({ env }, async (own) => {
        const response = await own.visitor.post("/api/auth/signin", { email: "root@example.com", password });
        expectStatus(response, 200);
        const client = new Client(own, response.string("token"));
        expect((await client.get("/api/users/profile")).at("data.role")).toBe("admin");
        await own.restart();
        expectStatus(await client.get("/api/auth/session"), 200);
        expectStatus(await own.visitor.post("/api/auth/signin", { email: "root@example.com", password }), 200);
        expect(own.log).not.toContain(password);
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("comes from the environment, with the password", async () => {
    const env = { LARDER_ADMIN_EMAIL: "root@example.com", LARDER_ADMIN_PASSWORD: password };
    await withServer({ env }, async (own) => {
      expectStatus(await own.visitor.post("/api/auth/signin", { email: "root@example.com", password }), 200);
    });
  });

  test("comes from the environment even if others have accounts, and is created once", async () => {
    await withServer({}, async (own) => {
      await own.signUp();
      const env = { LARDER_ADMIN_EMAIL: "root@example.com", LARDER_ADMIN_PASSWORD: password };
      await own.restart({ env });
      const response = await own.visitor.post("/api/auth/signin", { email: "root@example.com", password });
      const client = new Client(own, response.string("token"));
      expect((await client.get("/api/users/profile")).at("data.role")).toBe("admin");
      await own.restart({ env: { LARDER_ADMIN_EMAIL: "another@example.com" } });
      const other = await own.visitor.post("/api/auth/signin", { email: "another@example.com", password });
      expectError(other, 401, "bad_credentials");
    });
  });

  test("is not an account that somebody else created with that email: the start fails with a message", async () => {
    await withServer({}, async (own) => {
      const stranger = await own.signUp();
      await own.stop();
      const env = { LARDER_ADMIN_EMAIL: stranger.email.toUpperCase(), LARDER_ADMIN_PASSWORD: password };
      await expect(own.restart({ env })).rejects.toThrow(/ended with 2:[^]*adminEmail[^]*larder user set .* --admin/);
      const list: unknown = JSON.parse((await own.larder(["user", "list", "--json"])).stdout);
      expect(list).toMatchObject([{ email: stranger.email, role: "user" }]);
      expect((await own.larder(["user", "set", stranger.email, "--admin"])).code).toBe(0);
      await own.restart({ env });
      expect((await stranger.client.get("/api/users/profile")).at("data.role")).toBe("admin");
    });
  });

  test("can be created before the first start", async () => {
    const folder = await temporaryDirectory();
    try {
      const args = ["user", "add", "root@example.com", "--admin", "--password-stdin", "--data", folder];
      expect((await runLarder(args, { stdin: password })).code).toBe(0);
      await withServer({ dataDir: folder }, async (own) => {
        expectStatus(await own.visitor.post("/api/auth/signin", { email: "root@example.com", password }), 200);
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
