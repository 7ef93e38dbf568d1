import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { Client, freshEmail, signUp } from "../support/client.ts";
import { expectClientError, expectError, expectStatus, sortedStatuses, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { asObject } from "../support/openapi.ts";
import { sharedServer, withServer } from "../support/server.ts";

const server = sharedServer();
const password = "correct horse battery";

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const decode = (part: string) => asObject(JSON.parse(Buffer.from(part, "base64url").toString("utf8"))) ?? {};
const sign = (input: string, algorithm: string, key: string) =>
  createHmac(algorithm, key).update(input).digest("base64url");

describe("sign-up", () => {
  test("responds 201 with user, token and expiry at the top level", async () => {
    const email = freshEmail();
    const response = await server().visitor.post("/api/auth/signup", { email, password, name: "Ada" });
    expectStatus(response, 201);
    expect(response.json).toMatchObject({ success: true, user: { email, name: "Ada" } });
    expect(response.string("user.id")).toMatch(/^usr_/);
    expect(response.string("token").split(".")).toHaveLength(3);
    expect(response.string("expiresIn")).toMatch(/^\d+[smhd]$/);
    expectStatus(await new Client(server(), response.string("token")).get("/api/auth/session"), 200);
  });

  test("works without a name", async () => {
    const response = await server().visitor.post("/api/auth/signup", { email: freshEmail(), password });
    expectStatus(response, 201);
    expect(typeof response.at("user.name")).toBe("string");
  });

  test("rejects an email that is taken, in upper or lower case", async () => {
    const email = freshEmail();
    await signUp(server(), { email });
    expectError(await server().visitor.post("/api/auth/signup", { email, password }), 409, "email_taken");
    const upper = email.toUpperCase();
    expectError(await server().visitor.post("/api/auth/signup", { email: upper, password }), 409, "email_taken");
  });

  test("creates one account if several request the same email at once", async () => {
    const email = freshEmail();
    const responses = await Promise.all(
      Array.from({ length: 4 }, () => server().visitor.post("/api/auth/signup", { email, password })),
    );
    expect(sortedStatuses(responses)).toEqual([201, 409, 409, 409]);
  });

  test.each(["", "plain", "a@", "@b.example", "a b@example.com", "a@b@c.example", `${"x".repeat(400)}@example.com`])(
    "rejects %p as an email",
    async (email) => {
      const response = await server().visitor.post("/api/auth/signup", { email, password });
      expectError(response, 400, "invalid_field", "email");
    },
  );

  test.each([
    ["seven characters", "1234567", 400],
    ["eight characters", "12345678", 201],
    ["256 characters", "x".repeat(256), 201],
    ["257 characters", "x".repeat(257), 400],
    ["a million characters", "x".repeat(1_000_000), 400],
  ])("accepts passwords of 8 to 256 characters: %s", async (_, tried, status) => {
    const response = await server().visitor.post("/api/auth/signup", { email: freshEmail(), password: tried });
    expectStatus(response, status);
    if (status === 400) expect(response.at("error.details.field")).toBe("password");
  });

  test("accepts any Unicode password and compares it in NFC", async () => {
    const email = freshEmail();
    await signUp(server(), { email, password: "Ünïcödé 密码 🔑" });
    const decomposed = "Ünïcödé 密码 🔑".normalize("NFD");
    expectStatus(await server().visitor.post("/api/auth/signin", { email, password: decomposed }), 200);
    expectError(
      await server().visitor.post("/api/auth/signin", { email, password: "Unicode 密码 🔑" }),
      401,
      "bad_credentials",
    );
  });

  test.each([
    ["email", { password }],
    ["password", { email: "someone@example.com" }],
    ["email", { email: 7, password }],
    ["password", { email: "someone@example.com", password: 12345678 }],
    ["name", { email: "someone@example.com", password, name: ["Ada"] }],
  ])("names the invalid field: %s in %p", async (field, body) => {
    expectError(await server().visitor.post("/api/auth/signup", body), 400, "invalid_field", field);
  });

  test("never creates an administrator, and ignores unknown fields", async () => {
    const email = freshEmail();
    const body = { email, password, role: "admin", plan: "pro", isAdmin: true, unknown: { deep: [] } };
    const response = await server().visitor.post("/api/auth/signup", body);
    expectStatus(response, 201);
    const profile = await new Client(server(), response.string("token")).get("/api/users/profile");
    expect(profile.json).toMatchObject({ data: { role: "user", plan: "enterprise" } });
  });

  test("puts a new account on the free plan by default", async () => {
    await withServer({ env: { LARDER_DEFAULT_PLAN: "" } }, async (plain) => {
      const { client } = await plain.signUp();
      expect((await client.get("/api/users/profile")).at("data.plan")).toBe("free");
    });
  });

  test("is rejected with signup_closed if closed, and needs an invitation if by invite", async () => {
    await withServer({ env: { LARDER_SIGNUP: "closed" } }, async (closed) => {
      const response = await closed.visitor.post("/api/auth/signup", { email: freshEmail(), password });
      expectError(response, 403, "signup_closed");
      await closed.restart({ env: { LARDER_SIGNUP: "invite" } });
      const uninvited = await closed.visitor.post("/api/auth/signup", { email: freshEmail(), password });
      expectClientError(uninvited);
      const invented = { email: freshEmail(), password, invite: "inv_0000000000000000" };
      const wrong = await closed.visitor.post("/api/auth/signup", invented);
      expectClientError(wrong);
    });
  });
});

describe("sign-in", () => {
  test("responds 200 with user, token and 24h, with the email in upper or lower case", async () => {
    const { email, id } = await server().signUp({ name: "Ada" });
    for (const tried of [email, email.toUpperCase()]) {
      const response = await server().visitor.post("/api/auth/signin", { email: tried, password });
      expectStatus(response, 200);
      expect(response.json).toMatchObject({ success: true, user: { id, email, name: "Ada" }, expiresIn: "24h" });
      expectStatus(await new Client(server(), response.string("token")).get("/api/auth/session"), 200);
      expect(response.headers.get("set-cookie")).toBeNull();
    }
  });

  test("responds alike to an unknown email and a wrong password", async () => {
    const { email } = await server().signUp();
    const wrong = await server().visitor.post("/api/auth/signin", { email, password: "wrong password" });
    const unknown = await server().visitor.post("/api/auth/signin", {
      email: freshEmail(),
      password: "wrong password",
    });
    expectError(wrong, 401, "bad_credentials");
    expect(unknown.status).toBe(wrong.status);
    expect(unknown.json).toEqual(wrong.json);
    const stableHeaders = (response: typeof wrong) =>
      [...response.headers.entries()].filter(([name]) => !["date", "x-request-id", "x-ratelimit-reset"].includes(name));
    expect(stableHeaders(unknown)).toEqual(stableHeaders(wrong));
  });

  test("rejects a malformed email and a short password as invalid, not as wrong", async () => {
    const bad = await server().visitor.post("/api/auth/signin", { email: "no address", password });
    expectError(bad, 400, "invalid_field", "email");
    const short = await server().visitor.post("/api/auth/signin", { email: freshEmail(), password: "short" });
    expectError(short, 400, "invalid_field", "password");
  });

  test.each([
    ["/api/auth/signin", { password }],
    ["/api/auth/signup", { password }],
    ["/api/mobile/auth", { password, deviceId: "phone-1" }],
  ])("%s rejects an email with half a surrogate pair as invalid", async (path, more) => {
    // Such an email once caused a 500, with which strangers could fill the log.
    const response = await server().visitor.post(path, { email: "\ud800@example.org", ...more });
    expectError(response, 400, "invalid_field", "email");
  });

  test("needs no Authorization header and ignores an invalid one", async () => {
    const { email } = await server().signUp();
    const response = await server().visitor.post(
      "/api/auth/signin",
      { email, password },
      { authorization: "Bearer nonsense" },
    );
    expectStatus(response, 200);
  });

  test("succeeds for many requests at once", async () => {
    const { email } = await server().signUp();
    const responses = await Promise.all(
      Array.from({ length: 12 }, () => server().visitor.post("/api/auth/signin", { email, password })),
    );
    expect(responses.map((response) => response.status)).toEqual(Array.from({ length: 12 }, () => 200));
    expect(new Set(responses.map((response) => response.string("token"))).size).toBe(12);
  });
});

describe("session", () => {
  test("shows user and session", async () => {
    const { client, id, email } = await server().signUp({ name: "Ada" });
    const response = await client.get("/api/auth/session");
    expectStatus(response, 200);
    expect(response.json).toMatchObject({ success: true, user: { id, email, name: "Ada" } });
    expect(response.string("session.id")).not.toBe("");
    expect(response.string("session.kind")).not.toBe("");
    expect(response.string("session.createdAt")).toMatch(timestampPattern);
    const lifetimeMs =
      Date.parse(response.string("session.expiresAt")) - Date.parse(response.string("session.createdAt"));
    expect(Math.round(lifetimeMs / 3_600_000)).toBe(24);
  });

  test("without a token is 401 missing_token", async () => {
    expectError(await server().visitor.get("/api/auth/session"), 401, "missing_token");
  });

  test("ignores a token in the query", async () => {
    const { token } = await server().signUp();
    for (const name of ["token", "access_token", "authorization", "key", "api_key"])
      expectError(await server().visitor.get(`/api/auth/session?${name}=${token}`), 401, "missing_token");
  });
});

describe("refresh", () => {
  test("returns a new token and revokes the old one", async () => {
    const { client, id } = await server().signUp();
    const response = await client.post("/api/auth/refresh");
    expectStatus(response, 200);
    expect(response.json).toMatchObject({ success: true, user: { id } });
    expect(response.string("expiresIn")).toMatch(/^\d+[smhd]$/);
    expectStatus(await new Client(server(), response.string("token")).get("/api/auth/session"), 200);
    expectError(await client.get("/api/auth/session"), 401, "revoked_token");
    expectError(await client.post("/api/auth/refresh"), 401, "revoked_token");
  });

  test("without a token is 401", async () => {
    expectError(await server().visitor.post("/api/auth/refresh"), 401, "missing_token");
  });

  test("by two requests at once returns at most one new token", async () => {
    const { client } = await server().signUp();
    const responses = await Promise.all([client.post("/api/auth/refresh"), client.post("/api/auth/refresh")]);
    expect(sortedStatuses(responses)).toEqual([200, 401]);
  });
});

describe("sign-out", () => {
  test("ends the token at once and no other", async () => {
    const { client, email } = await server().signUp();
    const other = await server().visitor.post("/api/auth/signin", { email, password });
    const response = await client.post("/api/auth/signout");
    expectStatus(response, 200);
    expect(response.at("success")).toBe(true);
    expect(response.string("message")).not.toBe("");
    expectError(await client.get("/api/auth/session"), 401, "revoked_token");
    expectError(await client.get("/api/files"), 401, "revoked_token");
    expectStatus(await new Client(server(), other.string("token")).get("/api/auth/session"), 200);
  });

  test("everywhere ends all sessions of the user, and no others", async () => {
    const { client, email } = await server().signUp();
    const stranger = await server().signUp();
    const other = await server().visitor.post("/api/auth/signin", { email, password });
    expectStatus(await client.post("/api/auth/signout", { everywhere: true }), 200);
    for (const token of [client.token ?? "", other.string("token")])
      expectError(await new Client(server(), token).get("/api/auth/session"), 401, "revoked_token");
    expectStatus(await stranger.client.get("/api/auth/session"), 200);
    expectStatus(await server().visitor.post("/api/auth/signin", { email, password }), 200);
  });

  test("requires a boolean for everywhere", async () => {
    const { client } = await server().signUp();
    expectError(await client.post("/api/auth/signout", { everywhere: "yes" }), 400, "invalid_field", "everywhere");
    expectStatus(await client.get("/api/auth/session"), 200);
  });

  test("without a token is 401", async () => {
    expectError(await server().visitor.post("/api/auth/signout"), 401, "missing_token");
  });
});

describe("tokens", () => {
  test("are JWTs signed with HS256", async () => {
    const { token } = await server().signUp();
    expect(decode(token.split(".")[0] ?? "")).toMatchObject({ alg: "HS256" });
  });

  test("are 401 invalid_token if forged or altered", async () => {
    const { token } = await server().signUp();
    const victim = await server().signUp();
    const [head = "", body = "", signature = ""] = token.split(".");
    const header = decode(head);
    const payload = decode(body);
    const stolen = encode({ ...payload, sub: victim.id });
    const unsigned = encode({ ...header, alg: "none" });
    const hs512 = encode({ ...header, alg: "HS512" });
    const rs256 = encode({ ...header, alg: "RS256" });
    const otherKid = encode({ ...header, kid: "another" });
    const forged: Record<string, string> = {
      "another user": `${head}.${stolen}.${signature}`,
      "alg none without signature": `${unsigned}.${body}.`,
      "alg none in mixed case": `${encode({ ...header, alg: "nOnE" })}.${body}.`,
      "alg none with the signature": `${unsigned}.${body}.${signature}`,
      "empty signature": `${head}.${body}.`,
      "no signature": `${head}.${body}`,
      "empty secret": `${head}.${body}.${sign(`${head}.${body}`, "sha256", "")}`,
      "guessed secret": `${head}.${body}.${sign(`${head}.${body}`, "sha256", "secret")}`,
      "another algorithm, same signature": `${hs512}.${body}.${signature}`,
      "another algorithm, guessed secret": `${hs512}.${body}.${sign(`${hs512}.${body}`, "sha512", "secret")}`,
      "asymmetric algorithm": `${rs256}.${body}.${signature}`,
      "wrong kid": `${otherKid}.${body}.${sign(`${otherKid}.${body}`, "sha256", "secret")}`,
      "kid as a path": `${encode({ ...header, kid: "../../../dev/null" })}.${body}.${sign("", "sha256", "")}`,
      "a cut token": token.slice(0, -4),
      // Lenient base64url decoders accept these, because the changed bits belong to no byte.
      "a changed last letter": token.slice(0, -1) + String.fromCharCode(token.charCodeAt(token.length - 1) + 1),
      "padding at the end": `${token}=`,
      "four parts": `${token}.x`,
      "no token at all": "x",
      "an unknown API key": "lk_0123456789abcdef0123456789abcdef",
      "binary rubbish": "%00%ff.%00.%00",
      "100 kB": "a".repeat(4000),
    };
    for (const [what, tried] of Object.entries(forged)) {
      const response = await new Client(server(), tried).get("/api/auth/session");
      expect({ what, status: response.status, reason: response.at("error.details.reason") }).toEqual({
        what,
        status: 401,
        reason: "invalid_token",
      });
    }
    expectStatus(await new Client(server(), token).get("/api/auth/session"), 200);
  });

  test.each(["Basic dXNlcjpwYXNz", "Bearer", "Bearer ", "Token abc", "bearerabc"])(
    "an Authorization header %p is 401",
    async (authorization) => {
      expectError(await server().visitor.get("/api/auth/session", { authorization }), 401);
    },
  );

  test("are required by every endpoint that is not public", async () => {
    const id = "file_00000000000000000000";
    const closed: [string, string][] = [
      ["GET", "/api/auth/session"],
      ["POST", "/api/auth/signout"],
      ["POST", "/api/auth/refresh"],
      ["GET", "/api/files"],
      ["POST", "/api/files/upload"],
      ["GET", `/api/files/${id}`],
      ["GET", `/api/files/${id}/download`],
      ["PUT", `/api/files/${id}`],
      ["DELETE", `/api/files/${id}`],
      ["PUT", `/api/files/${id}/content`],
      ["GET", `/api/files/${id}/checksum`],
      ["POST", "/api/files/folders"],
      ["GET", "/api/files/folders/fold_00000000000000000000"],
      ["PUT", "/api/files/folders/fold_00000000000000000000"],
      ["DELETE", "/api/files/folders/fold_00000000000000000000"],
      ["POST", "/api/files/move"],
      ["POST", "/api/files/copy"],
      ["GET", "/api/users/profile"],
      ["PUT", "/api/users/profile"],
      ["DELETE", "/api/users/profile"],
      ["GET", "/api/users/usage"],
      ["GET", "/api/users/usage/rate-limits"],
      ["GET", "/api/users/settings"],
      ["PUT", "/api/users/settings"],
      ["GET", "/api/users/sessions"],
      ["DELETE", "/api/users/sessions/ses_00000000000000000000"],
    ];
    for (const [method, path] of closed) {
      const response = await server().visitor.request(method, path, method === "GET" ? {} : { json: {} });
      expect({ method, path, status: response.status, reason: response.at("error.details.reason") }).toEqual({
        method,
        path,
        status: 401,
        reason: "missing_token",
      });
    }
  });

  test("survive a restart of the server, and revoked ones stay revoked", async () => {
    await withServer({}, async (own) => {
      const { client, token } = await own.signUp();
      const ended = await own.signUp();
      await ended.client.post("/api/auth/signout");
      await own.restart();
      expectStatus(await client.get("/api/auth/session"), 200);
      expectError(await ended.client.get("/api/auth/session"), 401, "revoked_token");
      await withServer({}, async (foreign) => {
        expectError(await new Client(foreign, token).get("/api/auth/session"), 401, "invalid_token");
      });
    });
  });

  test("are signed with a secret that only the owner of the data directory can read", async () => {
    const folder = join(server().dataDir, "secrets");
    let files = 0;
    for await (const name of new Bun.Glob("**/*").scan({ cwd: folder, dot: true })) {
      files += 1;
      expect({ name, mode: ((await stat(join(folder, name))).mode & 0o777).toString(8) }).toEqual({
        name,
        mode: "600",
      });
    }
    expect(files).toBeGreaterThan(0);
  });
});

testAllResponses(server);
