// Signing in with app passwords at the addresses for WebDAV and sync: what opens them, what does not, and what ends it.
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { basic, createAppPassword, openDav, sendDav, type TestAppPassword } from "../support/app-passwords.ts";
import { type Account, type ApiResponse, Client, freshEmail } from "../support/client.ts";
import { confirmIdentity } from "../support/confirm-identity.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { clockFails, createMovableClock } from "../support/faults/preload.ts";
import { registerDevice } from "../support/mobile.ts";
import { sharedServer, type TestServer, withServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });
const path = "/api/users/app-passwords";
const clientPaths = ["/dav/", "/dav", "/remote.php/webdav/", "/remote.php/dav/files/me/"];

/** Expects the 401 of these addresses. */
function expectChallenge(response: ApiResponse): void {
  expectStatus(response, 401);
  expect(response.header("www-authenticate")).toBe('Basic realm="Larder", charset="UTF-8"');
}

describe("only an app password opens these addresses", () => {
  test("not without it, and not with any other credential", async () => {
    const account = await confirmIdentity(await server().signUp());
    const made = await account.client.post("/api/users/api-keys", { name: "x" });
    const key = made.string("data.key");
    const phone = await registerDevice(server(), account);
    const cookie = { cookie: `larder_session=${account.token}`, "sec-fetch-site": "same-origin" };
    const attempts: Record<string, string>[] = [
      {},
      { authorization: `Bearer ${account.token}` },
      { authorization: `Bearer ${phone.tokens.accessToken}` },
      { authorization: `Bearer ${key}` },
      { "x-api-key": key },
      cookie,
      { ...cookie, authorization: "Basic" },
      basic(account.email, account.password),
      basic(account.email, account.token),
      basic(account.email, key),
      basic(account.email, ""),
      basic(account.email, "x".repeat(3_000)),
      { authorization: "Basic !!!" },
      { authorization: `Basic ${Buffer.from("no colon").toString("base64")}` },
      { authorization: "Digest username=x" },
    ];
    for (const headers of attempts) {
      for (const address of clientPaths) expectChallenge(await server().visitor.get(address, headers));
    }
  });

  test("and it opens nothing of the API", async () => {
    const account = await server().signUp();
    const { username, password } = await createAppPassword(account);
    const addresses = ["/api/files", "/api/users/profile", path, "/api/auth/session", "/api/admin/users"];
    for (const address of addresses) {
      for (const headers of [
        basic(username, password),
        { authorization: `Bearer ${password}` },
        { "x-api-key": password },
        { cookie: `larder_session=${password}` },
      ]) {
        expectStatus(await server().visitor.get(address, headers), 401);
      }
    }
    expectStatus(await server().visitor.post("/api/auth/signin", { email: username, password }), 401);
  });

  test("in any case, with and without dashes and spaces, and by email or id", async () => {
    const account = await server().signUp();
    const { username, password } = await createAppPassword(account);
    const spellings = [
      password.toUpperCase(),
      password.replaceAll("-", ""),
      password.replaceAll("-", " "),
      ` ${password}`,
    ];
    for (const spelling of spellings) expectStatus(await openDav(server(), { username, password: spelling }), 200);
    for (const name of [username.toUpperCase(), ` ${username}`, account.id]) {
      expectStatus(await openDav(server(), { username: name, password }), 200);
    }
  });

  test("not a changed one, and not under another user name", async () => {
    const [account, other] = [await server().signUp(), await server().signUp()];
    const { username, password } = await createAppPassword(account);
    const last = password.endsWith("a") ? "b" : "a";
    for (const wrong of [password.slice(0, -1), `${password}a`, password.slice(0, -1) + last, `${password}:`]) {
      expectChallenge(await openDav(server(), { username, password: wrong }));
    }
    for (const name of ["", other.email, other.id, "nobody@example.org", username.slice(1)]) {
      expectChallenge(await openDav(server(), { username: name, password }));
    }
  });

  test("not from another site, unless an administrator allows it", async () => {
    const appPassword = await createAppPassword(await server().signUp());
    const crossSite = { "sec-fetch-site": "cross-site", origin: "https://app.example.com" };
    expectStatus(await openDav(server(), appPassword, crossSite), 403);
    expectStatus(await sendDav(server(), appPassword, "PUT", "a.txt", { headers: crossSite, body: "x" }), 403);
    expectStatus(await openDav(server(), appPassword, { "sec-fetch-site": "none" }), 200);
    await withServer({ env: { LARDER_CORS_ORIGINS: "https://app.example.com" } }, async (own) => {
      const allowed = await createAppPassword(await own.signUp());
      expectStatus(await openDav(own, allowed, crossSite), 200);
      expectStatus(await openDav(own, allowed, { ...crossSite, origin: "https://evil.example.com" }), 403);
      expectStatus(await openDav(own, allowed, { "sec-fetch-site": "cross-site" }), 403);
    });
  });
});

describe("a changed email", () => {
  test("works together with the earlier ones", async () => {
    const account = await server().signUp();
    const { password } = await createAppPassword(account);
    const [second, third] = [freshEmail(), freshEmail()];
    for (const email of [second, third]) {
      const change = { email, currentPassword: account.password };
      expectStatus(await account.client.put("/api/users/profile", change), 200);
    }
    for (const username of [account.email, second, third]) {
      expectStatus(await openDav(server(), { username, password }), 200);
    }
  });

  test("leaves the earlier one to the account that has it now", async () => {
    const [account, next] = [await server().signUp(), await server().signUp()];
    const [mine, theirs] = [await createAppPassword(account), await createAppPassword(next)];
    const former = account.email;
    const give = { email: freshEmail(), currentPassword: account.password };
    expectStatus(await account.client.put("/api/users/profile", give), 200);
    expectStatus(await openDav(server(), { username: former, password: mine.password }), 200);
    const take = { email: former, currentPassword: next.password };
    expectStatus(await next.client.put("/api/users/profile", take), 200);
    expectChallenge(await openDav(server(), { username: former, password: mine.password }));
    expectStatus(await openDav(server(), { username: former, password: theirs.password }), 200);
    expectStatus(await openDav(server(), { username: give.email, password: mine.password }), 200);
    // A new account can also get it.
    const giveAgain = { email: freshEmail(), currentPassword: account.password };
    expectStatus(await account.client.put("/api/users/profile", giveAgain), 200);
    expectStatus(await openDav(server(), { username: give.email, password: mine.password }), 200);
    await server().signUp({ email: give.email });
    expectChallenge(await openDav(server(), { username: give.email, password: mine.password }));
    expectStatus(await openDav(server(), { username: giveAgain.email, password: mine.password }), 200);
  });
});

describe("an app password ends at once", () => {
  /** Creates one, and uses it, so that the server has it in memory. */
  async function used(account: Account): Promise<TestAppPassword> {
    const appPassword = await createAppPassword(account);
    expectStatus(await openDav(server(), appPassword), 200);
    return appPassword;
  }

  test("when it is deleted, and no other one does", async () => {
    const account = await server().signUp();
    const [first, second] = [await used(account), await used(account)];
    expectStatus(await account.client.delete(`${path}/${first.id}`), 200);
    expectChallenge(await openDav(server(), first));
    expectStatus(await openDav(server(), second), 200);
    expectError(await account.client.delete(`${path}/${first.id}`), 404, "not_found");
  });

  test("when its account is disabled, and does not come back", async () => {
    const account = await server().signUp();
    const appPassword = await used(account);
    await server().change(account.id, { disabled: true });
    expectChallenge(await openDav(server(), appPassword));
    await server().change(account.id, { disabled: false });
    expectChallenge(await openDav(server(), appPassword));
  });

  test("when its account is deleted", async () => {
    const account = await server().signUp();
    const appPassword = await used(account);
    expectStatus(await account.client.delete("/api/users/profile", { password: account.password }), 200);
    expectChallenge(await openDav(server(), appPassword));
  });

  test("when its account is deleted, with the earlier emails of the account", async () => {
    await withServer({}, async (own) => {
      const account = await own.signUp();
      await createAppPassword(account);
      const change = { email: freshEmail(), currentPassword: account.password };
      expectStatus(await account.client.put("/api/users/profile", change), 200);
      expectStatus(await account.client.delete("/api/users/profile", { password: account.password }), 200);
      await own.stop();
      const database = new Database(`${own.dataDir}/larder.db`, { readonly: true });
      for (const table of ["app_passwords", "former_emails"]) {
        expect({ table, rows: database.query(`SELECT * FROM ${table}`).all() }).toEqual({ table, rows: [] });
      }
      database.close();
    });
  });

  test("with a new password only if endKeys says so", async () => {
    const account = await server().signUp();
    const appPassword = await used(account);
    const change = (currentPassword: string, newPassword: string, more = {}) =>
      account.client.put("/api/users/profile", { currentPassword, newPassword, ...more });
    expectStatus(await change(account.password, "second password"), 200);
    expectStatus(await openDav(server(), appPassword), 200);
    expectStatus(await change("second password", "third password", { endKeys: true }), 200);
    expectChallenge(await openDav(server(), appPassword));
    const next = await used({ ...account, password: "third password" });
    await server().change(account.id, { password: "fourth password", endKeys: true });
    expectChallenge(await openDav(server(), next));
  });

  test("when another process ends it", async () => {
    await withServer({}, async (own) => {
      const account = await own.signUp();
      const appPassword = await createAppPassword(account);
      expectStatus(await openDav(own, appPassword), 200);
      expect((await own.larder(["user", "set", account.email, "--disable"])).code).toBe(0);
      await eventually("the app password ended", async () => (await openDav(own, appPassword)).status === 401);
    });
  });

  test("while it sends a file, which is not stored then", async () => {
    const account = await server().signUp();
    const appPassword = await used(account);
    const started = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        controller.enqueue(new TextEncoder().encode("half"));
        started.resolve();
        await ended.promise;
        controller.close();
      },
    });
    const sent = sendDav(server(), appPassword, "PUT", "late.txt", { body });
    await started.promise;
    expectStatus(await account.client.delete(`${path}/${appPassword.id}`), 200);
    ended.resolve();
    expectChallenge(await sent);
    expect(await account.client.names()).toEqual([]);
  });

  test.skipIf(clockFails !== undefined)("when it expires", async () => {
    const clock = await createMovableClock();
    await withServer({ env: clock.env }, async (own) => {
      const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
      const appPassword = await createAppPassword(await own.signUp(), { expiresAt });
      expectStatus(await openDav(own, appPassword), 200);
      await clock.set(3_700);
      expectChallenge(await openDav(own, appPassword));
    });
  });
});

describe("an app password for one folder", () => {
  test("follows the folder, ends with it, and returns with it", async () => {
    const account = await server().signUp();
    const id = await account.client.folderId("photos");
    const appPassword = await createAppPassword(account, { folder: "/photos" });
    const folders = async () =>
      (await account.client.get(path)).list("data.appPasswords").map((one) => Object(one).folder);
    expect(await folders()).toEqual(["/photos"]);
    expectStatus(await sendDav(server(), appPassword, "PUT", "a.txt", { body: "x" }), 201);
    expect(await account.client.names("/photos")).toEqual(["a.txt"]);
    expectStatus(await account.client.put(`/api/files/folders/${id}`, { name: "pictures" }), 200);
    expect(await folders()).toEqual(["/pictures"]);
    expectStatus(await sendDav(server(), appPassword, "GET", "a.txt"), 200);
    expectStatus(await account.client.post("/api/files/trash", { fileIds: [id] }), 200);
    expectChallenge(await sendDav(server(), appPassword, "GET", "a.txt"));
    expect(await folders()).toEqual([null]);
    // A folder of the same name is another folder.
    await account.client.folderId("pictures");
    expectChallenge(await openDav(server(), appPassword));
    expectStatus(await account.client.post("/api/files/trash/restore", { fileIds: [id] }), 200);
    expectStatus(await sendDav(server(), appPassword, "GET", "a.txt"), 200);
  });

  test("sees nothing outside of it", async () => {
    const account = await server().signUp();
    await account.client.folderId("photos");
    await account.client.stored("secret", { name: "diary.txt" });
    const appPassword = await createAppPassword(account, { folder: "/photos" });
    for (const address of ["diary.txt", "../diary.txt", "%2e%2e/diary.txt", "photos/", "..%2fdiary.txt"]) {
      const response = await sendDav(server(), appPassword, "GET", address);
      expect([400, 404]).toContain(response.status);
      expect(response.text).not.toContain("secret");
    }
  });
});

describe("the last use", () => {
  test("is in the list: time, address and program", async () => {
    const account = await server().signUp();
    const appPassword = await createAppPassword(account);
    expectStatus(await openDav(server(), appPassword, { "user-agent": `rclone/v1.60 ${"x".repeat(500)}` }), 200);
    const read = async () => Object((await account.client.get(path)).list("data.appPasswords")[0]);
    await eventually("the use is in the list", async () => (await read()).lastUsedAt !== null);
    const entry = await read();
    expect(entry.lastAddress).toBe("127.0.0.1");
    expect(Date.now() - Date.parse(entry.lastUsedAt)).toBeLessThan(60_000);
    expect(entry.lastClient).toStartWith("rclone/v1.60 x");
    expect(entry.lastClient).toHaveLength(200);
  });

  test("and the app password survive a restart, without a session", async () => {
    await withServer({}, async (own) => {
      const account = await own.signUp();
      const appPassword = await createAppPassword(account);
      expectStatus(await openDav(own, appPassword), 200);
      await own.restart();
      expectStatus(await openDav(own, appPassword), 200);
      expect((await account.client.get("/api/users/sessions")).list("data.sessions")).toHaveLength(1);
    });
  });
});

describe("wrong app passwords", () => {
  const env = { LARDER_RATE_LIMITS: "off", LARDER_TRUSTED_PROXIES: "127.0.0.1" };
  const from = (address: string) => ({ "x-forwarded-for": address });
  const wrong = "aaaaa-bbbbb-ccccc-ddddd-eeeee-fffff";

  /** Sends wrong ones until one is refused. @returns how many were answered with 401 before */
  async function useUp(own: TestServer, username: string, headers: Record<string, string>): Promise<number> {
    for (let count = 0; count < 200; count++) {
      const response = await openDav(own, { username, password: wrong }, headers);
      if (response.status === 401) continue;
      expectStatus(response, 429);
      expect(Number(response.header("retry-after"))).toBeWithin(1, 61);
      return count;
    }
    throw new Error("no limit");
  }

  test("are limited for each address and user name, with any preset", async () => {
    await withServer({ env }, async (own) => {
      const account = await own.signUp();
      const [old, fresh] = [await createAppPassword(account), await createAppPassword(account)];
      expectStatus(await openDav(own, old, from("198.51.100.1")), 200);
      expect(await useUp(own, account.email, from("198.51.100.1"))).toBe(20);
      // Right ones work there too, also a new one that its owner enters next, and nothing waits elsewhere.
      expectStatus(await openDav(own, fresh, from("198.51.100.1")), 200);
      expectStatus(await openDav(own, old, from("198.51.100.1")), 200);
      expectStatus(await openDav(own, fresh, from("198.51.100.2")), 200);
      expectChallenge(await openDav(own, { username: account.email, password: wrong }, from("198.51.100.2")));
      // The owner signs in there with the password of the account.
      const { email, password } = account;
      expectStatus(await own.visitor.post("/api/auth/signin", { email, password }, from("198.51.100.1")), 200);
    });
  });

  test("get the same responses for unknown accounts", async () => {
    await withServer({ env }, async (own) => {
      const account = await own.signUp();
      const outcomes: string[][] = [];
      for (const [index, username] of [account.email, "nobody@example.org"].entries()) {
        const address = from(`198.51.100.${index + 1}`);
        const texts: string[] = [];
        for (let count = 0; count < 22; count++) {
          const { status, text } = await openDav(own, { username, password: wrong }, address);
          texts.push(`${status} ${text}`);
        }
        outcomes.push(texts);
      }
      expect(outcomes[0]).toEqual(outcomes[1] ?? []);
    });
  });

  test("are limited for each address with many user names", async () => {
    await withServer({ env }, async (own) => {
      let refused = 0;
      for (let count = 0; count < 70; count++) {
        const username = `user${count}@example.org`;
        const { status } = await openDav(own, { username, password: wrong }, from("198.51.100.1"));
        if (status !== 401) refused++;
      }
      expect(refused).toBe(10);
      expectStatus(await openDav(own, { username: "a@example.org", password: wrong }, from("198.51.100.2")), 401);
    });
  });
});

describe("the rate category dav", () => {
  test("counts per account, in its own window", async () => {
    const limits = { LARDER_RATE_LIMITS: "", LARDER_PLANS_ENTERPRISE_LIMIT_DAV: "3" };
    await withServer({ env: limits }, async (own) => {
      const account = await own.signUp();
      const [first, second] = [await createAppPassword(account), await createAppPassword(account)];
      for (const appPassword of [first, second, first]) expectStatus(await openDav(own, appPassword), 200);
      const over = await openDav(own, second);
      expectStatus(over, 503);
      expect(Number(over.header("retry-after"))).toBeGreaterThan(0);
      expect(over.text).toContain("Sabre\\DAV\\Exception\\ServiceUnavailable");
      expectStatus(await account.client.get("/api/files"), 200);
      const usage = (await account.client.get("/api/users/usage/rate-limits")).list("data.endpoints");
      expect(usage).toContainEqual(
        expect.objectContaining({ resource: "dav", endpoint: "/dav", limit: 3, used: 3, remaining: 0 }),
      );
      const other = await createAppPassword(await own.signUp());
      expectStatus(
        await new Client(own).request("GET", "/dav/", { headers: basic(other.username, other.password) }),
        200,
      );
    });
  });
});
