import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ApiResponse, Client, freshEmail } from "../support/client.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { type ServerOptions, type TestServer, withServer } from "../support/server.ts";

const password = "correct horse battery";
const email = "root@example.com";
/** A server as it comes: with its own preset, plan and limits. */
const asItComes = { LARDER_RATE_LIMITS: "", LARDER_DEFAULT_PLAN: "" };

/** The tokens of the set-up links that the server printed, the newest last. */
function setupTokens({ log }: TestServer): string[] {
  return [...log.matchAll(/\/setup\?token=([\w-]+)/g)].map(([, token = ""]) => token);
}

function newestToken(server: TestServer): string {
  const token = setupTokens(server).at(-1);
  if (token === undefined) throw new Error(`no set-up link in:\n${server.log}`);
  return token;
}

async function send(server: TestServer, fields: Record<string, string>): Promise<ApiResponse> {
  return server.visitor.request("POST", "/setup", {
    body: new URLSearchParams(fields).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded" },
  });
}

/** Makes the administrator, which must succeed, and returns the page that says so. */
async function setUp(server: TestServer, use: "household" | "accounts"): Promise<ApiResponse> {
  const response = await send(server, { token: newestToken(server), email, name: "Root", password, use });
  expectStatus(response, 201);
  return response;
}

async function administrator(server: TestServer): Promise<Client> {
  const response = await server.visitor.post("/api/auth/signin", { email, password });
  expectStatus(response, 200);
  return new Client(server, response.string("token"));
}

/** How often the server said that it listens. */
function starts({ log }: TestServer): number {
  return log.split("listening on ").length - 1;
}

/** Runs `use` after the set-up for a household, when the server has come back. */
async function asHousehold(options: ServerOptions, use: (server: TestServer) => Promise<void>): Promise<void> {
  await withServer({ ...options, env: { ...asItComes, ...options.env } }, async (own) => {
    await setUp(own, "household");
    await eventually("the start with the new settings", () => starts(own) === 2);
    await use(own);
  });
}

describe("the set-up link", () => {
  test("opens a page that makes an administrator, once", async () => {
    await withServer({ env: asItComes }, async (own) => {
      const token = newestToken(own);
      for (let visit = 0; visit < 2; visit++) {
        const page = await own.visitor.get(`/setup?token=${token}`);
        expectStatus(page, 200);
        expect(page.header("content-type")).toStartWith("text/html");
        expect(page.header("cache-control")).toBe("no-store");
        expect(page.header("referrer-policy")).toBe("no-referrer");
      }
      const done = await setUp(own, "accounts");
      expect(done.text).toContain(email);
      expect(done.text).not.toContain(password);
      const cookie = done.header("set-cookie");
      expect(cookie).toMatch(/^larder_session=[^;]+;.*HttpOnly/i);
      const session = await own.visitor.get("/api/auth/session", { cookie: cookie.split(";")[0] ?? "" });
      expect(session.at("user.email")).toBe(email);
      const client = await administrator(own);
      expect((await client.get("/api/users/profile")).json).toMatchObject({
        data: { email, name: "Root", role: "admin", plan: "free" },
      });
      expectStatus(await send(own, { token, email: freshEmail(), password, use: "accounts" }), 404);
      expect(own.log).not.toContain(password);
    });
  });

  test("used, wrong and missing are the same 404", async () => {
    await withServer({ env: asItComes }, async (own) => {
      const token = newestToken(own);
      const pages: ApiResponse[] = [
        await own.visitor.get("/setup?token=wrong"),
        await own.visitor.get("/setup?token="),
        await own.visitor.get("/setup"),
        await own.visitor.get(`/setup?token=${token}x`),
        await send(own, { token: "wrong", email, password, use: "household" }),
        await send(own, {}),
      ];
      await setUp(own, "accounts");
      pages.push(
        await own.visitor.get(`/setup?token=${token}`),
        await own.visitor.get("/setup?token=wrong"),
        await send(own, { token, email: freshEmail(), password, use: "accounts" }),
      );
      for (const page of pages) {
        expect({ status: page.status, text: page.text }).toEqual({ status: 404, text: pages[0]?.text ?? "" });
      }
    });
  });

  test("used by many at once makes one account", async () => {
    await withServer({ env: asItComes }, async (own) => {
      const token = newestToken(own);
      const sent = Array.from({ length: 4 }, () =>
        send(own, { token, email: freshEmail(), password, use: "accounts" }),
      );
      const statuses = (await Promise.all(sent)).map(({ status }) => status);
      expect(statuses.sort((a, b) => a - b)).toEqual([201, 404, 404, 404]);
      const list: unknown = JSON.parse((await own.larder(["user", "list", "--json"])).stdout);
      expect(list).toHaveLength(1);
    });
  });

  test("is new after each start, and the one before is dead", async () => {
    await withServer({ env: asItComes }, async (own) => {
      const first = newestToken(own);
      await own.restart();
      const second = newestToken(own);
      expect(second).not.toBe(first);
      expectStatus(await own.visitor.get(`/setup?token=${first}`), 404);
      expectStatus(await send(own, { token: first, email, password, use: "accounts" }), 404);
      expectStatus(await own.visitor.get(`/setup?token=${second}`), 200);
      await setUp(own, "accounts");
      await own.restart();
      expect(setupTokens(own)).toEqual([first, second]);
    });
  });

  test("is dead once an account was made on the command line", async () => {
    await withServer({ env: asItComes }, async (own) => {
      expect((await own.larder(["user", "add", email, "--admin", "--password-stdin"], { stdin: password })).code).toBe(
        0,
      );
      expectStatus(await own.visitor.get(`/setup?token=${newestToken(own)}`), 404);
    });
  });

  test("works until there is an administrator, also after strangers have made accounts", async () => {
    await withServer({ env: asItComes }, async (own) => {
      const first = newestToken(own);
      const stranger = await own.signUp();
      expectStatus(await own.visitor.get(`/setup?token=${first}`), 200);
      const command = await own.larder(["user", "setup-link", "--port", String(own.port)]);
      expect({ code: command.code, stderr: command.stderr }).toEqual({ code: 0, stderr: "" });
      expectStatus(
        await own.visitor.get(new URL(command.stdout.trim()).pathname + new URL(command.stdout).search),
        200,
      );
      await own.restart();
      expect(newestToken(own)).not.toBe(first);
      expectStatus(await own.visitor.get(`/setup?token=${first}`), 404);
      // Their address is theirs: the page says so, and the link still works.
      const taken = await send(own, { token: newestToken(own), email: stranger.email, password, use: "accounts" });
      expectStatus(taken, 400);
      expect(taken.text).toMatch(/id="email-wrong" role="alert">[^<]{10,}</);
      await setUp(own, "accounts");
      expect((await (await administrator(own)).get("/api/users/profile")).at("data.role")).toBe("admin");
      expectStatus(await own.visitor.get(`/setup?token=${newestToken(own)}`), 404);
      expect((await own.larder(["user", "setup-link"])).code).toBe(1);
      await own.restart();
      expect(setupTokens(own)).toHaveLength(2);
      expect((await stranger.client.get("/api/users/profile")).at("data.role")).toBe("user");
    });
  });

  test("is the only way in: no account is there before, and sign-up makes no administrator", async () => {
    await withServer({ env: asItComes }, async (own) => {
      for (const name of ["admin", "admin@localhost", email]) {
        for (const word of ["admin", "password", "", "larder"]) {
          const response = await own.visitor.post("/api/auth/signin", { email: name, password: word });
          expect([400, 401, 429]).toContain(response.status);
        }
      }
      const list = await own.larder(["user", "list", "--json"]);
      expect(JSON.parse(list.stdout)).toEqual([]);
      const body = { email, password, role: "admin", invite: newestToken(own) };
      const response = await own.visitor.post("/api/auth/signup", body);
      expectStatus(response, 201);
      const client = new Client(own, response.string("token"));
      expect((await client.get("/api/users/profile")).at("data.role")).toBe("user");
    });
    await withServer({ env: { ...asItComes, LARDER_SIGNUP: "invite" } }, async (own) => {
      const body = { email, password, invite: newestToken(own) };
      expectError(await own.visitor.post("/api/auth/signup", body), 403, "signup_closed");
      expectStatus(await own.visitor.get(`/setup?token=${newestToken(own)}`), 200);
    });
  });
});

describe("the set-up form", () => {
  test("comes back with words and what was entered, never the password", async () => {
    await withServer({ env: asItComes }, async (own) => {
      const token = newestToken(own);
      const good = { token, email, name: `A "B" <i>`, password, use: "accounts" };
      const rows: [Record<string, string>, string][] = [
        [{ email: "no-address" }, "email"],
        [{ email: "" }, "email"],
        [{ password: "s3cret!" }, "password"],
        [{ password: "" }, "password"],
        [{ password: "y7".repeat(200) }, "password"],
        [{ name: "n".repeat(1000) }, "name"],
      ];
      for (const [fields, field] of rows) {
        const entered = { ...good, ...fields };
        const page = await send(own, entered);
        expectStatus(page, 400);
        expect(page.header("content-type")).toStartWith("text/html");
        expect(page.text).toMatch(new RegExp(`id="${field}-wrong" role="alert">[^<]{10,}<`));
        expect(page.text).toContain(`name="token" value="${token}"`);
        expect(page.text).toContain('value="accounts" checked');
        expect(page.text).toContain(`name="email" type="email" value="${entered.email}"`);
        if (field !== "name") expect(page.text).toContain('value="A &quot;B&quot; &lt;i&gt;"');
        if (entered.password !== "") expect(page.text).not.toContain(entered.password);
      }
      expect(own.log).not.toContain("s3cret!");
      // What is wrong costs nothing: the link still works.
      await setUp(own, "accounts");
    });
  });

  test("too large is refused", async () => {
    await withServer({ env: asItComes }, async (own) => {
      const response = await send(own, { token: newestToken(own), email, name: "n".repeat(100_000), password });
      expectError(response, 413, "body_too_large");
    });
  });
});

describe("the choice of one household", () => {
  test("is kept, and holds at once, on the same port", async () => {
    await asHousehold({}, async (own) => {
      const toml = readFileSync(join(own.dataDir, "larder.toml"), "utf8");
      expect(toml).toMatch(/^preset = "household"$/m);
      const places = [...own.log.matchAll(/listening on (\S+)/g)].map(([, place]) => place);
      expect(places).toEqual([own.url, own.url]);
      expectStatus(await own.visitor.get("/health/ready"), 200);

      const client = await administrator(own);
      expect((await client.get("/api/users/profile")).json).toMatchObject({
        data: { email, role: "admin", plan: "enterprise" },
      });
      const listing = await client.get("/api/files");
      expect(listing.header("x-ratelimit-limit")).toBe("1000000");
      const response = await own.visitor.post("/api/auth/signup", { email: freshEmail(), password });
      expectError(response, 403, "signup_closed");
      expect(setupTokens(own)).toHaveLength(1);
      expect(await own.stop()).toBe(0);
    });
  });

  test("holds after a later start, with the accounts and files of before", async () => {
    await asHousehold({}, async (own) => {
      const id = await (await administrator(own)).storedId("kept");
      await own.restart();
      const client = await administrator(own);
      expect((await client.get(`/api/files/${id}/download`)).text).toBe("kept");
      const response = await own.visitor.post("/api/auth/signup", { email: freshEmail(), password });
      expectError(response, 403, "signup_closed");
    });
  });

  test("stands above the settings that larder.toml has, which stay", async () => {
    const toml = '# mine\nlogLevel = "warn"\n\n[plans.enterprise.limit]\nlisting = 7777\n';
    await asHousehold({ toml }, async (own) => {
      const after = readFileSync(join(own.dataDir, "larder.toml"), "utf8");
      expect(after).toEndWith(toml);
      expect(after).toMatch(/^preset = "household"$/m);
      const client = await administrator(own);
      expect((await client.get("/api/files")).header("x-ratelimit-limit")).toBe("7777");
    });
  });

  test("does not overwrite a preset that larder.toml names, and says so", async () => {
    const toml = 'preset = "spec"\n';
    await asHousehold({ toml }, async (own) => {
      expect(readFileSync(join(own.dataDir, "larder.toml"), "utf8")).toBe(toml);
      expect(own.log).toContain("preset is set elsewhere");
      expect(own.url).toBe(/.*listening on (\S+)/s.exec(own.log)?.[1] ?? "");
      await own.signUp();
    });
  });
});

describe("the choice of accounts by plan", () => {
  test("writes nothing, restarts nothing, and leaves everything at its default", async () => {
    await withServer({ env: asItComes }, async (own) => {
      await setUp(own, "accounts");
      const client = await administrator(own);
      expect((await client.get("/api/users/profile")).json).toMatchObject({ data: { role: "admin", plan: "free" } });
      expect((await client.get("/api/files")).header("x-ratelimit-limit")).toBe("100");
      const other = await own.signUp();
      expect((await other.client.get("/api/users/profile")).at("data.plan")).toBe("free");
      expect(existsSync(join(own.dataDir, "larder.toml"))).toBe(false);
      expect(starts(own)).toBe(1);
    });
  });
});
