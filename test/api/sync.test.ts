import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Account, type ApiResponse, checksumOf, Client } from "../support/client.ts";
import { expectError, expectStatus, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { readDevice, registerDevice, type TestDevice, tryRegister } from "../support/mobile.ts";
import { sharedServer, temporaryDirectory, type TestServer, withServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

interface Household {
  account: Account;
  phone: TestDevice;
}

async function household(target: TestServer = server()): Promise<Household> {
  const account = await target.signUp();
  return { account, phone: await registerDevice(target, account) };
}

type Query = Record<string, string | number>;

async function request(device: TestDevice, path: "status" | "", query: Query = {}): Promise<ApiResponse> {
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return device.client.get(`/api/mobile/sync${path === "" ? "" : `/${path}`}?${pairs.join("&")}`);
}

async function status(device: TestDevice, query: Query = {}): Promise<ApiResponse> {
  const response = await request(device, "status", query);
  expectStatus(response, 200);
  return response;
}

async function items(device: TestDevice, query: Query = {}): Promise<ApiResponse> {
  const response = await request(device, "", query);
  expectStatus(response, 200);
  return response;
}

const tokenIn = (response: ApiResponse) => response.string("data.nextSyncToken");

/** The changes in a response as short texts, in order. */
function changesIn(response: ApiResponse, at = "data"): string[] {
  return ["created", "updated", "deleted"].flatMap((change) =>
    (response.list(`${at}.changes.${change}`) as { id: string; name?: string; folder?: string }[]).map(
      ({ id, name, folder }) => (change === "deleted" ? `deleted ${id}` : `${change} ${folder} ${name}`),
    ),
  );
}

/** Reads all pages of changes from a position on. @returns also the number of pages */
async function readAll(device: TestDevice, query: Query) {
  const all: string[] = [];
  let token: string | undefined;
  for (let pages = 1; ; pages++) {
    const response = await status(device, token === undefined ? query : { ...query, syncToken: token });
    all.push(...changesIn(response));
    token = tokenIn(response);
    if (response.at("data.hasMore") !== true) return { all, token, pages };
  }
}

/** Reads all changes. @returns the last token */
async function lastToken(device: TestDevice): Promise<string> {
  return (await readAll(device, {})).token;
}

describe("GET sync/status", () => {
  test("without a token lists all files in the short form", async () => {
    const { account, phone } = await household();
    const empty = await status(phone);
    expect(empty.at("data")).toEqual({
      lastSyncAt: null,
      hasChanges: false,
      changes: { created: [], updated: [], deleted: [] },
      conflicts: [],
      nextSyncToken: expect.any(String),
      hasMore: false,
      resetRequired: false,
    });
    const gone = await account.client.storedId("gone", { name: "gone.txt" });
    const stored = await account.client.stored("hello", { name: "a.txt", fields: { folder: "/docs" } });
    await account.client.delete(`/api/files/${gone}`);
    const response = await status(phone);
    expect(response.at("data.hasChanges")).toBeTrue();
    expect(response.at("data.changes")).toEqual({
      created: [
        {
          id: stored.string("data.id"),
          name: "a.txt",
          folder: "/docs",
          size: 5,
          modifiedAt: expect.stringMatching(timestampPattern),
          checksum: checksumOf("hello"),
        },
      ],
      updated: [],
      deleted: [],
    });
  });

  test("with a token lists what was created, updated and deleted since, including the device's own changes", async () => {
    const { account, phone } = await household();
    const updated = await phone.client.storedId("one", { name: "updated.txt" });
    const gone = await phone.client.storedId("two", { name: "gone.txt" });
    const token = await lastToken(phone);
    expectStatus(await account.client.putContent(updated, "three"), 200);
    expectStatus(await phone.client.delete(`/api/files/${gone}`), 200);
    await phone.client.stored("four", { name: "mine.txt" });
    const response = await status(phone, { syncToken: token });
    expect(changesIn(response)).toEqual(["created / mine.txt", "updated / updated.txt", `deleted ${gone}`]);
    expect(response.at("data.changes.deleted.0.deletedAt")).toMatch(timestampPattern);
    expect(response.at("data.changes.updated.0.checksum")).toBe(checksumOf("three"));
    const after = await status(phone, { syncToken: tokenIn(response) });
    expect([after.at("data.hasChanges"), changesIn(after)]).toEqual([false, []]);
    // The same request returns the same response.
    expect(changesIn(await status(phone, { syncToken: token }))).toEqual(changesIn(response));
  });

  test("lists each id once, in its latest state, in the order of its last change", async () => {
    const { account, phone } = await household();
    const ids: string[] = [];
    for (const name of ["1", "2", "3"]) ids.push(await account.client.storedId(name, { name }));
    const token = await lastToken(phone);
    for (const text of ["x", "y"]) await account.client.putContent(ids[0] ?? "", text);
    await account.client.put(`/api/files/${ids[2]}`, { name: "3b" });
    await account.client.putContent(ids[0] ?? "", "z");
    await account.client.put(`/api/files/${ids[1]}`, { name: "2b" });
    expect(changesIn(await status(phone, { syncToken: token }))).toEqual([
      "updated / 3b",
      "updated / 1",
      "updated / 2b",
    ]);
    expect((await readAll(phone, { limit: 1 })).all).toEqual(["created / 3b", "created / 1", "created / 2b"]);
  });

  test("has pages, and nothing is missed or repeated while others write", async () => {
    const { account, phone } = await household();
    const ids: string[] = [];
    for (let index = 0; index < 6; index++) ids.push(await account.client.storedId(`${index}`, { name: `${index}` }));
    const first = await status(phone, { limit: 2 });
    expect([changesIn(first), first.at("data.hasMore")]).toEqual([["created / 0", "created / 1"], true]);
    await account.client.putContent(ids[0] ?? "", "known, changed");
    await account.client.putContent(ids[3] ?? "", "unknown, changed");
    await account.client.delete(`/api/files/${ids[1]}`);
    await account.client.delete(`/api/files/${ids[4]}`);
    await account.client.stored("new", { name: "new" });
    const { all, pages } = await readAll(phone, { limit: 2, syncToken: tokenIn(first) });
    // A deletion may be listed although the device has not seen the file: the device may have created it.
    expect(all.filter((one) => one !== `deleted ${ids[4]}`)).toEqual([
      "created / 2",
      "created / 5",
      "created / 3",
      "updated / 0",
      `deleted ${ids[1]}`,
      "created / new",
    ]);
    expect(pages).toBeGreaterThanOrEqual(3);
  });

  test("lists files whose folder was renamed or moved", async () => {
    const { account, phone } = await household();
    const folder = await account.client.folderId("a");
    await account.client.stored("deep", { name: "deep.txt", fields: { folder: "/a/b/c" } });
    await account.client.stored("other", { name: "other.txt", fields: { folder: "/z" } });
    let token = await lastToken(phone);
    expectStatus(await account.client.put(`/api/files/folders/${folder}`, { name: "renamed" }), 200);
    const renamed = await status(phone, { syncToken: token });
    expect(changesIn(renamed)).toEqual(["updated /renamed/b/c deep.txt"]);
    token = tokenIn(renamed);
    expectStatus(await account.client.put(`/api/files/folders/${folder}`, { folder: "/z" }), 200);
    const moved = await status(phone, { syncToken: token });
    expect(changesIn(moved)).toEqual(["updated /z/renamed/b/c deep.txt"]);
  });

  test("lists every file of a deleted large folder", async () => {
    const { account, phone } = await household();
    const folder = await account.client.folderId("big");
    const ids = await Promise.all(
      Array.from({ length: 230 }, async (_, index) =>
        account.client.storedId(`${index % 5}`, { name: `${index}`, fields: { folder: `/big/${index % 3}` } }),
      ),
    );
    const token = await lastToken(phone);
    expectStatus(await account.client.delete(`/api/files/folders/${folder}?recursive=true`), 200);
    const { all } = await readAll(phone, { syncToken: token, limit: 100 });
    expect(all.toSorted()).toEqual(ids.map((id) => `deleted ${id}`).toSorted());
  });

  test("is separate for two devices, and has the time of each device's last sync", async () => {
    const { account, phone } = await household();
    const tablet = await registerDevice(server(), account);
    await account.client.stored("a", { name: "a" });
    const first = await status(phone);
    const before = Date.now();
    expect(first.at("data.lastSyncAt")).toBeNull();
    const second = await status(phone, { syncToken: tokenIn(first) });
    const lastSyncAt = Date.parse(second.string("data.lastSyncAt"));
    expect([lastSyncAt <= before, lastSyncAt > before - 60_000]).toEqual([true, true]);
    const other = await status(tablet);
    expect([other.at("data.lastSyncAt"), changesIn(other)]).toEqual([null, ["created / a"]]);
    // Each device of the account can use the token.
    expect(changesIn(await status(tablet, { syncToken: tokenIn(first) }))).toEqual([]);
  });

  test("lists the conflicts that this device has to resolve", async () => {
    const { account, phone } = await household();
    const tablet = await registerDevice(server(), account);
    await account.client.stored("theirs", { name: "a.txt" });
    const change = {
      action: "upload",
      localId: "1",
      name: "a.txt",
      folder: "/",
      size: 4,
      checksum: checksumOf("mine"),
    };
    const sent = await phone.client.post("/api/mobile/sync/files", { localChanges: [change] });
    const conflicts = sent.list("data.conflicts");
    expect(conflicts).toHaveLength(1);
    expect((await status(phone)).list("data.conflicts")).toEqual(conflicts);
    expect((await items(phone)).list("syncData.conflicts")).toEqual(conflicts);
    expect((await status(tablet)).list("data.conflicts")).toEqual([]);
  });
});

describe("lastSync", () => {
  test("is inclusive, in server time, and the token continues it", async () => {
    const { account, phone } = await household();
    const early = await account.client.storedId("early", { name: "early" });
    const at = (await account.client.stored("one", { name: "one" })).string("data.uploadedAt");
    await account.client.stored("two", { name: "two" });
    await account.client.delete(`/api/files/${early}`);
    const response = await status(phone, { lastSync: at, limit: 1 });
    const { all } = await readAll(phone, { syncToken: tokenIn(response) });
    const seen = [...changesIn(response), ...all];
    expect(seen.filter((one) => one !== "created / early")).toEqual([
      "created / one",
      "created / two",
      `deleted ${early}`,
    ]);
    const later = new Date(Date.parse(at) + 60_000).toISOString();
    const none = await status(phone, { lastSync: later });
    expect([changesIn(none), none.at("data.hasChanges")]).toEqual([[], false]);
    expect(changesIn(await status(phone, { lastSync: "1970-01-01T00:00:00Z" }))).toHaveLength(3);
  });

  test("is ignored if there is a token", async () => {
    const { account, phone } = await household();
    await account.client.stored("a", { name: "a" });
    const token = await lastToken(phone);
    expect(changesIn(await status(phone, { syncToken: token, lastSync: "1970-01-01T00:00:00Z" }))).toEqual([]);
  });
});

describe("GET sync", () => {
  test("lists full records of files and folders, and deletions with their type", async () => {
    const { account, phone } = await household();
    const file = await account.client.storedId("a", { name: "a.txt", fields: { folder: "/docs", tags: "x,y" } });
    const response = await items(phone);
    const [docs, a] = response.list("syncData.changes.created") as Record<string, unknown>[];
    expect(docs).toMatchObject({ type: "folder", name: "docs", path: "/docs", itemCount: 1 });
    const listed = await account.client.get("/api/files?folder=/docs");
    // Sharing changes no file, so a sync would not report it again.
    const { shared, ...inList } = listed.at("data.files.0") as Record<string, unknown>;
    expect([a, shared]).toEqual([inList, null]);
    expect(response.at("success")).toBeTrue();
    const folderId = String(docs?.["id"]);
    const token = response.string("syncData.nextSyncToken");
    expectStatus(await account.client.put(`/api/files/folders/${folderId}`, { name: "papers" }), 200);
    const renamed = await items(phone, { syncToken: token });
    expect(changesIn(renamed, "syncData")).toEqual(["updated / papers", "updated /papers a.txt"]);
    expectStatus(await account.client.delete(`/api/files/folders/${folderId}?recursive=true`), 200);
    const deleted = await items(phone, { syncToken: renamed.string("syncData.nextSyncToken") });
    const deletedAt = expect.stringMatching(timestampPattern);
    expect(deleted.at("syncData.changes")).toEqual({
      created: [],
      updated: [],
      deleted: [
        { id: file, type: "file", deletedAt },
        { id: folderId, type: "folder", deletedAt },
      ],
    });
    expect(Object.keys(deleted.at("syncData") as object).toSorted()).toEqual(
      Object.keys((await status(phone)).at("data") as object).toSorted(),
    );
  });
});

describe("a sync request is rejected", () => {
  test("with a limit outside 1 to 1,000", async () => {
    const { phone } = await household();
    for (const limit of ["0", "1001", "-1", "x", "1.5", ""]) {
      for (const path of ["status", ""] as const)
        expectError(await request(phone, path, { limit }), 400, undefined, "limit");
    }
    for (const limit of [1, 1000]) await status(phone, { limit });
  });

  test("with a token that is invalid, changed, empty, or of another account", async () => {
    const { phone } = await household();
    const other = await household();
    await other.account.client.stored("a");
    const token = tokenIn(await status(other.phone));
    const first = token.startsWith("W") ? "X" : "W";
    for (const syncToken of [
      token,
      "",
      "garbage",
      "a.b",
      ".",
      `${first}${token.slice(1)}`,
      `${token}.x`,
      "ä".repeat(9),
    ]) {
      for (const path of ["status", ""] as const) {
        expectError(await request(phone, path, { syncToken }), 400, "invalid_field", "syncToken");
      }
    }
    expectStatus(await request(other.phone, "status", { syncToken: token }), 200);
  });

  test("with an invalid time", async () => {
    const { phone } = await household();
    for (const lastSync of ["yesterday", "12"]) {
      expectError(await request(phone, "status", { lastSync }), 400, "invalid_field", "lastSync");
    }
  });

  test("without the token of a device", async () => {
    const { account } = await household();
    for (const path of ["/api/mobile/sync/status", "/api/mobile/sync"]) {
      expectError(await account.client.get(path), 401);
      expectError(await server().visitor.get(path), 401);
      expectError(await new Client(server(), "nonsense").get(path), 401);
    }
  });

  test("and never lists files of another account", async () => {
    const { account, phone } = await household();
    const other = await household();
    await account.client.stored("secret", { name: "secret" });
    expect(changesIn(await status(other.phone))).toEqual([]);
    expect(changesIn(await items(other.phone), "syncData")).toEqual([]);
    expect(changesIn(await status(phone))).toEqual(["created / secret"]);
  });
});

describe("resetRequired", () => {
  test("is true for a token older than the saved deletions, and for one from after a restored backup", async () => {
    await withServer({ hasAccounts: true }, async (own) => {
      const { account, phone } = await household(own);
      await account.client.stored("a", { name: "a" });
      const old = await lastToken(phone);
      await account.client.stored("b", { name: "b" });
      const fresh = await lastToken(phone);
      await own.stop();
      const copy = await temporaryDirectory();
      await cp(own.dataDir, copy, { recursive: true });
      change(own.dataDir, "UPDATE accounts SET floor_seq = seq");
      await own.restart();
      const registerAgain = async () => readDevice(own, await tryRegister(own, account, phone.deviceId));
      let device = await registerAgain();
      await expectReset(device, old);
      expect((await status(device, { syncToken: fresh })).at("data.resetRequired")).toBeFalse();
      // Without a token it starts again.
      const restarted = await status(device);
      expect([restarted.at("data.resetRequired"), changesIn(restarted)]).toEqual([
        false,
        ["created / a", "created / b"],
      ]);

      await account.client.stored("c", { name: "c" });
      const future = await lastToken(device);
      await own.stop();
      await rm(own.dataDir, { recursive: true });
      await cp(copy, own.dataDir, { recursive: true });
      await own.restart();
      device = await registerAgain();
      await expectReset(device, future);
      expect((await readAll(device, {})).all).toEqual(["created / a", "created / b"]);
      await rm(copy, { recursive: true });
      server().responses.push(...own.responses);
    });
  }, 120_000);
});

async function expectReset(device: TestDevice, syncToken: string): Promise<void> {
  const changes = { created: [], updated: [], deleted: [] };
  const expected = { resetRequired: true, hasMore: false, hasChanges: true, changes };
  expect((await status(device, { syncToken })).at("data")).toMatchObject(expected);
  expect((await items(device, { syncToken })).at("syncData")).toMatchObject(expected);
}

/** Changes the database of a stopped server. */
function change(dataDir: string, sql: string): void {
  const db = new Database(join(dataDir, "larder.db"));
  try {
    db.run(sql);
  } finally {
    db.close();
  }
}

testAllResponses(server);
