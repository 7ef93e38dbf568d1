import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ApiResponse, Client, freshEmail } from "../support/client.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { type ServerOptions, type TestServer, withServer } from "../support/server.ts";

const password = "correct horse battery";
const email = "root@example.com";
/** Settings of a new installation: its own preset, plan and limits instead of those of the tests. */
const defaultSettings = { LARDER_RATE_LIMITS: "", LARDER_DEFAULT_PLAN: "" };

/** The tokens of the setup links that the server printed, the newest last. */
function setupTokens({ log }: TestServer): string[] {
  return [...log.matchAll(/\/setup\?token=([\w-]+)/g)].map(([, token = ""]) => token);
}

function newestToken(server: TestServer): string {
  const token = setupTokens(server).at(-1);
  if (token === undefined) throw new Error(`no setup link in:\n${server.log}`);
  return token;
}

async function send(server: TestServer, fields: Record<string, string>): Promise<ApiResponse> {
  return server.visitor.request("POST", "/setup", {
    body: new URLSearchParams(fields).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded" },
  });
}

/** Creates the administrator through the form, and returns the response page. @throws if that fails */
async function setUp(server: TestServer, use: "household" | "accounts"): Promise<ApiResponse> {
  const response = await send(server, { token: newestToken(server), email, name: "Root", password, use });
  expectStatus(response, 201);
  return response;
}

async function signInAsAdministrator(server: TestServer): Promise<Client> {
  const response = await server.visitor.post("/api/auth/signin", { email, password });
  expectStatus(response, 200);
  return new Client(server, response.string("token"));
}

/** Counts how often the server logged that it listens. */
function countStarts({ log }: TestServer): number {
  return log.split("listening on ").length - 1;
}

/** Runs `use` after setup for a household, when the server has restarted with the new settings. */
async function asHousehold(options: ServerOptions, use: (server: TestServer) => Promise<void>): Promise<void> {
  await withServer({ ...options, env: { ...defaultSettings, ...options.env } }, async (own) => {
    await setUp(own, "household");
    await eventually("the start with the new settings", () => countStarts(own) === 2);
    await use(own);
  });
}

describe("the setup link", () => {
  test("opens a page that creates an administrator, once", async () => {
    await withServer({ env: defaultSettings }, async (own) => {
      const token = newestToken(own);
      for (let visit = 0; visit < 2; visit++) {
        const page = await own.visitor.get(`/setup?token=${token}`);
        expectStatus(page, 200);
        expect(page.header("content-type")).toStartWith("text/html");
        expect(page.header("cache-control")).toBe("no-store");
        expect(page.header("referrer-policy")).toBe("no-referrer");
        expect(page.header("content-security-policy")).toContain("script-src 'self'");
        expect(page.header("content-security-policy")).not.toContain("connect-src");
      }
      const done = await setUp(own, "accounts");
      expect(done.text).toContain(email);
      expect(done.text).not.toContain(password);
      expect(done.header("content-security-policy")).toContain("connect-src 'self'");
      const cookie = done.header("set-cookie");
      expect(cookie).toMatch(/^larder_session=[^;]+;.*HttpOnly/i);
      const session = await own.visitor.get("/api/auth/session", { cookie: cookie.split(";")[0] ?? "" });
      expect(session.at("user.email")).toBe(email);
      const client = await signInAsAdministrator(own);
      expect((await client.get("/api/users/profile")).json).toMatchObject({
        data: { email, name: "Root", role: "admin", plan: "free" },
      });
      expectStatus(await send(own, { token, email: freshEmail(), password, use: "accounts" }), 404);
      expect(own.log).not.toContain(password);
    });
  });

  test("for a household, the server is not ready until it has restarted", async () => {
    await withServer({ env: defaultSettings }, async (own) => {
      await setUp(own, "household");
      const isReady = async () => {
        try {
          return (await fetch(`${own.url}/health/ready`)).ok;
        } catch {
          return false;
        }
      };
      await eventually("the server is ready", isReady);
      expect(own.log).toContain("Restarting with the new settings.");
    });
  });

  test("responds with the same 404 if used, wrong or missing", async () => {
    await withServer({ env: defaultSettings }, async (own) => {
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
        expect(page.header("content-security-policy")).not.toContain("script-src");
        expect({ status: page.status, text: page.text }).toEqual({ status: 404, text: pages[0]?.text ?? "" });
      }
    });
  });

  test("creates one account if used by several requests at once", async () => {
    await withServer({ env: defaultSettings }, async (own) => {
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

  test("is new after each start, and the previous one stops working", async () => {
    await withServer({ env: defaultSettings }, async (own) => {
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

  test("stops working when an administrator was created on the command line", async () => {
    await withServer({ env: defaultSettings }, async (own) => {
      expect((await own.larder(["user", "add", email, "--admin", "--password-stdin"], { stdin: password })).code).toBe(
        0,
      );
      expectStatus(await own.visitor.get(`/setup?token=${newestToken(own)}`), 404);
    });
  });

  test("works until an administrator exists, even if other accounts were created before", async () => {
    await withServer({ env: defaultSettings }, async (own) => {
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
      // The email belongs to another account: the page says so, and the link still works.
      const taken = await send(own, { token: newestToken(own), email: stranger.email, password, use: "accounts" });
      expectStatus(taken, 400);
      expect(taken.text).toMatch(/id="email-wrong" role="alert">[^<]{10,}</);
      await setUp(own, "accounts");
      expect((await (await signInAsAdministrator(own)).get("/api/users/profile")).at("data.role")).toBe("admin");
      expectStatus(await own.visitor.get(`/setup?token=${newestToken(own)}`), 404);
      expect((await own.larder(["user", "setup-link"])).code).toBe(1);
      await own.restart();
      expect(setupTokens(own)).toHaveLength(2);
      expect((await stranger.client.get("/api/users/profile")).at("data.role")).toBe("user");
    });
  });

  test("is the only way to a first administrator: no account exists before, and sign-up creates none", async () => {
    await withServer({ env: defaultSettings }, async (own) => {
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
    await withServer({ env: { ...defaultSettings, LARDER_SIGNUP: "invite" } }, async (own) => {
      const body = { email, password, invite: newestToken(own) };
      expectError(await own.visitor.post("/api/auth/signup", body), 403, "signup_closed");
      expectStatus(await own.visitor.get(`/setup?token=${newestToken(own)}`), 200);
    });
  });
});

describe("the setup form", () => {
  test("explains each error and keeps what was entered, except the password", async () => {
    await withServer({ env: defaultSettings }, async (own) => {
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
      // An invalid form doesn't use up the link.
      await setUp(own, "accounts");
    });
  });

  test("is rejected if too large", async () => {
    await withServer({ env: defaultSettings }, async (own) => {
      const response = await send(own, { token: newestToken(own), email, name: "n".repeat(100_000), password });
      expectError(response, 413, "body_too_large");
    });
  });
});

describe("setup for one household", () => {
  test("is saved, and takes effect at once on the same port", async () => {
    await asHousehold({}, async (own) => {
      const toml = readFileSync(join(own.dataDir, "larder.toml"), "utf8");
      expect(toml).toMatch(/^preset = "household"$/m);
      const addresses = [...own.log.matchAll(/listening on (\S+)/g)].map(([, address]) => address);
      expect(addresses).toEqual([own.url, own.url]);
      expectStatus(await own.visitor.get("/health/ready"), 200);

      const client = await signInAsAdministrator(own);
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

  test("that can't be saved restarts nothing, and the page says what to do", async () => {
    await withServer({ env: defaultSettings }, async (own) => {
      mkdirSync(join(own.dataDir, "larder.toml.partial"));
      const done = await setUp(own, "household");
      expect(done.text).toContain("could not save the settings for a household");
      expect(done.text).toContain(`<code>preset = "household"</code>`);
      expect(done.text).not.toContain("data-restarting");
      await eventually("the log of the problem", () => own.log.includes("Could not write larder.toml."));
      expectStatus(await own.visitor.get("/health/ready"), 200);
      expect(countStarts(own)).toBe(1);
    });
  });

  test("survives a restart, with all accounts and files", async () => {
    await asHousehold({}, async (own) => {
      const id = await (await signInAsAdministrator(own)).storedId("kept");
      await own.restart();
      const client = await signInAsAdministrator(own);
      expect((await client.get(`/api/files/${id}/download`)).text).toBe("kept");
      const response = await own.visitor.post("/api/auth/signup", { email: freshEmail(), password });
      expectError(response, 403, "signup_closed");
    });
  });

  test("is added above the settings in larder.toml, which stay", async () => {
    const toml = '# mine\nlogLevel = "warn"\n\n[plans.enterprise.limit]\nlisting = 7777\n';
    await asHousehold({ toml }, async (own) => {
      const after = readFileSync(join(own.dataDir, "larder.toml"), "utf8");
      expect(after).toEndWith(toml);
      expect(after).toMatch(/^preset = "household"$/m);
      const client = await signInAsAdministrator(own);
      expect((await client.get("/api/files")).header("x-ratelimit-limit")).toBe("7777");
    });
  });

  test("does not overwrite a preset in larder.toml, and logs a warning", async () => {
    const toml = 'preset = "spec"\n';
    await asHousehold({ toml }, async (own) => {
      expect(readFileSync(join(own.dataDir, "larder.toml"), "utf8")).toBe(toml);
      expect(own.log).toContain("preset is set elsewhere");
      expect(own.url).toBe(/.*listening on (\S+)/s.exec(own.log)?.[1] ?? "");
      await own.signUp();
    });
  });
});

describe("setup for accounts by plan", () => {
  test("writes nothing, restarts nothing, and keeps all defaults", async () => {
    await withServer({ env: defaultSettings }, async (own) => {
      await setUp(own, "accounts");
      const client = await signInAsAdministrator(own);
      expect((await client.get("/api/users/profile")).json).toMatchObject({ data: { role: "admin", plan: "free" } });
      expect((await client.get("/api/files")).header("x-ratelimit-limit")).toBe("100");
      const other = await own.signUp();
      expect((await other.client.get("/api/users/profile")).at("data.plan")).toBe("free");
      expect(existsSync(join(own.dataDir, "larder.toml"))).toBe(false);
      expect(countStarts(own)).toBe(1);
    });
  });
});
