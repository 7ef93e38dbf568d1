import { describe, expect, test } from "bun:test";
import { Authenticator, type Ceremony } from "../support/authenticator.ts";
import { type Account, type ApiResponse, Client } from "../support/client.ts";
import { confirmIdentity } from "../support/confirm-identity.ts";
import { expectError, expectStatus, sortedStatuses, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice } from "../support/mobile.ts";
import { RawConnection, rawRequest } from "../support/raw-http.ts";
import { sharedServer, withServer } from "../support/server.ts";
import { generateCode, enableTwoFactor } from "../support/two-factor.ts";

const server = sharedServer({ hasAccounts: true });

const here = (): Ceremony => ({ origin: server().url });

async function requestOptions(
  { client, password }: Account,
  extra: Record<string, unknown> = {},
): Promise<ApiResponse> {
  return client.post("/api/users/passkeys/options", { currentPassword: password, ...extra });
}

/** Adds a passkey to an account. @throws if that fails */
async function addPasskey(account: Account, name = "Laptop"): Promise<{ id: string; authenticator: Authenticator }> {
  const authenticator = new Authenticator();
  const response = authenticator.create(await requestOptions(account), here());
  const apiResponse = await account.client.post("/api/users/passkeys", { name, response });
  expectStatus(apiResponse, 201);
  return { id: apiResponse.string("data.id"), authenticator };
}

/** Signs in with a passkey, and returns the response whether it succeeds or not. */
async function signIn(authenticator: Authenticator, change: Partial<Ceremony> = {}, extra = {}): Promise<ApiResponse> {
  const options = await server().visitor.post("/api/auth/passkey/options");
  const response = authenticator.get(options, { ...here(), ...change });
  return server().visitor.post("/api/auth/passkey/verify", { response, ...extra });
}

describe("adding a passkey", () => {
  test("requires the password, and gives the browser the options to create it", async () => {
    const account = await server().signUp();
    const { client } = account;
    const wrong = await client.post("/api/users/passkeys/options", { currentPassword: "not the password" });
    expectError(wrong, 401, "bad_credentials");
    const apiResponse = await requestOptions(account);
    expectStatus(apiResponse, 200);
    const options = apiResponse.at("data.options");
    expect(options).toMatchObject({
      rp: { id: "127.0.0.1", name: "Larder" },
      user: { name: account.email },
      attestation: "none",
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
    });
    expect(Buffer.from(apiResponse.string("data.options.user.id"), "base64url").toString()).toBe(account.id);
    expect(Buffer.from(apiResponse.string("data.options.challenge"), "base64url").length).toBeGreaterThanOrEqual(16);
  });

  test("returns its record, and lists it", async () => {
    const account = await server().signUp();
    const { id, authenticator } = await addPasskey(account, " Phone ");
    const list = await account.client.get("/api/users/passkeys");
    expect(list.list("data.passkeys")).toEqual([
      {
        id,
        name: "Phone",
        rpId: "127.0.0.1",
        backedUp: false,
        createdAt: expect.stringMatching(timestampPattern),
        lastUsedAt: null,
      },
    ]);
    expect((await account.client.get("/api/users/two-factor")).number("data.passkeys")).toBe(1);
    const excluded = (await requestOptions(account)).strings("data.options.excludeCredentials", "id");
    expect(excluded).toEqual([authenticator.credentialId.toString("base64url")]);
  });

  test("rejects a passkey created for another challenge, user or page", async () => {
    const [account, other] = [await server().signUp(), await server().signUp()];
    const strange: [string, Partial<Ceremony>][] = [
      ["another page", { origin: "https://evil.example", rpId: "127.0.0.1" }],
      ["another host name", { rpId: "evil.example" }],
      ["a challenge of one's own", { challenge: "AAAAAAAAAAAAAAAAAAAAAA" }],
      ["a sign-in", { type: "webauthn.get" }],
      ["a user who was not verified", { isVerified: false }],
    ];
    for (const [what, change] of strange) {
      const response = new Authenticator().create(await requestOptions(account), { ...here(), ...change });
      const apiResponse = await account.client.post("/api/users/passkeys", { response });
      expect({ what, status: apiResponse.status }).toEqual({ what, status: 400 });
      expectError(apiResponse, 400, "invalid_field", "response");
    }
    const response = new Authenticator().create(await requestOptions(account), here());
    expectError(await other.client.post("/api/users/passkeys", { response }), 400, "invalid_field", "response");
    const options = await server().visitor.post("/api/auth/passkey/options");
    const forSignIn = await requestOptions(account);
    const misused = new Authenticator().create(forSignIn, {
      ...here(),
      challenge: options.string("data.options.challenge"),
    });
    expectError(await account.client.post("/api/users/passkeys", { response: misused }), 400, "invalid_field");
    expect((await account.client.get("/api/users/passkeys")).list("data.passkeys")).toEqual([]);
  });

  test.each(["packed", "android-key", "apple"])("ignores the attestation: %s", async (attestation) => {
    // Verifying one fetched the URLs in its certificates, which the user could choose freely.
    const account = await server().signUp();
    const authenticator = new Authenticator();
    const response = authenticator.create(await requestOptions(account), { ...here(), attestation });
    expectStatus(await account.client.post("/api/users/passkeys", { response }), 201);
    expectStatus(await signIn(authenticator), 200);
  });

  test("accepts each challenge and each passkey once", async () => {
    const account = await server().signUp();
    const options = await requestOptions(account);
    const [first, second] = [new Authenticator(), new Authenticator()];
    const response = first.create(options, here());
    expectStatus(await account.client.post("/api/users/passkeys", { response }), 201);
    const again = second.create(options, here());
    expectError(
      await account.client.post("/api/users/passkeys", { response: again }),
      400,
      "invalid_field",
      "response",
    );
    const other = await server().signUp();
    const copied = first.create(await requestOptions(other), here());
    expectError(await other.client.post("/api/users/passkeys", { response: copied }), 400, "invalid_field", "response");
  });

  test("rejects malformed bodies", async () => {
    const account = await server().signUp();
    const response = new Authenticator().create(await requestOptions(account), here());
    const { response: inner } = response;
    const bad: [unknown, string][] = [
      [undefined, "response"],
      ["x", "response"],
      [{ ...response, type: "password" }, "response.type"],
      [{ ...response, id: "%%%" }, "response.id"],
      [{ ...response, response: { ...Object(inner), attestationObject: 7 } }, "response.response.attestationObject"],
    ];
    for (const [value, field] of bad) {
      expectError(await account.client.post("/api/users/passkeys", { response: value }), 400, "invalid_field", field);
    }
    const garbage = { ...response, response: { ...Object(inner), attestationObject: "AAAA" } };
    const refused = await account.client.post("/api/users/passkeys", { response: garbage });
    expectError(refused, 400, "invalid_field", "response");
    for (const name of ["", " ", "a\u0007", "x".repeat(101)]) {
      expectError(await account.client.post("/api/users/passkeys", { name, response }), 400, "invalid_field", "name");
    }
  });

  test("requires the second factor if the account has one", async () => {
    const account = await server().signUp();
    const { secret } = await enableTwoFactor(account);
    expectError(await requestOptions(account), 401, "second_factor_required");
    expectStatus(await requestOptions(account, { code: generateCode(secret) }), 200);
  });

  test("notifies the account's devices", async () => {
    const account = await confirmIdentity(await server().signUp());
    const phone = await registerDevice(server(), account);
    const { id } = await addPasskey(account);
    expectStatus(await account.client.delete(`/api/users/passkeys/${id}`), 200);
    const titles = (await phone.client.get("/api/mobile/notifications")).strings("data.notifications", "title");
    expect(titles).toContain("Passkey added");
    expect(titles).toContain("Passkey removed");
  });
});

describe("signing in with a passkey", () => {
  test("gives a token, names no account beforehand, and counts as both factors", async () => {
    const account = await server().signUp();
    const { authenticator } = await addPasskey(account);
    await enableTwoFactor(account);
    const options = await server().visitor.post("/api/auth/passkey/options");
    expectStatus(options, 200);
    expect(options.at("data.options")).toMatchObject({ rpId: "127.0.0.1", userVerification: "required" });
    expect(options.at("data.options.allowCredentials")).toBeUndefined();
    const apiResponse = await signIn(authenticator);
    expectStatus(apiResponse, 200);
    expect(apiResponse.at("user.id")).toBe(account.id);
    expect(apiResponse.string("expiresIn")).toBe("24h");
    expect(apiResponse.headers.get("set-cookie")).toBeNull();
    const client = new Client(server(), apiResponse.string("token"));
    expect((await client.get("/api/auth/session")).at("session.kind")).toBe("web");
    expect(await passkeyOf(account)).toMatchObject({ lastUsedAt: expect.stringMatching(timestampPattern) });
    const response = await server().visitor.post("/api/auth/signin", {
      email: account.email,
      password: account.password,
    });
    expect(response.at("error.details.methods")).toEqual(["totp", "recovery_code", "passkey"]);
  });

  test("sets the session cookie on request", async () => {
    const { authenticator } = await addPasskey(await server().signUp());
    const apiResponse = await signIn(authenticator, {}, { cookie: true });
    expectStatus(apiResponse, 200);
    const cookie = apiResponse.header("set-cookie");
    expect(cookie).toContain("HttpOnly");
    expectStatus(await server().visitor.get("/api/files", { cookie: cookie.split(";")[0] ?? "" }), 200);
  });

  test("rejects a response for another challenge or page, or without user verification", async () => {
    const account = await server().signUp();
    const { authenticator } = await addPasskey(account);
    const strange: [string, Partial<Ceremony>][] = [
      ["another page", { origin: "https://evil.example", rpId: "127.0.0.1" }],
      ["another host name", { rpId: "evil.example" }],
      ["a challenge of one's own", { challenge: "AAAAAAAAAAAAAAAAAAAAAA" }],
      ["a registration", { type: "webauthn.create" }],
      ["a user who was not verified", { isVerified: false }],
    ];
    for (const [what, change] of strange) {
      const apiResponse = await signIn(authenticator, change);
      expect({ what, status: apiResponse.status }).toEqual({ what, status: 401 });
      expectError(apiResponse, 401, "bad_credentials");
    }
    const forAdding = (await requestOptions(account)).string("data.options.challenge");
    expectError(await signIn(authenticator, { challenge: forAdding }), 401, "bad_credentials");
    expectStatus(await signIn(authenticator), 200);
  });

  test("accepts a response once (WebAuthn §13.4.3)", async () => {
    const { authenticator } = await addPasskey(await server().signUp());
    const options = await server().visitor.post("/api/auth/passkey/options");
    const response = authenticator.get(options, here());
    const verify = () => server().visitor.post("/api/auth/passkey/verify", { response });
    expect(sortedStatuses(await Promise.all([verify(), verify(), verify()]))).toEqual([200, 401, 401]);
    expectError(await verify(), 401, "bad_credentials");
    // A challenge is also used up by a failed attempt.
    const failed = await server().visitor.post("/api/auth/passkey/options");
    const wrong = authenticator.get(failed, { ...here(), isVerified: false });
    expectError(await server().visitor.post("/api/auth/passkey/verify", { response: wrong }), 401);
    const late = authenticator.get(failed, here());
    expectError(await server().visitor.post("/api/auth/passkey/verify", { response: late }), 401);
  });

  test("rejects a counter that decreased, which means a copied key (WebAuthn §6.1.1)", async () => {
    const { authenticator } = await addPasskey(await server().signUp());
    expectStatus(await signIn(authenticator, { counter: 7 }), 200);
    for (const counter of [7, 6, 0]) expectError(await signIn(authenticator, { counter }), 401, "bad_credentials");
    expectStatus(await signIn(authenticator, { counter: 8 }), 200);
  });

  test("accepts authenticators that don't count", async () => {
    const { authenticator } = await addPasskey(await server().signUp());
    for (let i = 0; i < 2; i++) expectStatus(await signIn(authenticator, { counter: 0 }), 200);
  });

  test("rejects another key's signature, another user's handle, and an unknown passkey", async () => {
    const [a, b] = [await server().signUp(), await server().signUp()];
    const [mine, theirs] = [await addPasskey(a), await addPasskey(b)];
    const fetchOptions = () => server().visitor.post("/api/auth/passkey/options");
    const verify = (response: unknown) => server().visitor.post("/api/auth/passkey/verify", { response });
    const own = mine.authenticator.get(await fetchOptions(), here());
    const id = theirs.authenticator.credentialId.toString("base64url");
    expectError(await verify({ ...own, id, rawId: id }), 401, "bad_credentials");
    const signed = mine.authenticator.get(await fetchOptions(), here());
    const userHandle = Buffer.from(b.id).toString("base64url");
    expectError(await verify({ ...signed, response: { ...Object(signed["response"]), userHandle } }), 401);
    const bent = mine.authenticator.get(await fetchOptions(), here());
    expectError(await verify({ ...bent, response: { ...Object(bent["response"]), signature: "AAAA" } }), 401);
    const stranger = new Authenticator();
    expectError(await signIn(stranger), 401, "bad_credentials");
    expectError(await verify({}), 400, "invalid_field");
    expectError(await server().visitor.post("/api/auth/passkey/verify", {}), 400, "invalid_field", "response");
  });

  test("rejects a disabled account, and says why", async () => {
    const account = await server().signUp();
    const { authenticator } = await addPasskey(account);
    await server().change(account.id, { disabled: true });
    expectError(await signIn(authenticator), 403, "account_disabled");
  });

  test.each(["[", "a:99999", "1.2.3.4.5", "xn--"])(
    "offers passkeys to a request with the invalid Host %p",
    async (host) => {
      // It caused a 500, which any stranger could provoke.
      for (const line of ["POST /api/auth/passkey/options", "GET /api/auth/methods"]) {
        const connection = await RawConnection.open(server().port);
        await connection.write(rawRequest([`${line} HTTP/1.1`, `Host: ${host}`, "Content-Length: 0"]));
        expectStatus(await connection.response(), 200);
        connection.cut();
      }
    },
  );

  test("is bound to the public address", async () => {
    await withServer({ env: { LARDER_PUBLIC_URL: "https://files.example.com:8443/larder" } }, async (own) => {
      const { client, password } = await own.signUp();
      const options = await client.post("/api/users/passkeys/options", { currentPassword: password });
      expect(options.at("data.options.rp")).toMatchObject({ id: "files.example.com" });
      const authenticator = new Authenticator();
      const ceremony = { origin: "https://files.example.com:8443" };
      const response = authenticator.create(options, ceremony);
      expectStatus(await client.post("/api/users/passkeys", { response }), 201);
      const verify = async (where: Ceremony) =>
        own.visitor.post("/api/auth/passkey/verify", {
          response: authenticator.get(await own.visitor.post("/api/auth/passkey/options"), where),
        });
      expectError(await verify({ origin: own.url, rpId: "files.example.com" }), 401, "bad_credentials");
      expectError(await verify({ origin: "https://files.example.com" }), 401, "bad_credentials");
      expectStatus(await verify(ceremony), 200);
    });
  });
});

describe("a passkey", () => {
  test("can be renamed by its owner only", async () => {
    const [a, b] = [await server().signUp(), await server().signUp()];
    const { id } = await addPasskey(a);
    const apiResponse = await a.client.request("PATCH", `/api/users/passkeys/${id}`, { json: { name: "Desk" } });
    expectStatus(apiResponse, 200);
    expect(apiResponse.at("data.name")).toBe("Desk");
    const rename = (client: Client, name: unknown, which = id) =>
      client.request("PATCH", `/api/users/passkeys/${which}`, { json: { name } });
    expectError(await rename(b.client, "Mine"), 404, "not_found");
    expectError(await rename(a.client, "x", "psk_nothing"), 404, "not_found");
    expectError(await rename(a.client, ""), 400, "invalid_field", "name");
    expect(await passkeyOf(a)).toMatchObject({ name: "Desk" });
  });

  test("can be deleted by its owner only, and no longer signs in afterward", async () => {
    const [a, b] = [await confirmIdentity(await server().signUp()), await confirmIdentity(await server().signUp())];
    const { id, authenticator } = await addPasskey(a);
    expectError(await b.client.delete(`/api/users/passkeys/${id}`), 404, "not_found");
    expectStatus(await signIn(authenticator), 200);
    expectStatus(await a.client.delete(`/api/users/passkeys/${id}`), 200);
    expectError(await signIn(authenticator), 401, "bad_credentials");
    expectError(await a.client.delete(`/api/users/passkeys/${id}`), 404, "not_found");
  });

  test("can't be listed, added or changed without a session", async () => {
    const response = new Authenticator().create(await requestOptions(await server().signUp()), here());
    expectError(await server().visitor.get("/api/users/passkeys"), 401, "missing_token");
    expectError(await server().visitor.post("/api/users/passkeys/options", {}), 401, "missing_token");
    expectError(await server().visitor.post("/api/users/passkeys", { response }), 401, "missing_token");
    expectError(await server().visitor.delete("/api/users/passkeys/psk_x"), 401, "missing_token");
  });
});

async function passkeyOf({ client }: Account): Promise<unknown> {
  return (await client.get("/api/users/passkeys")).list("data.passkeys")[0];
}

testAllResponses(server);
