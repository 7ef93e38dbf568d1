// Responses that acknowledge changes wait for the fence. The server is a whole one, in this process; the fence is a fake.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { loadConfig } from "../../../src/config/load.ts";
import { AppError } from "../../../src/errors.ts";
import type { WriteFence } from "../../../src/features/storage/replication/types.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { Background } from "../../../src/server/composition/background.ts";
import { openServices, type Services } from "../../../src/server/composition/services.ts";
import { acknowledges } from "../../../src/server/http/confirm-changes.ts";
import { HttpServer } from "../../../src/server/http/http-server.ts";
import { type Account, Client, type Target } from "../../support/client.ts";
import { expectError, expectStatus } from "../../support/expect.ts";
import { temporaryDirectory } from "../../support/server.ts";
import { createTus, tusVersion } from "../../support/tus.ts";
import { connectDav, type DavClient } from "../../support/webdav.ts";
import { mountedRoutes } from "./mounted-routes.ts";
import { say } from "../../../src/translations/say.ts";

/** A fence that tests open and close. */
class FakeFence implements WriteFence {
  problem: string | undefined;
  confirmations = 0;
  outcome: () => Promise<void> = async () => {};

  confirm(): Promise<void> {
    this.confirmations++;
    return this.outcome();
  }
}

const fence = new FakeFence();
let data: string;
let services: Services;
let http: HttpServer;
let target: Target;
let account: Account;
let dav: DavClient;

beforeAll(async () => {
  data = await temporaryDirectory();
  const environment = { LARDER_RATE_LIMITS: "off", LARDER_DEFAULT_PLAN: "enterprise" };
  const loaded = loadConfig({ flags: { data, host: "127.0.0.1", port: "0" }, environment });
  services = await openServices(loaded, silentLog);
  const background = new Background(services);
  http = new HttpServer({ services, loaded, background, lease: undefined, fence, restart: () => {} });
  await http.listen();
  target = { url: `http://127.0.0.1:${http.listener.port}`, responses: [] };
  const [email, password] = ["ann@example.org", "correct horse battery"];
  await services.users.add({ email, password, role: "admin", plan: "enterprise", isByAdministrator: true });
  const signedIn = await new Client(target).post("/api/auth/signin", { email, password });
  const token = signedIn.string("token");
  account = { id: signedIn.string("user.id"), email, password, name: "ann", token, client: new Client(target, token) };
  dav = await connectDav(account);
}, 120_000);

afterEach(() => {
  fence.problem = undefined;
  fence.outcome = async () => {};
});

afterAll(async () => {
  http.startDraining();
  await http.drain();
  await services.close();
  await rm(data, { recursive: true, force: true });
});

/** The error of a fence that can't confirm. */
async function reject(): Promise<void> {
  throw new AppError("provider_unavailable", say`The server cannot confirm changes right now.`, { retryAfter: 7 });
}

describe("a change", () => {
  test("gets its response once it is confirmed; reads don't wait", async () => {
    const requested = Promise.withResolvers<void>();
    const confirmed = Promise.withResolvers<void>();
    fence.outcome = () => {
      requested.resolve();
      return confirmed.promise;
    };
    let hasResponse = false;
    const upload = account.client.upload("waits", { name: "waits.txt" }).then((response) => {
      hasResponse = true;
      return response;
    });
    await requested.promise;
    expectStatus(await account.client.get("/api/files"), 200);
    expect(hasResponse).toBe(false);
    confirmed.resolve();
    expectStatus(await upload, 201);
  });

  test("that was rejected, or only reads, waits for nothing", async () => {
    const before = fence.confirmations;
    expectError(await account.client.post("/api/files/folders", { wrong: true }), 400, "invalid_field");
    expectStatus(await account.client.request("POST", "/api/nothing"), 404);
    const id = await account.client.storedId("in an archive");
    expectStatus(await account.client.post("/api/files/archive", { fileIds: [id] }), 200);
    expect(fence.confirmations).toBe(before + 1);
  });

  test("that was made before is confirmed when it is repeated", async () => {
    const id = await account.client.storedId("twice deleted");
    fence.outcome = reject;
    expectError(await account.client.delete(`/api/files/${id}`), 503, "provider_unavailable");
    expectError(await account.client.delete(`/api/files/${id}`), 503, "provider_unavailable");
    fence.outcome = async () => {};
    expectError(await account.client.delete(`/api/files/${id}`), 404, "not_found");
    fence.outcome = reject;
    expectStatus(await dav.request("MKCOL", "twice"), 503);
    expectStatus(await dav.request("MKCOL", "twice"), 503);
    fence.outcome = async () => {};
    expectStatus(await dav.request("MKCOL", "twice"), 405);
  });
});

describe("a change that is not confirmed gets 503", () => {
  test("as JSON from the API, with nothing of the first response", async () => {
    fence.outcome = reject;
    const upload = await account.client.upload("unconfirmed");
    expectError(upload, 503, "provider_unavailable");
    expect(upload.number("error.details.retryAfter")).toBe(7);
    expect(upload.headers.get("etag")).toBeNull();
    expect(upload.header("x-request-id")).not.toBe("");
    const { email, password } = account;
    const signIn = await new Client(target).post("/api/auth/signin", { email, password, cookie: true });
    expectError(signIn, 503, "provider_unavailable");
    expect(signIn.headers.get("set-cookie")).toBeNull();
  });

  test("with the headers of tus", async () => {
    const path = await createTus(account.client, 5);
    fence.outcome = reject;
    const headers = { ...tusVersion, "upload-offset": "0", "content-type": "application/offset+octet-stream" };
    const appended = await account.client.request("PATCH", path, { headers, body: "bytes" });
    expectError(appended, 503, "provider_unavailable");
    expect(appended.header("tus-resumable")).toBe("1.0.0");
    expect(appended.headers.get("upload-offset")).toBeNull();
    expect((await account.client.head(path, tusVersion)).status).toBe(503);
    fence.outcome = async () => {};
    expect((await account.client.head(path, tusVersion)).header("upload-offset")).toBe("5");
  });

  test("as XML over WebDAV", async () => {
    fence.outcome = reject;
    const put = await dav.put("new.txt", "bytes");
    expectStatus(put, 503);
    expect(put.header("content-type")).toContain("application/xml");
    expect(put.text).toContain("<d:error");
    expect(put.header("retry-after")).not.toBe("");
    expect(put.headers.get("etag")).toBeNull();
  });
});

describe("while no change can be confirmed", () => {
  const files = () => readdirSync(join(data, "blobs/sha256"), { recursive: true }).length;

  test("changes are rejected before their body is stored, and reads continue", async () => {
    const id = await account.client.storedId("readable");
    const [stored, confirmations] = [files(), fence.confirmations];
    fence.problem = "The lease has expired.";
    const upload = await account.client.upload("never stored");
    expectError(upload, 503, "provider_unavailable");
    expect(upload.number("error.details.retryAfter")).toBeGreaterThan(0);
    expect(upload.text).not.toContain("lease");
    expectStatus(await dav.put("never.txt", "bytes"), 503);
    const form = { "content-type": "application/x-www-form-urlencoded", accept: "text/html", origin: target.url };
    const page = await new Client(target).request("POST", "/confirm-email", { headers: form, body: "token=x" });
    expectStatus(page, 503);
    expect(page.header("content-type")).toContain("text/html");
    expectError(await account.client.delete(`/api/files/${id}`), 503, "provider_unavailable");
    expect(files()).toBe(stored);
    expect(fence.confirmations).toBe(confirmations);
    expectStatus(await account.client.get(`/api/files/${id}/download`), 200);
    expectStatus(await dav.request("PROPFIND", "", { headers: { depth: "1" } }), 207);
    expectStatus(await account.client.post("/api/files/archive", { fileIds: [id] }), 200);
    expectStatus(await account.client.get("/api/files/search?q=readable"), 200);
  });
});

test("every route acknowledges changes by its method, except these", async () => {
  const { all } = await mountedRoutes();
  const exceptions = all.filter(
    (route) => acknowledges(route, route.method) !== !/^(GET|HEAD|OPTIONS|PROPFIND|REPORT)$/.test(route.method),
  );
  expect(exceptions.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
    "GET /api/auth/oidc/callback",
    "GET /api/files/extractions",
    "GET /api/files/extractions/:id",
    "GET /api/imports",
    "GET /api/imports/:id",
    "GET /api/mobile/files/:id/durability",
    "GET /api/mobile/queue/",
    "GET /api/mobile/upload/:uploadId",
    "GET /api/public/:token/tus/:uploadId",
    "GET /api/tus",
    "GET /api/tus/:uploadId",
    "POST /api/files/:id/opened",
    "POST /api/files/archive",
    "POST /api/public/:token/unlock",
    "POST /s/:token/archive",
    "POST /s/:token/unlock",
    "POST /share-target",
  ]);
});
