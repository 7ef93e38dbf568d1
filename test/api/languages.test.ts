// The language of the pages, the emails, and the notifications of the server.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Account, Client, freshEmail } from "../support/client.ts";
import { confirmIdentity } from "../support/confirm-identity.ts";
import { expectStatus } from "../support/expect.ts";
import { MailServer } from "../support/mail-server.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";

const password = "correct horse battery";
const mails = new MailServer();
const env: Record<string, string> = {
  LARDER_MAIL_HOST: "127.0.0.1",
  LARDER_MAIL_SECURE: "none",
  LARDER_MAIL_FROM: "Larder <larder@example.test>",
  LARDER_PUBLIC_URL: "http://files.example.test",
};
beforeAll(async () => {
  await mails.start();
  env["LARDER_MAIL_PORT"] = String(mails.port);
});
const server = sharedServer({ env });
// Without an account, the sign-in page only explains the setup.
beforeAll(() => server().signUp());
afterAll(() => mails.stop());

const GERMAN = { "accept-language": "de-AT, en;q=0.5" };
const FRENCH = { "accept-language": "fr" };

const page = (path: string, headers: Record<string, string>) =>
  server().visitor.request("GET", path, { headers: { accept: "text/html", ...headers } });

/** Signs up with a browser of a language. */
async function signUpWith(headers: Record<string, string>): Promise<Account> {
  const email = freshEmail();
  const json = { email, password };
  const response = await server().visitor.request("POST", "/api/auth/signup", { json, headers });
  expectStatus(response, 201);
  const token = response.string("token");
  const client = new Client(server(), token);
  return { id: response.string("user.id"), email, password, name: "", token, client };
}

const signInWith = async ({ email }: Account, headers: Record<string, string>) =>
  expectStatus(await server().visitor.request("POST", "/api/auth/signin", { json: { email, password }, headers }), 200);

const languageOf = async ({ client }: Account) => (await client.get("/api/users/settings")).at("data.language");

const createKey = async ({ client }: Account) =>
  expectStatus(await client.post("/api/users/api-keys", { name: "Skript", currentPassword: password }), 201);

describe("a page", () => {
  test.each([
    [{ "accept-language": "de-AT, en;q=0.5" }, "de", "Anmelden"],
    [{ "accept-language": "en, de;q=0.9" }, "en", "Sign in"],
    [{ "accept-language": "tlh, xx-Latn-ZZ" }, "en", "Sign in"],
    [{ "accept-language": "fr", cookie: "a=b; larder_language=de; c=d" }, "de", "Anmelden"],
    [{ "accept-language": "de", cookie: "larder_language=tlh" }, "de", "Anmelden"],
    [{}, "en", "Sign in"],
  ])("for %p is in %p", async (headers, language, title) => {
    const response = await page("/sign-in", { ...headers });
    expectStatus(response, 200);
    expect(response.text).toContain(`<html lang="${language}" dir="ltr"`);
    expect(response.text).toContain(`<h1>${title}</h1>`);
    expect(response.header("vary")).toContain("Accept-Language, Cookie");
  });

  test.each([
    `"><script>alert(1)</script>`,
    `de"><script>alert(1)</script>`,
    "de;q=1e999, ;;;q=, ,",
    `${"de-".repeat(2000)}x`,
    "__proto__, constructor;q=0.9",
  ])("has nothing of the header %p in it", async (value) => {
    for (const headers of [{ "accept-language": value }, { cookie: `larder_language=${value}` }]) {
      const response = await page("/sign-in", headers);
      expectStatus(response, 200);
      expect(response.text).toMatch(/<html lang="(en|de)" dir="ltr"/);
      expect(response.text).not.toContain("alert(1)");
    }
  });

  test.each([
    ["/invite?token=none", 404, "Diese Einladung funktioniert nicht"],
    ["/reset-password?token=none", 404, "Dieser Link funktioniert nicht"],
    ["/s/none", 404, "Link nicht gefunden"],
    ["/nowhere", 404, "Seite nicht gefunden"],
    ["/app-document", 200, "Larder wird geladen …"],
  ])("at %s is in German too", async (path, status, title) => {
    const response = await page(path, GERMAN);
    expectStatus(response, status);
    expect(response.text).toContain(title);
    expect(response.text).toContain('lang="de"');
    expect(response.header("vary")).toContain("Accept-Language, Cookie");
  });

  test("in the pseudo-language is from right to left, if a browser asks for it", async () => {
    const response = await page("/nowhere", { cookie: "larder_language=ar-XB" });
    expect(response.text).toContain('<html lang="ar-XB" dir="rtl"');
    expect(response.text).toContain("<h1>[Págé nöt föünd]</h1>");
    expect(response.text).toContain("<p>[Thís áddréss döés nöt éxíst.");
    expect((await page("/nowhere", { "accept-language": "ar" })).text).toContain('<html lang="en" dir="ltr"');
  });

  test("that browsers revalidate has an own tag in each language", async () => {
    const tags = await Promise.all(
      [GERMAN, FRENCH, {}].map(async (headers) => (await page("/app-document", headers)).header("etag")),
    );
    expect(new Set(tags).size).toBe(3);
    const known = { "if-none-match": tags[0] ?? "" };
    expect((await page("/app-document", { ...GERMAN, ...known })).status).toBe(304);
    expect((await page("/app-document", { ...FRENCH, ...known })).status).toBe(200);
  });

  test("of a link shows sizes, dates, and its preview in the language of the visitor", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x".repeat(1536), { name: "notiz.txt" });
    const share = await client.post(`/api/files/${id}/shares`, { expiresAt: "2099-03-04T05:06:07Z" });
    const response = await page(`/s/${share.string("data.token")}`, GERMAN);
    expect(response.text).toContain("<li>1,5 KB</li>");
    expect(response.text).toContain("4. März 2099");
    expect(response.text).toMatch(/og:description" content="Text \(TXT\) · 1,5 KB · Geteilt von /);
    expect(response.header("cache-control")).toContain("private");
  });
});

test("the sign-in page says in the language of the visitor that a mail was sent", async () => {
  const json = { email: freshEmail() };
  const messageIn = async (headers: Record<string, string>) =>
    (await server().visitor.request("POST", "/api/auth/password/forgot", { json, headers })).string("message");
  expect(await messageIn(GERMAN)).toStartWith("Wenn es ein Konto mit dieser E-Mail-Adresse gibt,");
  expect(await messageIn({})).toStartWith("If an account with this email exists,");
});

describe("the language of an account", () => {
  test("is that of the browser in which it is created, until the person chooses one", async () => {
    const account = await signUpWith(GERMAN);
    expect(await languageOf(account)).toBe("de");
    await signInWith(account, FRENCH);
    expect(await languageOf(account)).toBe("de");
    expectStatus(await account.client.put("/api/users/settings", { language: "en" }), 200);
    await signInWith(account, GERMAN);
    expect(await languageOf(account)).toBe("en");
  });

  test("is unset for programs, also after other settings change, and comes with the first browser", async () => {
    const account = await signUpWith({});
    expectStatus(await account.client.put("/api/users/settings", { theme: "dark" }), 200);
    await signInWith(account, {});
    expect(await languageOf(account)).toBe("en");
    await signInWith(account, GERMAN);
    expect(await languageOf(account)).toBe("de");
    expect((await account.client.get("/api/users/settings")).at("data.theme")).toBe("dark");
  });

  test("comes with an invitation, which is written in that of the inviting person", async () => {
    const admin = await confirmIdentity(await server().addUser(["--admin", "--name", "Root"]));
    expectStatus(await admin.client.put("/api/users/settings", { language: "de" }), 200);
    const email = freshEmail();
    const invited = await admin.client.post("/api/admin/invites", { email });
    expectStatus(invited, 201);
    const { parsed } = await mails.waitForMail(email);
    expect(parsed.subject).toBe("Einladung zu Larder");
    expect(parsed.text).toContain("„Root“ lädt dich ein");
    const token = new URL(invited.string("data.url")).searchParams.get("token") ?? "";
    const accepted = await server().visitor.request("POST", "/invite", {
      body: new URLSearchParams({ token, email, name: "Ben", password }).toString(),
      headers: { "content-type": "application/x-www-form-urlencoded", ...FRENCH },
    });
    expectStatus(accepted, 201);
    expect(accepted.text).toContain("Bienvenue dans Larder");
    const signedIn = await server().visitor.post("/api/auth/signin", { email, password });
    const client = new Client(server(), signedIn.string("token"));
    expect((await client.get("/api/users/settings")).at("data.language")).toBe("fr");
  });

  test("is that of its emails and notifications", async () => {
    const account = await signUpWith(GERMAN);
    await createKey(account);
    const { parsed } = await mails.waitForMail(account.email);
    expect(parsed.subject).toBe("Ein neuer API-Schlüssel wurde erstellt");
    expect(parsed.text).toContain("„Skript“");
    expect(parsed.html).toContain('<html lang="de" dir="ltr">');
    const inbox = await account.client.get("/api/users/notifications");
    expect(inbox.at("data.notifications.0")).toMatchObject({
      title: "Neuer API-Schlüssel",
      body: expect.stringContaining("Für dein Konto wurde der API-Schlüssel Skript erstellt."),
    });
  });

  test("that nobody translated stays as it is, with texts in English", async () => {
    const account = await signUpWith({});
    expectStatus(await account.client.put("/api/users/settings", { language: "tlh" }), 200);
    await createKey(account);
    expect((await mails.waitForMail(account.email)).parsed.subject).toBe("A new API key was created");
    expect(await languageOf(account)).toBe("tlh");
  });
});

testAllResponses(server);
