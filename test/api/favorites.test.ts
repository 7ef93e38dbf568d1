import { describe, expect, test } from "bun:test";
import { shareWith } from "../support/account-shares.ts";
import type { ApiResponse, Client } from "../support/client.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { registerDevice } from "../support/mobile.ts";
import { readMultistatus } from "../support/multistatus.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";
import { connectDav, type DavClient } from "../support/webdav.ts";

const server = sharedServer({ hasAccounts: true, env: { LARDER_RATE_LIMITS: "off" } });

async function mark(client: Client, ids: string[], favorite = true): Promise<ApiResponse> {
  return client.post("/api/favorites", { ids, favorite });
}

/** Names of the favorites, in the order of the response. */
async function favoriteNames(client: Client, query = ""): Promise<string[]> {
  const response = await client.get(`/api/favorites?${query}`);
  expectStatus(response, 200);
  return response.strings("data.favorites", "name");
}

async function isFavorite(client: Client, id: string): Promise<unknown> {
  const path = id.startsWith("fold_") ? `/api/files/folders/${id}` : `/api/files/${id}`;
  return (await client.get(path)).at("data.isFavorite");
}

describe("favorites", () => {
  test("are listed, and shown in every record of a file or folder", async () => {
    const { client } = await server().signUp();
    const folder = await client.folderId("letters");
    const file = await client.storedId("1", { name: "beach.jpg", fields: { folder: "/letters", tags: "sea" } });
    const other = await client.storedId("2", { name: "beach-2.jpg", fields: { folder: "/letters" } });
    const marked = await mark(client, [folder, file]);
    expectStatus(marked, 200);
    expect(marked.at("data")).toEqual({ changed: [folder, file], failed: [] });
    expect(await favoriteNames(client)).toEqual(["letters", "beach.jpg"]);
    expect([await isFavorite(client, folder), await isFavorite(client, file), await isFavorite(client, other)]).toEqual(
      [true, true, false],
    );
    const lists: [string, string][] = [
      ["/api/files", "files"],
      ["/api/files?folder=/letters", "files"],
      ["/api/files?search=beach", "files"],
      ["/api/files/search?q=beach", "files"],
      ["/api/photos", "photos"],
      ["/api/photos?full=true", "photos"],
      ["/api/favorites", "favorites"],
    ];
    for (const [path, key] of lists) {
      const found = (await client.get(path)).list(`data.${key}`);
      const expected = found.map((record) => [folder, file].includes((record as { id: string }).id));
      expect(found.length).toBeGreaterThan(0);
      expect([path, found.map((record) => (record as { isFavorite: unknown }).isFavorite)]).toEqual([path, expected]);
    }
    const moved = await client.post("/api/files/move", { fileIds: [file, other], destinationFolder: "/" });
    expect([moved.at("data.moved.0.isFavorite"), moved.at("data.moved.1.isFavorite")]).toEqual([true, false]);
    const copied = await client.post("/api/files/copy", { fileIds: [file], destinationFolder: "/letters" });
    expect(copied.at("data.copied.0.isFavorite")).toBe(false);
    expectStatus(await mark(client, [folder, file, file], false), 200);
    expect(await favoriteNames(client)).toEqual([]);
    expect(await isFavorite(client, file)).toBe(false);
  });

  test("change neither the item, nor what synchronization reports", async () => {
    const account = await server().signUp();
    const { client } = account;
    const dav = await connectDav(account);
    const phone = await registerDevice(server(), account);
    const file = await client.storedId("1", { name: "a.txt" });
    const state = async () => ({
      record: { ...((await client.get(`/api/files/${file}`)).at("data") as object), isFavorite: undefined },
      etags: [...readMultistatus(await dav.request("PROPFIND", "")).values()].map(
        (found) => found.get("DAV:getetag")?.text,
      ),
      token: (await phone.client.get("/api/mobile/sync/status")).string("data.nextSyncToken"),
    });
    const before = await state();
    await mark(client, [file]);
    expect(await state()).toEqual(before);
  });

  test("are hidden in the trash, back after a restore, and gone with the file", async () => {
    const { client } = await server().signUp();
    const folder = await client.folderId("f");
    const inside = await client.storedId("1", { name: "in.txt", fields: { folder: "/f" } });
    const file = await client.storedId("2", { name: "a.txt" });
    await mark(client, [inside, file, folder]);
    expectStatus(await client.post("/api/files/trash", { fileIds: [folder, file] }), 200);
    expect(await favoriteNames(client)).toEqual([]);
    expectError(await mark(client, [inside], false), 404);
    const restored = await client.post("/api/files/trash/restore", { fileIds: [folder, file] });
    expect([restored.at("data.restored.0.isFavorite"), restored.at("data.restored.1.isFavorite")]).toEqual([
      true,
      true,
    ]);
    expect(await favoriteNames(client)).toEqual(["f", "a.txt", "in.txt"]);
    expectStatus(await client.delete(`/api/files/${file}`), 200);
    expectStatus(await client.delete(`/api/files/folders/${folder}?recursive=true`), 200);
    expect(await favoriteNames(client)).toEqual([]);
    expect((await client.get("/api/favorites")).number("data.pagination.total")).toBe(0);
  });

  test("are sorted and paged like a folder, folders first", async () => {
    const { client } = await server().signUp();
    const ids = [await client.folderId("z")];
    for (const [name, content] of [
      ["c.txt", "1"],
      ["a.txt", "333"],
      ["b.txt", "22"],
    ] as const) {
      ids.push(await client.storedId(content, { name }));
    }
    await client.storedId("none", { name: "unmarked.txt" });
    await mark(client, ids);
    expect(await favoriteNames(client)).toEqual(["z", "a.txt", "b.txt", "c.txt"]);
    expect(await favoriteNames(client, "sort=size&order=desc")).toEqual(["z", "a.txt", "b.txt", "c.txt"]);
    expect(await favoriteNames(client, "sort=size")).toEqual(["z", "c.txt", "b.txt", "a.txt"]);
    expect(await favoriteNames(client, "sort=createdAt")).toEqual(["z", "c.txt", "a.txt", "b.txt"]);
    const page = await client.get("/api/favorites?limit=2&page=2");
    expect(page.strings("data.favorites", "name")).toEqual(["b.txt", "c.txt"]);
    expect(page.at("data.pagination")).toMatchObject({ total: 4, totalPages: 2, hasNext: false });
    for (const sort of ["modifiedAt", "fileModifiedAt"]) {
      expectStatus(await client.get(`/api/favorites?sort=${sort}&order=desc`), 200);
    }
    expectError(await client.get("/api/favorites?sort=none"), 400, "invalid_field", "sort");
  });

  test("belong to who set them, also on shared items, which hide when the share ends", async () => {
    const [owner, recipient] = [await server().signUp(), await server().signUp()];
    await owner.client.folderId("private");
    const folder = await owner.client.folderId("trip", "/private");
    const file = await owner.client.storedId("1", { name: "sea.txt", fields: { folder: "/private/trip" } });
    expectError(await mark(recipient.client, [file]), 404, "not_found");
    const share = await shareWith(owner.client, folder, recipient);
    expectStatus(await mark(recipient.client, [folder, file]), 200);
    const listed = await recipient.client.get("/api/favorites");
    expect(listed.strings("data.favorites", "name")).toEqual(["trip", "sea.txt"]);
    expect(listed.strings("data.favorites", "folder")).toEqual(["/", "/"]);
    expect(listed.strings("data.favorites", "share")).toEqual([share, share]);
    expect(listed.text).not.toContain("private");
    const received = await recipient.client.get("/api/shares/received");
    expect(received.at("data.shares.0.folder.isFavorite")).toBe(true);
    expect((await recipient.client.get(`/api/files?share=${share}`)).at("data.files.0.isFavorite")).toBe(true);
    expect([await isFavorite(owner.client, file), await favoriteNames(owner.client)]).toEqual([false, []]);
    expectStatus(await owner.client.delete(`/api/shares/${share}`), 200);
    expect(await favoriteNames(recipient.client)).toEqual([]);
    expect((await recipient.client.get("/api/favorites")).number("data.pagination.total")).toBe(0);
    expectError(await mark(recipient.client, [file], false), 404, "not_found");
    await shareWith(owner.client, file, recipient);
    expect(await favoriteNames(recipient.client)).toEqual(["sea.txt"]);
  });

  test("of others have the best rights of all shares above them, as in the search", async () => {
    const [owner, recipient] = [await server().signUp(), await server().signUp()];
    const viewed = await owner.client.folderId("viewed");
    const edited = await owner.client.folderId("edited-heron", "/viewed");
    const above = await owner.client.storedId("1", { name: "above-heron.txt", fields: { folder: "/viewed" } });
    const fields = { folder: "/viewed/edited-heron" };
    const below = await owner.client.storedId("2", { name: "below-heron.txt", fields });
    const outer = await shareWith(owner.client, viewed, recipient, { versions: true });
    await shareWith(owner.client, edited, recipient, { permissions: "write", versions: false });
    const own = await recipient.client.storedId("3", { name: "own-heron.txt" });
    expectStatus(await mark(recipient.client, [edited, above, below, own]), 200);
    const rights = {
      "own-heron.txt": { permission: "own", canManage: true, showsVersions: true },
      // Only its owner may rename or move the shared folder itself.
      "edited-heron": { permission: "write", canManage: false, showsVersions: true, share: outer },
      "above-heron.txt": { permission: "read", canManage: false, showsVersions: true, share: outer },
      "below-heron.txt": { permission: "write", canManage: true, showsVersions: true, share: outer },
    };
    const favorites = (await recipient.client.get("/api/favorites")).at("data.favorites");
    const hits = (await recipient.client.get("/api/files/search?q=heron")).at("data.files");
    for (const [name, expected] of Object.entries(rights)) {
      expect(favorites).toContainEqual(expect.objectContaining({ name, ...expected }));
      expect(hits).toContainEqual(expect.objectContaining({ name, ...expected }));
    }
  });

  test("have the files of shared albums, until the album is shared no more", async () => {
    const [owner, guest] = [await server().signUp(), await server().signUp()];
    const id = await owner.client.storedId("1", { name: "lake.jpg" });
    const album = (await owner.client.post("/api/albums", { name: "Summer", fileIds: [id] })).string("data.id");
    const share = await owner.client.post(`/api/albums/${album}/shares`, { user: guest.email });
    expect((await mark(guest.client, [id])).at("data.failed")).toEqual([]);
    const listed = await guest.client.get("/api/favorites");
    expect(listed.at("data.favorites.0")).toMatchObject({ name: "lake.jpg", isOwn: false, permission: "read" });
    expect(listed.at("data.favorites.0")).not.toHaveProperty("share");
    expect(await favoriteNames(owner.client)).toEqual([]);
    expectStatus(await owner.client.delete(`/api/shares/${share.string("data.id")}`), 200);
    expect(await favoriteNames(guest.client)).toEqual([]);
  });

  test("are set item by item", async () => {
    const { client } = await server().signUp();
    const file = await client.storedId("1");
    const response = await mark(client, ["file_none", file]);
    expectStatus(response, 200);
    expect(response.at("data.changed")).toEqual([file]);
    expect(response.at("data.failed.0.id")).toBe("file_none");
    expectError(await mark(client, ["file_none"]), 404, "not_found");
    expectError(await mark(client, []), 400, "invalid_field");
    expectError(await client.post("/api/favorites", { ids: [file] }), 400, "invalid_field");
    expectError(await server().visitor.get("/api/favorites"), 401);
    expectError(await server().visitor.post("/api/favorites", { ids: [file], favorite: true }), 401);
  });
});

const NAMESPACES = `xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"`;
const FAVORITE = "http://owncloud.org/nsfavorite";

function setMark(dav: DavClient, path: string, value: string): Promise<ApiResponse> {
  const prop = `<d:prop><oc:favorite>${value}</oc:favorite></d:prop>`;
  const body = `<d:propertyupdate ${NAMESPACES}><d:set>${prop}</d:set></d:propertyupdate>`;
  return dav.request("PROPPATCH", path, { body });
}

async function markOf(dav: DavClient, path: string): Promise<string | undefined> {
  const body = `<d:propfind ${NAMESPACES}><d:prop><oc:favorite/></d:prop></d:propfind>`;
  const [found] = readMultistatus(await dav.request("PROPFIND", path, { body, headers: { depth: "0" } })).values();
  return found?.get(FAVORITE)?.text;
}

function report(dav: DavClient, path: string, rules = "<oc:favorite>1</oc:favorite>"): Promise<ApiResponse> {
  const prop = "<d:prop><d:getetag/><oc:favorite/><oc:permissions/></d:prop>";
  const body = `<oc:filter-files ${NAMESPACES}>${prop}<oc:filter-rules>${rules}</oc:filter-rules></oc:filter-files>`;
  return dav.request("REPORT", path, { body });
}

const hrefsOf = (response: ApiResponse) => [...readMultistatus(response).keys()];

describe("oc:favorite", () => {
  test("is read and written on files and folders", async () => {
    const account = await server().signUp();
    const dav = await connectDav(account);
    await dav.mkcol("f");
    await dav.put("f/a.txt", "a");
    for (const path of ["f/", "f/a.txt"]) {
      expect(await markOf(dav, path)).toBe("0");
      const [properties] = readMultistatus(await setMark(dav, path, "1")).values();
      expect(properties?.get(FAVORITE)?.status).toBe(200);
      expect(await markOf(dav, path)).toBe("1");
    }
    expect(await favoriteNames(account.client)).toEqual(["f", "a.txt"]);
    await setMark(dav, "f/a.txt", "0");
    expect(await markOf(dav, "f/a.txt")).toBe("0");
    const remove = `<d:propertyupdate ${NAMESPACES}><d:remove><d:prop><oc:favorite/></d:prop></d:remove></d:propertyupdate>`;
    expectStatus(await dav.request("PROPPATCH", "f", { body: remove }), 207);
    expect(await favoriteNames(account.client)).toEqual([]);
    const [wrong] = readMultistatus(await setMark(dav, "f", "maybe")).values();
    expect(wrong?.get(FAVORITE)?.status).toBe(409);
  });

  test("is the mark of the account that signed in, also in a share for reading only", async () => {
    const [owner, recipient] = [await server().signUp(), await server().signUp()];
    const folder = await owner.client.folderId("trip");
    await owner.client.storedId("1", { name: "sea.txt", fields: { folder: "/trip" } });
    await shareWith(owner.client, folder, recipient);
    const [own, other] = [await connectDav(owner), await connectDav(recipient)];
    expectStatus(await setMark(other, "Shared%20with%20me/trip/sea.txt", "1"), 207);
    expect(await markOf(other, "Shared%20with%20me/trip/sea.txt")).toBe("1");
    expect(await markOf(own, "trip/sea.txt")).toBe("0");
    expect(hrefsOf(await report(other, ""))).toEqual(["/dav/Shared%20with%20me/trip/sea.txt"]);
    expect(hrefsOf(await report(own, ""))).toEqual([]);
    const reader = await connectDav(owner, { access: "read" });
    expectStatus(await setMark(reader, "trip", "1"), 403);
  });

  test("filters a report of a folder and all below it", async () => {
    const account = await server().signUp();
    const dav = await connectDav(account, {}, `/remote.php/dav/files/${encodeURIComponent(account.email)}/`);
    for (const path of ["f", "f/sub", "g%20%26"]) await dav.mkcol(path);
    for (const path of ["f/sub/a.txt", "g%20%26/b.txt", "c.txt"]) {
      await dav.put(path, "1");
      await setMark(dav, path, "1");
    }
    await setMark(dav, "f/sub", "1");
    const root = `/remote.php/dav/files/${encodeURIComponent(account.email)}/`;
    const all = readMultistatus(await report(dav, ""));
    expect([...all.keys()].sort()).toEqual(
      [`${root}f/sub/`, `${root}f/sub/a.txt`, `${root}g%20%26/b.txt`, `${root}c.txt`].sort(),
    );
    const file = all.get(`${root}f/sub/a.txt`);
    expect(file?.get("DAV:getetag")?.text).toBe((await dav.get("f/sub/a.txt")).header("etag") ?? "");
    expect([file?.get(FAVORITE)?.text, file?.get("http://owncloud.org/nspermissions")?.text]).toEqual(["1", "GDNVW"]);
    expect(hrefsOf(await report(dav, "f")).sort()).toEqual([`${root}f/sub/`, `${root}f/sub/a.txt`]);
    const limited = await connectDav(account, { folder: "/f" });
    expect(hrefsOf(await report(limited, "")).sort()).toEqual(["/dav/sub/", "/dav/sub/a.txt"]);
  });

  test("is the only rule of a report", async () => {
    const account = await server().signUp();
    const dav = await connectDav(account);
    await dav.put("a.txt", "a");
    for (const rules of ["", "<oc:systemtag>1</oc:systemtag>", "<oc:favorite>0</oc:favorite>"]) {
      const response = await report(dav, "", rules);
      expectStatus(response, 403);
      expect(response.text).toContain("<d:supported-report/>");
    }
    expectStatus(await dav.request("REPORT", "", { body: `<d:sync-collection ${NAMESPACES}/>` }), 403);
    expectStatus(await dav.request("REPORT", ""), 403);
    expectStatus(await report(dav, "none"), 404);
    expectStatus(await report(dav, "a.txt"), 403);
  });
});

testAllResponses(server);
