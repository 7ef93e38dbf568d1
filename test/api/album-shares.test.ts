import { describe, expect, test } from "bun:test";
import { fromBuffer, type Entry } from "yauzl";
import type { Account, Client } from "../support/client.ts";
import { expectError, expectStatus, sortedStatuses } from "../support/expect.ts";
import { jpegPhoto } from "../support/images.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

interface Scene {
  owner: Account;
  album: string;
  /** `/private/rome/a.txt` and `b.txt`, in this order reversed in the album. */
  first: string;
  second: string;
  /** `/private/rome/secret.txt`, next to them and not in the album. */
  secret: string;
}

/** Creates an album with two files of a folder that has a third. */
async function createScene(): Promise<Scene> {
  const owner = await server().signUp({ name: "Olga Owner" });
  const store = async (name: string) =>
    owner.client.storedId(name, { name, fields: { folder: "/private/rome", tags: "trip" } });
  const [second, first, secret] = [await store("a.txt"), await store("b.txt"), await store("secret.txt")];
  const made = await owner.client.post("/api/albums", {
    name: "Rome 24/7",
    description: "May",
    fileIds: [first, second],
  });
  expectStatus(made, 201);
  return { owner, album: made.string("data.id"), first, second, secret };
}

async function share(client: Client, album: string, settings: object = {}): Promise<{ id: string; token: string }> {
  const made = await client.post(`/api/albums/${album}/shares`, settings);
  expectStatus(made, 201);
  return { id: made.string("data.id"), token: made.string("data.token") };
}

async function listPublic(token: string, query = ""): Promise<string[]> {
  const response = await server().visitor.get(`/api/public/${token}/files${query}`);
  expectStatus(response, 200);
  return response.strings("data.files", "name");
}

async function zipNames(bytes: Uint8Array): Promise<string[]> {
  const { promise, resolve, reject } = Promise.withResolvers<string[]>();
  fromBuffer(Buffer.from(bytes), { lazyEntries: true }, (error, zip) => {
    if (error !== null) return reject(error);
    const names: string[] = [];
    zip.on("entry", (entry: Entry) => {
      names.push(entry.fileName);
      zip.readEntry();
    });
    zip.on("end", () => resolve(names));
    zip.readEntry();
  });
  return promise;
}

describe("a link to an album", () => {
  test("is created, listed, changed and ended as one of a folder", async () => {
    const { owner, album } = await createScene();
    const { client } = owner;
    const { id, token } = await share(client, album, { label: "for Ada", expiresIn: "7d" });
    const record = { id, kind: "link", permissions: "read", albumId: album, label: "for Ada", album: { id: album } };
    expect((await client.get(`/api/albums/${album}/shares`)).list("data.shares")).toMatchObject([record]);
    expect((await client.get("/api/shares")).list("data.shares")).toMatchObject([record]);
    expect((await client.get(`/api/shares/${id}`)).at("data")).toMatchObject(record);
    expect((await client.get(`/api/albums/${album}`)).at("data.isShared")).toBe(true);
    const changed = await client.patch(`/api/shares/${id}`, { label: null, hideLocation: true });
    expect(changed.at("data")).toMatchObject({ label: null, hideLocation: true });
    expectStatus(await server().visitor.get(`/api/public/${token}`), 200);
    expectStatus(await client.delete(`/api/shares/${id}`), 200);
    expectError(await server().visitor.get(`/api/public/${token}`), 404);
    expect((await client.get(`/api/albums/${album}`)).at("data.isShared")).toBe(false);
  });

  test("allows only viewing", async () => {
    const { owner, album } = await createScene();
    const rejected = async (settings: object, field: string) => {
      const response = await owner.client.post(`/api/albums/${album}/shares`, settings);
      expectError(response, 400, "invalid_field", field);
    };
    await rejected({ permissions: "upload" }, "permissions");
    await rejected({ permissions: "write" }, "permissions");
    await rejected({ permissions: "write", user: "ada@example.test" }, "permissions");
    await rejected({ versions: true, user: "ada@example.test" }, "versions");
    await rejected({ pinned: true }, "pinned");
    await rejected({ maxUploadBytes: 1 }, "maxUploadBytes");
    const { id } = await share(owner.client, album, { user: "ada@example.test" });
    expectError(await owner.client.patch(`/api/shares/${id}`, { permissions: "write" }), 400, "invalid_field");
    expectError(await owner.client.patch(`/api/shares/${id}`, { versions: true }), 400, "invalid_field");
    const other = await server().signUp();
    expectError(await other.client.post(`/api/albums/${album}/shares`, {}), 404);
    expectError(await other.client.get(`/api/albums/${album}/shares`), 404);
  });

  test("shows the files in the album's order, and nothing of their folders", async () => {
    const { owner, album, first, second, secret } = await createScene();
    const { token } = await share(owner.client, album);
    const { visitor } = server();
    const opened = await visitor.get(`/api/public/${token}`);
    expect(opened.at("data")).toMatchObject({ name: "Rome 24/7", type: "album", description: "May", itemCount: 2 });
    const listed = await visitor.get(`/api/public/${token}/files`);
    expect(listed.at("data")).toMatchObject({
      files: [
        { id: first, name: "b.txt", folder: "/" },
        { id: second, name: "a.txt", folder: "/" },
      ],
      currentFolder: { path: "/", name: "Rome 24/7" },
    });
    expect(await listPublic(token, "?sort=name")).toEqual(["a.txt", "b.txt"]);
    expect(await listPublic(token, "?order=desc&limit=1&page=2")).toEqual(["b.txt"]);
    expectError(await visitor.get(`/api/public/${token}/files?folder=/rome`), 404);
    expectError(await visitor.get(`/api/public/${token}/files?sort=size`), 400);
    const page = await visitor.get(`/s/${token}`);
    expectStatus(page, 200);
    expect(page.text.indexOf("b.txt")).toBeLessThan(page.text.indexOf("a.txt"));
    expect(page.text).toContain("Rome 24/7");
    const filePage = await visitor.get(`/s/${token}?fileId=${first}`);
    expectStatus(filePage, 200);
    for (const response of [opened, listed, page, filePage]) expect(response.text).not.toMatch(/private|\/rome|secret/);
    expect((await visitor.get(`/api/public/${token}/download?fileId=${first}`)).text).toBe("b.txt");
    for (const suffix of [`/download?fileId=${secret}`, "/download?fileId=file_unknown"]) {
      expectError(await visitor.get(`/api/public/${token}${suffix}`), 404);
      expectStatus(await visitor.get(`/s/${token}${suffix}`), 404);
    }
    expectStatus(await visitor.get(`/s/${token}?fileId=${secret}`), 404);
  });

  test("sends a ZIP in which equal names are numbered", async () => {
    const { owner, album, first } = await createScene();
    const again = await owner.client.storedId("other", { name: "b.txt", fields: { folder: "/elsewhere" } });
    await owner.client.post(`/api/albums/${album}/items`, { fileIds: [again] });
    const { token } = await share(owner.client, album);
    const zip = await server().visitor.get(`/api/public/${token}/download`);
    expectStatus(zip, 200);
    expect(zip.header("content-disposition")).toContain("Rome 24_7.zip");
    expect(await zipNames(zip.bytes)).toEqual(["b.txt", "a.txt", "b (1).txt"]);
    const body = new URLSearchParams([["id", first]]).toString();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const chosen = await server().visitor.request("POST", `/s/${token}/archive`, { headers, body });
    expect(await zipNames(chosen.bytes)).toEqual(["b.txt"]);
  });

  test("shows no file that left the album, went to the trash, or was deleted", async () => {
    const { owner, album, first, second } = await createScene();
    const { client } = owner;
    const { token } = await share(client, album);
    const { visitor } = server();
    const read = async (id: string) => (await visitor.get(`/api/public/${token}/download?fileId=${id}`)).status;
    expect(await read(first)).toBe(200);
    await client.post(`/api/albums/${album}/items/remove`, { fileIds: [first] });
    expect(await read(first)).toBe(404);
    expectError(await visitor.get(`/api/public/${token}/download?fileId=${first}&thumbnail=true`), 404);
    await client.post(`/api/albums/${album}/items`, { fileIds: [first] });
    expect(await read(first)).toBe(200);
    await client.post("/api/files/trash", { fileIds: [first] });
    expect(await read(first)).toBe(404);
    expect(await listPublic(token)).toEqual(["a.txt"]);
    const folder = (await client.get("/api/files?folder=/private")).string("data.files.0.id");
    await client.post("/api/files/trash", { fileIds: [folder] });
    expect(await read(second)).toBe(404);
    expect(await listPublic(token)).toEqual([]);
    expectError(await visitor.get(`/api/public/${token}/download`), 404);
    expectStatus(await visitor.get(`/s/${token}`), 200);
    await client.post("/api/files/trash/restore", { fileIds: [folder] });
    expect(await read(second)).toBe(200);
    expectStatus(await client.delete(`/api/albums/${album}`), 200);
    expect(await read(second)).toBe(404);
    expectError(await visitor.get(`/api/public/${token}`), 404);
    expect((await client.get("/api/shares")).list("data.shares")).toEqual([]);
  });

  test("has a password, and a limit of downloads", async () => {
    const { owner, album, first, second } = await createScene();
    const { visitor } = server();
    const locked = await share(owner.client, album, { password: "open sesame" });
    for (const path of ["", "/files", `/download?fileId=${first}`, "/download"]) {
      expectError(await visitor.get(`/api/public/${locked.token}${path}`), 401, "password_required");
    }
    const unlocked = await visitor.post(`/api/public/${locked.token}/unlock`, { password: "open sesame" });
    const headers = { "x-share-grant": unlocked.string("data.grant") };
    expectStatus(await visitor.get(`/api/public/${locked.token}/files`, headers), 200);
    const limited = await share(owner.client, album, { maxDownloads: 3 });
    const urls = [first, second, first, second, first].map(
      (id) => `/api/public/${limited.token}/download?fileId=${id}`,
    );
    expect(sortedStatuses(await Promise.all(urls.map((url) => visitor.get(url))))).toEqual([200, 200, 200, 410, 410]);
    expectError(await visitor.get(`/api/public/${limited.token}/download`), 410, "share_used_up");
  });

  test("that is used up prepares no ZIP, but the ranges of a ZIP that was begun can be fetched", async () => {
    const { owner, album, first, second } = await createScene();
    const { visitor } = server();
    const { token } = await share(owner.client, album, { maxDownloads: 1 });
    const url = `/api/public/${token}/download`;
    const part = (start: number) => visitor.get(url, { range: `bytes=${start}-${start + 9}` });
    const parts = await Promise.all([part(0), part(10), part(20)]);
    expect(sortedStatuses(parts)).toEqual([206, 206, 206]);
    expectStatus(await part(30), 206);
    expectError(await visitor.get(url), 410, "share_used_up");
    expectError(await visitor.head(url), 410);
    // Preparing it would fail: there is nothing to put into it.
    await owner.client.post(`/api/albums/${album}/items/remove`, { fileIds: [first, second] });
    expectError(await visitor.get(url), 410, "share_used_up");
    const untouched = await share(owner.client, album);
    expectError(await visitor.get(`/api/public/${untouched.token}/download`), 404, "not_found");
  });

  test("sends a ZIP of many files in the album's order, without those in the trash", async () => {
    const { client } = await server().signUp();
    const names = Array.from({ length: 520 }, (_, index) => `${index}.txt`);
    const ids = await Promise.all(names.map((name) => client.storedId(name, { name })));
    const order = ids.map((_, index) => (index * 7) % ids.length);
    const made = await client.post("/api/albums", { name: "many", fileIds: order.map((index) => ids[index]) });
    const { token } = await share(client, made.string("data.id"));
    const download = async () => zipNames((await server().visitor.get(`/api/public/${token}/download`)).bytes);
    const expected = order.map((index) => names[index] ?? "");
    expect(await download()).toEqual(expected);
    const trashed = new Set([0, 255, 256, 511].map((at) => expected[at] ?? ""));
    await client.post("/api/files/trash", { fileIds: [...trashed].map((name) => ids[names.indexOf(name)]) });
    expect(await download()).toEqual(expected.filter((name) => !trashed.has(name)));
    const [last, ...others] = expected.filter((name) => !trashed.has(name)).toReversed();
    const moved = ids[names.indexOf(last ?? "")];
    const before = ids[names.indexOf(others.at(-1) ?? "")];
    expectStatus(
      await client.post(`/api/albums/${made.string("data.id")}/items/move`, { fileIds: [moved], before }),
      200,
    );
    expect((await download()).at(0)).toBe(last ?? "");
  });

  test("with hideLocation shows neutral names, and photos without camera data", async () => {
    const { owner, album } = await createScene();
    const photo = await owner.client.storedId(await jpegPhoto(40, 30), { name: "IMG_2026-05-01.jpg" });
    await owner.client.post(`/api/albums/${album}/items`, { fileIds: [photo], before: undefined });
    const { token } = await share(owner.client, album, { hideLocation: true });
    const { visitor } = server();
    const listed = await visitor.get(`/api/public/${token}/files`);
    expect(listed.text).not.toContain("IMG_");
    expect(listed.list("data.files").at(-1)).toMatchObject({ checksum: null, size: null });
    const sent = await visitor.get(`/api/public/${token}/download?fileId=${photo}`);
    expectStatus(sent, 200);
    expect(Buffer.from(sent.bytes).includes("LarderCam")).toBe(false);
    expect(sent.header("content-disposition")).not.toContain("IMG_");
    expectError(await visitor.get(`/api/public/${token}/download`), 403, "share_permission");
    expect((await visitor.get(`/s/${token}`)).text).not.toContain("IMG_");
  });

  test("opens nothing while its owner is disabled", async () => {
    const { owner, album } = await createScene();
    const { token } = await share(owner.client, album);
    await server().change(owner.id, { disabled: true });
    expectError(await server().visitor.get(`/api/public/${token}`), 404);
    await server().change(owner.id, { disabled: false });
    expectStatus(await server().visitor.get(`/api/public/${token}`), 200);
  });
});

describe("an album shared with an account", () => {
  test("is in the list of received shares, and its files can be read", async () => {
    const { owner, album, first, second } = await createScene();
    const guest = await server().signUp();
    const { id } = await share(owner.client, album, { user: guest.email, label: "for you" });
    const received = await guest.client.get("/api/shares/received");
    const whose = { id: owner.id, name: "Olga Owner", email: owner.email };
    expect(received.list("data.shares")).toMatchObject([
      {
        id,
        permissions: "read",
        versions: false,
        owner: whose,
        label: "for you",
        album: { id: album, type: "album", name: "Rome 24/7", itemCount: 2, isShared: false, owner: whose },
      },
    ]);
    expect((await guest.client.get(`/api/albums/${album}`)).at("data")).toMatchObject({ owner: whose, itemCount: 2 });
    const items = await guest.client.get(`/api/albums/${album}/items`);
    expect(items.list("data.items")).toMatchObject([
      { id: first, folder: "/", isPublic: false },
      { id: second, folder: "/" },
    ]);
    for (const response of [received, items]) expect(response.text).not.toContain("private");
    const info = await guest.client.get(`/api/files/${first}`);
    expect(info.at("data")).toMatchObject({ name: "b.txt", folder: "/" });
    expect((await guest.client.get(`/api/files/${first}/download`)).text).toBe("b.txt");
    expectStatus(await guest.client.get(`/api/files/${first}/checksum`), 200);
    const copied = await guest.client.post("/api/files/copy", { fileIds: [first], destinationFolder: "/mine" });
    expectStatus(copied, 201);
    expect((await guest.client.get("/api/albums")).list("data.albums")).toEqual([]);
  });

  test("allows no change, and shows no version, no sibling and no list of shares", async () => {
    const { owner, album, first, secret } = await createScene();
    await owner.client.putContent(first, "newer");
    const guest = await server().signUp();
    const { id } = await share(owner.client, album, { user: guest.email });
    const { client } = guest;
    const own = await client.storedId("own");
    for (const response of [
      await client.patch(`/api/albums/${album}`, { name: "x" }),
      await client.delete(`/api/albums/${album}`),
      await client.post(`/api/albums/${album}/items`, { fileIds: [own] }),
      await client.post(`/api/albums/${album}/items/move`, { fileIds: [first], before: null }),
      await client.post(`/api/albums/${album}/items/remove`, { fileIds: [first] }),
      await client.post(`/api/albums/${album}/shares`, {}),
      await client.get(`/api/albums/${album}/shares`),
      await client.put(`/api/files/${first}`, { name: "x" }),
      await client.putContent(first, "changed"),
      await client.delete(`/api/files/${first}`),
      await client.get(`/api/files/${first}/versions`),
      await client.post(`/api/files/${first}/shares`, {}),
    ]) {
      expectError(response, 403, "share_permission");
    }
    for (const path of [`/api/files/${secret}`, `/api/files/${secret}/download`, `/api/files?share=${id}`]) {
      expectError(await client.get(path), 404);
    }
    expectError(await client.post("/api/files/copy", { fileIds: [secret], destinationFolder: "/" }), 404);
    expect((await client.get(`/api/files/${first}/albums`)).at("data.albums")).toEqual([]);
    const third = await server().signUp();
    expectError(await third.client.get(`/api/albums/${album}`), 404);
    expectError(await third.client.get(`/api/files/${first}`), 404);
  });

  test("ends at once when a file leaves the album, and when the share or the album ends", async () => {
    const { owner, album, first, second } = await createScene();
    const guest = await server().signUp();
    const { id } = await share(owner.client, album, { user: guest.email });
    const status = async (fileId: string) => (await guest.client.get(`/api/files/${fileId}/download`)).status;
    expect(await status(first)).toBe(200);
    await owner.client.post(`/api/albums/${album}/items/remove`, { fileIds: [first] });
    expect(await status(first)).toBe(404);
    await owner.client.post("/api/files/trash", { fileIds: [second] });
    expect(await status(second)).toBe(404);
    await owner.client.post("/api/files/trash/restore", { fileIds: [second] });
    expect(await status(second)).toBe(200);
    expectStatus(await owner.client.delete(`/api/shares/${id}`), 200);
    expect(await status(second)).toBe(404);
    expectError(await guest.client.get(`/api/albums/${album}`), 404);
    const again = await share(owner.client, album, { user: guest.email });
    expectStatus(await guest.client.delete(`/api/shares/received/${again.id}`), 200);
    expect(await status(second)).toBe(404);
    await share(owner.client, album, { user: guest.email });
    expect(await status(second)).toBe(200);
    expectStatus(await owner.client.delete(`/api/albums/${album}`), 200);
    expect(await status(second)).toBe(404);
    expect((await guest.client.get("/api/shares/received")).list("data.shares")).toEqual([]);
  });

  test("shows nothing while its owner is disabled", async () => {
    const { owner, album, first } = await createScene();
    const guest = await server().signUp();
    await share(owner.client, album, { user: guest.email });
    expectStatus(await guest.client.get(`/api/files/${first}`), 200);
    await server().change(owner.id, { disabled: true });
    expectError(await guest.client.get(`/api/files/${first}`), 404);
    expectError(await guest.client.get(`/api/albums/${album}/items`), 404);
    expect((await guest.client.get("/api/shares/received")).list("data.shares")).toEqual([]);
  });

  test("does not take away what another share of the file allows", async () => {
    const { owner, album, first } = await createScene();
    const guest = await server().signUp();
    await share(owner.client, album, { user: guest.email });
    const folder = (await owner.client.get("/api/files?folder=/private")).string("data.files.0.id");
    await owner.client.post(`/api/files/folders/${folder}/shares`, { user: guest.email, permissions: "write" });
    expect((await guest.client.get(`/api/files/${first}`)).at("data.folder")).toBe("/");
    expectStatus(await guest.client.put(`/api/files/${first}`, { name: "renamed.txt" }), 200);
    expect((await guest.client.get(`/api/albums/${album}/items`)).strings("data.items", "name")).toContain(
      "renamed.txt",
    );
  });
});

testAllResponses(server);
