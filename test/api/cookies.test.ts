import { describe, expect, test } from "bun:test";
import { type Account, type ApiResponse, freshEmail } from "../support/client.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer, withServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

/** Signs in with `cookie: true`. Returns the cookie for requests, and the Set-Cookie header. */
async function signInWithCookie(
  account: Account,
  target = server(),
): Promise<{ cookie: string; setCookie: string; response: ApiResponse }> {
  const { email, password } = account;
  const response = await target.visitor.post("/api/auth/signin", { email, password, cookie: true });
  expectStatus(response, 200);
  const setCookie = response.header("set-cookie");
  return { cookie: setCookie.split(";")[0] ?? "", setCookie, response };
}

/** The attributes of a Set-Cookie header, in lower case and sorted. */
function parseAttributes(setCookie: string): string[] {
  return setCookie
    .split(";")
    .slice(1)
    .map((part) => part.trim().toLowerCase())
    .sort();
}

describe("the session cookie", () => {
  test("is set only on request, HttpOnly, SameSite=Lax, and not Secure over plain HTTP", async () => {
    const { cookie, setCookie, response } = await signInWithCookie(await server().signUp());
    expect(cookie).toMatch(/^larder_session=.+/);
    const attributes = setCookie.split(";").map((part) => part.trim().toLowerCase());
    expect(attributes).toContain("httponly");
    expect(attributes).toContain("samesite=lax");
    expect(attributes).not.toContain("secure");
    expect(response.string("token")).not.toBe("");
  });

  test("is also set by sign-up, on request", async () => {
    const body = { email: freshEmail(), password: "correct horse battery", cookie: true };
    const response = await server().visitor.post("/api/auth/signup", body);
    expectStatus(response, 201);
    expect(parseAttributes(response.header("set-cookie"))).toEqual(
      expect.arrayContaining(["httponly", "samesite=lax"]),
    );
    const cookie = response.header("set-cookie").split(";")[0] ?? "";
    expectStatus(await server().visitor.get("/api/auth/session", { cookie }), 200);
    const plain = await server().visitor.post("/api/auth/signup", { ...body, email: freshEmail(), cookie: false });
    expectStatus(plain, 201);
    expect(plain.headers.get("set-cookie")).toBeNull();
  });

  test("is requested by a boolean", async () => {
    const { email, password } = await server().signUp();
    const response = await server().visitor.post("/api/auth/signin", { email, password, cookie: "true" });
    expectError(response, 400, "invalid_field", "cookie");
    const no = await server().visitor.post("/api/auth/signin", { email, password, cookie: false });
    expectStatus(no, 200);
    expect(no.headers.get("set-cookie")).toBeNull();
  });

  test("is Secure if the public address is https", async () => {
    await withServer({ env: { LARDER_PUBLIC_URL: "https://files.example.com" } }, async (own) => {
      const { email, password } = await own.signUp();
      const response = await own.visitor.post("/api/auth/signin", { email, password, cookie: true });
      expect(response.header("set-cookie").toLowerCase()).toMatch(/;\s*secure/);
    });
  });

  test("authenticates safe requests", async () => {
    const account = await server().signUp();
    const { cookie } = await signInWithCookie(account);
    const response = await server().visitor.get("/api/auth/session", { cookie });
    expectStatus(response, 200);
    expect(response.at("user.id")).toBe(account.id);
    expectStatus(await server().visitor.get("/api/files", { cookie: `theme=dark; ${cookie}; other=1` }), 200);
  });

  test("allows an unsafe request only if it proves to be same-origin", async () => {
    const { cookie } = await signInWithCookie(await server().signUp());
    const origin = server().url;
    const other = origin.replace("127.0.0.1", "127.0.0.2");
    const cases: [string, Record<string, string>, number][] = [
      ["neither header", {}, 403],
      ["own Origin", { origin }, 201],
      ["another Origin", { origin: "https://evil.example" }, 403],
      ["another host", { origin: other }, 403],
      ["another port", { origin: "http://127.0.0.1:1" }, 403],
      ["another scheme", { origin: origin.replace("http:", "https:") }, 403],
      ["Origin as a prefix", { origin: `${origin}.evil.example` }, 403],
      ["Origin null", { origin: "null" }, 403],
      ["same-origin", { "sec-fetch-site": "same-origin" }, 201],
      ["same-site", { "sec-fetch-site": "same-site" }, 403],
      ["cross-site", { "sec-fetch-site": "cross-site" }, 403],
      [
        "another Origin that claims same-origin",
        { origin: "https://evil.example", "sec-fetch-site": "same-origin" },
        403,
      ],
      ["only its own Referer", { referer: `${origin}/` }, 403],
    ];
    for (const [index, [what, headers, status]] of cases.entries()) {
      const body = { name: `folder ${index}`, path: "/" };
      const response = await server().visitor.post("/api/files/folders", body, { cookie, ...headers });
      expect({ what, status: response.status }).toEqual({ what, status });
      if (status === 403) expect(response.at("error.details.reason")).toBe("csrf");
    }
  });

  test("works from the public address and from the requested one, and from no other", async () => {
    // With a public address set, browsers that used the local address were once rejected.
    const publicUrl = "https://files.example.com";
    await withServer({ env: { LARDER_PUBLIC_URL: publicUrl } }, async (own) => {
      const { cookie } = await signInWithCookie(await own.signUp(), own);
      const rows: [string, string, number][] = [
        [publicUrl, own.url, 201],
        [own.url, own.url, 201],
        ["http://larder.local:8080", "http://larder.local:8080", 201],
        ["http://larder.local:8080", own.url, 403],
        ["http://larder.local", "http://larder.local:8080", 403],
        ["https://evil.example", own.url, 403],
        ["https://files.example.com.evil.example", own.url, 403],
        ["http://127.0.0.1:1", own.url, 403],
        ["null", own.url, 403],
      ];
      for (const [index, [origin, requestedUrl, status]] of rows.entries()) {
        const headers = { cookie, origin, host: new URL(requestedUrl).host };
        const response = await own.visitor.post("/api/files/folders", { name: `${index}`, path: "/" }, headers);
        expect({ origin, requestedUrl, status: response.status }).toEqual({ origin, requestedUrl, status });
        if (status === 403) expectError(response, 403, "csrf");
      }
    });
  });

  test("is checked at every unsafe endpoint, including uploads and deletions", async () => {
    const account = await server().signUp();
    const { cookie } = await signInWithCookie(account);
    const id = await account.client.storedId("content");
    const headers = { cookie };
    expectError(await server().visitor.upload("x", { headers }), 403, "csrf");
    const unsafe: [string, string][] = [
      ["PUT", `/api/files/${id}`],
      ["PUT", `/api/files/${id}/content`],
      ["DELETE", `/api/files/${id}`],
      ["POST", "/api/files/move"],
      ["POST", "/api/files/copy"],
      ["PUT", "/api/users/profile"],
      ["PUT", "/api/users/settings"],
      ["POST", "/api/auth/signout"],
      ["POST", "/api/auth/refresh"],
      ["POST", "/api/users/api-keys"],
      ["DELETE", "/api/users/api-keys/key_x"],
      ["POST", "/api/users/two-factor/setup"],
      ["POST", "/api/users/two-factor/enable"],
      ["POST", "/api/users/two-factor/disable"],
      ["POST", "/api/users/two-factor/recovery-codes"],
      ["POST", "/api/users/passkeys/options"],
      ["POST", "/api/users/passkeys"],
      ["PATCH", "/api/users/passkeys/psk_x"],
      ["DELETE", "/api/users/passkeys/psk_x"],
      ["DELETE", "/api/users/sessions/ses_x"],
      ["DELETE", "/api/users/profile"],
    ];
    for (const [method, path] of unsafe) {
      const response = await server().visitor.request(method, path, { headers, json: { name: "x" } });
      expect({ method, path, status: response.status }).toEqual({ method, path, status: 403 });
    }
    expect(await account.client.names()).toEqual(["file.txt"]);
  });

  test("yields to an Authorization header", async () => {
    const [a, b] = [await server().signUp(), await server().signUp()];
    const { cookie } = await signInWithCookie(a);
    expect((await b.client.get("/api/auth/session", { cookie })).at("user.id")).toBe(b.id);
    expectStatus(await b.client.post("/api/files/folders", { name: "no origin needed", path: "/" }, { cookie }), 201);
    const bad = await server().visitor.get("/api/auth/session", { cookie, authorization: "Bearer nonsense" });
    expectError(bad, 401, "invalid_token");
  });

  test("can be refreshed, which ends the old one", async () => {
    const { cookie } = await signInWithCookie(await server().signUp());
    const response = await server().visitor.post("/api/auth/refresh", undefined, { cookie, origin: server().url });
    expectStatus(response, 200);
    expect(response.string("token")).not.toBe("");
    expectError(await server().visitor.get("/api/auth/session", { cookie }), 401, "revoked_token");
  });

  test("ends with sign-out", async () => {
    const { cookie } = await signInWithCookie(await server().signUp());
    expectStatus(await server().visitor.post("/api/auth/signout", undefined, { cookie, origin: server().url }), 200);
    expectError(await server().visitor.get("/api/auth/session", { cookie }), 401, "revoked_token");
  });

  test("is cleared by sign-out, and replaced by a refresh", async () => {
    const { cookie, setCookie } = await signInWithCookie(await server().signUp());
    const headers = { cookie, origin: server().url };
    const refreshed = await server().visitor.post("/api/auth/refresh", undefined, headers);
    const next = refreshed.header("set-cookie");
    expect(next.split(";")[0]).not.toBe(cookie);
    expect(parseAttributes(next)).toEqual(parseAttributes(setCookie));
    const again = { cookie: next.split(";")[0] ?? "", origin: server().url };
    const cleared = (await server().visitor.post("/api/auth/signout", undefined, again)).header("set-cookie");
    expect(cleared).toMatch(/^larder_session=;/);
    expect(parseAttributes(cleared)).toContain("max-age=0");
    expect(parseAttributes(cleared)).toContain("path=/");
  });

  test("is not cleared by a sign-out with a token", async () => {
    const { client } = await server().signUp();
    expect((await client.post("/api/auth/signout")).headers.get("set-cookie")).toBeNull();
  });

  test("is Secure behind a trusted proxy that reports https, but not on the word of other clients", async () => {
    const https = { "x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.1" };
    for (const [trusted, isSecure] of [
      ["127.0.0.1/32", true],
      ["", false],
    ] as const) {
      await withServer({ env: { LARDER_TRUSTED_PROXIES: trusted } }, async (own) => {
        const { email, password } = await own.signUp();
        const response = await own.visitor.post("/api/auth/signin", { email, password, cookie: true }, https);
        expect(parseAttributes(response.header("set-cookie")).includes("secure")).toBe(isSecure);
      });
    }
  });

  test("is ignored by sign-in if another site sends it", async () => {
    const [a, b] = [await server().signUp(), await server().signUp()];
    const { cookie } = await signInWithCookie(a);
    const { email, password } = b;
    const headers = { cookie, origin: "https://evil.example" };
    const response = await server().visitor.post("/api/auth/signin", { email, password }, headers);
    expect(response.at("user.id")).toBe(b.id);
    expectStatus(await server().visitor.get("/api/auth/session", { cookie }), 200);
  });

  test("is 401 with an invented value", async () => {
    expectError(
      await server().visitor.get("/api/auth/session", { cookie: "larder_session=x.y.z" }),
      401,
      "invalid_token",
    );
  });
});

testAllResponses(server);
