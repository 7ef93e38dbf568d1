import { describe, expect, test } from "bun:test";
import { type Account, type ApiResponse, Client, checksumOf, randomContent } from "../support/client.ts";
import { expectError, expectStatus, waitForNextMillisecond, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice } from "../support/mobile.ts";
import { sharedServer, withServer } from "../support/server.ts";

// The tests change more files than the mass-change guard allows.
const server = sharedServer({ hasAccounts: true, env: { LARDER_MASS_CHANGE_FILES: "1000000" } });

/** A time of the server's clock between all previous requests and all later ones. */
async function now({ client }: Pick<Account, "client">): Promise<string> {
  await waitForNextMillisecond();
  const probe = await server().signUp();
  const created = await probe.client.post("/api/files/folders", { name: "now" });
  expectStatus(created, 201);
  await waitForNextMillisecond();
  expectStatus(await client.get("/api/users/profile"), 200);
  return created.string("data.createdAt");
}

const at = (time: string) => `at=${encodeURIComponent(time)}`;
const restore = (client: Client, folder: string, time: string, more: Record<string, unknown> = {}) =>
  client.post("/api/files/restore", { folder, at: time, ...more });

/** The checksums of all files by path, now or at an earlier time. */
async function allFiles(client: Client, query = "", folder = "/"): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (let page = 1; ; page++) {
    const response = await client.get(
      `/api/files?folder=${encodeURIComponent(folder)}&limit=100&page=${page}&${query}`,
    );
    expectStatus(response, 200);
    for (const one of response.list("data.files") as Record<string, unknown>[]) {
      const path = `${folder === "/" ? "" : folder}/${String(one["name"])}`;
      if (one["type"] === "file") found.set(path, String(one["checksum"]));
      else for (const [below, checksum] of await allFiles(client, query, path)) found.set(below, checksum);
    }
    if (response.at("data.pagination.hasNext") !== true) return found;
  }
}

describe("the tree at an earlier time", () => {
  test("has the names, folders and contents of that time", async () => {
    const account = await server().signUp();
    const { client } = account;
    const a = await client.storedId("first", { name: "a.txt", fields: { folder: "/docs" } });
    const b = await client.storedId("bbb", { name: "b.txt", fields: { folder: "/docs/deep" } });
    const docs = (await client.get("/api/files")).string("data.files.0.id");
    const then = await now(account);
    const before = await client.get("/api/files?folder=/docs&limit=100");
    expectStatus(await client.putContent(a, "second and longer"), 200);
    expectStatus(await client.put(`/api/files/${a}`, { name: "renamed.txt", folder: "/elsewhere" }), 200);
    expectStatus(await client.put(`/api/files/${b}`, { folder: "/" }), 200);
    expectStatus(await client.put(`/api/files/folders/${docs}`, { name: "papers" }), 200);
    await client.storedId("new", { name: "new.txt", fields: { folder: "/papers" } });

    const past = await client.get(`/api/files?folder=/docs&${at(then)}`);
    expectStatus(past, 200);
    expect(past.at("data.at")).toBe(then);
    expect(past.at("data.currentFolder")).toEqual({ path: "/docs", name: "docs", parent: "/" });
    expect(past.at("data.pagination")).toMatchObject({ total: 2, page: 1, hasNext: false });
    const [folder, file] = past.list("data.files") as Record<string, unknown>[];
    // Favorites, shares, and the sizes of folders have no history.
    const [formerFolder, formerFile] = (before.list("data.files") as Record<string, unknown>[]).map(
      ({ isFavorite: _isFavorite, shared: _shared, ...former }) => former,
    );
    delete formerFolder?.["size"];
    expect(folder).toEqual({ ...formerFolder, isDeleted: false });
    const url = `${server().url}/api/files/${a}/versions/1/download`;
    expect(file).toEqual({
      ...formerFile,
      url,
      thumbnailUrl: `${url}?thumbnail=true`,
      contentAvailable: true,
      isDeleted: false,
    });
    expect(new TextDecoder().decode((await client.get(new URL(url).pathname)).bytes)).toBe("first");
    expect([...(await allFiles(client, at(then)))]).toEqual([
      ["/docs/deep/b.txt", checksumOf("bbb")],
      ["/docs/a.txt", checksumOf("first")],
    ]);
    expectError(await client.get(`/api/files?folder=/papers&${at(then)}`), 404, "not_found");
    const inBerlin = new Date(Date.parse(then) + 3_600_000).toISOString().replace("Z", "+01:00");
    for (const offset of [inBerlin, encodeURIComponent(inBerlin)]) {
      expect((await client.get(`/api/files?folder=/docs&at=${offset}`)).at("data.at")).toBe(then);
    }

    const info = await client.get(`/api/files/${a}?${at(then)}`);
    expectStatus(info, 200);
    expect(info.at("data")).toMatchObject({
      id: a,
      name: "a.txt",
      folder: "/docs",
      size: 5,
      checksum: checksumOf("first"),
      version: 1,
      downloadUrl: url,
      contentAvailable: true,
      isDeleted: false,
    });
    expect(info.string("data.modifiedAt")).toMatch(timestampPattern);
  });

  test("is sorted, filtered by type and paged like a current listing", async () => {
    const account = await server().signUp();
    const { client } = account;
    for (const size of [5, 1, 19, 3, 17]) {
      await client.storedId("x".repeat(size), { name: `f${size}`, fields: { folder: "/s" } });
      await client.folderId(`d${size}`, "/s");
    }
    const queries = [
      "",
      "&sort=natural",
      "&sort=natural&order=desc&type=file",
      "&sort=size&order=desc",
      "&sort=createdAt",
      "&sort=modifiedAt&order=desc",
      "&type=file",
      "&type=folder",
    ];
    const then = await now(account);
    const pages = ["", "&limit=3&page=2", "&limit=4&page=3", "&limit=10&page=9"];
    const expected = new Map<string, Record<string, unknown>>();
    const list = async (query: string, more = ""): Promise<Record<string, unknown>> => {
      const response = await client.get(`/api/files?folder=/s${query}${more}`);
      expectStatus(response, 200);
      return { ids: response.strings("data.files", "id"), pagination: response.at("data.pagination") };
    };
    for (const sort of queries) for (const page of pages) expected.set(sort + page, await list(sort + page));
    for (const size of [5, 1, 19]) {
      const id = (await client.get(`/api/files?search=f${size}`)).string("data.files.0.id");
      expectStatus(await client.put(`/api/files/${id}`, { name: `z${size}`, folder: "/other" }), 200);
      expectStatus(await client.putContent(id, "y".repeat(30 - size)), 200);
    }
    for (const [query, response] of expected)
      expect({ query, response: await list(query, `&${at(then)}`) }).toEqual({ query, response });
  });

  test("does not list permanently deleted files", async () => {
    const account = await server().signUp();
    const { client } = account;
    const id = await client.storedId("secret", { name: "a.txt", fields: { folder: "/f" } });
    await client.storedId("other", { name: "b.txt", fields: { folder: "/f" } });
    const then = await now(account);
    expectStatus(await client.delete(`/api/files/${id}`), 200);
    expect([...(await allFiles(client, at(then))).keys()]).toEqual(["/f/b.txt"]);
    expectError(await client.get(`/api/files/${id}?${at(then)}`), 404, "not_found");
    const restored = await restore(client, "/", then);
    expectStatus(restored, 200);
    expect(restored.list("data.changes")).toEqual([]);
  });

  test("marks files whose content of that time was removed", async () => {
    const account = await server().signUp();
    const { client } = account;
    const id = await client.storedId("one", { name: "a.txt" });
    const then = await now(account);
    expectStatus(await client.putContent(id, "two"), 200);
    expectStatus(await client.delete(`/api/files/${id}/versions/1`), 200);
    const past = await client.get(`/api/files?${at(then)}`);
    expect(past.at("data.files.0")).toMatchObject({
      id,
      contentAvailable: false,
      checksum: checksumOf("two"),
      version: 2,
    });
    const restored = await restore(client, "/", then);
    expectStatus(restored, 200);
    expect(restored.at("data.counts")).toMatchObject({ content: 0, skipped: 1 });
    expect(restored.at("data.skipped.0")).toMatchObject({ id, name: "a.txt", reason: "content_gone" });
  });

  test("is visible only to its account", async () => {
    const account = await server().signUp();
    const id = await account.client.storedId("mine", { name: "a.txt", fields: { folder: "/mine" } });
    const then = await now(account);
    expectStatus(await account.client.put(`/api/files/${id}`, { name: "b.txt" }), 200);
    const { client: other } = await server().signUp();
    expectError(await other.get(`/api/files/${id}?${at(then)}`), 404, "not_found");
    expectError(await other.get(`/api/files?folder=/mine&${at(then)}`), 404, "not_found");
    expectError(await other.post("/api/files/restore", { folder: "/mine", at: then }), 404, "not_found");
    expectError(await server().visitor.get(`/api/files?${at(then)}`), 401, "missing_token");
    expectError(await server().visitor.post("/api/files/restore", { folder: "/", at: then }), 401, "missing_token");
  });

  test("is rejected for an invalid or future time, and for one too long ago", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x", { name: "a.txt" });
    const future = new Date(Date.now() + 3_600_000).toISOString();
    const past = new Date(Date.now() - 31 * 24 * 3_600_000).toISOString();
    for (const time of ["yesterday", "", "2026-01-02", "2026-01-02T03:04:05", future, past]) {
      expectError(await client.get(`/api/files?${at(time)}`), 400, "invalid_field", "at");
      expectError(await client.get(`/api/files/${id}?${at(time)}`), 400, "invalid_field", "at");
      expectError(await restore(client, "/", time), 400, "invalid_field", "at");
    }
    const rejected = await client.get(`/api/files?${at(past)}`);
    expect(rejected.at("error.details.oldest")).toMatch(timestampPattern);
    const then = await now({ client });
    for (const field of ["search", "tags", "mimeType", "recursive", "share"]) {
      expectError(await client.get(`/api/files?${at(then)}&${field}=true`), 400, "invalid_field", field);
    }
    expectError(await client.get(`/api/files?${at(then)}&limit=101`), 400, "invalid_field", "limit");
    expectError(await client.get(`/api/files?${at(then)}&folder=/../x`), 400, "invalid_path");
    expectError(await client.post("/api/files/restore", { at: then }), 400, "invalid_field", "folder");
    expectError(await client.post("/api/files/restore", { folder: "/" }), 400, "invalid_field", "at");
  });

  test("reaches as far back as versions are retained", async () => {
    await withServer({ env: { LARDER_VERSIONS_MAX_AGE: "1h" } }, async (own) => {
      const { client } = await own.signUp();
      const past = (minutes: number) => at(new Date(Date.now() - minutes * 60_000).toISOString());
      expectStatus(await client.get(`/api/files?${past(59)}`), 200);
      expectError(await client.get(`/api/files?${past(61)}`), 400, "invalid_field", "at");
    });
  });
});

describe("a restore", () => {
  test("undoes ransomware on one laptop in one call", async () => {
    const account = await server().signUp();
    const { client } = account;
    const laptop = await registerDevice(server(), account);
    const ids: string[] = [];
    for (let index = 0; index < 200; index++) {
      const fields = { folder: `/photos/album ${index % 8}` };
      ids.push(await client.storedId(randomContent(100 + index), { name: `${index}.jpg`, fields }));
    }
    const untouched = await client.storedId("fine", { name: "fine.txt" });
    const then = await now(account);
    const before = await allFiles(client);
    for (const [index, id] of ids.entries()) {
      if (index % 20 === 9) {
        const localChanges = [{ action: "delete", localId: String(index), fileId: id }];
        const synced = await laptop.client.post("/api/mobile/sync/files", { localChanges });
        expect(synced.at("data.results.0.status")).toBe("applied");
      } else if (index % 20 === 19) expectStatus(await laptop.client.delete(`/api/files/${id}`), 200);
      else {
        expectStatus(await laptop.client.putContent(id, randomContent(50)), 200);
        expectStatus(await laptop.client.put(`/api/files/${id}`, { name: `${index}.jpg.locked` }), 200);
      }
    }
    const album = (await client.get("/api/files?folder=/photos")).string("data.files.3.id");
    expectStatus(await laptop.client.delete(`/api/files/folders/${album}?recursive=true`), 200);
    const note = await laptop.client.storedId("pay!", { name: "READ ME.txt", fields: { folder: "/photos" } });
    const ruined = await allFiles(client);
    const token = (await laptop.client.get("/api/mobile/sync/status")).string("data.nextSyncToken");

    const tried = await restore(client, "/", then, { dryRun: true });
    expectStatus(tried, 200);
    expect(await allFiles(client)).toEqual(ruined);
    const done = await restore(client, "/", then);
    expectStatus(done, 200);
    expect(done.at("data.counts")).toEqual(tried.at("data.counts"));
    const changesIn = (response: ApiResponse) =>
      (response.list("data.changes") as Record<string, unknown>[]).map(({ id, formerId, ...rest }) => [
        rest,
        formerId ?? id,
      ]);
    expect(changesIn(done)).toEqual(changesIn(tried));
    expect(done.at("data")).toMatchObject({ folder: "/", at: then, dryRun: false, skipped: [] });
    expect(done.at("data.counts.new")).toBe(1);
    expect(done.list("data.new")).toEqual([{ id: note, type: "file", name: "READ ME.txt", folder: "/photos" }]);
    const after = await allFiles(client);
    after.delete("/photos/READ ME.txt");
    expect(after).toEqual(before);
    expect((await client.get(`/api/files/${untouched}`)).at("data.version")).toBe(1);
    const some = await client.get("/api/files?folder=/photos/album 3&limit=1");
    const content = await client.get(`/api/files/${some.string("data.files.0.id")}/download`);
    expect(checksumOf(content.bytes)).toBe(some.string("data.files.0.checksum"));
    // The laptop's content is still stored as a version.
    const rewritten = await client.get(`/api/files/${ids[0]}/versions`);
    expect((rewritten.list("data.versions") as { size: number }[]).map(({ size }) => size)).toEqual([100, 50, 100]);
    // Devices get the changes with their next sync.
    const sync = await laptop.client.get(`/api/mobile/sync?syncToken=${encodeURIComponent(token)}&limit=1000`);
    expectStatus(sync, 200);
    expect(sync.text).toContain(ids[0] ?? "");
    // A repeated restore has nothing to do.
    const again = await restore(client, "/", then);
    for (const name of ["content", "place", "undelete", "skipped"]) expect(again.number(`data.counts.${name}`)).toBe(0);
  }, 120_000);

  test("of a folder changes no other folder", async () => {
    const account = await server().signUp();
    const { client } = account;
    const a = await client.storedId("a1", { name: "a.txt", fields: { folder: "/a" } });
    const b = await client.storedId("b1", { name: "b.txt", fields: { folder: "/b" } });
    const then = await now(account);
    for (const id of [a, b]) expectStatus(await client.putContent(id, "changed"), 200);
    const folderId = (await client.get("/api/files?type=folder")).string("data.files.0.id");
    expectStatus(await client.put(`/api/files/folders/${folderId}`, { name: "renamed", path: "/b" }), 200);
    const done = await restore(client, "/a", then);
    expectStatus(done, 200);
    expect(done.at("data.changes")).toEqual([
      {
        id: folderId,
        type: "folder",
        name: "a",
        folder: "/",
        change: "place",
        from: { name: "renamed", folder: "/b" },
      },
      { id: a, type: "file", name: "a.txt", folder: "/a", change: "content", version: 1 },
    ]);
    expect(await allFiles(client)).toEqual(
      new Map([
        ["/a/a.txt", checksumOf("a1")],
        ["/b/b.txt", checksumOf("changed")],
      ]),
    );
    expectError(await restore(client, "/renamed", then), 404, "not_found");
  });

  test("restores files of the folder from the trash, and moves new files to it if requested", async () => {
    const account = await server().signUp();
    const { client } = account;
    const file = await client.storedId("a", { name: "a.txt", fields: { folder: "/f" } });
    const inner = await client.storedId("b", { name: "b.txt", fields: { folder: "/f/deep" } });
    const moved = await client.storedId("c", { name: "c.txt", fields: { folder: "/f" } });
    const then = await now(account);
    const deep = (await client.get("/api/files?folder=/f&type=folder")).string("data.files.0.id");
    expectStatus(await client.post("/api/files/trash", { fileIds: [file, deep] }), 200);
    const inTrash = await now(account);
    // An old file is moved to a new folder, which is moved to the trash.
    expectStatus(await client.post("/api/files/move", { fileIds: [moved], destinationFolder: "/new" }), 200);
    const newFolder = (await client.get("/api/files?type=folder&sort=createdAt&order=desc")).string("data.files.0.id");
    expectStatus(await client.post("/api/files/trash", { fileIds: [newFolder] }), 200);
    const note = await client.storedId("pay!", { name: "a.txt", fields: { folder: "/f" } });

    expect([...(await allFiles(client, at(then))).keys()]).toEqual(["/f/deep/b.txt", "/f/a.txt", "/f/c.txt"]);
    expect([...(await allFiles(client, at(inTrash))).keys()]).toEqual(["/f/c.txt"]);
    expect((await client.get(`/api/files/${file}?${at(then)}`)).at("data")).toMatchObject({
      isDeleted: true,
      folder: "/f",
    });
    expectError(await client.get(`/api/files/${file}?${at(inTrash)}`), 404, "not_found");

    const done = await restore(client, "/f", then, { removeNew: true });
    expectStatus(done, 200);
    const changes = done.list("data.changes") as Record<string, unknown>[];
    expect(changes.map(({ id, change }) => [id, change])).toEqual([
      [note, "remove"],
      [deep, "undelete"],
      [file, "undelete"],
      [moved, "undelete"],
    ]);
    expect(await allFiles(client)).toEqual(
      new Map([
        ["/f/deep/b.txt", checksumOf("b")],
        ["/f/a.txt", checksumOf("a")],
        ["/f/c.txt", checksumOf("c")],
      ]),
    );
    expect((await client.get(`/api/files/${inner}`)).at("data.folder")).toBe("/f/deep");
    expect(new Set((await client.get("/api/files/trash")).strings("data.files", "id"))).toEqual(
      new Set([note, newFolder]),
    );
  });

  test("that exceeds the quota changes nothing", async () => {
    const { client } = await server().addUser(["--quota", "1000000"]);
    const big = await client.storedId(randomContent(600_000), { name: "big.bin" });
    const other = await client.storedId("x", { name: "a.txt" });
    await waitForNextMillisecond();
    const then = (await client.post("/api/files/folders", { name: "now" })).string("data.createdAt");
    await waitForNextMillisecond();
    expectStatus(await client.putContent(big, "small"), 200);
    expectStatus(await client.put(`/api/files/${other}`, { name: "b.txt" }), 200);
    for (const dryRun of [true, false]) {
      const rejected = await client.post("/api/files/restore", { folder: "/", at: then, dryRun });
      expectError(rejected, 413, "quota_exceeded");
      expect(rejected.at("error.details.plan")).toBe("enterprise");
    }
    expect(await client.names()).toEqual(["now", "b.txt", "big.bin"]);
  });

  test("is not allowed for viewers", async () => {
    const account = await server().addUser([]);
    await account.client.storedId("x", { name: "a.txt" });
    const then = await now(account);
    await server().change(account.id, { role: "viewer" });
    const { email, password } = account;
    const response = await server().visitor.post("/api/auth/signin", { email, password });
    const viewer = new Client(server(), response.string("token"));
    expectStatus(await viewer.get(`/api/files?${at(then)}`), 200);
    expectError(await restore(viewer, "/", then), 403, "role");
    expectError(await restore(viewer, "/", then, { dryRun: true }), 403, "role");
  });
});

testAllResponses(server);
