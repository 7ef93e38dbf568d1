// Marks in lists: which of an account's files and folders it shares, and how.
import { expect, test } from "bun:test";
import type { Client } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { jpegPhoto } from "../support/images.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

async function share(client: Client, path: string, settings: object = {}): Promise<string> {
  const made = await client.post(`/api/${path}/shares`, settings);
  expectStatus(made, 201);
  return made.string("data.id");
}

/** The marks of a list by the names of its entries. */
async function marksIn(client: Client, path: string, field = "files"): Promise<Record<string, unknown>> {
  const list = await client.get(path);
  expectStatus(list, 200);
  const entries = list.at(`data.${field}`);
  if (!Array.isArray(entries)) throw new Error(`${path} has no list ${field}`);
  return Object.fromEntries(
    entries.map((entry: { name: string; shared?: unknown }) => [entry.name, entry.shared ?? null]),
  );
}

const mark = (counts: object) => ({ links: 0, people: 0, dropBoxes: 0, expiresAt: null, ...counts });

test("files and folders in lists say how they are shared, and only the shared folder itself", async () => {
  const { client } = await server().signUp();
  const { email } = await server().signUp();
  const folder = await client.folderId("trip");
  const inside = await client.storedId("x", { name: "inside.txt", fields: { folder: "/trip" } });
  const file = await client.storedId("y", { name: "both.txt" });
  const published = await client.storedId("z", { name: "public.txt", fields: { isPublic: "true" } });
  await client.storedId("w", { name: "own.txt" });
  await share(client, `files/folders/${folder}`, { permissions: "upload" });
  const account = await share(client, `files/${file}`, { user: email });
  await share(client, `files/${file}`, { expiresAt: "2100-01-01T00:00:00.000Z" });
  await share(client, `files/${file}`, { expiresAt: "2099-01-01T00:00:00.000Z" });
  const short = await share(client, `files/${inside}`, { expiresIn: "1s" });
  expect(published).not.toBe("");
  const all = {
    trip: mark({ dropBoxes: 1 }),
    "both.txt": mark({ links: 2, people: 1, expiresAt: "2099-01-01T00:00:00.000Z" }),
    "public.txt": mark({ links: 1 }),
    "own.txt": null,
  };
  expect(await marksIn(client, "/api/files")).toEqual(all);
  expect((await client.get(`/api/files/folders/${folder}`)).at("data.shared")).toEqual(all.trip);
  await eventually(
    "the search finds it",
    async () => "both.txt" in (await marksIn(client, "/api/files/search?q=both")),
  );
  expect(await marksIn(client, "/api/files/search?q=both")).toEqual({ "both.txt": all["both.txt"] });
  expectStatus(await client.post("/api/favorites", { ids: [file, folder], favorite: true }), 200);
  expect(await marksIn(client, "/api/favorites", "favorites")).toEqual({ trip: all.trip, "both.txt": all["both.txt"] });
  const album = (await client.post("/api/albums", { name: "Best", fileIds: [file] })).string("data.id");
  expect(await marksIn(client, `/api/albums/${album}/items`, "items")).toEqual({ "both.txt": all["both.txt"] });
  // An ended share is no mark; the shares of the folder are listed with the file.
  await eventually("it expires", async () => (await marksIn(client, "/api/files?folder=/trip"))["inside.txt"] === null);
  const shares = await client.get(`/api/files/${inside}/shares`);
  expect(shares.at("data.inherited")).toEqual([{ id: folder, name: "trip", path: "/trip", ...all.trip }]);
  expect((await client.get(`/api/files/folders/${folder}/shares`)).at("data.inherited")).toEqual([]);
  expect(short).not.toBe("");
  expectStatus(await client.delete(`/api/shares/${account}`), 200);
  expect((await marksIn(client, "/api/files"))["both.txt"]).toMatchObject({ people: 0 });
});

test("photos say how they are shared", async () => {
  const { client } = await server().signUp();
  const photo = await client.storedId(await jpegPhoto(40, 30), { name: "a.jpg" });
  await share(client, `files/${photo}`);
  await eventually("it is in the library", async () => "a.jpg" in (await marksIn(client, "/api/photos", "photos")));
  for (const query of ["", "?full=true"]) {
    expect(await marksIn(client, `/api/photos${query}`, "photos")).toEqual({ "a.jpg": mark({ links: 1 }) });
  }
});

test("recipients don't see how the owner shares, and the owner not how a recipient's own files are shared", async () => {
  const { client: owner } = await server().signUp();
  const { client: recipient, email } = await server().signUp();
  const { email: other } = await server().signUp();
  const folder = await owner.folderId("trip");
  const inside = await owner.storedId("x", { name: "inside.txt", fields: { folder: "/trip" } });
  const received = await share(owner, `files/folders/${folder}`, { user: email, permissions: "write" });
  await share(owner, `files/folders/${folder}`, { user: other });
  await share(owner, `files/${inside}`, {});
  // The recipient shares something too, so that their marks are read.
  await share(recipient, `files/${await recipient.storedId("mine", { name: "mine.txt" })}`);
  expect(await marksIn(recipient, `/api/files?share=${received}`)).toEqual({ "inside.txt": null });
  expect((await recipient.get("/api/shares/received")).at("data.shares.0.folder.shared") ?? null).toBeNull();
  expect((await recipient.get(`/api/files/folders/${folder}`)).at("data.shared")).toBeNull();
  expectStatus(await recipient.post("/api/favorites", { ids: [inside], favorite: true }), 200);
  expect(await marksIn(recipient, "/api/favorites", "favorites")).toEqual({ "inside.txt": null });
  expectStatus(await recipient.get(`/api/files/${inside}/shares`), 403);
});

testAllResponses(server);
