import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Account, freshEmail } from "../support/client.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { Browser, TestProvider } from "../support/oidc-provider.ts";
import { sharedServer, type TestServer, withServer } from "../support/server.ts";

const provider = new TestProvider();
const env: Record<string, string> = { LARDER_OIDC_AUTO_CREATE: "on" };
beforeAll(async () => {
  await provider.start();
  Object.assign(env, provider.env);
});
afterAll(() => provider.stop());
const server = sharedServer({ hasAccounts: true, env });
const password = "correct horse battery";

/** Different emails that look like this one. */
function lookalikes(email: string): [what: string, email: string][] {
  return [
    ["wide letters", email.replace("user", "ｕser")],
    ["another alphabet", email.replace("se", "ѕе")],
    ["a character that is never shown", email.replace("user", "us\u200der")],
    ["a digit for a letter", email.replace("example", "examp1e")],
    ["two letters for one", email.replace(".com", ".corn")],
    ["a capital letter", email.replace("example", "exampIe")],
  ];
}

async function signUp(target: TestServer, email: string) {
  return target.visitor.post("/api/auth/signup", { email, password });
}

describe("an email that looks like another account's", () => {
  test("is rejected by sign-up: 409 email_taken", async () => {
    const { email } = await server().signUp();
    for (const [, other] of lookalikes(email)) {
      expect(other).not.toBe(email);
      expectError(await signUp(server(), other), 409, "email_taken", "email");
    }
    expectStatus(await signUp(server(), `other-${email}`), 201);
  });

  test("creates one account for several lookalikes at once", async () => {
    const email = freshEmail();
    const addresses = [email, ...lookalikes(email).map(([, other]) => other)];
    const responses = await Promise.all(addresses.map((address) => signUp(server(), address)));
    expect(responses.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 409, 409, 409, 409, 409, 409]);
  });

  test("is rejected as a new email, but users may change the form of their own", async () => {
    const { email } = await server().signUp();
    const { client, email: own } = await server().signUp();
    for (const [, other] of lookalikes(email)) {
      const response = await client.put("/api/users/profile", { email: other, currentPassword: password });
      expectError(response, 409, "email_taken", "email");
    }
    const [, another = ""] = lookalikes(own)[0] ?? [];
    const changed = await client.put("/api/users/profile", { email: another, currentPassword: password });
    expectStatus(changed, 200);
    expect(changed.at("data.email")).toBe(another);
    // The previous form is free again, but only for this account.
    expectStatus(await client.put("/api/users/profile", { email: own, currentPassword: password }), 200);
  });

  test("is rejected for invitations, in the API and on the page", async () => {
    const admin = await server().addUser(["--admin"]);
    const { email } = await server().signUp();
    for (const [, other] of lookalikes(email).slice(0, 2)) {
      const invite = (await admin.client.post("/api/admin/invites", {})).string("data.invite");
      const body = { email: other, password, invite };
      expectError(await server().visitor.post("/api/auth/signup", body), 409, "email_taken", "email");
      const form = new URLSearchParams({ token: invite, email: other, password }).toString();
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      const page = await server().visitor.request("POST", "/invite", { body: form, headers });
      expect(page.status).toBeGreaterThanOrEqual(400);
      expect(page.text).toContain("similar-looking email");
    }
  });

  test("gets no invitation, because nobody could accept it", async () => {
    const admin = await server().addUser(["--admin"]);
    const { email } = await server().signUp();
    const before = (await admin.client.get("/api/admin/invites")).number("data.pagination.total");
    for (const [, other] of lookalikes(email)) {
      const rejected = await admin.client.post("/api/admin/invites", { email: other });
      expectError(rejected, 409, "email_taken", "email");
      expect(rejected.string("error.message")).toContain("similar-looking email");
    }
    const invited = await server().larder(["user", "invite", "--email", lookalikes(email)[0]?.[1] ?? ""]);
    expect(invited.code).not.toBe(0);
    expect(invited.stderr).toContain("similar-looking email");
    expect((await admin.client.get("/api/admin/invites")).at("data.pagination.total")).toBe(before);
    expectStatus(await admin.client.post("/api/admin/invites", { email: `other-${email}` }), 201);
  });

  test("is rejected for accounts of the provider", async () => {
    const { email } = await server().signUp();
    const [, other = ""] = lookalikes(email)[1] ?? [];
    provider.people.set("lookalike", { email: other, email_verified: true });
    const browser = new Browser(() => server().url);
    const { pathname, search } = new URL(await browser.goToCallback("lookalike"));
    const cookie = [...browser.cookies()].map(([name, value]) => `${name}=${value}`).join("; ");
    expectError(await server().visitor.get(pathname + search, { cookie }), 409, "email_taken");
  });

  test("is rejected on the setup page", async () => {
    await withServer({}, async (own) => {
      const { email } = await own.signUp();
      const token = /\/setup\?token=([\w-]+)/.exec(own.log)?.[1] ?? "";
      const [, other = ""] = lookalikes(email)[0] ?? [];
      const form = new URLSearchParams({ token, email: other, password, use: "accounts" }).toString();
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      const page = await own.visitor.request("POST", "/setup", { body: form, headers });
      expectStatus(page, 400);
      expect(page.text).toContain("similar-looking email");
    });
  });

  test("can be set by an administrator or the command line", async () => {
    const admin = await server().addUser(["--admin"]);
    const { email, id } = await server().signUp();
    const [[, first], [, second], [, third]] = lookalikes(email) as [
      [string, string],
      [string, string],
      [string, string],
    ];
    const body = { email: first, password, currentPassword: admin.password };
    expectStatus(await admin.client.post("/api/admin/users", body), 201);
    const changed = { email: second, currentPassword: admin.password };
    expectStatus(await admin.client.patch(`/api/admin/users/${id}`, changed), 200);
    const added = await server().larder(["user", "add", third, "--password-stdin"], { stdin: password });
    expect(added.code).toBe(0);
  });
});

describe("accounts that exist already", () => {
  test("are indexed at the first start, and existing lookalikes cause no error", async () => {
    await withServer({}, async (own) => {
      const before: Account[] = [await own.signUp(), await own.signUp()];
      const [first] = before;
      const email = first?.email ?? "";
      const [, twin = ""] = lookalikes(email)[1] ?? [];
      expect((await own.larder(["user", "add", twin, "--password-stdin"], { stdin: password })).code).toBe(0);
      await own.stop();
      const database = new Database(join(own.dataDir, "larder.db"));
      // As earlier releases left them, and as releases with other Unicode tables did.
      database.run("UPDATE users SET email_folded = NULL, email_skeleton = NULL, email_forms = NULL");
      database.run("UPDATE users SET email_skeleton = 'x', email_forms = '0' WHERE email = ?1", [
        before[1]?.email ?? "",
      ]);
      database.close();
      await own.start();
      for (const account of before) {
        for (const [, other] of lookalikes(account.email)) {
          expectError(await signUp(own, other), 409, "email_taken", "email");
        }
        expectStatus(await account.client.get("/api/users/profile"), 200);
      }
      expectStatus(await own.visitor.post("/api/auth/signin", { email: twin, password }), 200);
    });
  });
});
