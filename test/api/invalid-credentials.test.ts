// Every endpoint of the OpenAPI document rejects missing and invalid credentials, and cookies sent from other sites.
import { beforeAll, describe, expect, test } from "bun:test";
import { confirmIdentity } from "../support/confirm-identity.ts";
import { expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice } from "../support/mobile.ts";
import { ApiDocument } from "../support/openapi.ts";
import { sampleOperations, sampleOptions, samplePath, type SampledOperation } from "../support/sample-requests.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

/** Chunk URLs are signed. A missing signature counts as a missing token; a wrong one is rejected. */
const isSigned = ({ query }: SampledOperation) => query.includes("sig");

let closed: SampledOperation[];
/** Headers with revoked or unknown credentials, and the reasons for which they are rejected. */
const invalid = new Map<string, { headers: Record<string, string>; reasons: string[] }>();
let cookie: string;

beforeAll(async () => {
  const document = await ApiDocument.load();
  closed = sampleOperations(document).filter(
    (operation) => operation.template.startsWith("/api/") && !operation.isPublic && !isSigned(operation),
  );
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const signedOut = await confirmIdentity(await server().signUp());
  const { headers } = await server().visitor.post("/api/auth/signin", {
    email: signedOut.email,
    password: signedOut.password,
    cookie: true,
  });
  const signedOutCookie = /larder_session=[^;]+/.exec(headers.get("set-cookie") ?? "")?.[0] ?? "";
  const removed = await registerDevice(server(), signedOut);
  const key = (await signedOut.client.post("/api/users/api-keys", { name: "key" })).string("data.key");
  expectStatus(await signedOut.client.post("/api/auth/signout", { everywhere: true }), 200);
  const revoking = await confirmIdentity(await server().signUp());
  const revoked = await revoking.client.post("/api/users/api-keys", { name: "key" });
  expectStatus(await revoking.client.delete(`/api/users/api-keys/${revoked.string("data.id")}`), 200);
  const disabled = await confirmIdentity(await server().addUser([]));
  const disabledKey = (await disabled.client.post("/api/users/api-keys", { name: "key" })).string("data.key");
  expectStatus(await server().visitor.get("/api/files", { "x-api-key": key }), 200);
  await server().change(disabled.id, { disabled: true });
  const live = await server().signUp();
  const signedIn = await server().visitor.post("/api/auth/signin", {
    email: live.email,
    password: live.password,
    cookie: true,
  });
  cookie = /larder_session=[^;]+/.exec(signedIn.header("set-cookie"))?.[0] ?? "";

  invalid.set("no credential", { headers: {}, reasons: ["missing_token"] });
  invalid.set("words", { headers: bearer("not-a-token"), reasons: ["invalid_token"] });
  invalid.set("an unknown key", {
    headers: { "x-api-key": `lk_${"a".repeat(43)}` },
    reasons: ["invalid_token", "revoked_token"],
  });
  invalid.set("a signed-out token", { headers: bearer(signedOut.token), reasons: ["revoked_token"] });
  invalid.set("a signed-out cookie", { headers: { cookie: signedOutCookie }, reasons: ["revoked_token"] });
  invalid.set("a signed-out device's token", {
    headers: bearer(removed.tokens.accessToken),
    reasons: ["revoked_token"],
  });
  invalid.set("a revoked key", {
    headers: { "x-api-key": revoked.string("data.key") },
    reasons: ["revoked_token", "invalid_token"],
  });
  invalid.set("a disabled account's token", { headers: bearer(disabled.token), reasons: ["revoked_token"] });
  invalid.set("a disabled account's key", {
    headers: { "x-api-key": disabledKey },
    reasons: ["revoked_token", "invalid_token"],
  });
});

const noValues = () => undefined;

describe("every endpoint is 401 for", () => {
  test.each([
    "no credential",
    "words",
    "an unknown key",
    "a signed-out token",
    "a signed-out cookie",
    "a signed-out device's token",
    "a revoked key",
    "a disabled account's token",
    "a disabled account's key",
  ])("%s", async (name) => {
    const { headers, reasons } = invalid.get(name) ?? { headers: {}, reasons: [] };
    const faults: string[] = [];
    for (const operation of closed) {
      const options = { ...sampleOptions(operation, noValues), headers };
      const response = await server().visitor.request(operation.method, samplePath(operation, noValues), options);
      const reason = response.text === "" ? reasons[0] : String(response.at("error.details.reason"));
      if (response.status !== 401 || !reasons.includes(reason ?? "")) {
        faults.push(`${operation.name}: ${response.status} ${String(reason)}`);
      }
    }
    expect(faults).toEqual([]);
    expect(closed.length).toBeGreaterThan(100);
  });
});

describe("a session cookie changes nothing in a request from another site", () => {
  test.each([
    ["neither header", {}],
    ["another origin", { origin: "https://evil.example.org" }],
    ["no origin", { origin: "null" }],
    ["another site", { "sec-fetch-site": "cross-site" }],
    ["another origin of the same site", { "sec-fetch-site": "same-site" }],
    ["another origin that claims same-origin", { origin: "https://evil.example.org", "sec-fetch-site": "same-origin" }],
  ])("%s", async (_name, headers) => {
    const faults: string[] = [];
    for (const operation of closed) {
      if (operation.method === "GET" || operation.method === "HEAD") continue;
      const options = { ...sampleOptions(operation, noValues), headers: { ...headers, cookie } };
      const response = await server().visitor.request(operation.method, samplePath(operation, noValues), options);
      const limitResult = `${response.status} ${String(response.at("error.details.reason"))}`;
      // Below /api/mobile, cookies never work, because the endpoints require a device's token.
      const isRejected =
        limitResult === "403 csrf" || (operation.template.startsWith("/api/mobile/") && response.status === 401);
      if (!isRejected) faults.push(`${operation.name}: ${limitResult}`);
    }
    expect(faults).toEqual([]);
    expectStatus(await server().visitor.get("/api/auth/session", { cookie }), 200);
  });
});

testAllResponses(server);
