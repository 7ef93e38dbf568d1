import { describe, expect, test } from "bun:test";
import { shareWith, soonExpiry, waitForExpiry } from "../support/account-shares.ts";
import { basic, createAppPassword } from "../support/app-passwords.ts";
import { Client } from "../support/client.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";
import { connectDav } from "../support/webdav.ts";

const server = sharedServer({ hasAccounts: true, env: { LARDER_RATE_LIMITS: "off" } });

/** The recent files as "name kind", newest first. */
async function recent(client: Client, query = ""): Promise<string[]> {
  const response = await client.get(`/api/files/recent?${query}`);
  expectStatus(response, 200);
  const kinds = response.strings("data.files", "activity");
  return response.strings("data.files", "name").map((name, index) => `${name} ${kinds[index]}`);
}

async function open(client: Client, id: string): Promise<void> {
  expectStatus(await client.post(`/api/files/${id}/opened`, {}), 200);
}

/** Sends other requests until the clock shows another millisecond. */
async function afterNow(): Promise<void> {
  const now = Date.now();
  while (Date.now() <= now + 1) await server().visitor.get("/health/live");
}

describe("GET /api/files/recent", () => {
  test("lists each file once, with what happened last", async () => {
    const { client } = await server().signUp();
    expect(await recent(client)).toEqual([]);
    await client.folderId("letters");
    const names = ["added", "edited", "renamed", "moved", "restored", "changed", "opened"];
    const ids = new Map<string, string>();
    for (const name of names) ids.set(name, await client.storedId(name, { name: `${name}.txt` }));
    const id = (name: string) => ids.get(name) ?? "";
    await client.putContent(id("edited"), "other");
    await client.put(`/api/files/${id("renamed")}`, { name: "new-name.txt" });
    await client.post("/api/files/move", { fileIds: [id("moved")], destinationFolder: "/letters" });
    await client.post("/api/files/trash", { fileIds: [id("restored")] });
    await client.post("/api/files/trash/restore", { fileIds: [id("restored")] });
    await client.post("/api/files/tags", { fileIds: [id("changed")], add: ["sea"], remove: [] });
    await open(client, id("opened"));
    const expected = [
      "opened.txt opened",
      "changed.txt changed",
      "restored.txt restored",
      "moved.txt moved",
      "new-name.txt renamed",
      "edited.txt edited",
      "added.txt added",
    ];
    expect(await recent(client)).toEqual(expected);
    const first = await client.get("/api/files/recent?limit=1");
    expect(first.at("data.files.0")).toMatchObject({
      id: id("opened"),
      folder: "/",
      permission: "own",
      canManage: true,
      version: 1,
    });
    // A change after the opening counts.
    await afterNow();
    await client.putContent(id("opened"), "other");
    expect(await recent(client, "limit=1")).toEqual(["opened.txt edited"]);
    await open(client, id("added"));
    expect((await recent(client, "limit=2")).at(0)).toBe("added.txt opened");
    expect((await recent(client)).length).toBe(names.length);
  });

  test("continues at its cursor with pages of any size", async () => {
    const { client } = await server().signUp();
    const ids: string[] = [];
    for (let n = 0; n < 12; n++) ids.push(await client.storedId(String(n), { name: `${n}.txt` }));
    for (const n of [3, 7, 1]) {
      await afterNow();
      await open(client, ids[n] ?? "");
    }
    await afterNow();
    await client.putContent(ids[7] ?? "", "changed");
    const all = await recent(client, "limit=100");
    expect(all.slice(0, 4)).toEqual(["7.txt edited", "1.txt opened", "3.txt opened", "11.txt added"]);
    expect(all.length).toBe(12);
    for (const limit of [1, 2, 5, 12]) {
      const found: string[] = [];
      let cursor = "";
      do {
        const page = await client.get(`/api/files/recent?limit=${limit}&cursor=${cursor}`);
        expect(page.list("data.files").length).toBeLessThanOrEqual(limit);
        found.push(...page.strings("data.files", "name"));
        const next = page.at("data.nextCursor");
        cursor = typeof next === "string" ? next : "";
      } while (cursor !== "");
      expect([limit, found]).toEqual([limit, all.map((entry) => entry.split(" ")[0] ?? "")]);
    }
    expectError(await client.get("/api/files/recent?cursor=x"), 400, "invalid_field", "cursor");
    expectError(await client.get("/api/files/recent?limit=101"), 400, "invalid_field", "limit");
  });

  test("leaves out what is in the trash, itself or with its folder, and what is deleted", async () => {
    const { client } = await server().signUp();
    const folder = await client.folderId("letters");
    const inFolder = await client.storedId("1", { name: "in-folder.txt", fields: { folder: "/letters" } });
    const alone = await client.storedId("2", { name: "alone.txt" });
    await open(client, inFolder);
    await open(client, alone);
    expect((await recent(client)).toSorted()).toEqual(["alone.txt opened", "in-folder.txt opened"]);
    await client.post("/api/files/trash", { fileIds: [folder, alone] });
    expect(await recent(client)).toEqual([]);
    expectError(await client.post(`/api/files/${alone}/opened`, {}), 404, "not_found");
    expectError(await client.post(`/api/files/${inFolder}/opened`, {}), 404, "not_found");
    await client.post("/api/files/trash/restore", { fileIds: [folder] });
    expect(await recent(client)).toEqual(["in-folder.txt opened"]);
    await client.delete(`/api/files/${inFolder}`);
    await client.delete("/api/files/trash");
    expect(await recent(client)).toEqual([]);
  });
});

describe("recent files of others", () => {
  test("are those that the account opened, while they are shared with it", async () => {
    const owner = await server().signUp();
    const reader = await server().signUp();
    const folder = await owner.client.folderId("secret");
    const file = await owner.client.storedId("1", { name: "plan.txt", fields: { folder: "/secret" } });
    expectError(await reader.client.post(`/api/files/${file}/opened`, {}), 404, "not_found");
    const share = await shareWith(owner.client, folder, reader);
    // Being shared is not being opened, and what others do is not listed.
    expect(await recent(reader.client)).toEqual([]);
    await open(reader.client, file);
    await owner.client.putContent(file, "other");
    const listed = await reader.client.get("/api/files/recent");
    expect(listed.at("data.files.0")).toMatchObject({
      id: file,
      folder: "/",
      permission: "read",
      canManage: false,
      showsVersions: false,
      share,
      activity: "opened",
    });
    expect(listed.text).not.toContain("secret");
    expect(await recent(owner.client)).toEqual(["plan.txt edited"]);
    await owner.client.delete(`/api/shares/${share}`);
    expect(await recent(reader.client)).toEqual([]);
    expectError(await reader.client.post(`/api/files/${file}/opened`, {}), 404, "not_found");
    await shareWith(owner.client, folder, reader, { permissions: "write" });
    const writable = await reader.client.get("/api/files/recent");
    expect(writable.at("data.files.0")).toMatchObject({ permission: "write", canManage: true, showsVersions: true });
    await owner.client.post("/api/files/trash", { fileIds: [folder] });
    expect(await recent(reader.client)).toEqual([]);
  });

  test("name the outermost share, below which their paths are, and none for a file of a shared album", async () => {
    const [owner, reader] = [await server().signUp(), await server().signUp()];
    const outer = await owner.client.folderId("outer");
    const inner = await owner.client.folderId("inner", "/outer");
    const file = await owner.client.storedId("1", { name: "plan.txt", fields: { folder: "/outer/inner" } });
    const photo = await owner.client.storedId("2", { name: "in-album.txt" });
    const share = await shareWith(owner.client, outer, reader);
    await shareWith(owner.client, inner, reader, { permissions: "write" });
    const album = await owner.client.post("/api/albums", { name: "Album", fileIds: [photo] });
    const shared = { user: reader.email };
    expectStatus(await owner.client.post(`/api/albums/${album.string("data.id")}/shares`, shared), 201);
    for (const id of [file, photo]) await open(reader.client, id);
    const listed = await reader.client.get("/api/files/recent");
    const files = listed.list("data.files") as Record<string, unknown>[];
    // Both may have been opened within the same millisecond.
    const [ofShare, ofAlbum] = [file, photo].map((id) => files.find((entry) => entry["id"] === id));
    expect(ofShare).toMatchObject({ id: file, folder: "/inner", share, permission: "write", canManage: true });
    expect(ofAlbum).toMatchObject({ id: photo, permission: "read", canManage: false });
    expect(ofAlbum).not.toHaveProperty("share");
  });

  test("that are shared themselves can't be renamed or deleted, as in the list of shares", async () => {
    const [owner, reader] = [await server().signUp(), await server().signUp()];
    const file = await owner.client.storedId("1", { name: "plan.txt" });
    await shareWith(owner.client, file, reader, { permissions: "write", versions: true });
    await open(reader.client, file);
    const listed = await reader.client.get("/api/files/recent");
    expect(listed.at("data.files.0")).toMatchObject({ permission: "write", canManage: false, showsVersions: true });
  });

  test("are hidden when their share expires", async () => {
    const owner = await server().signUp();
    const reader = await server().signUp();
    const file = await owner.client.storedId("1", { name: "plan.txt" });
    const expiresAt = soonExpiry();
    await shareWith(owner.client, file, reader, { expiresAt });
    await open(reader.client, file);
    expect(await recent(reader.client)).toEqual(["plan.txt opened"]);
    await waitForExpiry(expiresAt);
    expect(await recent(reader.client)).toEqual([]);
    expectError(await reader.client.post(`/api/files/${file}/opened`, {}), 404, "not_found");
  });

  test("are never listed for a stranger, an administrator, or a program with an app password", async () => {
    const owner = await server().signUp();
    const file = await owner.client.storedId("1", { name: "plan.txt" });
    await open(owner.client, file);
    const administrator = await server().addUser(["--admin"]);
    for (const { client } of [await server().signUp(), administrator]) {
      expectError(await client.post(`/api/files/${file}/opened`, {}), 404, "not_found");
      expect(await recent(client)).toEqual([]);
    }
    expectError(await server().visitor.get("/api/files/recent"), 401);
    expectError(await server().visitor.post(`/api/files/${file}/opened`, {}), 401);
    const program = await connectDav(owner);
    const { authorization } = program;
    expectError(await server().visitor.get("/api/files/recent", { authorization }), 401);
  });
});

test("an API key needs the right to read files, and an app password limited to a folder is refused", async () => {
  const account = await server().signUp();
  const { client, password } = account;
  const file = await client.storedId("1", { name: "plan.txt" });
  const key = async (scope: string) => {
    const made = await client.post("/api/users/api-keys", { name: scope, scopes: [scope], currentPassword: password });
    expectStatus(made, 201);
    return new Client(server(), made.string("data.key"));
  };
  const reading = await key("files:read");
  await open(reading, file);
  expect(await recent(reading)).toEqual(["plan.txt opened"]);
  const profile = await key("profile");
  expectError(await profile.get("/api/files/recent"), 403, "scope");
  expectError(await profile.post(`/api/files/${file}/opened`, {}), 403, "scope");
  await client.folderId("photos");
  const { username, password: secret } = await createAppPassword(account, { folder: "/photos" });
  const program = { headers: basic(username, secret) };
  for (const [method, path] of [
    ["GET", "/api/files/recent"],
    ["POST", `/api/files/${file}/opened`],
  ] as const) {
    const response = await server().visitor.request(method, path, program);
    expectError(response, 401);
    expect(response.text).not.toContain("plan");
  }
});

test("a viewer has a list of opened files", async () => {
  const owner = await server().signUp();
  const viewer = await server().addUser(["--role", "viewer"]);
  const file = await owner.client.storedId("1", { name: "plan.txt" });
  await shareWith(owner.client, file, viewer);
  await open(viewer.client, file);
  expect(await recent(viewer.client)).toEqual(["plan.txt opened"]);
});

test("at most 100 opened files of an account are retained, also by a restart", async () => {
  const own = server();
  const { client } = await own.signUp();
  const other = await own.signUp();
  const ids: string[] = [];
  for (let n = 0; n < 102; n++) ids.push(await other.client.storedId(String(n), { name: `${n}.txt` }));
  for (const id of ids) await open(other.client, id);
  await own.restart();
  // All 102 files are listed: 100 as opened, and two as added.
  const first = await other.client.get("/api/files/recent?limit=100");
  const second = await other.client.get(`/api/files/recent?limit=100&cursor=${first.string("data.nextCursor")}`);
  const kinds = [first, second].flatMap((page) => page.strings("data.files", "activity"));
  expect([kinds.filter((kind) => kind === "opened").length, kinds.length]).toEqual([100, 102]);
  expect(await recent(client)).toEqual([]);
});

testAllResponses(server);
