import { describe, expect, test } from "bun:test";
import { type Account, type ApiResponse, Client, checksumOf, randomContent } from "../support/client.ts";
import { expectError, expectStatus, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice, type TestDevice } from "../support/mobile.ts";
import { sharedServer } from "../support/server.ts";

// The tests change more files than the mass-change guard allows.
const server = sharedServer({ hasAccounts: true, env: { LARDER_MASS_CHANGE_FILES: "1000000" } });

interface Undone {
  fileId: string;
  kind: string;
  action: string;
  name: string;
  folder: string;
  formerId?: string;
}

interface Household {
  account: Account;
  a: TestDevice;
  b: TestDevice;
}

async function household(): Promise<Household> {
  const account = await server().signUp();
  return { account, a: await registerDevice(server(), account), b: await registerDevice(server(), account) };
}

/** A time of the server's clock; no later change is before it. */
async function now({ client }: Account): Promise<string> {
  const created = await client.post("/api/files/folders", { name: `at-${Bun.nanoseconds()}` });
  expectStatus(created, 201);
  expectStatus(await client.delete(`/api/files/folders/${created.string("data.id")}`), 200);
  return created.string("data.createdAt");
}

const rewind = (by: TestDevice, target: TestDevice, since: string, more: Record<string, unknown> = {}) =>
  by.client.post(`/api/mobile/devices/${target.deviceId}/rewind`, { since, ...more });
const undoneIn = (response: ApiResponse) => response.list("data.undone") as Undone[];

/** The id, checksum and tags of all files, by path. */
async function allFiles(client: Client): Promise<Map<string, { id: string; checksum: string; tags: unknown }>> {
  const response = await client.get("/api/files?recursive=true&type=file&limit=100");
  expectStatus(response, 200);
  const files = response.list("data.files") as Record<string, unknown>[];
  return new Map(
    files.map((file) => [
      `${String(file["folder"])}/${String(file["name"])}`.replace("//", "/"),
      { id: String(file["id"]), checksum: String(file["checksum"]), tags: file["tags"] },
    ]),
  );
}

/** The ids of the folders in a folder, by name. */
async function foldersIn(client: Client, path: string): Promise<Map<string, string>> {
  const response = await client.get(`/api/files?type=folder&folder=${encodeURIComponent(path)}`);
  expectStatus(response, 200);
  const folders = response.list("data.files") as { id: string; name: string }[];
  return new Map(folders.map(({ id, name }) => [name, id]));
}

const contentsOf = (files: Awaited<ReturnType<typeof allFiles>>) =>
  new Map([...files].map(([path, { checksum, tags }]) => [path, { checksum, tags }]));

describe("a device that encrypts, renames, deletes and leaves notes", () => {
  test("is rewound: all files are restored, and those edited by another device are skipped", async () => {
    const { account, a, b } = await household();
    const contents = new Map<string, Uint8Array>();
    const ids: string[] = [];
    for (let at = 0; at < 30; at++) {
      const content = randomContent(500 + at);
      const id = await account.client.storedId(content, {
        name: `photo ${at}.jpg`,
        fields: { folder: `/album ${at % 3}` },
      });
      contents.set(id, content);
      ids.push(id);
    }
    const before = await allFiles(account.client);
    const since = await now(account);
    for (const id of ids) expectStatus(await b.client.putContent(id, randomContent(300)), 200);
    const [edited = "", ...others] = ids;
    const mine = randomContent(77);
    expectStatus(await a.client.putContent(edited, mine), 200);
    for (const id of others.slice(0, 10)) {
      const name = `${id}.locked`;
      expectStatus(await b.client.put(`/api/files/${id}`, { name }), 200);
    }
    for (const id of others.slice(5, 15)) expectStatus(await b.client.delete(`/api/files/${id}`), 200);
    for (let at = 0; at < 3; at++)
      await b.client.storedId("pay!", { name: "README.txt", fields: { folder: `/album ${at}` } });
    await b.client.storedId("pay!", { name: "README.txt", fields: { folder: "/ransom" } });
    const ruined = await allFiles(account.client);

    const tried = await rewind(a, b, since, { dryRun: true });
    expectStatus(tried, 200);
    expect(contentsOf(await allFiles(account.client))).toEqual(contentsOf(ruined));
    const done = await rewind(a, b, since);
    expectStatus(done, 200);
    expect(done.at("data.dryRun")).toBe(false);
    expect(done.at("data.hasMore")).toBe(false);
    expect(done.list("data.failed")).toEqual([]);
    const changesIn = (response: ApiResponse) =>
      undoneIn(response).map(({ fileId, formerId, ...rest }) => ({ ...rest, id: formerId ?? fileId }));
    expect(changesIn(tried)).toEqual(changesIn(done));
    expect(tried.at("data.counts")).toEqual(done.at("data.counts"));
    expect(done.list("data.skipped")).toEqual([
      expect.objectContaining({ fileId: edited, name: "photo 0.jpg", folder: "/album 0", reason: "changed_by_others" }),
    ]);

    const after = await allFiles(account.client);
    const expected = new Map(before);
    expected.set("/album 0/photo 0.jpg", { id: edited, checksum: checksumOf(mine), tags: [] });
    expect(contentsOf(after)).toEqual(contentsOf(expected));
    const again = undoneIn(done).filter(({ action }) => action === "restored_deleted");
    expect(new Set(again.map(({ formerId = "" }) => formerId))).toEqual(new Set(others.slice(5, 15)));
    for (const { fileId, formerId = "" } of again) {
      const download = await a.client.get(`/api/files/${fileId}/download`);
      expect(checksumOf(download.bytes)).toBe(checksumOf(contents.get(formerId) ?? ""));
      expectStatus(await a.client.get(`/api/files/${formerId}`), 404);
    }
    expect([...(await foldersIn(account.client, "/")).keys()]).toEqual(["album 0", "album 1", "album 2"]);

    const twice = await rewind(a, b, since);
    expect(twice.at("data.counts")).toEqual({ undone: 0, skipped: 0, failed: 0 });
    expect(contentsOf(await allFiles(account.client))).toEqual(contentsOf(after));
  });
});

describe("a rewind", () => {
  test("reverses renames, moves and label changes of files and folders", async () => {
    const { account, a, b } = await household();
    const { client } = account;
    const file = await client.storedId("one", { name: "one.txt", fields: { folder: "/docs", tags: "red,blue" } });
    const inside = await client.storedId("two", { name: "two.txt", fields: { folder: "/docs/deep" } });
    const folderId = (await foldersIn(client, "/")).get("docs") ?? "";
    const before = await allFiles(client);
    const since = await now(account);
    expectStatus(await b.client.put(`/api/files/${file}`, { tags: ["stolen"], metadata: { a: "b" } }), 200);
    expectStatus(await b.client.put(`/api/files/${file}`, { name: "x.txt", folder: "/elsewhere" }), 200);
    expectStatus(await b.client.put(`/api/files/${inside}`, { name: "y.txt" }), 200);
    expectStatus(await b.client.put(`/api/files/folders/${folderId}`, { name: "junk" }), 200);
    const done = await rewind(a, b, since);
    expectStatus(done, 200);
    expect(
      new Set(undoneIn(done).map(({ fileId, action, folder, name }) => `${fileId} ${action} ${folder} ${name}`)),
    ).toEqual(
      new Set([
        `${folderId} renamed_back / docs`,
        `${file} moved_back /docs one.txt`,
        `${file} labels_back /docs one.txt`,
        `${inside} renamed_back /docs/deep two.txt`,
        expect.stringMatching(/^fold_\S+ deleted_created \/ elsewhere$/),
      ]),
    );
    expect(await allFiles(client)).toEqual(before);
    expect((await client.get(`/api/files/${file}`)).at("data.metadata")).toEqual({});
  });

  test("restores the dates of files with their contents", async () => {
    const { account, a, b } = await household();
    const { client } = account;
    const [old, newer] = ["2001-02-03T04:05:06Z", "2020-01-01T00:00:00Z"];
    const replace = (name: string, fileModifiedAt: string) =>
      b.client.upload("encrypted", { name, fields: { fileModifiedAt, onConflict: "version" } });
    const ids = await Promise.all(
      ["a.txt", "b.txt", "c.txt"].map((name) => client.storedId(name, { name, fields: { fileModifiedAt: old } })),
    );
    const since = await now(account);
    expectStatus(await replace("a.txt", newer), 201);
    expectStatus(await replace("b.txt", old), 201);
    expectStatus(await replace("c.txt", newer), 201);
    expectStatus(await b.client.delete(`/api/files/${ids[2]}`), 200);
    const undone = undoneIn(await rewind(a, b, since));
    expect(undone.map(({ action }) => action).toSorted()).toEqual([
      "restored_content",
      "restored_content",
      "restored_deleted",
    ]);
    for (const { fileId } of undone) {
      expect((await client.get(`/api/files/${fileId}`)).at("data.fileModifiedAt")).toBe(old);
    }
  });

  test("restores small and large deleted folders with everything below", async () => {
    const { account, a, b } = await household();
    const { client } = account;
    const paths = ["/small/in", "/large", "/large/deep/er"];
    for (const [at, count] of [3, 60, 30].entries()) {
      const names = Array.from({ length: count }, (_, number) => `f${number}.txt`);
      await Promise.all(
        names.map((name) => client.storedId(`${at} ${name}`, { name, fields: { folder: paths[at] ?? "" } })),
      );
    }
    await client.folderId("empty", "/large");
    const before = await allFiles(client);
    const since = await now(account);
    for (const [name, id] of await foldersIn(client, "/")) {
      expectStatus(await b.client.put(`/api/files/folders/${id}`, { name: `${name}.locked` }), 200);
      expectStatus(await b.client.delete(`/api/files/folders/${id}?recursive=true`), 200);
    }
    expect(await allFiles(client)).toEqual(new Map());
    const tried = await rewind(a, b, since, { dryRun: true });
    expect(tried.at("data.counts")).toEqual({ undone: 99, skipped: 0, failed: 0 });
    const done = await rewind(a, b, since);
    expect(done.at("data.counts")).toEqual({ undone: 99, skipped: 0, failed: 0 });
    expect(contentsOf(await allFiles(client))).toEqual(contentsOf(before));
    expect([...(await foldersIn(client, "/large")).keys()]).toEqual(["deep", "empty"]);
  });

  test("restores a deleted file with its versions, labels and times", async () => {
    const { account, a, b } = await household();
    const { client } = account;
    const id = await client.storedId("first", {
      name: "a.txt",
      fields: { tags: "t", description: "d", isPublic: "true" },
    });
    expectStatus(await client.putContent(id, "second"), 200);
    const before = await client.get(`/api/files/${id}`);
    const since = await now(account);
    expectStatus(await b.client.putContent(id, "third"), 200);
    expectStatus(await b.client.put(`/api/files/${id}`, { tags: [], isPublic: false }), 200);
    expectStatus(await b.client.delete(`/api/files/${id}`), 200);
    const [back] = undoneIn(await rewind(a, b, since));
    expect(back).toMatchObject({ action: "restored_deleted", formerId: id, name: "a.txt", folder: "/" });
    const after = await client.get(`/api/files/${back?.fileId ?? ""}`);
    const fields = ["name", "checksum", "tags", "metadata", "isPublic", "createdAt", "version", "originalName", "size"];
    for (const field of fields) expect(after.at(`data.${field}`)).toEqual(before.at(`data.${field}`));
    // The first content is counted as a version again.
    const usage = await client.get("/api/users/usage");
    expectStatus(usage, 200);
    expect(usage.text).toContain("11");
  });

  test("to an earlier time undoes more, after a rewind to a later one", async () => {
    const { account, a, b } = await household();
    const { client } = account;
    const [replaced, deleted] = [
      await client.storedId("zero", { name: "replaced" }),
      await client.storedId("nil", { name: "deleted" }),
    ];
    const early = await now(account);
    expectStatus(await b.client.putContent(replaced, "one"), 200);
    expectStatus(await b.client.putContent(deleted, "one too"), 200);
    const late = await now(account);
    expectStatus(await b.client.putContent(replaced, "two"), 200);
    expectStatus(await b.client.delete(`/api/files/${deleted}`), 200);
    expect((await rewind(a, b, late)).at("data.counts")).toEqual({ undone: 2, skipped: 0, failed: 0 });
    const between = await allFiles(client);
    expect(between.get("/replaced")?.checksum).toBe(checksumOf("one"));
    expect(between.get("/deleted")?.checksum).toBe(checksumOf("one too"));
    expect((await rewind(a, b, early)).at("data.counts")).toEqual({ undone: 2, skipped: 0, failed: 0 });
    const after = await allFiles(client);
    expect(after.get("/replaced")?.checksum).toBe(checksumOf("zero"));
    expect(after.get("/deleted")?.checksum).toBe(checksumOf("nil"));
    expect((await rewind(a, b, early)).at("data.counts")).toEqual({ undone: 0, skipped: 0, failed: 0 });
  });

  test("undoes changes that the device repeated after a rewind", async () => {
    const { account, a, b } = await household();
    const id = await account.client.storedId("good", { name: "f" });
    const since = await now(account);
    for (let round = 0; round < 3; round++) {
      expectStatus(await b.client.putContent(id, `bad ${round}`), 200);
      expect((await rewind(a, b, since)).at("data.counts")).toEqual({ undone: 1, skipped: 0, failed: 0 });
      expect((await allFiles(account.client)).get("/f")?.checksum).toBe(checksumOf("good"));
    }
  });
});

describe("changes by others since then", () => {
  test("stay and are reported: edits, renames, deletions, files in a folder of the device", async () => {
    const { account, a, b } = await household();
    const { client } = account;
    const [renamed, deleted] = [await client.storedId("1", { name: "r" }), await client.storedId("2", { name: "d" })];
    const since = await now(account);
    const created = await b.client.storedId("3", { name: "created", fields: { folder: "/by-b" } });
    const own = await b.client.storedId("4", { name: "own" });
    expectStatus(await b.client.putContent(renamed, "bad"), 200);
    expectStatus(await b.client.put(`/api/files/${renamed}`, { name: "r.locked" }), 200);
    expectStatus(await b.client.putContent(deleted, "bad"), 200);
    expectStatus(await client.put(`/api/files/${renamed}`, { name: "mine" }), 200);
    expectStatus(await client.delete(`/api/files/${deleted}`), 200);
    expectStatus(await a.client.put(`/api/files/${created}`, { tags: ["good"] }), 200);
    const done = await rewind(a, b, since);
    const skipped = done.list("data.skipped") as { fileId: string; name: string; reason: string; message: string }[];
    expect(new Set(skipped.map(({ name, reason }) => `${name} ${reason}`))).toEqual(
      new Set(["mine changed_by_others", "created changed_by_others", "by-b not_empty", "d deleted_by_others"]),
    );
    for (const { message } of skipped) expect(message.length).toBeGreaterThan(20);
    expect(new Set(undoneIn(done).map(({ fileId, action }) => `${fileId} ${action}`))).toEqual(
      new Set([`${renamed} restored_content`, `${own} deleted_created`]),
    );
    const after = await allFiles(client);
    expect([...after.keys()].toSorted()).toEqual(["/by-b/created", "/mine"]);
    expect(after.get("/mine")?.checksum).toBe(checksumOf("1"));
  });

  test("cause numbered names if a name is taken", async () => {
    const { account, a, b } = await household();
    const { client } = account;
    const id = await client.storedId("old", { name: "n.txt" });
    const deleted = await client.storedId("deleted", { name: "g.txt" });
    const since = await now(account);
    expectStatus(await b.client.put(`/api/files/${id}`, { name: "n.locked" }), 200);
    expectStatus(await b.client.delete(`/api/files/${deleted}`), 200);
    await client.storedId("new", { name: "n.txt" });
    await client.storedId("new", { name: "g.txt" });
    const tried = await rewind(a, b, since, { dryRun: true });
    const done = await rewind(a, b, since);
    for (const response of [tried, done]) {
      expect(new Set(undoneIn(response).map(({ action, name }) => `${action} ${name}`))).toEqual(
        new Set(["renamed_back n (1).txt", "restored_deleted g (1).txt"]),
      );
    }
  });

  test("do not include garbage collection: collected content is reported as content_gone", async () => {
    const { account, a, b } = await household();
    const id = await account.client.storedId(randomContent(100), { name: "lost" });
    const since = await now(account);
    expectStatus(await b.client.delete(`/api/files/${id}`), 200);
    const collected = await server().larder(["gc", "--now"]);
    expect(collected.code).toBe(0);
    const done = await rewind(a, b, since);
    expect(done.list("data.skipped")).toEqual([
      expect.objectContaining({ fileId: id, name: "lost", folder: "/", reason: "content_gone" }),
    ]);
    expect(await account.client.names()).toEqual([]);
  });
});

describe("a rewind can be requested", () => {
  test("in a browser, also of a removed device, and other devices sync its changes", async () => {
    const { account, a, b } = await household();
    const id = await account.client.storedId("good", { name: "f" });
    const since = await now(account);
    expectStatus(await b.client.putContent(id, "bad"), 200);
    expectStatus(await account.client.delete(`/api/users/devices/${b.deviceId}`), 200);
    const token = (await a.client.get("/api/mobile/sync")).string("syncData.nextSyncToken");
    const done = await account.client.post(`/api/users/devices/${b.deviceId}/rewind`, { since });
    expectStatus(done, 200);
    expect(done.at("data")).toEqual({
      deviceId: b.deviceId,
      since,
      dryRun: false,
      undone: [{ fileId: id, kind: "file", action: "restored_content", name: "f", folder: "/" }],
      skipped: [],
      failed: [],
      counts: { undone: 1, skipped: 0, failed: 0 },
      hasMore: false,
    });
    const news = await a.client.get(`/api/mobile/sync?syncToken=${encodeURIComponent(token)}`);
    expect(news.text).toContain(id);
    expect(since).toMatch(timestampPattern);
  });

  test("by the device itself, and is not undone by another rewind", async () => {
    const { account, b } = await household();
    const id = await account.client.storedId("good", { name: "f" });
    const since = await now(account);
    expectStatus(await b.client.putContent(id, "bad"), 200);
    expect((await rewind(b, b, since)).at("data.counts")).toEqual({ undone: 1, skipped: 0, failed: 0 });
    expect((await rewind(b, b, since)).at("data.counts")).toEqual({ undone: 0, skipped: 0, failed: 0 });
    expect((await allFiles(account.client)).get("/f")?.checksum).toBe(checksumOf("good"));
  });

  test("by nobody else", async () => {
    const { account, a, b } = await household();
    const stranger = await household();
    const since = await now(account);
    const path = `/api/mobile/devices/${b.deviceId}/rewind`;
    const webPath = `/api/users/devices/${b.deviceId}/rewind`;
    expectError(await rewind(stranger.a, b, since), 404, "not_found");
    expectError(await stranger.account.client.post(webPath, { since }), 404, "not_found");
    expectError(await a.client.post("/api/mobile/devices/none/rewind", { since }), 404, "not_found");
    expectError(await account.client.post(path, { since }), 401);
    expectError(await server().visitor.post(path, { since }), 401, "missing_token");
    expectError(await server().visitor.post(webPath, { since }), 401, "missing_token");
    const viewer = await server().addUser(["--role", "viewer"]);
    const viewing = await registerDevice(server(), viewer);
    expectError(await rewind(viewing, viewing, since), 403, "role");
    expectError(await viewer.client.post(`/api/users/devices/${viewing.deviceId}/rewind`, { since }), 403, "role");
    const old = new Date(Date.parse(since) - 31 * 86_400_000).toISOString();
    for (const body of [
      {},
      { since: "" },
      { since: "yesterday" },
      { since: 5 },
      { since, dryRun: "yes" },
      { since: old },
    ]) {
      expectError(await a.client.post(path, body), 400, "invalid_field");
    }
  });
});

testAllResponses(server);
