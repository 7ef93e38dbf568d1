// Trees that are too deep, which earlier releases allowed, stay readable and can be repaired.
import { Database } from "bun:sqlite";
import { beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Account } from "../support/client.ts";
import { deepenTree } from "../support/deep-tree.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { registerDevice, type TestDevice } from "../support/mobile.ts";
import { shareWith } from "../support/account-shares.ts";
import { sharedServer, temporaryDirectory } from "../support/server.ts";

/** More levels than an earlier limit, above which the server assumed a cycle. */
const LEVELS = 21_000;
const server = sharedServer({ hasAccounts: true, env: { LARDER_RATE_LIMITS: "off" } });

let owner: Account;
let guest: Account;
let phone: TestDevice;
let file: string;
let folders: readonly string[];
const folderAt = (level: number) => folders[level - 1] ?? "";

beforeAll(async () => {
  owner = await server().signUp();
  guest = await server().signUp();
  phone = await registerDevice(server(), owner);
  file = await owner.client.storedId("at the bottom", { name: "bottom zebra.txt" });
  await server().stop();
  const path = join(server().dataDir, "larder.db");
  const database = new Database(path);
  const row = database
    .query<{ id: number }, [string]>("SELECT account_id AS id FROM nodes WHERE public_id = ?1")
    .get(file);
  ({ folders } = deepenTree(database, row?.id ?? 0, LEVELS, { bottomFile: file }));
  database.close();
  await server().start();
}, 120_000);

interface SyncData {
  changes: { created: unknown[]; updated: unknown[] };
  nextSyncToken: string;
  hasMore: boolean;
}

/** Synchronizes from the start. Returns the number of items. */
async function syncAll(): Promise<number> {
  let count = 0;
  let token = "";
  for (;;) {
    const query = `limit=1000${token === "" ? "" : `&syncToken=${encodeURIComponent(token)}`}`;
    const response = await phone.client.get(`/api/mobile/sync?${query}`);
    expectStatus(response, 200);
    expect(response.text.length).toBeLessThan(10_000_000);
    // Parsed once, because a page has several megabytes.
    const { syncData } = response.json as { syncData: SyncData };
    count += syncData.changes.created.length + syncData.changes.updated.length;
    token = syncData.nextSyncToken;
    if (!syncData.hasMore) return count;
  }
}

/** Searches by words until the index is up to date. */
async function searchIndexed(q: string): Promise<string[]> {
  for (;;) {
    const response = await owner.client.get(`/api/files/search?q=${q}`);
    expectStatus(response, 200);
    if (response.at("data.isIndexing") === false) return response.strings("data.files", "id");
  }
}

describe("a folder that is too deep", () => {
  test("is found with its content, with a shortened path", async () => {
    const { client } = owner;
    const found = await client.get(`/api/files/${file}`);
    expectStatus(found, 200);
    expect(found.string("data.folder")).toMatch(/^\/…fold_\w+(\/d)+$/);
    expect(Buffer.byteLength(found.string("data.folder"))).toBeLessThan(4_200);
    expect((await client.get(`/api/files/${file}/download`)).text).toBe("at the bottom");
    for (const query of ["recursive=true", "recursive=true&type=folder&page=100", "recursive=true&search=zebra"]) {
      expectStatus(await client.get(`/api/files?limit=100&${query}`), 200);
    }
    expect((await client.get("/api/files?recursive=true&search=zebra")).strings("data.files", "id")).toEqual([file]);
    expect(await searchIndexed("zebra")).toEqual([file]);
    const below = await client.get(`/api/files?recursive=true&search=zebra&folder=${"/d".repeat(500)}`);
    expect(below.strings("data.files", "id")).toEqual([file]);
  });

  test("is included in synchronization, even after its top folder is renamed", async () => {
    expect(await syncAll()).toBe(LEVELS + 1);
    expectStatus(await owner.client.put(`/api/files/folders/${folderAt(1)}`, { name: "e" }), 200);
    expect(await syncAll()).toBe(LEVELS + 1);
    expectStatus(await owner.client.put(`/api/files/folders/${folderAt(1)}`, { name: "d" }), 200);
  });

  test("can be shared and opened by the other account", async () => {
    const share = await shareWith(owner.client, folderAt(2), guest, { permissions: "write" });
    expectStatus(await guest.client.get(`/api/files?share=${share}&recursive=true&search=zebra`), 200);
    expect((await guest.client.get(`/api/files/${file}/download`)).text).toBe("at the bottom");
    expectError(await guest.client.put(`/api/files/folders/${folderAt(3)}`, { name: "longer" }), 400, "path_too_long");
  });

  test("accepts no new file, and its shortened path creates nothing elsewhere", async () => {
    const { client } = owner;
    const bottom = folderAt(LEVELS);
    const { folder, name } = (await client.get(`/api/files/${file}`)).at("data") as { folder: string; name: string };
    const box = await client.post(`/api/files/folders/${bottom}/shares`, { permissions: "upload" });
    const share = await shareWith(client, bottom, guest, { permissions: "write" });
    const form = new FormData();
    form.append("file", new File(["x"], "x.txt"));
    const rejected = [
      await client.upload("x", { fields: { folder } }),
      await client.post("/api/files/folders", { name: "x", path: folder }),
      await server().visitor.request("POST", `/api/public/${box.string("data.token")}/upload`, { body: form }),
    ];
    for (const response of rejected) expectError(response, 400, "path_too_long");
    expect((await guest.client.upload("x", { fields: { share, folder: "/" } })).status).toBeGreaterThanOrEqual(400);
    expect(await client.names()).toEqual(["d"]);
    expectStatus(await client.put(`/api/files/${file}`, { name: "renamed", folder }), 200);
    expectStatus(await client.put(`/api/files/${file}`, { name }), 200);
  });

  test("can be archived with paths that can be unpacked", async () => {
    const created = await owner.client.post(`/api/files/folders/${folderAt(1)}/shares`, { permissions: "read" });
    expectStatus(created, 201);
    const response = await server().visitor.head(`/api/public/${created.string("data.token")}/download`);
    expectStatus(response, 200);
    expect(Number(response.header("content-length"))).toBeLessThan(LEVELS * 2 * 5_000);
  });

  test("is exported up to the system's longest path, and the rest next to it", async () => {
    const target = join(await temporaryDirectory(), "out");
    const { code, stdout } = await server().larder(["export", "--user", owner.email, "--to", target, "--json"]);
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, written: 1, problems: 0, folders: LEVELS });
    expect(existsSync(join(target, "d/d/d"))).toBe(true);
    expect((await readdir(join(target, "…"))).length).toBeGreaterThan(5);
  });

  test("can be repaired by moving a part up, and deleted entirely", async () => {
    const { client } = owner;
    expectStatus(await client.put(`/api/files/folders/${folderAt(LEVELS - 100)}`, { path: "/rescued" }), 200);
    expect((await client.get(`/api/files/${file}`)).at("data.folder")).toBe(`/rescued${"/d".repeat(101)}`);
    expectStatus(await client.delete(`/api/files/folders/${folderAt(1)}?recursive=true`), 200);
    expect((await client.get("/api/files?recursive=true&limit=100")).number("data.pagination.total")).toBe(103);
    expect((await client.get("/api/users/usage")).json).toMatchObject({
      data: { storage: { files: 1, folders: 102 } },
    });
  });
});
