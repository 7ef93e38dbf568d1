// The first page of a new person: a link for days that sets the first password and signs in.
import { beforeAll, describe, expect, test } from "bun:test";
import { type Account, Client, freshEmail } from "../support/client.ts";
import { confirmIdentity } from "../support/confirm-identity.ts";
import { expectStatus } from "../support/expect.ts";
import { sharedServer, type TestServer } from "../support/server.ts";

const server = sharedServer();
const password = "several unrelated words";
let admin: Account;

beforeAll(async () => {
  admin = await server().addUser(["--admin"]);
});

interface NewPerson {
  readonly id: string;
  readonly email: string;
  readonly token: string;
}

/** A new account without a password, and the token of its link. */
async function addPerson(name = "Ben"): Promise<NewPerson> {
  const email = freshEmail();
  const created = await admin.client.post("/api/admin/users", { email, name });
  expectStatus(created, 201);
  return { id: created.string("data.id"), email, token: tokenIn(created.string("data.passwordLink.url"), "/welcome") };
}

function tokenIn(url: string, path: string): string {
  const { pathname, searchParams } = new URL(url);
  expect(pathname).toBe(path);
  return searchParams.get("token") ?? "";
}

/** A new link for an account, by an administrator. */
async function newLink(id: string): Promise<string> {
  await confirmIdentity(admin);
  const link = await admin.client.post(`/api/admin/users/${id}/reset-link`, {});
  expectStatus(link, 200);
  return link.string("data.url");
}

const open = (token: string, client = server().visitor) => client.get(`/welcome?token=${token}`);

/** Sends the form as our own page does, unless the headers say otherwise. */
function send(token: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}) {
  return server().visitor.request("POST", "/welcome", {
    body: new URLSearchParams({ token, password, ...fields }).toString(),
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      "sec-fetch-site": "same-origin",
      origin: server().url,
      ...headers,
    },
  });
}

const signIn = (email: string, on: TestServer = server()) => on.visitor.post("/api/auth/signin", { email, password });
const patch = (id: string, changes: object) => admin.client.patch(`/api/admin/users/${id}`, changes);

describe("the page /welcome", () => {
  test("greets by name, sets a password once, and signs in", async () => {
    const { email, token } = await addPerson("Ben <b>");
    const page = await open(token);
    expectStatus(page, 200);
    expect(page.text).toContain("Welcome to Larder, Ben &lt;b&gt;");
    expect(page.text).toContain(`value="${email}"`);
    const wrong = await send(token, { password: "short" });
    expectStatus(wrong, 400);
    expect(wrong.text).toContain("A password must have 8 to 256 characters");
    expect(wrong.text).not.toContain("short");
    const done = await send(token);
    expectStatus(done, 201);
    const cookie = /larder_session=([^;]+)/.exec(done.header("set-cookie") ?? "")?.[1] ?? "";
    const session = await new Client(server(), cookie).get("/api/auth/session");
    expect(session.string("user.email")).toBe(email);
    expectStatus(await signIn(email), 200);
    expectStatus(await open(token), 404);
    expectStatus(await send(token, { password: "of somebody else" }), 404);
    expectStatus(await signIn(email), 200);
  });

  test("isn't cached, and gives the token to no other address", async () => {
    const { token } = await addPerson();
    for (const page of [await open(token), await open("unknown"), await send(token)]) {
      expect(page.header("cache-control")).toBe("no-store");
      expect(page.header("referrer-policy")).toBe("strict-origin");
      expect(page.header("content-security-policy")).toContain("form-action 'self'");
      expect(page.header("content-security-policy")).toContain("frame-ancestors 'none'");
    }
  });

  test("of two tabs that send at once, exactly one sets the password", async () => {
    const { email, token } = await addPerson();
    const passwords = ["the first of two words", "the second of two words"];
    const sent = await Promise.all(passwords.map((chosen) => send(token, { password: chosen })));
    expect(sent.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([201, 404]);
    const winner = passwords[sent.findIndex(({ status }) => status === 201)] ?? "";
    expectStatus(await server().visitor.post("/api/auth/signin", { email, password: winner }), 200);
  });

  test("a form of another site sets the password at most, and never signs the visitor in", async () => {
    const { token } = await addPerson();
    const foreign = { "sec-fetch-site": "cross-site", origin: "https://evil.example" };
    const done = await send(token, {}, foreign);
    expectStatus(done, 201);
    expect(done.headers.get("set-cookie")).toBeNull();
    const { token: other } = await addPerson();
    const withoutMetadata = { "sec-fetch-site": "none", origin: "null" };
    expect((await send(other, {}, withoutMetadata)).headers.get("set-cookie")).toBeNull();
  });

  test("says whose session it replaces", async () => {
    const { token } = await addPerson();
    const ann = await server().signUp();
    const cookie = (await server().visitor.post("/api/auth/signin", { ...ann, cookie: true })).header("set-cookie");
    const page = await server().visitor.request("GET", `/welcome?token=${token}`, {
      headers: { cookie: cookie?.split(";")[0] ?? "" },
    });
    expect(page.text).toContain(`<strong>${ann.email}</strong> is signed in`);
    expect((await open(token)).text).not.toContain("is signed in");
  });

  test("ends the session that it replaces, and no other, so that its person's messages stop in this browser", async () => {
    const ann = await server().signUp();
    const signedIn = await server().visitor.post("/api/auth/signin", { ...ann, cookie: true });
    const replaced = new Client(server(), /larder_session=([^;]+)/.exec(signedIn.header("set-cookie"))?.[1]);
    const isSignedIn = async (client: Client) => (await client.get("/api/auth/session")).status === 200;
    const cookie = `larder_session=${replaced.token}`;
    // A form of another site ends nothing.
    const foreign = { cookie, "sec-fetch-site": "cross-site", origin: "https://evil.example" };
    expectStatus(await send((await addPerson()).token, {}, foreign), 201);
    expect(await isSignedIn(replaced)).toBe(true);
    expectStatus(await send((await addPerson()).token, {}, { cookie }), 201);
    expect(await isSignedIn(replaced)).toBe(false);
    expect(await isSignedIn(ann.client)).toBe(true);
  });
});

describe("a link for a new person ends", () => {
  test("when an administrator makes a new one, which is for days too", async () => {
    const { id, token } = await addPerson();
    const next = tokenIn(await newLink(id), "/welcome");
    expectStatus(await open(token), 404);
    expectStatus(await send(token), 404);
    expectStatus(await send(next), 201);
    tokenIn(await newLink(id), "/reset-password");
  });

  test("when the account is disabled, and not before it gets a new link after that", async () => {
    const { id, token } = await addPerson();
    expectStatus(await patch(id, { disabled: true }), 200);
    expectStatus(await open(token), 404);
    expectStatus(await patch(id, { disabled: false }), 200);
    expectStatus(await send(token), 404);
    expectStatus(await send(tokenIn(await newLink(id), "/welcome")), 201);
  });

  test("when the account is deleted, or gets another email or a password", async () => {
    const [erased, moved, known] = [await addPerson(), await addPerson(), await addPerson()];
    await confirmIdentity(admin);
    expectStatus(await admin.client.delete(`/api/admin/users/${erased.id}`, {}), 200);
    expectStatus(await patch(moved.id, { email: freshEmail() }), 200);
    expectStatus(await patch(known.id, { password }), 200);
    for (const { token } of [erased, moved, known])
      expectStatus(await send(token, { password: "chosen too late" }), 404);
    expectStatus(await signIn(known.email), 200);
  });

  test("when somebody signs in in another way", async () => {
    const { email, token } = await addPerson();
    const printed = await server().larder(["user", "token", email]);
    expect(printed.code).toBe(0);
    expectStatus(await open(token), 404);
  });

  test("and works for nothing else: not as a reset token, and a reset token not here", async () => {
    const { token, id } = await addPerson();
    const reset = await server().visitor.post("/api/auth/password/reset", { token, newPassword: password });
    expectStatus(reset, 401);
    expectStatus(await server().visitor.get(`/reset-password?token=${token}`), 404);
    expectStatus(await send(token), 201);
    expectStatus(await send(tokenIn(await newLink(id), "/reset-password")), 404);
  });
});

test("larder user reset-link prints the same kind of link for a person who has never signed in", async () => {
  const { email, token } = await addPerson();
  const printed = await server().larder(["user", "reset-link", email]);
  expect(printed.code).toBe(0);
  const next = tokenIn(printed.stdout.trim(), "/welcome");
  expectStatus(await open(token), 404);
  expectStatus(await send(next), 201);
  const known = await server().larder(["user", "reset-link", email]);
  tokenIn(known.stdout.trim(), "/reset-password");
});

test("an API key that creates an account gets no link, and its owner is welcomed all the same", async () => {
  await confirmIdentity(admin);
  const key = await admin.client.post("/api/users/api-keys", { name: "setup", scopes: ["admin"] });
  const created = await new Client(server(), key.string("data.key")).post("/api/admin/users", { email: freshEmail() });
  expectStatus(created, 201);
  expect(created.at("data.passwordLink")).toBeUndefined();
  tokenIn(await newLink(created.string("data.id")), "/welcome");
});
