// Photos by place: the nearest town of their position.
import { expect, test } from "bun:test";
import { shareWith } from "../support/account-shares.ts";
import type { ApiResponse, Client } from "../support/client.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { placedJpeg, tinyPng } from "../support/images.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

const LISBON = [38.7167, -9.1333] as const;
const PORTO = [41.1496, -8.611] as const;
const OCEAN = [0, -150] as const;

let seed = 0;

async function storePhoto(client: Client, [latitude, longitude]: readonly [number, number], folder = "/") {
  seed++;
  return client.storedId(await placedJpeg(seed, latitude, longitude), {
    name: `${seed}.jpg`,
    type: "image/jpeg",
    fields: { folder, capturedAt: `2024-05-${String(seed).padStart(2, "0")}T12:00:00Z` },
  });
}

/** The places, once all metadata is read. */
async function listPlaces(client: Client): Promise<ApiResponse> {
  let response: ApiResponse | undefined;
  await eventually("the places are known", async () => {
    response = await client.get("/api/photos/places");
    expectStatus(response, 200);
    return response.at("data.isSettling") === false;
  });
  if (response === undefined) throw new Error("There was no response.");
  return response;
}

test("groups photos by the nearest town, most photos first, and lists those of one place", async () => {
  const { client } = await server().signUp();
  const first = await storePhoto(client, LISBON);
  const newest = await storePhoto(client, [38.722, -9.139]);
  const porto = await storePhoto(client, PORTO);
  const ocean = await storePhoto(client, OCEAN);
  await client.stored(tinyPng(2, 2, [1, 2, 3]), { name: "nowhere.png", type: "image/png" });
  const places = (await listPlaces(client)).list("data.places");
  expect(places).toEqual([
    {
      id: "2267057",
      name: "Lisbon",
      region: "Lisbon",
      country: "PT",
      latitude: 38.72,
      longitude: -9.13,
      count: 2,
      coverFileId: newest,
      coverUrl: `${server().url}/api/files/${newest}/download?thumbnail=true`,
      hasCover: true,
    },
    expect.objectContaining({ id: "elsewhere", name: "", country: null, latitude: null, count: 1, coverFileId: ocean }),
    expect.objectContaining({ id: "2735943", name: "Porto", country: "PT", count: 1, coverFileId: porto }),
  ]);
  const lisbon = await client.get("/api/photos?place=2267057&limit=1");
  expect(lisbon.strings("data.photos", "id")).toEqual([newest]);
  const next = await client.get(`/api/photos?place=2267057&cursor=${lisbon.string("data.nextCursor")}`);
  expect(next.strings("data.photos", "id")).toEqual([first]);
  expect((await client.get("/api/photos?place=elsewhere")).strings("data.photos", "id")).toEqual([ocean]);
  expect((await client.get("/api/photos?place=1")).list("data.photos")).toEqual([]);
  const timeline = await client.get("/api/photos/timeline?place=2267057");
  expect(timeline.at("data.total")).toBe(2);
  expectError(await client.get("/api/photos?place=Lisbon"), 400, "invalid_field");
});

test("leaves out what is in the trash, also in a folder there, and what belongs to others", async () => {
  const { client } = await server().signUp();
  const other = (await server().signUp()).client;
  const single = await storePhoto(client, LISBON);
  await storePhoto(client, PORTO, "/trip");
  const remaining = await storePhoto(client, PORTO);
  expect((await listPlaces(client)).list("data.places")).toHaveLength(2);
  await client.delete(`/api/files/${single}`);
  const trip = (await client.get("/api/files?folder=/"))
    .list("data.files")
    .find((f) => Reflect.get(Object(f), "name") === "trip");
  expectStatus(
    await client.delete(`/api/files/folders/${String(Reflect.get(Object(trip), "id"))}?recursive=true`),
    200,
  );
  const places = (await listPlaces(client)).list("data.places");
  expect(places).toEqual([expect.objectContaining({ name: "Porto", count: 1, coverFileId: remaining })]);
  expect((await listPlaces(other)).list("data.places")).toEqual([]);
  expect((await other.get("/api/photos?place=2735943")).list("data.photos")).toEqual([]);
});

test("the owner sees the town of a photo, recipients of a share and visitors of a link do not", async () => {
  const { client } = await server().signUp();
  const friend = await server().signUp();
  const id = await storePhoto(client, LISBON, "/shared");
  await listPlaces(client);
  expect((await client.get(`/api/files/${id}`)).at("data.place")).toEqual({ id: "2267057", name: "Lisbon" });
  const folder = (await client.get("/api/files?folder=/")).strings("data.files", "id").at(0);
  await shareWith(client, String(folder), friend);
  const received = await friend.client.get(`/api/files/${id}`);
  expectStatus(received, 200);
  expect(received.at("data.place")).toBeNull();
  expect((await friend.client.get("/api/photos/places")).list("data.places")).toEqual([]);
  const link = await client.post(`/api/files/folders/${folder}/shares`, { hideLocation: true });
  const token = link.string("data.token");
  const listed = await server().visitor.get(`/api/public/${token}/files`);
  expectStatus(listed, 200);
  expect(JSON.stringify(listed.at("data"))).not.toContain("Lisbon");
});

test("a location in the metadata puts a photo at its place, unless the photo has its own position", async () => {
  const { client } = await server().signUp();
  const fields = { metadata: JSON.stringify({ location: "38.7167,-9.1333" }) };
  const plain = await client.storedId(tinyPng(2, 2, [7, 7, 7]), { name: "plain.png", type: "image/png", fields });
  const placed = await client.storedId(await placedJpeg(90, ...PORTO), { name: "p.jpg", type: "image/jpeg", fields });
  const idsAt = async (place: string) => (await client.get(`/api/photos?place=${place}`)).strings("data.photos", "id");
  await listPlaces(client);
  expect([await idsAt("2267057"), await idsAt("2735943")]).toEqual([[plain], [placed]]);
  expect((await client.get(`/api/files/${plain}`)).at("data.place")).toEqual({ id: "2267057", name: "Lisbon" });
  expectStatus(await client.put(`/api/files/${plain}`, { metadata: { location: "41.1496,-8.611" } }), 200);
  await listPlaces(client);
  expect([await idsAt("2267057"), (await idsAt("2735943")).toSorted()]).toEqual([[], [plain, placed].toSorted()]);
  expectStatus(await client.put(`/api/files/${plain}`, { metadata: { location: null } }), 200);
  await listPlaces(client);
  expect(await idsAt("2735943")).toEqual([placed]);
  expect((await client.get(`/api/files/${plain}`)).at("data.place")).toBeNull();
});
