import { describe, expect, test } from "bun:test";
import { freshEmail } from "../support/client.ts";
import { eventually, expectError, expectStatus, timestampPattern } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

const tokenOf = (url: string) => url.split("/").at(-1) ?? "";

describe("POST …/shares", () => {
  test("of a file creates a link, which the owner can read again", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("hello", { name: "a.txt", fields: { folder: "/private" } });
    const made = await client.post(`/api/files/${id}/shares`, { label: "  for Ana " });
    expectStatus(made, 201);
    const token = made.string("data.token");
    expect(token).toMatch(/^[A-Za-z0-9_-]{22,}$/);
    expect(made.at("data")).toMatchObject({
      url: `${server().url}/s/${token}`,
      kind: "link",
      permissions: "read",
      label: "for Ana",
      expiresAt: null,
      hasPassword: false,
      maxDownloads: null,
      downloads: 0,
      views: 0,
      lastAccessedAt: null,
      pinned: false,
      hideLocation: false,
      user: null,
      file: { id, name: "a.txt", type: "file" },
    });
    expect(made.string("data.id")).toStartWith("shr_");
    expect(made.string("data.createdAt")).toMatch(timestampPattern);
    const again = await client.get(`/api/shares/${made.string("data.id")}`);
    expect(again.at("data")).toEqual(made.at("data"));
    expect((await server().visitor.get(`/s/${token}/download`)).text).toBe("hello");
  });

  test("without a body creates a link with default settings", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x");
    expectStatus(await client.post(`/api/files/${id}/shares`), 201);
  });

  test("of a folder creates a link or a drop box", async () => {
    const { client } = await server().signUp();
    const id = await client.folderId("box");
    const link = await client.post(`/api/files/folders/${id}/shares`, {});
    expect(link.at("data")).toMatchObject({ kind: "link", permissions: "read", folder: { id, name: "box" } });
    const drop = await client.post(`/api/files/folders/${id}/shares`, { permissions: "upload", maxUploadBytes: 1000 });
    expect(drop.at("data")).toMatchObject({ kind: "upload", permissions: "upload", maxUploadBytes: 1000, uploads: 0 });
  });

  test("creates several links for one file; the list contains them all, including the one of isPublic", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x", { fields: { isPublic: "true" } });
    for (let index = 0; index < 3; index++) await client.post(`/api/files/${id}/shares`, { label: `${index}` });
    const list = await client.get(`/api/files/${id}/shares`);
    expect(new Set(list.strings("data.shares", "token")).size).toBe(4);
    expect(list.strings("data.shares", "kind")).toEqual(["public", "link", "link", "link"]);
    expect(list.at("data.shares.0.url")).toBe((await client.get(`/api/files/${id}`)).at("data.shareLink"));
    const all = await client.get("/api/shares?limit=2&page=2");
    expect(all.list("data.shares")).toHaveLength(2);
    expect(all.at("data.pagination")).toEqual({
      page: 2,
      limit: 2,
      total: 4,
      totalPages: 2,
      hasNext: false,
      hasPrev: true,
    });
  });

  test("are listed newest first, or by name or end, over pages", async () => {
    const { client } = await server().signUp();
    const make = async (name: string, body: object) =>
      (await client.post(`/api/files/${await client.storedId(name, { name })}/shares`, body)).string("data.id");
    const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
    const ten = await make("Note 10", { expiresAt: inMs(7_200_000) });
    const nine = await make("note 9", {});
    const ae = await make("Ä", { expiresAt: inMs(3_600_000) });
    const folder = (await client.post(`/api/files/folders/${await client.folderId("z")}/shares`, {})).string("data.id");
    const orders: [query: string, ids: string[]][] = [
      ["", [folder, ae, nine, ten]],
      ["sort=createdAt&order=asc", [ten, nine, ae, folder]],
      ["sort=natural", [folder, ae, nine, ten]],
      ["sort=natural&order=desc", [folder, ten, nine, ae]],
      ["sort=expiresAt", [ae, ten, nine, folder]],
      ["sort=expiresAt&order=desc", [ten, ae, folder, nine]],
    ];
    for (const [query, ids] of orders) {
      const pages = [];
      for (const page of [1, 2]) pages.push(await client.get(`/api/shares?${query}&limit=3&page=${page}`));
      expect([query, ...pages.flatMap((page) => page.strings("data.shares", "id"))]).toEqual([query, ...ids]);
      expect(pages[0]?.at("data.pagination.total")).toBe(4);
    }
    expectError(await client.get("/api/shares?sort=name"), 400, "invalid_field", "sort");
    expectError(await client.get("/api/shares?order=up"), 400, "invalid_field", "order");
  });

  test("counts expiresIn from now, and keeps expiresAt to the millisecond", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x");
    const inAWeek = await client.post(`/api/files/${id}/shares`, { expiresIn: "7d" });
    const ms = Date.parse(inAWeek.string("data.expiresAt")) - Date.parse(inAWeek.string("data.createdAt"));
    expect(Math.abs(ms - 7 * 86_400_000)).toBeLessThan(60_000);
    const at = await client.post(`/api/files/${id}/shares`, { expiresAt: "2099-01-02T03:04:05.678+01:00" });
    expect(at.at("data.expiresAt")).toBe("2099-01-02T02:04:05.678Z");
  });

  test("with an invalid field names the field", async () => {
    const { client, email } = await server().signUp();
    const file = await client.storedId("x");
    const folder = await client.folderId("f");
    const wrong: [string, Record<string, unknown>, string][] = [
      [file, { expiresAt: "2001-01-01T00:00:00Z" }, "expiresAt"],
      [file, { expiresAt: "tomorrow" }, "expiresAt"],
      [file, { expiresAt: "2099-02-30T00:00:00Z" }, "expiresAt"],
      [file, { expiresAt: 5 }, "expiresAt"],
      [file, { expiresIn: "soon" }, "expiresIn"],
      [file, { expiresIn: "0d" }, "expiresIn"],
      [file, { expiresIn: "-1d" }, "expiresIn"],
      [file, { expiresIn: "99999999w" }, "expiresIn"],
      [file, { expiresIn: "1d", expiresAt: "2099-01-01T00:00:00Z" }, "expiresIn"],
      [file, { password: "" }, "password"],
      [file, { password: "abc" }, "password"],
      [file, { password: "x".repeat(257) }, "password"],
      [file, { maxDownloads: 0 }, "maxDownloads"],
      [file, { maxDownloads: -1 }, "maxDownloads"],
      [file, { maxDownloads: 1.5 }, "maxDownloads"],
      [file, { maxDownloads: "3" }, "maxDownloads"],
      [file, { label: "x".repeat(201) }, "label"],
      [file, { label: "a\u0000b" }, "label"],
      [file, { permissions: "admin" }, "permissions"],
      [file, { permissions: "upload" }, "permissions"],
      [file, { permissions: "write" }, "permissions"],
      [file, { maxUploadBytes: 5 }, "maxUploadBytes"],
      [file, { maxUploadsPerAddress: 5 }, "maxUploadsPerAddress"],
      [file, { user: "nobody" }, "user"],
      [file, { user: email.toUpperCase() }, "user"],
      [file, { user: freshEmail(), password: "secret" }, "password"],
      [folder, { pinned: true }, "pinned"],
      [folder, { permissions: "upload", maxDownloads: 3 }, "maxDownloads"],
      [folder, { permissions: "upload", maxUploadBytes: 0 }, "maxUploadBytes"],
      [folder, { permissions: "upload", user: freshEmail() }, "permissions"],
    ];
    for (const [id, body, field] of wrong) {
      const path = id === file ? `/api/files/${id}/shares` : `/api/files/folders/${id}/shares`;
      expectError(await client.post(path, body), 400, "invalid_field", field);
    }
    expect((await client.get("/api/shares")).list("data.shares")).toEqual([]);
  });

  test("is limited to the owner", async () => {
    const { client } = await server().signUp();
    const { client: stranger } = await server().signUp();
    const viewer = await server().addUser(["--role", "viewer"]);
    const file = await client.storedId("x");
    const folder = await client.folderId("f");
    for (const path of [`/api/files/${file}/shares`, `/api/files/folders/${folder}/shares`]) {
      expectStatus(await stranger.post(path, {}), 404);
      expectStatus(await stranger.get(path), 404);
      expectStatus(await viewer.client.post(path, {}), 403);
      expectStatus(await server().visitor.post(path, {}), 401);
      expectStatus(await server().visitor.get(path), 401);
    }
    expectStatus(await client.post(`/api/files/${folder}/shares`, {}), 404);
    expectStatus(await client.post(`/api/files/folders/${file}/shares`, {}), 404);
  });
});

describe("a share for another account", () => {
  test("can be created for any email, and doesn't reveal if an account has it", async () => {
    const { client } = await server().signUp();
    const other = await server().signUp();
    const id = await client.storedId("x");
    const known = await client.post(`/api/files/${id}/shares`, { user: other.email, permissions: "write" });
    const unknown = await client.post(`/api/files/${id}/shares`, { user: freshEmail(), permissions: "write" });
    expectStatus(known, 201);
    expectStatus(unknown, 201);
    expect(known.at("data")).toMatchObject({ kind: "account", permissions: "write", user: other.email });
    const fieldsOf = (response: typeof known) => Object.keys(response.at("data") as object).sort();
    expect(fieldsOf(known)).toEqual(fieldsOf(unknown));
    const changed = await client.request("PATCH", `/api/shares/${known.string("data.id")}`, {
      json: { permissions: "read" },
    });
    expect(changed.at("data.permissions")).toBe("read");
  });

  test("grants no right to share further, or to see the recipients", async () => {
    const { client } = await server().signUp();
    const other = await server().signUp();
    const id = await client.storedId("x");
    const made = await client.post(`/api/files/${id}/shares`, { user: other.email, permissions: "write" });
    expectError(await other.client.post(`/api/files/${id}/shares`, {}), 403, "share_permission");
    expectError(await other.client.get(`/api/files/${id}/shares`), 403, "share_permission");
    expectStatus(await other.client.get(`/api/shares/${made.string("data.id")}`), 404);
    expectStatus(await other.client.delete(`/api/shares/${made.string("data.id")}`), 404);
    expect((await other.client.get("/api/shares")).list("data.shares")).toEqual([]);
  });

  test("opens only for its signed-in recipient, whose page says where it is", async () => {
    const { client, token: ownToken } = await server().signUp({ name: "Ana Owner" });
    const other = await server().signUp();
    const stranger = await server().signUp();
    const id = await client.storedId("x", { name: "plan.txt" });
    const token = (await client.post(`/api/files/${id}/shares`, { user: other.email })).string("data.token");
    const visitor = server().visitor;
    for (const path of [
      `/s/${token}`,
      `/s/${token}/download`,
      `/api/public/${token}`,
      `/api/public/${token}/download`,
    ]) {
      expectStatus(await visitor.get(path), 404);
      expectStatus(await other.client.get(path), 404);
    }
    const page = await visitor.get(`/s/${token}`, { cookie: `larder_session=${other.token}` });
    expectStatus(page, 200);
    expect(page.text).toContain("Ana Owner");
    expect(page.text).toContain("plan.txt");
    for (const session of [ownToken, stranger.token, "nonsense"])
      expectStatus(await visitor.get(`/s/${token}`, { cookie: `larder_session=${session}` }), 404);
  });
});

describe("PATCH /api/shares/{id}", () => {
  test("changes the given fields, and null clears them", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x");
    const made = await client.post(`/api/files/${id}/shares`, {
      expiresIn: "1d",
      password: "open sesame",
      maxDownloads: 3,
      label: "a",
    });
    const path = `/api/shares/${made.string("data.id")}`;
    const patch = (json: unknown) => client.request("PATCH", path, { json });
    expect((await patch({ label: "b" })).at("data")).toEqual({ ...(made.at("data") as object), label: "b" });
    const cleared = await patch({ expiresAt: null, password: null, maxDownloads: null, label: null });
    expect(cleared.at("data")).toMatchObject({ expiresAt: null, hasPassword: false, maxDownloads: null, label: null });
    expect((await patch({ pinned: true, hideLocation: true })).at("data")).toMatchObject({
      pinned: true,
      pinnedVersion: 1,
      hideLocation: true,
    });
    expectError(await patch({}), 400, "invalid_request");
    expectError(await patch({ maxDownloads: 0 }), 400, "invalid_field", "maxDownloads");
    expectError(await patch({ permissions: "upload" }), 400, "invalid_field", "permissions");
    expectError(await patch({ expiresAt: "2001-01-01T00:00:00Z" }), 400, "invalid_field", "expiresAt");
  });

  test("is limited to the owner", async () => {
    const { client } = await server().signUp();
    const { client: stranger, email } = await server().signUp();
    const id = await client.storedId("x");
    for (const body of [{}, { user: email, permissions: "write" }]) {
      const path = `/api/shares/${(await client.post(`/api/files/${id}/shares`, body)).string("data.id")}`;
      expectStatus(await stranger.get(path), 404);
      expectStatus(await stranger.request("PATCH", path, { json: { label: "mine" } }), 404);
      expectStatus(await stranger.delete(path), 404);
      expectStatus(await server().visitor.delete(path), 401);
      expect((await client.get(path)).at("data.label")).toBeNull();
    }
  });

  test("of a public link changes only its label", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x", { fields: { isPublic: "true" } });
    const path = `/api/shares/${(await client.get(`/api/files/${id}/shares`)).string("data.shares.0.id")}`;
    expect((await client.request("PATCH", path, { json: { label: "blog" } })).at("data.label")).toBe("blog");
    const refused = await client.request("PATCH", path, { json: { password: "secret" } });
    expectError(refused, 400, "invalid_field", "password");
  });
});

describe("DELETE /api/shares/{id}", () => {
  test("ends all access at once", async () => {
    const { client } = await server().signUp();
    const folder = await client.folderId("album");
    const file = await client.storedId("x", { fields: { folder: "/album" } });
    const made = await client.post(`/api/files/folders/${folder}/shares`, {});
    const token = made.string("data.token");
    const paths = [
      `/s/${token}`,
      `/s/${token}/download`,
      `/s/${token}?fileId=${file}`,
      `/api/public/${token}`,
      `/api/public/${token}/files`,
      `/api/public/${token}/download`,
      `/api/public/${token}/download?fileId=${file}`,
    ];
    for (const path of paths) expectStatus(await server().visitor.get(path), 200);
    const gone = await client.delete(`/api/shares/${made.string("data.id")}`);
    expect(gone.string("data.revokedAt")).toMatch(timestampPattern);
    for (const path of paths) expectStatus(await server().visitor.get(path), 404);
    expectStatus(await client.delete(`/api/shares/${made.string("data.id")}`), 404);
    expect((await client.get("/api/shares")).list("data.shares")).toEqual([]);
  });

  test("of a public link makes the file private", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("x", { fields: { isPublic: "true" } });
    const share = await client.get(`/api/files/${id}/shares`);
    const before = await client.get("/api/mobile/sync/status");
    expect(before.status).toBe(401);
    expectStatus(await client.delete(`/api/shares/${share.string("data.shares.0.id")}`), 200);
    const info = await client.get(`/api/files/${id}`);
    expect(info.at("data.isPublic")).toBe(false);
    expect(info.at("data.shareLink")).toBeNull();
    expectStatus(await server().visitor.get(`/s/${share.string("data.shares.0.token")}`), 404);
  });
});

describe("a share also ends by", () => {
  test("deleting its file or folder", async () => {
    const { client } = await server().signUp();
    const folder = await client.folderId("f");
    const file = await client.storedId("x", { fields: { folder: "/f" } });
    const ofFile = tokenOf((await client.post(`/api/files/${file}/shares`, {})).string("data.url"));
    const ofFolder = tokenOf((await client.post(`/api/files/folders/${folder}/shares`, {})).string("data.url"));
    expectStatus(await client.delete(`/api/files/${file}`), 200);
    expectStatus(await server().visitor.get(`/api/public/${ofFile}`), 404);
    expectStatus(await server().visitor.get(`/api/public/${ofFolder}`), 200);
    expectStatus(await client.delete(`/api/files/folders/${folder}?recursive=true`), 200);
    expectStatus(await server().visitor.get(`/api/public/${ofFolder}`), 404);
    expect((await client.get("/api/shares")).list("data.shares")).toEqual([]);
  });

  test("moving its file or folder to the trash, until it is restored", async () => {
    const { client } = await server().signUp();
    const folder = await client.folderId("f");
    const file = await client.storedId("x", { fields: { folder: "/f" } });
    const ofFile = tokenOf((await client.post(`/api/files/${file}/shares`, {})).string("data.url"));
    const ofFolder = tokenOf((await client.post(`/api/files/folders/${folder}/shares`, {})).string("data.url"));
    const getStatuses = async () => {
      const paths = [
        `/api/public/${ofFile}`,
        `/api/public/${ofFolder}`,
        `/api/public/${ofFolder}/download?fileId=${file}`,
      ];
      return Promise.all(paths.map(async (path) => (await server().visitor.get(path)).status));
    };
    expectStatus(await client.post("/api/files/trash", { fileIds: [file] }), 200);
    expect(await getStatuses()).toEqual([404, 200, 404]);
    const page = await client.get("/api/shares?limit=1");
    expect(page.list("data.shares")).toHaveLength(1);
    expect(page.at("data.pagination.total")).toBe(1);
    expectStatus(await client.post("/api/files/trash/restore", { fileIds: [file] }), 200);
    expect(await getStatuses()).toEqual([200, 200, 200]);
    expectStatus(await client.post("/api/files/trash", { fileIds: [folder] }), 200);
    expect(await getStatuses()).toEqual([404, 404, 404]);
  });

  test("disabling its owner, until the owner is enabled again", async () => {
    const { client, email } = await server().signUp();
    const id = await client.storedId("x");
    const token = (await client.post(`/api/files/${id}/shares`, {})).string("data.token");
    const command = async (flag: string) => {
      const { code, stderr } = await server().larder(["user", "set", email, flag]);
      expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
    };
    await command("--disable");
    for (const path of [`/s/${token}`, `/s/${token}/download`, `/api/public/${token}`])
      await eventually("the share is closed", async () => (await server().visitor.get(path)).status === 404);
    await command("--enable");
    await eventually("it is open again", async () => (await server().visitor.get(`/s/${token}`)).status === 200);
  });
});

describe("statistics", () => {
  test("count views and downloads of each share separately", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("hello", { name: "a.txt" });
    const createShare = async () => (await client.post(`/api/files/${id}/shares`, {})).string("data.id");
    const [one, other] = [await createShare(), await createShare()];
    const read = async (share: string) => (await client.get(`/api/shares/${share}`)).at("data");
    const token = (await client.get(`/api/shares/${one}`)).string("data.token");
    const { visitor } = server();
    await visitor.get(`/s/${token}`);
    await visitor.get(`/api/public/${token}`);
    await visitor.get(`/s/${token}/download`);
    await visitor.get(`/api/public/${token}/download`);
    const etag = (await visitor.head(`/s/${token}/download`)).header("etag");
    await visitor.get(`/s/${token}/download`, { "if-none-match": etag });
    await visitor.get(`/s/${token}/download`, { range: "bytes=99-" });
    expect(await read(one)).toMatchObject({
      views: 2,
      downloads: 2,
      lastAccessedAt: expect.stringMatching(timestampPattern),
    });
    expect(await read(other)).toMatchObject({ views: 0, downloads: 0, lastAccessedAt: null });
    await server().restart();
    expect((await client.get(`/api/shares/${one}`)).at("data")).toMatchObject({ views: 2, downloads: 2 });
  });

  test("of a deleted share never count for a new one that reuses its row id", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("hello");
    const first = await client.post(`/api/files/${id}/shares`, {});
    await server().visitor.get(`/s/${first.string("data.token")}`);
    await client.delete(`/api/shares/${first.string("data.id")}`);
    const second = (await client.post(`/api/files/${id}/shares`, {})).string("data.id");
    await client.request("PATCH", `/api/shares/${second}`, { json: { label: "flushes the counters" } });
    expect((await client.get(`/api/shares/${second}`)).at("data.views")).toBe(0);
  });
});

testAllResponses(server);
