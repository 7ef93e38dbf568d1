// What happens around an extraction while it runs. The server is a whole one, in this process; the reading of archives
// waits until a test releases it.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { loadConfig } from "../../../src/config/load.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { Background } from "../../../src/server/composition/background.ts";
import { openServices, type Services } from "../../../src/server/composition/services.ts";
import { HttpServer } from "../../../src/server/http/http-server.ts";
import { shareWith } from "../../support/account-shares.ts";
import { type Account, Client, type Target } from "../../support/client.ts";
import { eventually, expectError, expectStatus } from "../../support/expect.ts";
import { temporaryDirectory } from "../../support/server.ts";
import { makeZip } from "../../support/zip-files.ts";

const QUOTA = 1_000_000;
const CONTENT = "inside ".repeat(1_000);
const ZIP = makeZip([{ name: "a/inside.txt", content: CONTENT, isDeflated: true }]);

let data: string;
let services: Services;
let http: HttpServer;
let target: Target;
let admin: Account;

/** While set, no content of an archive is read. */
let barrier: PromiseWithResolvers<void> | undefined;
let blockedReads = 0;

beforeAll(async () => {
  data = await temporaryDirectory();
  const environment = { LARDER_RATE_LIMITS: "off", LARDER_PLANS_FREE_QUOTA: String(QUOTA) };
  const loaded = loadConfig({ flags: { data, host: "127.0.0.1", port: "0" }, environment });
  services = await openServices(loaded, silentLog);
  const { blobs } = services;
  const open = blobs.open.bind(blobs);
  blobs.open = async (...range) => {
    if (barrier !== undefined) {
      blockedReads++;
      await barrier.promise;
      blockedReads--;
    }
    return open(...range);
  };
  http = new HttpServer({
    services,
    loaded,
    background: new Background(services),
    lease: undefined,
    fence: undefined,
    restart: () => {},
  });
  await http.listen();
  target = { url: `http://127.0.0.1:${http.listener.port}`, responses: [] };
  admin = await addAccount("admin");
}, 120_000);

afterEach(() => {
  barrier?.resolve();
  barrier = undefined;
});

afterAll(async () => {
  http.startDraining();
  await http.drain();
  await services.close();
  await rm(data, { recursive: true, force: true });
});

let accounts = 0;

async function addAccount(role: "user" | "admin" = "user"): Promise<Account> {
  const [email, password] = [`person${accounts++}@example.org`, "correct horse battery"];
  await services.users.add({ email, password, role, plan: "free", isByAdministrator: true });
  return signIn(email, password);
}

async function signIn(email: string, password: string): Promise<Account> {
  const signedIn = await new Client(target).post("/api/auth/signin", { email, password });
  const token = signedIn.string("token");
  return { id: signedIn.string("user.id"), email, password, name: "person", token, client: new Client(target, token) };
}

const store = (as: Account, fields: Record<string, string> = {}) =>
  as.client.storedId(ZIP, { name: "things.zip", type: "application/zip", fields });

/** @returns the id of the extraction */
async function begin(as: Account, archive: string, body: object = {}): Promise<string> {
  const response = await as.client.post(`/api/files/${archive}/extract`, body);
  expectStatus(response, 202);
  return response.string("data.id");
}

/** Begins an extraction, and waits until it reads the archive. */
async function beginBlocked(as: Account, archive: string, body: object = {}): Promise<string> {
  barrier = Promise.withResolvers<void>();
  const id = await begin(as, archive, body);
  await eventually("the archive is read", () => blockedReads > 0);
  return id;
}

function release(): void {
  barrier?.resolve();
  barrier = undefined;
}

/** The extraction as the server knows it: its account may be signed out. */
function extractionOf(as: Account, id: string) {
  const user = services.users.findByPublicId(as.id);
  if (user === undefined) throw new Error("the account exists");
  return services.extractions.get(user, id);
}

const stateOf = (as: Account, id: string) => extractionOf(as, id).state;

async function reasonOf(as: Account, id: string): Promise<string | undefined> {
  release();
  await eventually("the extraction has ended", () => extractionOf(as, id).endedAtMs !== undefined);
  expect(stateOf(as, id)).toBe("failed");
  return extractionOf(as, id).error?.reason;
}

const end = (as: Account, id: string) => eventually("it is done", () => stateOf(as, id) === "done");

describe("extractions", () => {
  test("run one at a time for each account, and two on the server", async () => {
    const [ada, ben, cem] = [await addAccount(), await addAccount(), await addAccount()];
    barrier = Promise.withResolvers<void>();
    const first = await begin(ada, await store(ada));
    const second = await begin(ada, await store(ada, { folder: "/in" }));
    const other = await begin(ben, await store(ben));
    const third = await begin(cem, await store(cem));
    await eventually("two archives are read", () => blockedReads === 2);
    expect([stateOf(ada, first), stateOf(ada, second)]).toEqual(["running", "waiting"]);
    expect([stateOf(ben, other), stateOf(cem, third)]).toEqual(["running", "waiting"]);
    release();
    for (const [as, id] of [
      [ada, first],
      [ada, second],
      [ben, other],
      [cem, third],
    ] as const) {
      await end(as, id);
    }
    expect(await ada.client.names()).toEqual(["in", "things", "things.zip"]);
  });

  test("that would wait too long are rejected", async () => {
    const ada = await addAccount();
    const archive = await store(ada);
    const running = await beginBlocked(ada, archive);
    const waiting: string[] = [];
    for (let n = 0; n < 4; n++) waiting.push(await begin(ada, archive));
    expectError(await ada.client.post(`/api/files/${archive}/extract`, {}), 503, "overloaded");
    for (const id of waiting) expectStatus(await ada.client.delete(`/api/files/extractions/${id}`), 200);
    release();
    await end(ada, running);
    await eventually("the others are canceled", () => waiting.every((id) => stateOf(ada, id) === "canceled"));
    expect(await ada.client.names()).toEqual(["things", "things.zip"]);
  });

  test("continue when the client is gone", async () => {
    const ada = await addAccount();
    const archive = await store(ada);
    barrier = Promise.withResolvers<void>();
    const connection = new AbortController();
    const request = fetch(`${target.url}/api/files/${archive}/extract`, {
      method: "POST",
      headers: { authorization: `Bearer ${ada.token}` },
      signal: connection.signal,
    }).catch(() => undefined);
    await eventually("the archive is read", () => blockedReads > 0);
    connection.abort();
    await request;
    release();
    const again = await signIn(ada.email, ada.password ?? "");
    await eventually("another session sees the end", async () => {
      const list = await again.client.get("/api/files/extractions");
      return list.at("data.extractions.0.state") === "done";
    });
    expect(await again.client.names()).toEqual(["things", "things.zip"]);
  });
});

describe("the folder does not appear if, during the extraction,", () => {
  test("the session ends", async () => {
    const ada = await addAccount();
    const id = await beginBlocked(ada, await store(ada));
    expectStatus(await ada.client.post("/api/auth/signout"), 200);
    expect(await reasonOf(ada, id)).toBe("revoked_token");
    const again = await signIn(ada.email, ada.password ?? "");
    expect(await again.client.names()).toEqual(["things.zip"]);
  });

  test("the account is disabled", async () => {
    const ada = await addAccount();
    const id = await beginBlocked(ada, await store(ada));
    const change = (disabled: boolean) => admin.client.patch(`/api/admin/users/${ada.id}`, { disabled });
    expectStatus(await change(true), 200);
    const reason = await reasonOf(ada, id);
    expectStatus(await change(false), 200);
    const again = await signIn(ada.email, ada.password ?? "");
    expect(await again.client.names()).toEqual(["things.zip"]);
    expect(reason).toBe("revoked_token");
  });

  test("the account becomes a viewer", async () => {
    const ada = await addAccount();
    const id = await beginBlocked(ada, await store(ada));
    expectStatus(
      await admin.client.patch(`/api/admin/users/${ada.id}`, { role: "viewer", currentPassword: admin.password }),
      200,
    );
    expect(await reasonOf(ada, id)).toBe("role");
    expect(await ada.client.names()).toEqual(["things.zip"]);
  });

  test.each([
    ["the share only lets one read", "share_permission"],
    ["the share ends", "not_found"],
  ])("%s", async (_name, reason) => {
    const [owner, writer] = [await addAccount(), await addAccount()];
    const archive = await store(owner, { folder: "/team" });
    const folder = (await owner.client.get("/api/files")).string("data.files.0.id");
    const share = await shareWith(owner.client, folder, writer, { permissions: "write" });
    const id = await beginBlocked(writer, archive);
    const path = `/api/shares/${share}`;
    if (reason === "not_found") expectStatus(await owner.client.delete(path), 200);
    else expectStatus(await owner.client.patch(path, { permissions: "read" }), 200);
    expect(await reasonOf(writer, id)).toBe(reason);
    expect(await owner.client.names("/team")).toEqual(["things.zip"]);
  });

  test("other files take the storage", async () => {
    const ada = await addAccount();
    const archive = await store(ada);
    const id = await beginBlocked(ada, archive);
    await ada.client.stored(Buffer.alloc(QUOTA - ZIP.length - CONTENT.length + 1), { name: "large.bin" });
    expect(await reasonOf(ada, id)).toBe("quota_exceeded");
    expect(await ada.client.names()).toEqual(["large.bin", "things.zip"]);
  });

  test("the server stops", async () => {
    const ada = await addAccount();
    const archive = await store(ada);
    const id = await beginBlocked(ada, archive);
    const closed = services.extractions.close();
    release();
    await closed;
    expect(stateOf(ada, id)).toBe("canceled");
    expect(await ada.client.names()).toEqual(["things.zip"]);
    expectError(await ada.client.post(`/api/files/${archive}/extract`, {}), 503, "overloaded");
  });
});
