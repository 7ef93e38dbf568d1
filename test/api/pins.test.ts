// Pins: the folders and albums that an account keeps in its sidebar.
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "../support/client.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer, withServer } from "../support/server.ts";

/** The pins of the only account in a data directory. */
function pinsIn(dataDir: string): unknown {
  const database = new Database(join(dataDir, "larder.db"), { readonly: true });
  try {
    return database.query("SELECT json_extract(settings, '$.pins[0]') AS pin FROM users").all().map(pinOf);
  } finally {
    database.close();
  }
}

function pinOf(row: unknown): unknown {
  return row !== null && typeof row === "object" && "pin" in row ? row.pin : undefined;
}

const server = sharedServer({ hasAccounts: true });

async function namesOf(client: Client): Promise<string[]> {
  const listed = await client.get("/api/pins");
  expectStatus(listed, 200);
  const pins = listed.at("data.pins");
  return Array.isArray(pins) ? pins.map(({ name }: { name: string }) => name) : [];
}

async function pin(client: Client, id: string, before?: string): Promise<void> {
  expectStatus(await client.put(`/api/pins/${id}`, before === undefined ? undefined : { before }), 200);
}

const newAlbum = async (client: Client, name: string) => (await client.post("/api/albums", { name })).string("data.id");

async function share(client: Client, path: string, settings: object): Promise<string> {
  const made = await client.post(`/api/${path}/shares`, settings);
  expectStatus(made, 201);
  return made.string("data.id");
}

describe("pins", () => {
  test("are folders and albums in the order of the account, with their current names", async () => {
    const { client } = await server().signUp();
    expect(await namesOf(client)).toEqual([]);
    const trips = await client.folderId("Trips");
    const inside = await client.folderId("Alps", "/Trips");
    const album = await newAlbum(client, "Best of");
    for (const id of [trips, album, inside]) await pin(client, id);
    expect(await namesOf(client)).toEqual(["Trips", "Best of", "Alps"]);
    await pin(client, inside, trips);
    await pin(client, trips);
    expect(await namesOf(client)).toEqual(["Alps", "Best of", "Trips"]);
    expectStatus(await client.put(`/api/files/folders/${trips}`, { name: "Travel" }), 200);
    const listed = await client.get("/api/pins");
    expect(listed.at("data.pins.0")).toEqual({
      id: inside,
      type: "folder",
      name: "Alps",
      path: "/Travel/Alps",
      owner: null,
    });
    expect(listed.at("data.pins.1")).toEqual({ id: album, type: "album", name: "Best of", owner: null });
    // Changes of the settings leave them alone, and don't show them.
    const settings = await client.put("/api/users/settings", { theme: "dark" });
    expect(settings.at("data.pins")).toBeUndefined();
    expectStatus(await client.delete(`/api/pins/${album}`), 200);
    expectStatus(await client.delete(`/api/pins/${album}`), 200);
    expect(await namesOf(client)).toEqual(["Alps", "Travel"]);
    // In the trash it is hidden; restored, it is back.
    expectStatus(await client.post("/api/files/trash", { fileIds: [trips] }), 200);
    expect(await namesOf(client)).toEqual([]);
    expectStatus(await client.post("/api/files/trash/restore", { fileIds: [trips] }), 200);
    expect(await namesOf(client)).toEqual(["Alps", "Travel"]);
  });

  test("are rejected for files, the root folder, unknown and foreign ids, and above the limit", async () => {
    const { client } = await server().signUp();
    const { client: other } = await server().signUp();
    const theirs = await other.folderId("Secret plans");
    const album = await newAlbum(other, "Secret pictures");
    for (const id of [theirs, album, "fld_unknown", "albm_unknown"]) {
      const response = await client.put(`/api/pins/${id}`);
      expectError(response, 404, "not_found");
      expect(response.text).not.toContain("Secret");
    }
    expectError(await client.put(`/api/pins/${await client.storedId("x")}`), 400, "invalid_field");
    const own = await client.folderId("own");
    expectError(await client.put(`/api/pins/${own}`, { before: theirs }), 400, "invalid_field");
    for (let number = 0; number < 50; number += 1) await pin(client, await client.folderId(`folder ${number}`));
    expectError(await client.put(`/api/pins/${own}`), 413, "quota_exceeded");
    // Deleted folders leave room.
    const first = (await client.get("/api/pins")).string("data.pins.0.id");
    expectStatus(await client.delete(`/api/files/folders/${first}`), 200);
    await pin(client, own);
    expect((await namesOf(client)).at(-1)).toBe("own");
  });

  test("of received folders and albums begin at the share, and are gone with it, name and all", async () => {
    const { client: owner, name: ownerName, id: ownerId } = await server().addUser([]);
    const { client, email } = await server().signUp();
    const holiday = await owner.folderId("Holiday");
    const inside = await owner.folderId("Day 1", "/Holiday");
    const album = await newAlbum(owner, "Best of");
    const received = await share(owner, `files/folders/${holiday}`, { user: email });
    const ofAlbum = await share(owner, `albums/${album}`, { user: email });
    for (const id of [holiday, inside, album]) await pin(client, id);
    const listed = await client.get("/api/pins");
    const by = { owner: { id: ownerId, name: ownerName, email: expect.any(String) } };
    expect(listed.at("data.pins")).toEqual([
      { id: holiday, type: "folder", name: "Holiday", path: "/", share: received, ...by },
      { id: inside, type: "folder", name: "Day 1", path: "/Day 1", share: received, ...by },
      { id: album, type: "album", name: "Best of", ...by },
    ]);
    // The pins of the recipient don't show to the owner.
    expect(await namesOf(owner)).toEqual([]);
    expectStatus(await owner.delete(`/api/shares/${ofAlbum}`), 200);
    expect(await namesOf(client)).toEqual(["Holiday", "Day 1"]);
    expectStatus(await owner.put(`/api/files/folders/${holiday}`, { name: "Renamed secretly" }), 200);
    expectStatus(await owner.delete(`/api/shares/${received}`), 200);
    const after = await client.get("/api/pins");
    expect(after.at("data.pins")).toEqual([]);
    for (const secret of ["Renamed", "Day 1", "Best of"]) expect(after.text).not.toContain(secret);
    expectError(await client.put(`/api/pins/${holiday}`), 404, "not_found");
    // What can't be opened can still be removed.
    expectStatus(await client.delete(`/api/pins/${album}`), 200);
    // An expired share, and one of a disabled owner.
    await share(owner, `files/folders/${holiday}`, { user: email, expiresIn: "1s" });
    await eventually("it expires", async () => (await namesOf(client)).length === 0);
    await share(owner, `files/folders/${holiday}`, { user: email });
    expect(await namesOf(client)).toEqual(["Renamed secretly", "Day 1"]);
    await server().change(ownerId, { disabled: true });
    expect(await namesOf(client)).toEqual([]);
  });

  test("can be changed by viewers, and only read by keys for reading", async () => {
    const { client, id, password } = await server().addUser([]);
    const folder = await client.folderId("own");
    await pin(client, folder);
    const key = async (...scopes: string[]) => {
      const made = await client.post("/api/users/api-keys", { name: scopes.join(), scopes, currentPassword: password });
      return new Client(server(), made.string("data.key"));
    };
    const reading = await key("files:read");
    expect(await namesOf(reading)).toEqual(["own"]);
    expectError(await reading.delete(`/api/pins/${folder}`), 403, "scope");
    const profile = await key("profile");
    expectError(await profile.get("/api/pins"), 403, "scope");
    expect((await profile.get("/api/users/settings")).text).not.toContain(folder);
    await server().change(id, { role: "viewer" });
    expect(await namesOf(client)).toEqual(["own"]);
    expectStatus(await client.delete(`/api/pins/${folder}`), 200);
    expect(await namesOf(client)).toEqual([]);
    await pin(client, folder);
    expect(await namesOf(client)).toEqual(["own"]);
  });

  test("are in the backup, and in a database rebuilt from the store", async () => {
    await withServer({}, async (own) => {
      const { client } = await own.signUp();
      const folder = await client.folderId("Trips");
      await client.storedId("x", { fields: { folder: "/Trips" } });
      await pin(client, folder);
      const target = `${own.dataDir}-backup`;
      const restored = `${own.dataDir}-restored`;
      try {
        expect((await own.larder(["backup", target])).code).toBe(0);
        expect((await own.larder(["restore", target, "--data", restored])).code).toBe(0);
        expect(pinsIn(restored)).toEqual([folder]);
      } finally {
        await Promise.all([target, restored].map((path) => rm(path, { recursive: true, force: true })));
      }
      await own.stop();
      expect((await own.larder(["rebuild", "--force"])).code).toBe(0);
      expect(pinsIn(own.dataDir)).toEqual([folder]);
    });
  });
});

testAllResponses(server);
