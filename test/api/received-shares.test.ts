import { beforeAll, describe, expect, test } from "bun:test";
import { type Account, Client, checksumOf, freshEmail, randomContent } from "../support/client.ts";
import { expectError, expectStatus, timestampPattern } from "../support/expect.ts";
import { tinyPng } from "../support/images.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { registerDevice } from "../support/mobile.ts";
import { shareWith, soonExpiry, waitForExpiry } from "../support/account-shares.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

interface Scene {
  owner: Account;
  guest: Account;
  /** `/above/trips`, which is shared. */
  folder: string;
  /** `/above/trips/rome.txt`, public. */
  file: string;
  /** `/above/trips/days/monday.txt`, tagged. */
  deep: string;
  /** Id of `/above/trips/days`. */
  days: string;
  share: string;
}

/** Creates an owner who shares `/above/trips` with a guest. */
async function createScene(permissions: "read" | "write" = "read"): Promise<Scene> {
  const owner = await server().signUp({ name: "Olga Owner" });
  const guest = await server().signUp({ name: "Gil Guest" });
  const folder = await owner.client.folderId("trips", "/above");
  const fields = { folder: "/above/trips", isPublic: "true" };
  const file = await owner.client.storedId("rome", { name: "rome.txt", fields });
  const days = await owner.client.folderId("days", "/above/trips");
  const deep = await owner.client.storedId("monday", {
    name: "monday.txt",
    fields: { folder: "/above/trips/days", tags: "weekday" },
  });
  await owner.client.storedId("hidden", { name: "hidden.txt", fields: { folder: "/above", tags: "weekday" } });
  const share = await shareWith(owner.client, folder, guest, { permissions });
  return { owner, guest, folder, file, deep, days, share };
}

async function listReceived(client: Client): Promise<string[]> {
  return (await client.get("/api/shares/received")).strings("data.shares", "id");
}

async function listNames(client: Client, share: string, query = ""): Promise<string[]> {
  const response = await client.get(`/api/files?share=${share}${query}`);
  expectStatus(response, 200);
  return response.strings("data.files", "name");
}

describe("GET /api/shares/received", () => {
  test("lists the shares of others, newest first, with their owners", async () => {
    const { owner, guest, folder, file, share } = await createScene();
    const label = "for you";
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const second = await shareWith(owner.client, file, guest, { permissions: "write", label, expiresAt });
    const response = await guest.client.get("/api/shares/received");
    expectStatus(response, 200);
    const whose = { id: owner.id, name: "Olga Owner", email: owner.email };
    const createdAt: unknown = expect.stringMatching(timestampPattern);
    expect(response.list("data.shares")).toMatchObject([
      { id: second, permissions: "write", owner: whose, createdAt, expiresAt, label, file: { id: file, folder: "/" } },
      {
        id: share,
        permissions: "read",
        owner: whose,
        createdAt,
        expiresAt: null,
        label: null,
        folder: { id: folder, name: "trips", path: "/", folder: "/", itemCount: 2, size: 10 },
      },
    ]);
    expect(response.text).not.toContain("above");
    expect(response.text.toLowerCase()).not.toContain("token");
  });

  test("sorts them by time, name and owner", async () => {
    const guest = await server().signUp({ name: "Gil Guest" });
    for (const name of ["Zoe 10", "zoe 9"]) {
      const owner = await server().signUp({ name });
      await shareWith(owner.client, await owner.client.storedId("x", { name: `Note ${name.length}` }), guest);
      await shareWith(owner.client, await owner.client.folderId(`plans of ${name}`), guest);
      await shareWith(owner.client, await owner.client.storedId("x", { name: `note 10 ${name}` }), guest);
    }
    const names = async (query: string) =>
      (await guest.client.get(`/api/shares/received?${query}`))
        .list("data.shares")
        .map((share) => (share as { file?: { name: string }; folder?: { name: string } }).file?.name ?? "folder");
    const newestFirst = ["note 10 zoe 9", "folder", "Note 5", "note 10 Zoe 10", "folder", "Note 6"];
    expect(await names("")).toEqual(newestFirst);
    expect(await names("sort=createdAt&order=asc")).toEqual(newestFirst.toReversed());
    const byName = ["Note 5", "Note 6", "note 10 zoe 9", "note 10 Zoe 10"];
    expect(await names("sort=natural")).toEqual(["folder", "folder", ...byName]);
    expect(await names("sort=natural&order=desc")).toEqual(["folder", "folder", ...byName.toReversed()]);
    expect(await names("sort=owner")).toEqual([
      "folder",
      "Note 5",
      "note 10 zoe 9",
      "folder",
      "Note 6",
      "note 10 Zoe 10",
    ]);
    expectError(await guest.client.get("/api/shares/received?sort=name"), 400, "invalid_field", "sort");
    expectError(await guest.client.get("/api/shares/received?order=up"), 400, "invalid_field", "order");
  });

  test("lists them to no other account", async () => {
    const { owner } = await createScene();
    expect(await listReceived(owner.client)).toEqual([]);
    expect(await listReceived((await server().signUp()).client)).toEqual([]);
  });

  test("omits revoked, expired and deleted ones", async () => {
    const { owner, guest, file, share, folder } = await createScene();
    const expiresAt = soonExpiry();
    await shareWith(owner.client, file, guest, { expiresAt });
    await waitForExpiry(expiresAt);
    expect(await listReceived(guest.client)).toEqual([share]);
    const again = await shareWith(owner.client, file, guest);
    expectStatus(await owner.client.delete(`/api/shares/${again}`), 200);
    expect(await listReceived(guest.client)).toEqual([share]);
    expectStatus(await owner.client.delete(`/api/files/folders/${folder}?recursive=true`), 200);
    expect(await listReceived(guest.client)).toEqual([]);
  });

  test("omits those of a disabled account until it is enabled again", async () => {
    const { owner, guest, file, share } = await createScene();
    await server().change(owner.id, { disabled: true });
    expect(await listReceived(guest.client)).toEqual([]);
    expectError(await guest.client.get(`/api/files/${file}`), 404, "not_found");
    expectError(await guest.client.get(`/api/files?share=${share}`), 404, "not_found");
    await server().change(owner.id, { disabled: false });
    expect(await listReceived(guest.client)).toEqual([share]);
    expectStatus(await guest.client.get(`/api/files/${file}`), 200);
  });
});

describe("GET /api/files?share=", () => {
  test("lists the shared folder recursively, with paths relative to the share", async () => {
    const { guest, share } = await createScene();
    const top = await guest.client.get(`/api/files?share=${share}`);
    expectStatus(top, 200);
    expect(top.list("data.files")).toMatchObject([
      { name: "days", type: "folder", folder: "/", path: "/days" },
      { name: "rome.txt", type: "file", folder: "/", isPublic: false },
    ]);
    expect(top.at("data.currentFolder")).toEqual({ path: "/", name: "trips", parent: "/" });
    const below = await guest.client.get(`/api/files?share=${share}&folder=/days`);
    expect(below.list("data.files")).toMatchObject([{ name: "monday.txt", folder: "/days" }]);
    expect(below.at("data.currentFolder")).toEqual({ path: "/days", name: "days", parent: "/" });
    expect(top.text + below.text).not.toContain("above");
  });

  test("searches, filters and pages only within it", async () => {
    const { guest, share } = await createScene();
    expect(await listNames(guest.client, share, "&search=txt")).toEqual(["monday.txt", "rome.txt"]);
    expect(await listNames(guest.client, share, "&search=hidden")).toEqual([]);
    expect(await listNames(guest.client, share, "&tags=weekday")).toEqual(["monday.txt"]);
    expect(await listNames(guest.client, share, "&recursive=true&type=file&sort=name&order=desc")).toEqual([
      "rome.txt",
      "monday.txt",
    ]);
    expect(await listNames(guest.client, share, "&recursive=true&mimeType=image/*")).toEqual([]);
    const page = await guest.client.get(`/api/files?share=${share}&recursive=true&limit=1&page=2`);
    expect(page.at("data.pagination")).toMatchObject({ page: 2, total: 3, totalPages: 3 });
    const found = await guest.client.get(`/api/files?share=${share}&search=monday`);
    expect(found.at("data.files.0.folder")).toBe("/days");
  });

  test("sorts the folder like a listing", async () => {
    const { owner, guest, share } = await createScene();
    for (const name of ["Note 10", "note 9", "änderung"])
      await owner.client.stored(name, { name, fields: { folder: "/above/trips" } });
    const natural = ["änderung", "note 9", "Note 10", "rome.txt"];
    expect(await listNames(guest.client, share, "&sort=natural&type=file")).toEqual(natural);
    expect(await listNames(guest.client, share, "&sort=natural&type=file&order=desc")).toEqual(natural.toReversed());
    expect(await listNames(guest.client, share, "&sort=fileModifiedAt&type=file&order=desc")).toEqual([
      "änderung",
      "note 9",
      "Note 10",
      "rome.txt",
    ]);
  });

  test("finds no folder outside it", async () => {
    const { owner, guest, share } = await createScene();
    await owner.client.folderId("trips-secret", "/above");
    for (const folder of ["/above", "/above/trips", "/trips", "/-secret", "/trips-secret"])
      expectError(await guest.client.get(`/api/files?share=${share}&folder=${folder}`), 404, "not_found");
    for (const folder of ["/..", "/../trips-secret"])
      expectError(await guest.client.get(`/api/files?share=${share}&folder=${folder}`), 400, "invalid_path");
  });

  test("lists the file of a share with a single file", async () => {
    const { owner, guest, file } = await createScene();
    const share = await shareWith(owner.client, file, guest);
    const response = await guest.client.get(`/api/files?share=${share}`);
    expect(response.list("data.files")).toMatchObject([{ id: file, folder: "/" }]);
    expect(response.at("data.pagination.total")).toBe(1);
    expect(await listNames(guest.client, share, "&page=2")).toEqual([]);
    expectError(await guest.client.get(`/api/files?share=${share}&folder=/above`), 404, "not_found");
  });

  test("is for its recipient only, and doesn't accept the id of a public link", async () => {
    const { owner, share, folder } = await createScene();
    const stranger = await server().signUp();
    for (const client of [owner.client, stranger.client])
      expectError(await client.get(`/api/files?share=${share}`), 404, "not_found");
    const link = await owner.client.post(`/api/files/folders/${folder}/shares`, {});
    expectError(await stranger.client.get(`/api/files?share=${link.string("data.id")}`), 404, "not_found");
    expectError(await stranger.client.get("/api/files?share="), 404, "not_found");
  });

  test("the link of such a share opens nothing without the account", async () => {
    const { owner, folder, guest } = await createScene();
    const made = await owner.client.post(`/api/files/folders/${folder}/shares`, { user: guest.email });
    const token = made.string("data.token");
    expectStatus(await server().visitor.get(`/api/public/${token}`), 404);
    expectStatus(await server().visitor.get(`/api/public/${token}/files`), 404);
  });
});

describe("a file or folder shared for reading", () => {
  test("shows the file without the owner's private fields", async () => {
    const { owner, guest, file } = await createScene();
    const response = await guest.client.get(`/api/files/${file}`);
    expectStatus(response, 200);
    expect(response.at("data")).toMatchObject({
      id: file,
      name: "rome.txt",
      folder: "/",
      owner: { id: owner.id, name: "Olga Owner", email: owner.email },
      isPublic: false,
      shareLink: null,
      checksum: checksumOf("rome"),
    });
    expect(response.text).not.toContain("above");
    expect((await owner.client.get(`/api/files/${file}`)).at("data.isPublic")).toBe(true);
  });

  test("can be downloaded, whole and in ranges, and counts", async () => {
    const { guest, file, owner } = await createScene();
    const whole = await guest.client.get(`/api/files/${file}/download`);
    expectStatus(whole, 200);
    expect(whole.text).toBe("rome");
    const part = await guest.client.get(`/api/files/${file}/download`, { range: "bytes=1-2" });
    expect([part.status, part.text]).toEqual([206, "om"]);
    expectStatus(await guest.client.head(`/api/files/${file}/download`), 200);
    expect((await guest.client.get(`/api/files/${file}/checksum`)).at("data.ok")).toBe(true);
    expect((await owner.client.get(`/api/files/${file}`)).number("data.downloadCount")).toBeGreaterThan(0);
  });

  test("has thumbnails", async () => {
    const { owner, guest } = await createScene();
    const picture = await owner.client.storedId(tinyPng(40, 40), {
      name: "a.png",
      fields: { folder: "/above/trips" },
    });
    const response = await guest.client.get(`/api/files/${picture}/download?thumbnail=true`);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/webp"]);
  });

  test("is described by the folder's id", async () => {
    const { guest, folder, days } = await createScene();
    expect((await guest.client.get(`/api/files/folders/${folder}`)).at("data")).toMatchObject({
      name: "trips",
      folder: "/",
      path: "/",
    });
    expect((await guest.client.get(`/api/files/folders/${days}`)).at("data")).toMatchObject({
      folder: "/",
      path: "/days",
    });
  });

  test("can be copied into one's own tree, where it counts, and the copy outlives the share", async () => {
    const { owner, guest, folder, file, share } = await createScene();
    const usedBefore = (await owner.client.get("/api/users/usage")).number("data.storage.used");
    const copy = await guest.client.post("/api/files/copy", { fileIds: [file, folder], destinationFolder: "/mine" });
    expectStatus(copy, 201);
    expect(copy.list("data.copied")).toMatchObject([
      { sourceId: file, name: "rome.txt", folder: "/mine", isPublic: false },
      { sourceId: folder, name: "trips", path: "/mine/trips" },
    ]);
    expect((await guest.client.get("/api/users/usage")).number("data.storage.used")).toBe(4 + 4 + 6);
    expect((await owner.client.get("/api/users/usage")).number("data.storage.used")).toBe(usedBefore);
    await owner.client.delete(`/api/shares/${share}`);
    await owner.client.delete(`/api/files/folders/${folder}?recursive=true`);
    expect(await guest.client.names("/mine", "&recursive=true")).toEqual([
      "days",
      "trips",
      "monday.txt",
      "rome.txt",
      "rome.txt",
    ]);
    const own = copy.string("data.copied.0.id");
    expect((await guest.client.get(`/api/files/${own}/download`)).text).toBe("rome");
    expect((await guest.client.get(`/api/files/${own}`)).at("data.owner.id")).toBe(guest.id);
    expectError(await owner.client.get(`/api/files/${own}`), 404, "not_found");
  });

  test("can be copied in any size (in several transactions)", async () => {
    const { owner, guest } = await createScene();
    const folder = await owner.client.folderId("large");
    const fields = { folder: "/large" };
    const seed = await owner.client.storedId("x", { name: "x", fields });
    // 901 files: more than the 400 that one transaction copies.
    for (let i = 0; i < 2; i++) {
      await owner.client.post("/api/files/copy", { fileIds: Array(450).fill(seed), destinationFolder: "/large" });
    }
    await shareWith(owner.client, folder, guest);
    const copy = await guest.client.post("/api/files/copy", { fileIds: [folder], destinationFolder: "/" });
    expect(copy.at("data.copied.0.itemCount")).toBe(901);
    expect((await guest.client.get("/api/users/usage")).number("data.storage.used")).toBe(901);
  });

  test("can't be changed", async () => {
    const { guest, file, share, deep, days, folder } = await createScene();
    const { client } = guest;
    const own = await client.storedId("own", { name: "own.txt" });
    for (const response of [
      await client.put(`/api/files/${file}`, { description: "x" }),
      await client.put(`/api/files/${file}`, { isPublic: false }),
      await client.putContent(file, "changed"),
      await client.delete(`/api/files/${deep}`),
      await client.put(`/api/files/folders/${folder}`, { description: "x" }),
      await client.delete(`/api/files/folders/${days}?recursive=true`),
      await client.post("/api/files/move", { fileIds: [deep], destinationFolder: "/", share }),
      await client.post("/api/files/copy", { fileIds: [own], destinationFolder: "/", share }),
      await client.post("/api/files/folders", { name: "new", share }),
      await client.upload("new", { fields: { share } }),
    ])
      expectError(response, 403, "share_permission");
    expect(await listNames(client, share, "&recursive=true")).toEqual(["days", "monday.txt", "rome.txt"]);
  });
});

describe("earlier versions of a shared file", () => {
  /** Replaces the content of the shared file, so that the first content is an earlier version. */
  const withVersions = async (permissions: "read" | "write", given: { versions?: boolean } = {}) => {
    const { owner, guest, file, share } = await createScene(permissions);
    expectStatus(await owner.client.putContent(file, "rome, without the secret"), 200);
    if (given.versions !== undefined) expectStatus(await owner.client.patch(`/api/shares/${share}`, given), 200);
    return { owner, guest, file, share, versions: `/api/files/${file}/versions` };
  };

  for (const [title, permissions, given] of [
    ["a share for reading", "read", {}],
    ["a share for writing without versions", "write", { versions: false }],
  ] as const) {
    test(`are hidden by ${title}`, async () => {
      const { owner, guest, file, share, versions } = await withVersions(permissions, given);
      const { client } = guest;
      expectError(await client.get(versions), 403, "share_permission");
      expectError(await client.get(`${versions}/1/download`), 403, "share_permission");
      expectError(await client.get(`${versions}/1/download?thumbnail=true`), 403, "share_permission");
      expectError(await client.get(`${versions}/9/download`), 403, "share_permission");
      expectError(await client.post(`${versions}/1/restore`), 403, "share_permission");
      expectError(await client.delete(`${versions}/1`), 403, "share_permission");
      const at = encodeURIComponent(new Date().toISOString());
      expectError(await client.get(`/api/files/${file}?at=${at}`), 404);
      expectError(await client.get(`/api/files?share=${share}&at=${at}`), 400);
      expectStatus(await owner.client.putContent(file, "rome, third"), 200);
      const activity = await client.get(`/api/files/${file}/activity`);
      expect(activity.list("data.activity").map((entry) => (entry as { version?: number }).version)).toEqual([
        3,
        undefined,
      ]);
      expect((await client.get(`/api/files/${file}/download`)).text).toBe("rome, third");
      expect((await client.get("/api/shares/received")).at("data.shares.0.versions")).toBe(false);
      expect((await owner.client.get(`/api/shares/${share}`)).at("data.versions")).toBe(false);
      expect((await owner.client.get(versions)).list("data.versions")).toHaveLength(3);
    });
  }

  for (const [title, permissions, given] of [
    ["a share for writing", "write", {}],
    ["a share for reading with versions", "read", { versions: true }],
  ] as const) {
    test(`are shown by ${title}`, async () => {
      const { owner, guest, share, versions } = await withVersions(permissions, given);
      expect((await guest.client.get(versions)).list("data.versions")).toHaveLength(2);
      expect((await guest.client.get(`${versions}/1/download`)).text).toBe("rome");
      expect((await guest.client.get("/api/shares/received")).at("data.shares.0.versions")).toBe(true);
      expect((await owner.client.get(`/api/shares/${share}`)).at("data.versions")).toBe(true);
      const restored = permissions === "write" ? 200 : 403;
      expectStatus(await guest.client.post(`${versions}/1/restore`), restored);
      expectStatus(await guest.client.delete(`${versions}/1`), restored);
    });
  }

  test("follow the permission until the owner sets them, and again after null", async () => {
    const { owner, guest, share, versions } = await withVersions("read");
    const change = async (changes: object) => {
      const response = await owner.client.patch(`/api/shares/${share}`, changes);
      expectStatus(response, 200);
      return response.at("data.versions");
    };
    expect(await change({ permissions: "write" })).toBe(true);
    expect(await change({ versions: false })).toBe(false);
    expect(await change({ permissions: "read" })).toBe(false);
    expect(await change({ versions: true })).toBe(true);
    expectStatus(await guest.client.get(versions), 200);
    expect(await change({ versions: null })).toBe(false);
    expectError(await guest.client.get(versions), 403, "share_permission");
  });

  test("are shown if any of several shares shows them", async () => {
    const { owner, guest, file, versions } = await withVersions("read");
    expectError(await guest.client.get(versions), 403, "share_permission");
    await shareWith(owner.client, file, guest, { versions: true });
    expectStatus(await guest.client.get(versions), 200);
  });

  test("can't be set on links and drop boxes", async () => {
    const { owner, folder } = await createScene();
    const path = `/api/files/folders/${folder}/shares`;
    expectError(await owner.client.post(path, { versions: true }), 400, "invalid_field", "versions");
    expectError(await owner.client.post(path, { versions: "yes" }), 400, "invalid_field", "versions");
    const box = { permissions: "upload", versions: true };
    expectError(await owner.client.post(path, box), 400, "invalid_field", "versions");
    const link = await owner.client.post(path, {});
    expect(link.at("data.versions")).toBeNull();
    const change = await owner.client.patch(`/api/shares/${link.string("data.id")}`, { versions: true });
    expectError(change, 400, "invalid_field", "versions");
  });
});

describe("a folder shared for writing", () => {
  test("accepts uploads with fields in any order, into the owner's account", async () => {
    const { owner, guest, share } = await createScene("write");
    const response = await guest.client.upload("new", { name: "new.txt", fields: { folder: "/days/more", share } });
    expectStatus(response, 201);
    expect(response.at("data")).toMatchObject({ name: "new.txt", folder: "/days/more" });
    expect(await owner.client.names("/above/trips/days/more")).toEqual(["new.txt"]);
    const late = new FormData();
    late.append("file", new File(["late"], "late.txt"));
    late.append("share", share);
    expectStatus(await guest.client.request("POST", "/api/files/upload", { body: late }), 201);
    expect(await owner.client.names("/above/trips")).toEqual(["days", "late.txt", "rome.txt"]);
    expect((await guest.client.get("/api/users/usage")).number("data.storage.used")).toBe(0);
    expect(await guest.client.names("/")).toEqual([]);
    const info = await owner.client.get(`/api/files/${response.string("data.id")}`);
    expect(info.at("data.owner.id")).toBe(owner.id);
    const versions = await owner.client.get(`/api/files/${response.string("data.id")}/versions`);
    expectStatus(versions, 200);
    expect(versions.text).toContain("Gil Guest");
  });

  test("accepts new content, as a version of the owner's file", async () => {
    const { owner, guest, file } = await createScene("write");
    const response = await guest.client.putContent(file, "rome, again");
    expectStatus(response, 200);
    expect(response.at("data")).toMatchObject({ id: file, version: 2, folder: "/", isPublic: false });
    expect((await owner.client.get(`/api/files/${file}/download`)).text).toBe("rome, again");
    const { number } = {
      number: (path: string) => owner.client.get("/api/users/usage").then((usage) => usage.number(path)),
    };
    expect(await number("data.storage.versions")).toBe(4);
    expect((await owner.client.get(`/api/files/${file}`)).at("data.isPublic")).toBe(true);
    const stale = { "if-match": `"${checksumOf("rome").slice(7)}"` };
    expectError(await guest.client.putContent(file, "late", stale), 412, "precondition_failed");
  });

  test("can be described, tagged, renamed and moved within the share", async () => {
    const { owner, guest, file, deep, days } = await createScene("write");
    const { client } = guest;
    const labelled = await client.put(`/api/files/${file}`, { description: "d", tags: ["t"], metadata: { a: "b" } });
    expect(labelled.at("data")).toMatchObject({ tags: ["t"], folder: "/", isPublic: false, shareLink: null });
    const renamed = await client.put(`/api/files/${deep}`, { name: "tuesday.txt", folder: "/week/one" });
    expect(renamed.at("data")).toMatchObject({ name: "tuesday.txt", folder: "/week/one" });
    expect(await owner.client.names("/above/trips/week/one")).toEqual(["tuesday.txt"]);
    const folder = await client.put(`/api/files/folders/${days}`, { name: "nights", path: "/week", description: "d" });
    expect(folder.at("data")).toMatchObject({ path: "/week/nights", folder: "/week", description: "d" });
    expect(await owner.client.names("/above/trips/week")).toEqual(["nights", "one"]);
    // Setting a field to its current value needs no permission.
    expectStatus(await client.put(`/api/files/${deep}`, { name: "tuesday.txt", folder: "/week/one", tags: [] }), 200);
    expect((await owner.client.get(`/api/files/${file}`)).at("data")).toMatchObject({ isPublic: true, tags: ["t"] });
  });

  test("accepts folders, moves and copies with share as their destination", async () => {
    const { owner, guest, file, share } = await createScene("write");
    const { client } = guest;
    const made = await client.post("/api/files/folders", { name: "new", path: "/made/here", share });
    expectStatus(made, 201);
    expect(made.at("data")).toMatchObject({ path: "/made/here/new", folder: "/made/here" });
    const moved = await client.post("/api/files/move", { fileIds: [file], destinationFolder: "/made", share });
    expect(moved.list("data.moved")).toMatchObject([{ id: file, folder: "/made", isPublic: false }]);
    const own = await client.storedId("mine", { name: "mine.txt" });
    const copied = await client.post("/api/files/copy", { fileIds: [own, file], destinationFolder: "/made", share });
    expect(copied.list("data.copied")).toMatchObject([
      { sourceId: own, name: "mine.txt", folder: "/made" },
      { sourceId: file, name: "rome (1).txt", folder: "/made" },
    ]);
    expect(await owner.client.names("/above/trips/made")).toEqual(["here", "mine.txt", "rome (1).txt", "rome.txt"]);
    expect((await client.get("/api/users/usage")).number("data.storage.used")).toBe(4);
    for (const response of [made, moved, copied]) expect(response.text).not.toContain("above");
  });

  test("allows no moves from one account to another", async () => {
    const { guest, file, share } = await createScene("write");
    const own = await guest.client.storedId("mine", { name: "mine.txt" });
    const deep = { fileIds: [file], destinationFolder: "/mine" };
    expectError(await guest.client.post("/api/files/move", deep), 400, "invalid_request");
    const out = { fileIds: [own], destinationFolder: "/", share };
    expectError(await guest.client.post("/api/files/move", out), 400, "invalid_request");
    expect(await listNames(guest.client, share)).toEqual(["days", "rome.txt"]);
    expect(await guest.client.names("/")).toEqual(["mine.txt"]);
  });

  test("can be deleted from permanently, below the shared folder", async () => {
    const { owner, guest, file, days } = await createScene("write");
    expectError(await guest.client.delete(`/api/files/folders/${days}`), 409, "folder_not_empty");
    expectStatus(await guest.client.delete(`/api/files/folders/${days}?recursive=true`), 200);
    expectStatus(await guest.client.delete(`/api/files/${file}`), 200);
    expect(await owner.client.names("/above/trips")).toEqual([]);
  });

  test("keeps its own name and location", async () => {
    const { owner, guest, folder, file, share } = await createScene("write");
    const single = await owner.client.storedId("single", { name: "single.txt", fields: { folder: "/above" } });
    const second = await shareWith(owner.client, single, guest, { permissions: "write" });
    const { client } = guest;
    for (const response of [
      await client.delete(`/api/files/folders/${folder}?recursive=true`),
      await client.put(`/api/files/folders/${folder}`, { name: "mine" }),
      await client.put(`/api/files/folders/${folder}`, { path: "/days" }),
      await client.post("/api/files/move", { fileIds: [folder], destinationFolder: "/", share }),
      await client.delete(`/api/files/${single}`),
      await client.put(`/api/files/${single}`, { name: "mine.txt" }),
      await client.put(`/api/files/${single}`, { folder: "/days" }),
      await client.post("/api/files/move", { fileIds: [single], destinationFolder: "/", share }),
      await client.put(`/api/files/${file}`, { isPublic: false }),
      await client.upload("x", { fields: { share, isPublic: "true" } }),
    ])
      expectError(response, 403, "share_permission");
    expectStatus(await client.put(`/api/files/folders/${folder}`, { description: "ours" }), 200);
    expectStatus(await client.putContent(single, "changed"), 200);
    expectStatus(await client.put(`/api/files/${single}`, { description: "ours", name: "single.txt" }), 200);
    expectError(await client.upload("x", { fields: { share: second } }), 400, "invalid_field", "share");
  });

  test("errors mention nothing above the share", async () => {
    const { owner, guest, days, file, folder, share } = await createScene("write");
    const { client } = guest;
    const inner = await shareWith(owner.client, days, guest, { permissions: "write" });
    const responses = [
      await client.upload("x", { fields: { share, folder: "/rome.txt/x" } }),
      await client.post("/api/files/folders", { name: "x", path: "/rome.txt", share }),
      await client.put(`/api/files/folders/${days}`, { path: "/days/x" }),
      await client.post("/api/files/move", { fileIds: [days], destinationFolder: "/days", share }),
      await client.post("/api/files/move", { fileIds: [days], destinationFolder: "/", share: inner }),
      await client.post("/api/files/copy", { fileIds: [folder], destinationFolder: "/days", share }),
      await client.post("/api/files/copy", { fileIds: [folder], destinationFolder: "/", share: inner }),
      await client.put(`/api/files/${file}`, { name: "days" }),
      await client.put(`/api/files/${file}`, { folder: "/rome.txt" }),
      await client.post("/api/files/folders", { name: "days", share }),
    ];
    for (const response of responses) {
      expect([400, 403, 409]).toContain(response.status);
      expect(response.text).not.toMatch(/above|trips/);
    }
  });

  test("an Idempotency-Key applies once, and belongs to the caller", async () => {
    const { owner, guest, share } = await createScene("write");
    const upload = () =>
      guest.client.upload("once", { name: "once.txt", fields: { share }, headers: { "idempotency-key": "k1" } });
    const [first, second] = [await upload(), await upload()];
    expect(second.string("data.id")).toBe(first.string("data.id"));
    expect(second.at("data.folder")).toBe("/");
    const folder = () => guest.client.post("/api/files/folders", { name: "one", share }, { "idempotency-key": "k2" });
    expect((await folder()).string("data.id")).toBe((await folder()).string("data.id"));
    const own = await owner.client.upload("other", { name: "o.txt", headers: { "idempotency-key": "k1" } });
    expectStatus(own, 201);
    expect(await listNames(guest.client, share)).toEqual(["days", "one", "once.txt", "rome.txt"]);
  });

  test("counts in the owner's quota, and may exceed it", async () => {
    const owner = await server().addUser(["--quota", "1000"]);
    const guest = await server().addUser(["--quota", "500"]);
    const folder = await owner.client.folderId("box");
    await owner.client.storedId(randomContent(200), { name: "mine", fields: { folder: "/box" } });
    const share = await shareWith(owner.client, folder, guest, { permissions: "write" });
    const { client } = guest;
    // More than the guest's own quota, but less than the owner has left.
    const fits = await client.upload(randomContent(700), { name: "a", fields: { share } });
    expectStatus(fits, 201);
    const over = await client.upload(randomContent(200), { name: "b", fields: { share } });
    expectError(over, 413, "quota_exceeded");
    expect(over.at("error.details")).toEqual({ reason: "quota_exceeded", limit: 1000, plan: "enterprise" });
    const content = await client.putContent(fits.string("data.id"), randomContent(200));
    expectError(content, 413, "quota_exceeded");
    const own = await client.storedId(randomContent(150), { name: "own" });
    const copy = { fileIds: [own], destinationFolder: "/", share };
    expectError(await client.post("/api/files/copy", copy), 413, "quota_exceeded");
    // The quota of the guest's own account still applies there.
    expectError(await client.upload(randomContent(600), { name: "c" }), 413, "quota_exceeded");
    const back = { fileIds: [fits.string("data.id")], destinationFolder: "/" };
    expectError(await client.post("/api/files/copy", back), 413, "quota_exceeded");
    expect((await client.get("/api/users/usage")).number("data.storage.used")).toBe(150);
    expect((await owner.client.get("/api/users/usage")).number("data.storage.used")).toBe(900);
  });

  test("stays separate from other owners' shares", async () => {
    const [first, second] = [await createScene("write"), await createScene("write")];
    const other = await shareWith(second.owner.client, second.folder, first.guest, { permissions: "write" });
    const { client } = first.guest;
    const move = { fileIds: [first.file], destinationFolder: "/", share: other };
    expectError(await client.post("/api/files/move", move), 400, "invalid_request");
    expectStatus(await client.post("/api/files/copy", move), 201);
    expect(await second.owner.client.names("/above/trips")).toEqual(["days", "rome (1).txt", "rome.txt"]);
  });
});

describe("revocation", () => {
  test("ends all access at once, also to nested folders", async () => {
    const { owner, guest, share, folder, file, deep, days } = await createScene("write");
    const { client } = guest;
    expectStatus(await client.get(`/api/files/${deep}`), 200);
    expectStatus(await owner.client.delete(`/api/shares/${share}`), 200);
    for (const response of [
      await client.get(`/api/files/${file}`),
      await client.get(`/api/files/${deep}/download`),
      await client.get(`/api/files/${deep}/download?thumbnail=true`),
      await client.head(`/api/files/${deep}/download`),
      await client.get(`/api/files/${deep}/checksum`),
      await client.get(`/api/files/folders/${days}`),
      await client.get(`/api/files/folders/${folder}`),
      await client.get(`/api/files?share=${share}`),
      await client.putContent(file, "x"),
      await client.put(`/api/files/${file}`, { name: "x" }),
      await client.delete(`/api/files/${file}`),
      await client.upload("x", { fields: { share } }),
      await client.post("/api/files/copy", { fileIds: [file], destinationFolder: "/" }),
    ])
      expectStatus(response, 404);
  });

  test("ends uploads in progress, and stores none of their bytes", async () => {
    const { owner, guest, share, file } = await createScene("write");
    const slow = (started: () => void, resume: Promise<void>) =>
      new ReadableStream<Uint8Array>({
        async start(controller) {
          controller.enqueue(new Uint8Array(200_000).fill(97));
          started();
          await resume;
          controller.enqueue(new Uint8Array(10).fill(98));
          controller.close();
        },
      });
    const { promise: started, resolve: markStarted } = Promise.withResolvers<void>();
    const { promise: revoked, resolve: resume } = Promise.withResolvers<void>();
    const headers = { "content-type": "application/octet-stream" };
    const put = guest.client.request("PUT", `/api/files/${file}/content`, {
      body: slow(markStarted, revoked),
      headers,
    });
    await started;
    // Once the server responds to a later request, it has started with the upload.
    expectStatus(await guest.client.get(`/api/files/${file}`), 200);
    expectStatus(await owner.client.delete(`/api/shares/${share}`), 200);
    resume();
    expectError(await put, 404, "not_found");
    expect((await owner.client.get(`/api/files/${file}`)).at("data.version")).toBe(1);
  });

  test("of writing leaves reading, if the owner changes the share", async () => {
    const { owner, guest, share, file } = await createScene("write");
    expectStatus(await owner.client.request("PATCH", `/api/shares/${share}`, { json: { permissions: "read" } }), 200);
    expectError(await guest.client.putContent(file, "x"), 403, "share_permission");
    expectStatus(await guest.client.get(`/api/files/${file}`), 200);
  });

  test("also follows from moving the item out of the shared folder", async () => {
    const { owner, guest, deep } = await createScene();
    expectStatus(await guest.client.get(`/api/files/${deep}`), 200);
    await owner.client.post("/api/files/move", { fileIds: [deep], destinationFolder: "/above" });
    expectError(await guest.client.get(`/api/files/${deep}`), 404, "not_found");
  });
});

describe("DELETE /api/shares/received/{id}", () => {
  test("leaves a share; the owner may create it again", async () => {
    const { owner, guest, share, folder, file } = await createScene();
    const response = await guest.client.delete(`/api/shares/received/${share}`);
    expectStatus(response, 200);
    expect(response.at("data")).toEqual({ id: share });
    expectError(await guest.client.get(`/api/files/${file}`), 404, "not_found");
    expectError(await guest.client.delete(`/api/shares/received/${share}`), 404, "not_found");
    expectStatus(await owner.client.get(`/api/files/${file}`), 200);
    const again = await shareWith(owner.client, folder, guest);
    expect(await listReceived(guest.client)).toEqual([again]);
  });

  test("is for its recipient only", async () => {
    const { owner, guest, share } = await createScene();
    const stranger = await server().signUp();
    for (const client of [owner.client, stranger.client])
      expectError(await client.delete(`/api/shares/received/${share}`), 404, "not_found");
    expect(await listReceived(guest.client)).toEqual([share]);
  });
});

describe("a share for an email without an account", () => {
  let owner: Account;
  let folder: string;

  beforeAll(async () => {
    owner = await server().signUp({ name: "Olga Owner" });
    folder = await owner.client.folderId("waiting");
  });

  test("waits until an account is created with it, in any letter case", async () => {
    const email = freshEmail();
    const share = await shareWith(owner.client, folder, { email: email.toUpperCase() });
    const guest = await server().signUp({ email });
    expect(await listReceived(guest.client)).toEqual([share]);
    expectStatus(await guest.client.get(`/api/files/folders/${folder}`), 200);
    const inbox = await (await registerDevice(server(), guest)).client.get("/api/mobile/notifications");
    expect(inbox.text).toContain("Olga Owner");
  });

  test("is found by an account that the administrator creates while the server runs", async () => {
    const email = freshEmail();
    const share = await shareWith(owner.client, folder, { email });
    const password = "correct horse battery";
    const made = await server().larder(["user", "add", email, "--password-stdin"], { stdin: `${password}\n` });
    expect(made.code).toBe(0);
    const signedIn = await server().visitor.post("/api/auth/signin", { email, password });
    expect(await listReceived(new Client(server(), signedIn.string("token")))).toEqual([share]);
  });

  test("is not given to an account that changes to this email later", async () => {
    const email = freshEmail();
    await shareWith(owner.client, folder, { email });
    const { client, password } = await server().signUp();
    expectStatus(await client.put("/api/users/profile", { email, currentPassword: password }), 200);
    expect(await listReceived(client)).toEqual([]);
    expectError(await client.get(`/api/files/folders/${folder}`), 404, "not_found");
  });

  test("is gone if it has expired or was revoked in the meantime", async () => {
    const email = freshEmail();
    const share = await shareWith(owner.client, folder, { email });
    const expiresAt = soonExpiry();
    await shareWith(owner.client, folder, { email }, { expiresAt });
    expectStatus(await owner.client.delete(`/api/shares/${share}`), 200);
    await waitForExpiry(expiresAt);
    const guest = await server().signUp({ email });
    expect(await listReceived(guest.client)).toEqual([]);
  });

  test("stays with its account when the account changes its email", async () => {
    const guest = await server().signUp();
    const share = await shareWith(owner.client, folder, guest);
    const changed = { email: freshEmail(), currentPassword: guest.password };
    expectStatus(await guest.client.put("/api/users/profile", changed), 200);
    expect(await listReceived(guest.client)).toEqual([share]);
    const next = await server().signUp({ email: guest.email });
    expect(await listReceived(next.client)).toEqual([]);
  });

  test("ends with its recipient's account", async () => {
    const guest = await server().signUp();
    await shareWith(owner.client, folder, guest);
    expectStatus(await guest.client.delete("/api/users/profile", { password: guest.password }), 200);
    const next = await server().signUp({ email: guest.email });
    expect(await listReceived(next.client)).toEqual([]);
    expectError(await next.client.get(`/api/files/folders/${folder}`), 404, "not_found");
  });
});

describe("an erased owner", () => {
  test("shares nothing any more", async () => {
    const { owner, guest, file, share } = await createScene();
    expectStatus(await owner.client.delete("/api/users/profile", { password: owner.password }), 200);
    expect(await listReceived(guest.client)).toEqual([]);
    expectError(await guest.client.get(`/api/files/${file}`), 404, "not_found");
    expectError(await guest.client.get(`/api/files?share=${share}`), 404, "not_found");
  });
});

describe("the recipient's own tree", () => {
  test("a search finds at once what the owner has just changed", async () => {
    const { owner, guest } = await createScene();
    for (const name of ["paris.txt", "lisbon.txt", "vienna.txt"]) {
      await owner.client.storedId("x", { name, fields: { folder: "/above/trips" } });
      const found = await guest.client.get(`/api/files/search?q=${name.slice(0, -4)}`);
      expect(found.strings("data.files", "name")).toEqual([name]);
    }
  });

  test("is unchanged in listings, tags and usage; searches say whose the file is", async () => {
    const { guest, file } = await createScene("write");
    const { client } = guest;
    expect(await client.names("/", "&recursive=true")).toEqual([]);
    expect(await client.names("/", "&search=rome")).toEqual([]);
    const found = await client.get("/api/files/search?q=rome");
    expect(found.strings("data.files", "name")).toEqual(["rome.txt"]);
    expect(found.at("data.files.0.owner")).toMatchObject({ name: "Olga Owner" });
    expect((await client.get("/api/files/search?q=rome+in:/")).list("data.files")).toEqual([]);
    await client.put(`/api/files/${file}`, { tags: ["theirs"] });
    expect((await client.get("/api/files/tags")).list("data.tags")).toEqual([]);
    expect((await client.get("/api/users/usage")).at("data.storage")).toMatchObject({ used: 0, files: 0, folders: 0 });
  });
});

describe("sync", () => {
  test("contains nothing of it for the recipient, and everything for the owner", async () => {
    const { owner, guest, share } = await createScene("write");
    const ownerPhone = await registerDevice(server(), owner);
    const guestPhone = await registerDevice(server(), guest);
    const before = (await ownerPhone.client.get("/api/mobile/sync/status")).text;
    expect(before).toContain("rome.txt");
    const made = await guestPhone.client.upload("by phone", { name: "phone.txt", fields: { share } });
    expectStatus(made, 201);
    const sync = await ownerPhone.client.get("/api/mobile/sync");
    expect(sync.text).toContain("/above/trips");
    expect(sync.text).toContain("phone.txt");
    const own = await guestPhone.client.get("/api/mobile/sync");
    expectStatus(own, 200);
    expect(own.text).not.toMatch(/phone\.txt|rome|trips/);
  });
});

testAllResponses(server);
