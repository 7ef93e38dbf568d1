import { describe, expect, test } from "bun:test";
import sharp from "sharp";
import type { ApiResponse, Client } from "../support/client.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { tinyPng } from "../support/images.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

let colours = 0;

/** A picture with bytes of its own, so that no other test stores the same blob. */
function picture(): Uint8Array {
  colours++;
  return tinyPng(2, 2, [colours % 256, Math.floor(colours / 256), 9]);
}

/** Stores a picture with the capture time that the client states. */
async function storePhoto(client: Client, name: string, capturedAt: string, fields: Record<string, string> = {}) {
  return client.storedId(picture(), { name, type: "image/png", fields: { capturedAt, ...fields } });
}

async function listNames(client: Client, query = ""): Promise<string[]> {
  const response = await client.get(`/api/photos${query}`);
  expectStatus(response, 200);
  return response.strings("data.photos", "name");
}

async function listDays(client: Client, query = ""): Promise<unknown> {
  const response = await client.get(`/api/photos/timeline${query}`);
  expectStatus(response, 200);
  return response.at("data.days");
}

describe("GET /api/photos", () => {
  test("lists photos and videos only, newest capture first", async () => {
    const { client } = await server().signUp();
    await storePhoto(client, "old.png", "2019-05-06T07:08:09Z");
    await storePhoto(client, "new.png", "2024-01-02T03:04:05+01:00");
    await storePhoto(client, "between.png", "2021-12-31T23:59:59-08:00");
    await client.stored("no picture", { name: "notes.txt" });
    await client.stored("<svg xmlns='http://www.w3.org/2000/svg'/>", { name: "drawing.svg", type: "image/svg+xml" });
    const response = await client.get("/api/photos");
    expectStatus(response, 200);
    expect(response.strings("data.photos", "name")).toEqual(["new.png", "between.png", "old.png"]);
    expect(response.strings("data.photos", "takenAt")).toEqual([
      "2024-01-02T03:04:05.000+01:00",
      "2021-12-31T23:59:59.000-08:00",
      "2019-05-06T07:08:09.000Z",
    ]);
    expect(response.at("data.nextCursor")).toBeNull();
    expect(response.at("data.isIndexing")).toBe(false);
    const [id = ""] = response.strings("data.photos", "id");
    expect(response.list("data.photos")[0]).toMatchObject({
      isVideo: false,
      mimeType: "image/png",
      durationSeconds: null,
      thumbnailUrl: `${server().url}/api/files/${id}/download?thumbnail=true`,
      hasThumbnail: true,
    });
  });

  test("returns the whole file records with full=true", async () => {
    const { client } = await server().signUp();
    await storePhoto(client, "a.png", "2020-01-01T00:00:00Z", { folder: "/album", tags: "sea" });
    const [item] = (await client.get("/api/files?folder=/album")).list("data.files");
    const [photo] = (await client.get("/api/photos")).list("data.photos");
    const [whole] = (await client.get("/api/photos?full=true")).list("data.photos");
    expect(whole).toEqual({ ...Object(photo), ...Object(item) });
    expect(photo).not.toHaveProperty("checksum");
    expect(whole).toMatchObject({ type: "file", folder: "/album", tags: ["sea"], isVideo: false });
  });

  test("uses the capture time embedded in the picture if the client states none, and returns its dimensions", async () => {
    const { client } = await server().signUp();
    const exif = { IFD2: { DateTimeOriginal: "2017:07:01 23:30:00", OffsetTimeOriginal: "+02:00" } };
    colours++;
    const background = { r: colours % 256, g: 3, b: 77 };
    const bytes = await sharp({ create: { width: 40, height: 20, channels: 3, background } })
      .withExif(exif)
      .jpeg()
      .toBuffer();
    await client.stored(new Uint8Array(bytes), { name: "own.jpg", fields: { fileModifiedAt: "2022-02-02T02:02:02Z" } });
    let response: ApiResponse | undefined;
    await eventually("the metadata was read", async () => {
      response = await client.get("/api/photos");
      return response.list("data.photos").some((photo) => Reflect.get(Object(photo), "width") === 40);
    });
    expect(response?.list("data.photos")[0]).toMatchObject({
      width: 40,
      height: 20,
      takenAt: "2017-07-01T23:30:00.000+02:00",
    });
    // The day at the place of capture, not in UTC and not the file's.
    expect(await listDays(client)).toEqual([{ date: "2017-07-01", count: 1 }]);
  });

  test("falls back to the file's modification time, then to the upload time", async () => {
    const { client } = await server().signUp();
    await client.stored(picture(), { name: "modified.png", fields: { fileModifiedAt: "2015-03-04T05:06:07+09:00" } });
    const today = new Date().toISOString().slice(0, 4);
    await client.stored(picture(), { name: "plain.png" });
    const response = await client.get("/api/photos");
    expect(response.strings("data.photos", "name")).toEqual(["plain.png", "modified.png"]);
    const [plain = "", modified = ""] = response.strings("data.photos", "takenAt");
    expect(plain.startsWith(today)).toBe(true);
    expect(modified).toBe("2015-03-04T05:06:07.000+09:00");
  });

  test("continues pages where they stopped, also when photos are added and deleted in between", async () => {
    const { client } = await server().signUp();
    const ids: string[] = [];
    for (let day = 1; day <= 6; day++) ids.push(await storePhoto(client, `${day}.png`, `2020-01-0${day}T12:00:00Z`));
    const first = await client.get("/api/photos?limit=2");
    expect(first.strings("data.photos", "name")).toEqual(["6.png", "5.png"]);
    await storePhoto(client, "newer.png", "2021-01-01T00:00:00Z");
    // The photo at which the page ended, and one of the next page.
    await client.delete(`/api/files/${ids[4]}`);
    await client.delete(`/api/files/${ids[2]}`);
    const cursor = first.string("data.nextCursor");
    const second = await client.get(`/api/photos?limit=2&cursor=${cursor}`);
    expect(second.strings("data.photos", "name")).toEqual(["4.png", "2.png"]);
    const third = await client.get(`/api/photos?limit=2&cursor=${second.string("data.nextCursor")}`);
    expect(third.strings("data.photos", "name")).toEqual(["1.png"]);
    expect(third.at("data.nextCursor")).toBeNull();
  });

  test("returns each photo of the same second once", async () => {
    const { client } = await server().signUp();
    const ids = new Set<string>();
    for (let index = 0; index < 5; index++) ids.add(await storePhoto(client, `${index}.png`, "2020-01-01T00:00:00Z"));
    const seen: string[] = [];
    for (let query = "?limit=2"; query !== ""; ) {
      const response = await client.get(`/api/photos${query}`);
      seen.push(...response.strings("data.photos", "id"));
      const isLast = response.at("data.nextCursor") === null;
      query = isLast ? "" : `?limit=2&cursor=${response.string("data.nextCursor")}`;
    }
    expect(seen.toSorted()).toEqual([...ids].toSorted());
  });

  test("begins at a day, a month or a year", async () => {
    const { client } = await server().signUp();
    await storePhoto(client, "2019.png", "2019-08-08T00:00:00Z");
    await storePhoto(client, "feb28.png", "2020-02-28T23:59:59Z");
    await storePhoto(client, "feb29.png", "2020-02-29T23:59:59+05:00");
    await storePhoto(client, "march.png", "2020-03-01T00:00:00Z");
    await storePhoto(client, "2021.png", "2021-01-01T00:00:00Z");
    expect(await listNames(client, "?at=2020-02-28")).toEqual(["feb28.png", "2019.png"]);
    expect(await listNames(client, "?at=2020-02")).toEqual(["feb29.png", "feb28.png", "2019.png"]);
    expect(await listNames(client, "?at=2020&limit=1")).toEqual(["march.png"]);
    expect(await listNames(client, "?at=2018")).toEqual([]);
  });

  test("filters by type, labels and folder", async () => {
    const { client } = await server().signUp();
    await storePhoto(client, "a.png", "2020-01-01T00:00:00Z", { folder: "/in/deep", tags: "sea, sun" });
    await storePhoto(client, "b.png", "2020-01-02T00:00:00Z", { folder: "/in", tags: "Sea" });
    await storePhoto(client, "c.png", "2020-01-03T00:00:00Z", { folder: "/out", tags: "sun" });
    await client.stored(new Uint8Array([0, 0, 0, 24, ...Buffer.from("ftypisom0000isommp42")]), {
      name: "film.mp4",
      type: "video/mp4",
      fields: { capturedAt: "2020-01-04T00:00:00Z", folder: "/out" },
    });
    expect(await listNames(client)).toEqual(["film.mp4", "c.png", "b.png", "a.png"]);
    expect(await listNames(client, "?type=video")).toEqual(["film.mp4"]);
    expect(await listNames(client, "?type=photo&folder=/out")).toEqual(["c.png"]);
    expect(await listNames(client, "?folder=/in")).toEqual(["b.png", "a.png"]);
    expect(await listNames(client, "?tags=SEA")).toEqual(["b.png", "a.png"]);
    expect(await listNames(client, "?tags=sea,sun")).toEqual(["a.png"]);
    expect(await listNames(client, "?tags=unheard")).toEqual([]);
    expect(await listDays(client, "?tags=sun")).toEqual([
      { date: "2020-01-03", count: 1 },
      { date: "2020-01-01", count: 1 },
    ]);
  });

  test("leaves out photos in the trash, alone or with their folder, and lists them after a restore", async () => {
    const { client } = await server().signUp();
    const alone = await storePhoto(client, "alone.png", "2020-01-01T00:00:00Z");
    await storePhoto(client, "below.png", "2020-01-02T00:00:00Z", { folder: "/trip/day" });
    await storePhoto(client, "stays.png", "2020-01-02T00:00:00Z");
    const [folder = ""] = (await client.get("/api/files?type=folder")).strings("data.files", "id");
    expectStatus(await client.post("/api/files/trash", { fileIds: [alone, folder] }), 200);
    expect(await listNames(client)).toEqual(["stays.png"]);
    expect(await listDays(client)).toEqual([{ date: "2020-01-02", count: 1 }]);
    expectStatus(await client.post("/api/files/trash/restore", { fileIds: [alone, folder] }), 200);
    expect(await listNames(client)).toHaveLength(3);
    expect(await listDays(client)).toEqual([
      { date: "2020-01-02", count: 2 },
      { date: "2020-01-01", count: 1 },
    ]);
    expectStatus(await client.delete(`/api/files/folders/${folder}?recursive=true`), 200);
    expect((await listNames(client)).toSorted()).toEqual(["alone.png", "stays.png"]);
  });

  test("lists a file once its content becomes a picture, until it is replaced by text", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("text", { name: "changing" });
    expect(await listNames(client)).toEqual([]);
    expectStatus(await client.putContent(id, picture()), 200);
    expect(await listNames(client)).toEqual(["changing"]);
    expectStatus(await client.putContent(id, "text again"), 200);
    expect(await listNames(client)).toEqual([]);
  });

  test("lists no photos of other accounts, shared or not", async () => {
    const [owner, other] = [await server().signUp(), await server().signUp()];
    const id = await storePhoto(owner.client, "mine.png", "2020-01-01T00:00:00Z", { folder: "/private" });
    expectStatus(await owner.client.post(`/api/files/${id}/shares`, { user: other.email }), 201);
    expect(await listNames(other.client)).toEqual([]);
    expect(await listDays(other.client)).toEqual([]);
    expectError(await other.client.get("/api/photos?folder=/private"), 404, "not_found");
    expect(
      await listNames(other.client, `?cursor=${Buffer.from("9999999999999.999999").toString("base64url")}`),
    ).toEqual([]);
  });

  test.each([
    "limit=0",
    "limit=1001",
    "limit=x",
    "type=song",
    "at=2020-13",
    "at=2020-02-30",
    "at=yesterday",
    "at=",
    "cursor=",
    "cursor=%F0%9F%A6%86",
    "cursor=LTEuLTE",
    "at=2020&cursor=MS4x",
    `tags=${"x".repeat(65)}`,
  ])("refuses %s", async (query) => {
    const { client } = await server().signUp();
    expectError(await client.get(`/api/photos?${query}`), 400, "invalid_field");
  });
});

describe("GET /api/photos/timeline", () => {
  test("counts each day, newest first, and follows every change at once", async () => {
    const { client } = await server().signUp();
    expect(await listDays(client)).toEqual([]);
    await storePhoto(client, "a.png", "2020-01-01T01:00:00Z");
    await storePhoto(client, "b.png", "2020-01-01T23:59:59+10:00");
    const id = await storePhoto(client, "c.png", "1969-12-31T12:00:00Z");
    const { isSettling, ...counted } = Object((await client.get("/api/photos/timeline")).at("data"));
    expect(isSettling).toBeBoolean();
    expect(counted).toEqual({
      days: [
        { date: "2020-01-01", count: 2 },
        { date: "1969-12-31", count: 1 },
      ],
      total: 3,
      isIndexing: false,
    });
    expectStatus(await client.delete(`/api/files/${id}`), 200);
    expect(await listDays(client)).toEqual([{ date: "2020-01-01", count: 2 }]);
  });

  test("marks days as settling until the embedded capture time is read", async () => {
    const { client } = await server().signUp();
    const exif = { IFD2: { DateTimeOriginal: "2016:02:29 12:00:00", OffsetTimeOriginal: "+01:00" } };
    const background = { r: 9, g: 8, b: 201 };
    const bytes = await sharp({ create: { width: 12, height: 12, channels: 3, background } })
      .withExif(exif)
      .jpeg()
      .toBuffer();
    await client.stored(new Uint8Array(bytes), { name: "leap.jpg", type: "image/jpeg" });
    let listed: unknown;
    await eventually("the day is final", async () => {
      const response = await client.get("/api/photos/timeline");
      listed = response.at("data.days");
      return response.at("data.isSettling") === false;
    });
    expect(listed).toEqual([{ date: "2016-02-29", count: 1 }]);
  });

  test("rejects an unknown type", async () => {
    const { client } = await server().signUp();
    expectError(await client.get("/api/photos/timeline?type=song"), 400, "invalid_field");
  });
});

/** Stores a picture of this size. */
async function storeSized(client: Client, size: { width: number; height: number }, capturedAt: string) {
  colours++;
  const background = { r: colours % 256, g: 5, b: 99 };
  const bytes = await sharp({ create: { ...size, channels: 3, background } })
    .jpeg()
    .toBuffer();
  return client.storedId(new Uint8Array(bytes), {
    name: `${capturedAt.slice(0, 19)}.jpg`,
    type: "image/jpeg",
    fields: { capturedAt },
  });
}

describe("GET /api/photos/aspects", () => {
  test("returns the shape of each photo, in the order of the list, in pages that continue within a day", async () => {
    const { client } = await server().signUp();
    await storeSized(client, { width: 40, height: 30 }, "2020-01-02T12:00:00Z");
    await storeSized(client, { width: 30, height: 40 }, "2020-01-02T11:00:00Z");
    await storeSized(client, { width: 30, height: 30 }, "2020-01-01T11:00:00Z");
    const days = [
      { date: "2020-01-02", aspects: [133, 75] },
      { date: "2020-01-01", aspects: [100] },
    ];
    let response: ApiResponse | undefined;
    await eventually("the sizes are known", async () => {
      response = await client.get("/api/photos/aspects");
      expectStatus(response, 200);
      return JSON.stringify(response.at("data.days")) === JSON.stringify(days);
    });
    expect(response?.at("data")).toEqual({ days, nextCursor: null });
    const first = await client.get("/api/photos/aspects?limit=1");
    expect(first.at("data.days")).toEqual([{ date: "2020-01-02", aspects: [133] }]);
    const rest = await client.get(`/api/photos/aspects?cursor=${first.string("data.nextCursor")}`);
    expect(rest.at("data.days")).toEqual([{ date: "2020-01-02", aspects: [75] }, days[1]]);
    expect((await client.get("/api/photos/aspects?at=2020-01-01")).at("data.days")).toEqual([days[1]]);
    expect((await client.get("/api/photos/aspects?type=video")).at("data.days")).toEqual([]);
  });

  test("returns shapes as displayed, and 0 for those it does not know", async () => {
    const { client } = await server().signUp();
    const bytes = await sharp({ create: { width: 60, height: 20, channels: 3, background: { r: 1, g: 2, b: 250 } } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    await client.stored(new Uint8Array(bytes), { name: "turned.jpg", fields: { capturedAt: "2020-01-01T00:00:00Z" } });
    await client.stored(new Uint8Array([0, 0, 0, 24, ...Buffer.from("ftypisom0000isommp42")]), {
      name: "film.mp4",
      type: "video/mp4",
      fields: { capturedAt: "2020-01-02T00:00:00Z" },
    });
    await eventually("the orientation is applied", async () => {
      const found = JSON.stringify((await client.get("/api/photos/aspects")).at("data.days"));
      return found === '[{"date":"2020-01-02","aspects":[0]},{"date":"2020-01-01","aspects":[33]}]';
    });
  });

  test.each(["limit=0", "limit=5001", "at=yesterday", "cursor=", "type=song"])("refuses %s", async (query) => {
    const { client } = await server().signUp();
    expectError(await client.get(`/api/photos/aspects?${query}`), 400, "invalid_field");
  });
});

describe("GET /api/photos/memories", () => {
  async function listMemories(client: Client, date: string): Promise<unknown> {
    const response = await client.get(`/api/photos/memories?date=${date}`);
    expectStatus(response, 200);
    return response
      .list("data.memories")
      .map((memory) => [Reflect.get(Object(memory), "date"), Reflect.get(Object(memory), "count")]);
  }

  test("returns the photos of the same local date in earlier years, latest first", async () => {
    const { client } = await server().signUp();
    await storePhoto(client, "today.png", "2024-07-01T12:00:00Z");
    await storePhoto(client, "evening.png", "2023-07-01T23:30:00-08:00");
    await storePhoto(client, "morning.png", "2023-07-01T00:30:00+09:00");
    await storePhoto(client, "old.png", "1998-07-01T12:00:00Z");
    await storePhoto(client, "before.png", "2022-06-30T23:59:59Z");
    await storePhoto(client, "after.png", "2022-07-02T00:00:00Z");
    const response = await client.get("/api/photos/memories?date=2024-07-01");
    expect(await listMemories(client, "2024-07-01")).toEqual([
      ["2023-07-01", 2],
      ["1998-07-01", 1],
    ]);
    expect(response.strings("data.memories.0.photos", "name")).toEqual(["evening.png", "morning.png"]);
    expect(await listMemories(client, "2025-07-01")).toEqual([
      ["2024-07-01", 1],
      ["2023-07-01", 2],
      ["1998-07-01", 1],
    ]);
    expect(await listMemories(client, "1990-07-01")).toEqual([]);
  });

  test("returns a few photos of a day with many, and none that are in the trash or of others", async () => {
    const { client } = await server().signUp();
    const ids: string[] = [];
    for (let hour = 10; hour < 18; hour++) {
      ids.push(await storePhoto(client, `${hour}.png`, `2020-03-04T${hour}:00:00Z`, { folder: "/trip" }));
    }
    expectStatus(await client.post("/api/files/trash", { fileIds: [ids.at(-1)] }), 200);
    const response = await client.get("/api/photos/memories?date=2021-03-04");
    expect(response.at("data.memories.0.count")).toBe(7);
    expect(response.strings("data.memories.0.photos", "name")).toEqual(
      [16, 15, 14, 13, 12, 11].map((at) => `${at}.png`),
    );
    const [folder = ""] = (await client.get("/api/files?type=folder")).strings("data.files", "id");
    expectStatus(await client.post("/api/files/trash", { fileIds: [folder] }), 200);
    expect(await listMemories(client, "2021-03-04")).toEqual([]);
    const other = await server().signUp();
    await client.post("/api/files/trash/restore", { fileIds: [folder] });
    expect(await listMemories(other.client, "2021-03-04")).toEqual([]);
  });

  test("remembers 29 February on 28 February of a year without it", async () => {
    const { client } = await server().signUp();
    await storePhoto(client, "leap.png", "2020-02-29T12:00:00Z");
    await storePhoto(client, "28.png", "2020-02-28T12:00:00Z");
    const leapDay = ["2020-02-29", 1];
    const dayBefore = ["2020-02-28", 1];
    expect(await listMemories(client, "2023-02-28")).toEqual([leapDay, dayBefore]);
    expect(await listMemories(client, "2024-02-28")).toEqual([dayBefore]);
    expect(await listMemories(client, "2024-02-29")).toEqual([leapDay]);
    expect(await listMemories(client, "2023-03-01")).toEqual([]);
  });

  test.each(["", "date=", "date=07-01", "date=2023-02-29", "date=today"])("refuses %p", async (query) => {
    const { client } = await server().signUp();
    expectError(await client.get(`/api/photos/memories?${query}`), 400, "invalid_field");
  });
});

testAllResponses(server);
