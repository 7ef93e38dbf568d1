import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Account, Client, freshEmail } from "../support/client.ts";
import { confirmIdentity } from "../support/confirm-identity.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { MailServer, type ReceivedMail } from "../support/mail-server.ts";
import { registerDevice } from "../support/mobile.ts";
import { Browser, publicUrl, TestProvider } from "../support/oidc-provider.ts";
import { sharedServer, type TestServer, withServer } from "../support/server.ts";

const mails = new MailServer();
const provider = new TestProvider();
const env: Record<string, string> = {
  LARDER_MAIL_HOST: "127.0.0.1",
  LARDER_MAIL_SECURE: "none",
  LARDER_MAIL_FROM: "Larder <larder@example.test>",
  LARDER_MAIL_VERIFY: "on",
};
beforeAll(async () => {
  await Promise.all([mails.start(), provider.start()]);
  Object.assign(env, provider.env, { LARDER_MAIL_PORT: String(mails.port), LARDER_OIDC_AUTO_CREATE: "on" });
});
const server = sharedServer({ env });
afterAll(() => Promise.all([mails.stop(), provider.stop()]));

const password = "correct horse battery";
const confirm = (token: string, target: TestServer = server()) =>
  target.visitor.post("/api/auth/email/confirm", { token });
const isVerified = async ({ client }: { client: Client }) =>
  (await client.get("/api/users/profile")).at("data.emailVerified");
/** The messages to an address that ask for its confirmation. */
const confirmationMails = (email: string) =>
  mails.received.filter(({ to, parsed }) => to.includes(email) && parsed.subject === "Confirm your email address");

function findLink(mail: ReceivedMail): string {
  return new RegExp(`${publicUrl}(/confirm-email\\?token=[A-Za-z0-9_-]+)`).exec(mail.parsed.text ?? "")?.[1] ?? "";
}

/** Waits for a confirmation message and returns its token. @param count which message, counted from 1 */
async function waitForToken(email: string, count = 1): Promise<string> {
  await eventually(`message ${count} to confirm ${email}`, () => confirmationMails(email).length >= count);
  const mail = confirmationMails(email)[count - 1];
  return mail === undefined ? "" : (findLink(mail).split("=")[1] ?? "");
}

async function createConfirmedAccount(target: TestServer = server()): Promise<Account> {
  const account = await target.signUp();
  expectStatus(await confirm(await waitForToken(account.email), target), 200);
  return account;
}

/** Shares a new file with an email. @param label of the share, and the file's content @returns the file's id */
async function shareFile({ client }: Account, email: string, label: string): Promise<string> {
  const id = await client.storedId(label);
  expectStatus(await client.post(`/api/files/${id}/shares`, { user: email, label }), 201);
  return id;
}

/** The labels of the shares that an account has received. */
async function listReceivedLabels({ client }: Account): Promise<string[]> {
  return (await client.get("/api/shares/received")).strings("data.shares", "label").sort();
}

describe("an account whose email is not confirmed", () => {
  test("can use its own files but not share: 403 email_unconfirmed", async () => {
    const account = await server().signUp();
    const { client } = account;
    expect(await isVerified(account)).toBe(false);
    const file = await client.storedId("mine");
    const folder = await client.folderId("box");
    expect((await client.get(`/api/files/${file}/download`)).text).toBe("mine");
    const other = await server().signUp();
    const rejected = [
      await client.post(`/api/files/${file}/shares`, {}),
      await client.post(`/api/files/folders/${folder}/shares`, {}),
      await client.post(`/api/files/folders/${folder}/shares`, { permissions: "upload" }),
      await client.post(`/api/files/${file}/shares`, { user: other.email }),
      await client.put(`/api/files/${file}`, { isPublic: true }),
      await client.upload("published", { fields: { isPublic: "true" } }),
    ];
    for (const response of rejected) {
      expectError(response, 403, "email_unconfirmed");
      expect(response.string("error.message")).toContain("Confirm your email address");
    }
    const phone = await registerDevice(server(), account);
    const form = new FormData();
    form.set("isPublic", "true");
    form.set("file", new File(["published"], "published.txt"));
    expectError(await phone.client.request("POST", "/api/mobile/upload", { body: form }), 403, "email_unconfirmed");
    expect((await client.get("/api/shares")).list("data.shares")).toEqual([]);
    expect(await client.names()).toHaveLength(2);
    expectStatus(await client.put(`/api/files/${file}`, { isPublic: false, name: "other.txt" }), 200);
    expectStatus(await confirm(await waitForToken(account.email)), 200);
    expect(await isVerified(account)).toBe(true);
    expectStatus(await client.post(`/api/files/${file}/shares`, {}), 201);
    expectStatus(await client.put(`/api/files/${file}`, { isPublic: true }), 200);
  });

  test("receives shares only after confirmation, including earlier ones", async () => {
    const owner = await createConfirmedAccount();
    const email = freshEmail();
    const before = await shareFile(owner, email, "before");
    const recipient = await server().signUp({ email });
    const later = await shareFile(owner, email, "later");
    expect(await listReceivedLabels(recipient)).toEqual([]);
    for (const id of [before, later]) {
      expectError(await recipient.client.get(`/api/files/${id}/download`), 404, "not_found");
    }
    expectStatus(await confirm(await waitForToken(email)), 200);
    expect(await listReceivedLabels(recipient)).toEqual(["before", "later"]);
    expect((await recipient.client.get(`/api/files/${before}/download`)).text).toBe("before");
    expect((await recipient.client.get(`/api/files/${later}/download`)).text).toBe("later");
  });

  test("cannot share after a change of its email until the new one is confirmed", async () => {
    const account = await createConfirmedAccount();
    const { client } = account;
    const file = await client.storedId("x");
    const created = await client.post(`/api/files/${file}/shares`, {});
    const owner = await createConfirmedAccount();
    const email = freshEmail();
    const waiting = await owner.client.storedId("waits");
    expectStatus(await owner.client.post(`/api/files/${waiting}/shares`, { user: email }), 201);
    const changed = await client.put("/api/users/profile", { email, currentPassword: password });
    expect(changed.at("data")).toMatchObject({ email, emailVerified: false });
    expectError(await client.post(`/api/files/${file}/shares`, {}), 403, "email_unconfirmed");
    expectError(await client.get(`/api/files/${waiting}/download`), 404, "not_found");
    // Earlier shares stay, and can be ended.
    expectStatus(await server().visitor.get(new URL(created.string("data.url")).pathname), 200);
    expectStatus(await client.delete(`/api/shares/${created.string("data.id")}`), 200);
    const back = await client.put("/api/users/profile", { name: "Other" });
    expect(back.at("data.emailVerified")).toBe(false);
    expectStatus(await confirm(await waitForToken(email)), 200);
    expect((await client.get(`/api/files/${waiting}/download`)).text).toBe("waits");
    // It is the same address in upper or lower case.
    const cased = await client.put("/api/users/profile", { email: email.toUpperCase(), currentPassword: password });
    expect(cased.at("data.emailVerified")).toBe(true);
  });

  test("can restrict its existing shares, but not extend them", async () => {
    // Every change was once rejected: the owner could not even add a password to a link.
    const [account, other] = [await createConfirmedAccount(), await createConfirmedAccount()];
    const { client } = account;
    const createShare = async (path: string, body: object) => {
      const created = await client.post(`/api/files/${path}/shares`, body);
      expectStatus(created, 201);
      return { path: `/api/shares/${created.string("data.id")}`, url: new URL(created.string("data.url")).pathname };
    };
    const file = await client.storedId("mine");
    const folder = await client.folderId("box");
    const link = await createShare(file, { expiresIn: "7d", maxDownloads: 10 });
    const box = await createShare(`folders/${folder}`, { permissions: "upload", maxUploadBytes: 1000 });
    const given = await client.post(`/api/files/${file}/shares`, { user: other.email, permissions: "write" });
    const toOther = `/api/shares/${given.string("data.id")}`;
    const changed = await client.put("/api/users/profile", { email: freshEmail(), currentPassword: password });
    expect(changed.at("data.emailVerified")).toBe(false);

    const tightening: [string, object][] = [
      [link.path, { password: "pass word" }],
      [link.path, { password: "another one" }],
      [link.path, { expiresIn: "1d", maxDownloads: 5, hideLocation: true, pinned: true, label: "For Ada" }],
      [box.path, { password: "pass word", expiresIn: "7d", maxUploadBytes: 500, maxUploadsPerAddress: 5 }],
      [toOther, { permissions: "read", versions: false, expiresIn: "7d" }],
    ];
    for (const [path, body] of tightening) {
      const response = await client.patch(path, body);
      expect([body, response.status]).toEqual([body, 200]);
    }
    expectError(await server().visitor.get(`/api/public/${link.url.split("/").at(-1)}`), 401, "password_required");

    const before = (await client.get("/api/shares")).list("data.shares");
    const loosening: [string, object][] = [
      [link.path, { password: null }],
      [link.path, { expiresIn: "30d" }],
      [link.path, { expiresAt: null }],
      [link.path, { maxDownloads: 6 }],
      [link.path, { maxDownloads: null }],
      [link.path, { hideLocation: false }],
      [link.path, { pinned: false }],
      [link.path, { password: "a third one", maxDownloads: null }],
      [box.path, { maxUploadBytes: 501 }],
      [box.path, { maxUploadsPerAddress: null }],
      [toOther, { permissions: "write" }],
      [toOther, { versions: true }],
    ];
    for (const [path, body] of loosening) {
      const response = await client.patch(path, body);
      expect([body, response.status, response.at("error.details.reason")]).toEqual([body, 403, "email_unconfirmed"]);
    }
    expect((await client.get("/api/shares")).list("data.shares")).toEqual(before);
  });
});

describe("a link", () => {
  test("works once, for the address it was sent to, and is in no log", async () => {
    const account = await server().signUp();
    const first = await waitForToken(account.email);
    const [, second] = [await account.client.post("/api/auth/email/send"), await waitForToken(account.email, 2)];
    expect(second).not.toBe(first);
    for (const token of ["", "x", `${first}x`]) {
      const response = await confirm(token);
      if (token === "") expectError(response, 400, "invalid_field", "token");
      else expectError(response, 401, "invalid_token");
    }
    const responses = await Promise.all([confirm(first), confirm(first), confirm(first)]);
    expect(responses.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 401, 401]);
    expect(responses.find(({ status }) => status === 200)?.at("data")).toEqual({
      email: account.email,
      emailVerified: true,
    });
    expectError(await confirm(second), 401, "invalid_token");
    expect(server().log).not.toContain(first);
    expect(server().log).not.toContain(second);
  });

  test("confirms only its own address, and none of a disabled or erased account", async () => {
    const account = await server().signUp();
    const token = await waitForToken(account.email);
    const email = freshEmail();
    expectStatus(await account.client.put("/api/users/profile", { email, currentPassword: password }), 200);
    expectError(await confirm(token), 401, "invalid_token");
    const current = await waitForToken(email);
    await server().larder(["user", "set", email, "--disable"]);
    expectError(await confirm(current), 401, "invalid_token");
    await server().larder(["user", "set", email, "--enable"]);
    const signedIn = (await server().visitor.post("/api/auth/signin", { email, password })).string("token");
    expectStatus(await new Client(server(), signedIn).delete("/api/users/profile", { password }), 200);
    expectError(await confirm(current), 401, "invalid_token");
  });

  test("opens a page with a confirm button; opening alone does not confirm, because mail scanners do it", async () => {
    const account = await server().signUp();
    const link = findLink(await mails.waitForMail(account.email));
    const post = (token: string) =>
      server().visitor.request("POST", "/confirm-email", {
        body: new URLSearchParams({ token }).toString(),
        headers: { "content-type": "application/x-www-form-urlencoded" },
      });
    for (const method of ["GET", "HEAD", "GET"]) {
      const page = await server().visitor.request(method, link);
      expectStatus(page, 200);
      expect(page.header("cache-control")).toBe("no-store");
      expect(page.header("referrer-policy")).toBe("no-referrer");
      if (method === "GET") expect(page.text).toContain(account.email);
      expect(page.text).not.toContain("<script");
    }
    expect(await isVerified(account)).toBe(false);
    const done = await post(link.split("=")[1] ?? "");
    expectStatus(done, 200);
    expect(done.text).toContain("Email address confirmed");
    expect(await isVerified(account)).toBe(true);
    for (const gone of [await post(link.split("=")[1] ?? ""), await post(""), await server().visitor.get(link)]) {
      expectStatus(gone, 404);
      expect(gone.text).toContain("This link does not work");
    }
    expectStatus(await server().visitor.get("/confirm-email"), 404);
  });
});

describe("POST /api/auth/email/send", () => {
  test("sends three messages an hour to an account and to an address, and returns when the next is allowed", async () => {
    const account = await server().signUp();
    await waitForToken(account.email);
    for (let count = 2; count <= 3; count++) {
      const sent = await account.client.post("/api/auth/email/send");
      expect(sent.at("data")).toEqual({ email: account.email, emailVerified: false, sent: true });
      await waitForToken(account.email, count);
    }
    const rejected = await account.client.post("/api/auth/email/send");
    expectError(rejected, 429, "rate_limited");
    expect(rejected.at("error.details")).toMatchObject({ limit: 3, resource: "general" });
    expect(Number(rejected.header("retry-after"))).toBeGreaterThan(3000);
    expect(rejected.header("x-ratelimit-limit")).toBe("3");
    // Neither a new address nor another account causes more messages to a mailbox.
    const victim = account.email;
    await account.client.put("/api/users/profile", { email: freshEmail(), currentPassword: password });
    const second = await server().signUp({ email: victim });
    expectError(await second.client.post("/api/auth/email/send"), 429, "rate_limited");
    expectError(await account.client.post("/api/auth/email/send"), 429, "rate_limited");
    const third = await server().signUp();
    await waitForToken(third.email);
    expect(confirmationMails(victim)).toHaveLength(3);
  });

  test("sends nothing to a confirmed address, nor without a session", async () => {
    const account = await createConfirmedAccount();
    const response = await account.client.post("/api/auth/email/send");
    expect(response.at("data")).toEqual({ email: account.email, emailVerified: true, sent: false });
    expectError(await server().visitor.post("/api/auth/email/send"), 401, "missing_token");
    const key = await account.client.post("/api/users/api-keys", {
      name: "k",
      scopes: ["profile"],
      currentPassword: password,
    });
    const byKey = new Client(server(), key.string("data.key"));
    expectError(await byKey.post("/api/auth/email/send"), 403, "scope");
  });
});

test("an unconfirmed address receives only notices about sign-in", async () => {
  const account = await server().signUp();
  const makeKey = () => account.client.post("/api/users/api-keys", { name: "k", currentPassword: password });
  expectStatus(await makeKey(), 201);
  const body = { newPassword: "another battery staple", currentPassword: password };
  expectStatus(await account.client.put("/api/users/profile", body), 200);
  const subjects = () =>
    mails.received.filter(({ to }) => to.includes(account.email)).map(({ parsed }) => parsed.subject);
  // Messages to one address are sent in order: one about the key would have come first.
  await eventually("the notice of the new password", () => subjects().includes("Your password was changed"));
  expect(subjects()).toEqual(["Confirm your email address", "Your password was changed"]);
});

describe("confirmed from the start", () => {
  test("are accounts created by administrators, the command line and invitations to their address", async () => {
    const admin = await server().addUser(["--admin"]);
    expect(await isVerified(admin)).toBe(true);
    const email = freshEmail();
    const body = { email, password, currentPassword: admin.password };
    expect((await admin.client.post("/api/admin/users", body)).at("data.emailVerified")).toBe(true);
    const invited = freshEmail();
    const bound = await admin.client.post("/api/admin/invites", { email: invited });
    const guest = { email: invited, password, invite: bound.string("data.invite") };
    const joined = await server().visitor.post("/api/auth/signup", guest);
    expect(await isVerified({ client: new Client(server(), joined.string("token")) })).toBe(true);
    const open = await admin.client.post("/api/admin/invites", {});
    const anybody = { email: freshEmail(), password, invite: open.string("data.invite") };
    const unbound = await server().visitor.post("/api/auth/signup", anybody);
    expect(await isVerified({ client: new Client(server(), unbound.string("token")) })).toBe(false);
    await waitForToken(anybody.email);
    expect([email, invited].flatMap(confirmationMails)).toEqual([]);
  });

  test("are accounts created by the provider, and linked accounts with the same address", async () => {
    const email = freshEmail();
    provider.people.set("ada", { email, email_verified: true });
    const browser = new Browser(() => server().url);
    await browser.visit(await browser.goToCallback("ada"));
    const cookie = `larder_session=${browser.cookies().get("larder_session") ?? ""}`;
    expect((await server().visitor.get("/api/users/profile", { cookie })).at("data")).toMatchObject({
      email,
      emailVerified: true,
    });
  });

  test("are accounts created before, or while confirmation was off", async () => {
    await withServer({ env: { ...env, LARDER_MAIL_VERIFY: "off" } }, async (own) => {
      const account = await own.signUp();
      expect(await isVerified(account)).toBe(true);
      await own.restart({ env });
      expect(await isVerified(account)).toBe(true);
      const later = await own.signUp();
      expect(await isVerified(later)).toBe(false);
      const file = await later.client.storedId("x");
      expectError(await later.client.post(`/api/files/${file}/shares`, {}), 403, "email_unconfirmed");
      await own.restart({ env: { LARDER_MAIL_VERIFY: "off" } });
      expect(await isVerified(later)).toBe(true);
      expectStatus(await later.client.post(`/api/files/${file}/shares`, {}), 201);
    });
  });
});

describe("administrators", () => {
  test("see and set whether an email is confirmed; a key with the scope admin cannot set it", async () => {
    const admin = await server().addUser(["--admin"]);
    const owner = await createConfirmedAccount();
    const email = freshEmail();
    const waiting = await owner.client.storedId("waits");
    expectStatus(await owner.client.post(`/api/files/${waiting}/shares`, { user: email }), 201);
    const account = await server().signUp({ email });
    const path = `/api/admin/users/${account.id}`;
    expect((await admin.client.get(path)).at("data.emailVerified")).toBe(false);
    const key = await admin.client.post("/api/users/api-keys", {
      name: "k",
      scopes: ["admin"],
      currentPassword: admin.password,
    });
    const byKey = new Client(server(), key.string("data.key"));
    expectError(await byKey.patch(path, { emailVerified: true }), 403, "scope");
    const set = (emailVerified: boolean) =>
      admin.client.patch(path, { emailVerified, currentPassword: admin.password });
    expect((await set(true)).at("data.emailVerified")).toBe(true);
    expect(await isVerified(account)).toBe(true);
    expect((await account.client.get(`/api/files/${waiting}/download`)).text).toBe("waits");
    expect((await set(false)).at("data.emailVerified")).toBe(false);
    expect(await isVerified(account)).toBe(false);
    await waitForToken(email, 2);
    expect((await server().larder(["user", "set", email, "--confirm-email"])).code).toBe(0);
    await eventually("the command line's change", async () => (await isVerified(account)) === true);
  });
});

describe("an address that an administrator set", () => {
  test("receives earlier shares as soon as the administrator confirms it", async () => {
    // Such an address already counts as confirmed. Confirming it once did nothing, and its shares waited for ever.
    const admin = await confirmIdentity(await server().addUser(["--admin"]));
    const owner = await createConfirmedAccount();
    const ways: [string, (account: Account, email: string) => Promise<unknown>][] = [
      ["a second call", ({ id }) => admin.client.patch(`/api/admin/users/${id}`, { emailVerified: true })],
      ["the command line", (_account, email) => server().larder(["user", "set", email, "--confirm-email"])],
    ];
    for (const [way, confirmFor] of ways) {
      const account = await server().signUp();
      const email = freshEmail();
      await shareFile(owner, email, "waits");
      expectStatus(await admin.client.patch(`/api/admin/users/${account.id}`, { email }), 200);
      expect([way, await isVerified(account), await listReceivedLabels(account)]).toEqual([way, true, []]);
      await confirmFor(account, email);
      expect([way, await listReceivedLabels(account)]).toEqual([way, ["waits"]]);
      await confirmFor(account, email);
      expect([way, await listReceivedLabels(account)]).toEqual([way, ["waits"]]);
    }
    const account = await server().signUp();
    const email = freshEmail();
    await shareFile(owner, email, "waits");
    await shareFile(owner, account.email, "for the former address");
    const both = { email, emailVerified: true };
    expectStatus(await admin.client.patch(`/api/admin/users/${account.id}`, both), 200);
    expect(await listReceivedLabels(account)).toEqual(["waits"]);
  });
});

describe("mail.verify turned off", () => {
  const given = "mail.verify is off; opened the shares that were waiting for a confirmed email address.";

  test("opens shares that wait for sign-up addresses, and no others", async () => {
    // Nobody could confirm these addresses any longer, and the shares once waited for ever.
    await withServer({ env }, async (own) => {
      const admin = await confirmIdentity(await own.addUser(["--admin"]));
      const owner = await createConfirmedAccount(own);
      const signedUp = freshEmail();
      await shareFile(owner, signedUp, "before");
      const account = await own.signUp({ email: signedUp });
      await shareFile(owner, signedUp, "later");
      // An address that the owner or an administrator changed later receives only newer shares.
      const [byOwner, byAdmin] = [await own.signUp(), await own.signUp()];
      const [changed, unconfirmed] = [freshEmail(), freshEmail()];
      for (const email of [changed, unconfirmed]) await shareFile(owner, email, "for somebody else");
      const change = { email: changed, currentPassword: password };
      expectStatus(await byOwner.client.put("/api/users/profile", change), 200);
      const adminChange = { email: unconfirmed, emailVerified: false };
      expectStatus(await admin.client.patch(`/api/admin/users/${byAdmin.id}`, adminChange), 200);
      for (const email of [changed, unconfirmed]) await shareFile(owner, email, "since");
      for (const one of [account, byOwner, byAdmin]) expect(await listReceivedLabels(one)).toEqual([]);

      await own.restart({ env: { LARDER_MAIL_VERIFY: "off" } });
      expect(await listReceivedLabels(account)).toEqual(["before", "later"]);
      for (const one of [byOwner, byAdmin]) expect(await listReceivedLabels(one)).toEqual(["since"]);
      expect(own.log.split(given)).toHaveLength(2);
      await own.restart();
      expect(await listReceivedLabels(account)).toEqual(["before", "later"]);
      expect(own.log.split(given)).toHaveLength(2);
      // Turned on again, it revokes nothing.
      await own.restart({ env });
      expect(await isVerified(account)).toBe(false);
      expect(await listReceivedLabels(account)).toEqual(["before", "later"]);
    });
  });
});

test("mail.verify without mail stops the start with an error", async () => {
  await expect(withServer({ env: { LARDER_MAIL_VERIFY: "on" } }, async () => {})).rejects.toThrow(
    /mail\.verify requires an SMTP server/,
  );
});

testAllResponses(server);
