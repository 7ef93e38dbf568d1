// Live Photos: a photo and its video are one item.
import { describe, expect, test } from "bun:test";
import { shareWith } from "../support/account-shares.ts";
import type { Client } from "../support/client.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import {
  type LiveOptions,
  liveVideo,
  livePhoto,
  microVideo,
  motionPhoto,
  samsungPhoto,
} from "../support/live-photos.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

const TAKEN_AT = "2024:05:06 07:08:09";
let color = 0;

interface Item {
  readonly id: string;
  readonly name: string;
  readonly motion: string | null;
  readonly motionFileId: string | null;
}

const storePhoto = async (client: Client, name: string, options: LiveOptions, folder = "/") =>
  client.storedId(await livePhoto(++color, options), { name, type: "image/jpeg", fields: { folder } });
const storeVideo = async (client: Client, name: string, options: LiveOptions & { seconds?: number }, folder = "/") =>
  client.storedId(liveVideo(options.seconds ?? 2.5, options, Buffer.alloc(300 + ++color, 7)), {
    name,
    type: "video/quicktime",
    fields: { folder },
  });

/** The items, oldest name first, once all metadata is read and all pairs are found. */
async function listItems(client: Client): Promise<Item[]> {
  await eventually("all pairs are found", async () => {
    const response = await client.get("/api/photos/timeline");
    expectStatus(response, 200);
    return response.at("data.isSettling") === false;
  });
  const listed = (await client.get("/api/photos?full=true")).list("data.photos") as Item[];
  const total = (await client.get("/api/photos/timeline")).at("data.total");
  expect(total).toBe(listed.length);
  return listed
    .map(({ id, name, motion, motionFileId }) => ({ id, name, motion, motionFileId }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** What the record of a file says about its video. */
async function motionOf(client: Client, id: string) {
  const info = await client.get(`/api/files/${id}`);
  return [info.at("data.motion"), info.at("data.motionFileId")];
}

describe("a pair of files", () => {
  test.concurrent("in the trash is restored as a whole, and reveals nothing to other accounts", async () => {
    const { client } = await server().signUp();
    const contentId = crypto.randomUUID();
    const photo = await storePhoto(client, "A.JPG", { contentId, takenAt: TAKEN_AT });
    const video = await storeVideo(client, "A.MOV", { contentId });
    await listItems(client);
    expectStatus(await client.post("/api/files/trash", { fileIds: [photo, video] }), 200);
    const other = await (await server().signUp()).client.post("/api/files/trash/restore", { fileIds: [photo] });
    expectStatus(other, 404);
    expect(other.text).not.toContain(video);
    const restored = await client.post("/api/files/trash/restore", { fileIds: [photo] });
    expect(restored.strings("data.restored", "id").toSorted()).toEqual([photo, video].toSorted());
  });

  test.concurrent("with the identifier of Apple is one item, in either order of arrival", async () => {
    const { client } = await server().signUp();
    const [one, two] = [crypto.randomUUID(), crypto.randomUUID()];
    const photo = await storePhoto(client, "A.JPG", { contentId: one, takenAt: TAKEN_AT });
    expect(await listItems(client)).toEqual([{ id: photo, name: "A.JPG", motion: null, motionFileId: null }]);
    const video = await storeVideo(client, "A.MOV", { contentId: one.toUpperCase() });
    const early = await storeVideo(client, "other.MOV", { contentId: two, seconds: 30 });
    expect((await listItems(client)).map(({ name }) => name)).toEqual(["A.JPG", "other.MOV"]);
    const late = await storePhoto(client, "B.JPG", { contentId: two });
    expect(await listItems(client)).toEqual([
      { id: photo, name: "A.JPG", motion: "pair", motionFileId: video },
      { id: late, name: "B.JPG", motion: "pair", motionFileId: early },
    ]);
    // The videos are still files.
    expect((await client.get("/api/files?folder=/")).list("data.files")).toHaveLength(4);
  });

  test.concurrent("with the same name and time is one item; a long video, another time or name is not", async () => {
    const { client } = await server().signUp();
    const photo = await storePhoto(client, "IMG_1.jpg", { takenAt: TAKEN_AT });
    const video = await storeVideo(client, "img_1.MOV", { takenAt: "2024:05:06 07:08:11" });
    await storePhoto(client, "IMG_2.jpg", { takenAt: TAKEN_AT });
    await storeVideo(client, "IMG_2.mov", { takenAt: TAKEN_AT, seconds: 9 });
    await storePhoto(client, "IMG_3.jpg", { takenAt: TAKEN_AT });
    await storeVideo(client, "IMG_3.mov", { takenAt: "2024:05:06 08:08:09" });
    await storePhoto(client, "IMG_4.jpg", { takenAt: TAKEN_AT }, "/elsewhere");
    await storeVideo(client, "IMG_4.mov", { takenAt: TAKEN_AT });
    const items = await listItems(client);
    expect(items).toHaveLength(7);
    expect(items.filter(({ motion }) => motion !== null)).toEqual([
      { id: photo, name: "IMG_1.jpg", motion: "pair", motionFileId: video },
    ]);
  });

  test.concurrent("ends when a half is renamed, replaced, moved or deleted, and begins again when it is back", async () => {
    const { client } = await server().signUp();
    const photo = await storePhoto(client, "A.jpg", { takenAt: TAKEN_AT });
    const video = await storeVideo(client, "A.mov", { takenAt: TAKEN_AT });
    const paired = [{ id: photo, name: "A.jpg", motion: "pair", motionFileId: video }];
    const names = async () => (await listItems(client)).map(({ name }) => name);
    expect(await listItems(client)).toEqual(paired);
    await client.put(`/api/files/${video}`, { name: "B.mov" });
    expect(await names()).toEqual(["A.jpg", "B.mov"]);
    await client.put(`/api/files/${video}`, { name: "A.mov" });
    expect(await listItems(client)).toEqual(paired);
    await client.put(`/api/files/${photo}`, { folder: "/moved" });
    expect(await names()).toEqual(["A.jpg", "A.mov"]);
    await client.put(`/api/files/${video}`, { folder: "/moved" });
    expect(await listItems(client)).toEqual(paired);
    await client.putContent(video, liveVideo(60, { takenAt: TAKEN_AT }));
    expect(await names()).toEqual(["A.jpg", "A.mov"]);
    await client.putContent(video, liveVideo(1, { takenAt: TAKEN_AT }));
    expect(await listItems(client)).toEqual(paired);
    expectStatus(await client.post("/api/files/trash", { fileIds: [photo] }), 200);
    expect(await names()).toEqual(["A.mov"]);
    expectStatus(await client.post("/api/files/trash/restore", { fileIds: [photo] }), 200);
    expect(await listItems(client)).toEqual(paired);
    expectStatus(await client.delete(`/api/files/${photo}`), 200);
    expect(await names()).toEqual(["A.mov"]);
  });

  test.concurrent("never has a sound file", async () => {
    const { client } = await server().signUp();
    const contentId = crypto.randomUUID();
    const photo = await storePhoto(client, "A.jpg", { contentId, takenAt: TAKEN_AT });
    const sound = Buffer.from(liveVideo(2, { contentId, takenAt: TAKEN_AT }, Buffer.alloc(300 + ++color, 7)));
    // The brand of sound files; everything else is as in the video of a pair.
    sound.write("M4A ", 8, "latin1");
    const id = await client.storedId(sound, { name: "A.m4a", type: "audio/mp4" });
    expect((await client.get(`/api/files/${id}`)).string("data.mimeType")).toStartWith("audio/");
    expect(await listItems(client)).toEqual([{ id: photo, name: "A.jpg", motion: null, motionFileId: null }]);
    expectError(await client.get(`/api/files/${photo}/motion`), 404, "not_found");
  });

  test.concurrent("goes to the trash and comes back as one", async () => {
    const { client } = await server().signUp();
    const photo = await storePhoto(client, "A.jpg", { takenAt: TAKEN_AT });
    const video = await storeVideo(client, "A.mov", { takenAt: TAKEN_AT });
    expect(await listItems(client)).toHaveLength(1);
    expectStatus(await client.post("/api/files/trash", { fileIds: [photo, video] }), 200);
    expect(await listItems(client)).toEqual([]);
    const restored = await client.post("/api/files/trash/restore", { fileIds: [photo] });
    expect(restored.strings("data.restored", "id")).toEqual([photo, video]);
    expect(await listItems(client)).toEqual([{ id: photo, name: "A.jpg", motion: "pair", motionFileId: video }]);
  });
});

describe("a pair in two folders", () => {
  /** A photo in `/photos` and its video in `/videos`. */
  async function makePair() {
    const { client } = await server().signUp();
    const contentId = crypto.randomUUID();
    const [photos, videos] = [await client.folderId("photos"), await client.folderId("videos")];
    const photo = await storePhoto(client, "A.JPG", { contentId, takenAt: TAKEN_AT }, "/photos");
    const video = await storeVideo(client, "A.MOV", { contentId, takenAt: TAKEN_AT }, "/videos");
    const paired = [{ id: photo, name: "A.JPG", motion: "pair", motionFileId: video }];
    expect(await listItems(client)).toEqual(paired);
    return { client, contentId, photo, video, paired, photos, videos };
  }
  const alone = (id: string, name: string) => ({ id, name, motion: null, motionFileId: null });

  test.concurrent("shows the video while the folder of the photo is in the trash", async () => {
    const { client, photo, video, paired, photos } = await makePair();
    expectStatus(await client.post("/api/files/trash", { fileIds: [photos] }), 200);
    expect(await listItems(client)).toEqual([alone(video, "A.MOV")]);
    expectStatus(await client.post("/api/files/trash/restore", { fileIds: [photos] }), 200);
    expect(await listItems(client)).toEqual(paired);
    expectStatus(await client.get(`/api/files/${photo}/motion`), 200);
  });

  test.concurrent("shows the photo alone while the folder of the video is in the trash", async () => {
    const { client, photo, paired, videos } = await makePair();
    expectStatus(await client.post("/api/files/trash", { fileIds: [videos] }), 200);
    expect(await listItems(client)).toEqual([alone(photo, "A.JPG")]);
    expectError(await client.get(`/api/files/${photo}/motion`), 404, "not_found");
    expectStatus(await client.post("/api/files/trash/restore", { fileIds: [videos] }), 200);
    expect(await listItems(client)).toEqual(paired);
  });

  test.concurrent("shows what was restored of two deleted folders", async () => {
    const { client, video, paired, photos, videos } = await makePair();
    expectStatus(await client.post("/api/files/trash", { fileIds: [photos, videos] }), 200);
    expect(await listItems(client)).toEqual([]);
    expectStatus(await client.post("/api/files/trash/restore", { fileIds: [videos] }), 200);
    expect(await listItems(client)).toEqual([alone(video, "A.MOV")]);
    expectStatus(await client.post("/api/files/trash/restore", { fileIds: [photos] }), 200);
    expect(await listItems(client)).toEqual(paired);
  });

  test.concurrent("shows the video after the photo or its folder was deleted for good", async () => {
    const one = await makePair();
    expectStatus(await one.client.post("/api/files/trash", { fileIds: [one.photos] }), 200);
    expectStatus(await one.client.delete("/api/files/trash"), 200);
    expect(await listItems(one.client)).toEqual([alone(one.video, "A.MOV")]);
    const other = await makePair();
    expectStatus(await other.client.delete(`/api/files/folders/${other.photos}?recursive=true`), 200);
    expect(await listItems(other.client)).toEqual([alone(other.video, "A.MOV")]);
    const last = await makePair();
    expectStatus(await last.client.delete(`/api/files/${last.photo}`), 200);
    expect(await listItems(last.client)).toEqual([alone(last.video, "A.MOV")]);
  });

  test.concurrent("shows both after the photo was replaced by another", async () => {
    const { client, contentId, photo, video, paired } = await makePair();
    expectStatus(await client.putContent(photo, await livePhoto(++color, { contentId: crypto.randomUUID() })), 200);
    expect(await listItems(client)).toEqual([alone(photo, "A.JPG"), alone(video, "A.MOV")]);
    expectStatus(await client.putContent(photo, await livePhoto(++color, { contentId })), 200);
    expect(await listItems(client)).toEqual(paired);
    expectStatus(await client.putContent(photo, Buffer.from("no picture")), 200);
    expect((await listItems(client)).map(({ name }) => name)).toContain("A.MOV");
  });

  test.concurrent("gives the video to another copy of the photo that is not in the trash", async () => {
    const { client, contentId, video, photos } = await makePair();
    expectStatus(await client.post("/api/files/trash", { fileIds: [photos] }), 200);
    expect(await listItems(client)).toEqual([alone(video, "A.MOV")]);
    const copy = await storePhoto(client, "B.JPG", { contentId, takenAt: TAKEN_AT }, "/copies");
    expect(await listItems(client)).toEqual([{ id: copy, name: "B.JPG", motion: "pair", motionFileId: video }]);
    expectStatus(await client.post("/api/files/trash/restore", { fileIds: [photos] }), 200);
    expect((await listItems(client)).map(({ name, motion }) => [name, motion])).toEqual([
      ["A.JPG", null],
      ["B.JPG", "pair"],
    ]);
  });

  test.concurrent("shows a video that arrives after the folder of its photo was deleted", async () => {
    const { client } = await server().signUp();
    const contentId = crypto.randomUUID();
    const folder = await client.folderId("photos");
    await storePhoto(client, "A.JPG", { contentId }, "/photos");
    await listItems(client);
    expectStatus(await client.post("/api/files/trash", { fileIds: [folder] }), 200);
    const video = await storeVideo(client, "A.MOV", { contentId }, "/videos");
    expect(await listItems(client)).toEqual([alone(video, "A.MOV")]);
  });
});

describe("GET /api/files/{id}/motion", () => {
  test.concurrent("sends the other file of a pair, whole or in part", async () => {
    const { client } = await server().signUp();
    const contentId = crypto.randomUUID();
    const photo = await storePhoto(client, "A.JPG", { contentId });
    const bytes = liveVideo(2, { contentId });
    await client.stored(bytes, { name: "A.MOV", type: "video/quicktime" });
    await listItems(client);
    const whole = await client.get(`/api/files/${photo}/motion`);
    expectStatus(whole, 200);
    expect(whole.header("content-type")).toBe("video/quicktime");
    expect(Buffer.from(whole.bytes)).toEqual(Buffer.from(bytes));
    const part = await client.get(`/api/files/${photo}/motion`, { range: "bytes=4-11" });
    expectStatus(part, 206);
    expect(Buffer.from(part.bytes).toString("latin1")).toBe("ftypqt  ");
    expectError(await client.get(`/api/files/${await storePhoto(client, "still.jpg", {})}/motion`), 404, "not_found");
  });

  test.concurrent.each([
    ["Android's format", motionPhoto],
    ["its predecessor", microVideo],
    ["Samsung's trailer", samsungPhoto],
  ] as const)("sends the video inside a photo in %s", async (_, make) => {
    const { client } = await server().signUp();
    const video = Buffer.from(liveVideo(2, {}, Buffer.alloc(200_000, 9)));
    const id = await client.storedId(await make(++color, video), { name: "PXL_1.MP.jpg", type: "image/jpeg" });
    expect(await listItems(client)).toEqual([{ id, name: "PXL_1.MP.jpg", motion: "embedded", motionFileId: null }]);
    const whole = await client.get(`/api/files/${id}/motion?inline=true`);
    expectStatus(whole, 200);
    expect(whole.header("content-type")).toBe("video/mp4");
    expect(whole.header("content-length")).toBe(String(video.length));
    expect(Buffer.from(whole.bytes).equals(video)).toBe(true);
    const part = await client.get(`/api/files/${id}/motion`, { range: "bytes=100000-100099" });
    expectStatus(part, 206);
    expect(part.header("content-range")).toBe(`bytes 100000-100099/${video.length}`);
    expect(Buffer.from(part.bytes).equals(video.subarray(100_000, 100_100))).toBe(true);
    const again = await client.get(`/api/files/${id}/motion`, { "if-none-match": whole.header("etag") ?? "" });
    expectStatus(again, 304);
  });

  test.concurrent("counts as a download like the file itself: previews do not, ranges do once", async () => {
    const { client } = await server().signUp();
    const contentId = crypto.randomUUID();
    const photo = await storePhoto(client, "A.JPG", { contentId });
    const video = await storeVideo(client, "A.MOV", { contentId });
    const inside = await client.storedId(await motionPhoto(++color, liveVideo(2, {}, Buffer.alloc(2_000, color))), {
      name: "B.jpg",
      type: "image/jpeg",
    });
    await listItems(client);
    for (const [id, counted] of [
      [photo, video],
      [inside, inside],
    ] as const) {
      const path = `/api/files/${id}/motion`;
      const count = async () => (await client.get(`/api/files/${counted}`)).number("data.downloadCount");
      const preview = await client.get(`${path}?preview=true`);
      expectStatus(preview, 200);
      expect(preview.header("content-disposition")).toStartWith("inline");
      expectStatus(await client.get(`${path}?preview=true`, { range: "bytes=0-9" }), 206);
      expectStatus(await client.head(path), 200);
      expectStatus(await client.get(path, { "if-none-match": preview.header("etag") }), 304);
      expectStatus(await client.get(path, { range: "bytes=9999999-" }), 416);
      expect(await count()).toBe(0);
      for (const start of [0, 10, 20]) {
        expectStatus(await client.get(path, { range: `bytes=${start}-${start + 9}` }), 206);
      }
      expect(await count()).toBe(1);
      expectStatus(await client.get(path), 200);
      expectStatus(await client.get(`${path}?inline=true`), 200);
      expect(await count()).toBe(3);
    }
    // The still itself was not downloaded.
    expect((await client.get(`/api/files/${photo}`)).number("data.downloadCount")).toBe(0);
  });

  test.concurrent("is for those who can open the photo and its video, and not for a link without locations", async () => {
    const { client } = await server().signUp();
    const friend = await server().signUp();
    const contentId = crypto.randomUUID();
    const photo = await storePhoto(client, "A.JPG", { contentId }, "/shared");
    const video = await storeVideo(client, "A.MOV", { contentId }, "/private");
    const inside = await client.storedId(await motionPhoto(++color, liveVideo(2, {})), {
      name: "B.jpg",
      type: "image/jpeg",
      fields: { folder: "/shared" },
    });
    await listItems(client);
    expectError(await friend.client.get(`/api/files/${photo}/motion`), 404, "not_found");
    await shareWith(client, photo, friend);
    await shareWith(client, inside, friend);
    expectStatus(await friend.client.get(`/api/files/${inside}/motion`), 200);
    expect(await motionOf(friend.client, inside)).toEqual(["embedded", null]);
    // The photo is shared, but its video is not.
    expect(await motionOf(friend.client, photo)).toEqual([null, null]);
    expect(await motionOf(client, photo)).toEqual(["pair", video]);
    expect(await motionOf(client, video)).toEqual([null, null]);
    expectError(await friend.client.get(`/api/files/${photo}/motion`), 404, "not_found");
    await shareWith(client, video, friend);
    expectStatus(await friend.client.get(`/api/files/${photo}/motion`), 200);
    expect(await motionOf(friend.client, photo)).toEqual(["pair", video]);
    const link = await client.post(`/api/files/${inside}/shares`, { hideLocation: true });
    const sent = await server().visitor.get(`/api/public/${link.string("data.token")}/download`);
    expectStatus(sent, 200);
    expect(Buffer.from(sent.bytes).includes("ftyp")).toBe(false);
  });

  test.concurrent("is part of the items of an album, for those who can open it", async () => {
    const { client } = await server().signUp();
    const friend = await server().signUp();
    const contentId = crypto.randomUUID();
    const photo = await storePhoto(client, "A.JPG", { contentId, takenAt: TAKEN_AT });
    const video = await storeVideo(client, "A.MOV", { contentId });
    const note = await client.storedId("text", { name: "note.txt" });
    await listItems(client);
    const fileIds = [photo, note];
    const album = (await client.post("/api/albums", { name: "Lake", fileIds })).string("data.id");
    const items = async (who: Client) => (await who.get(`/api/albums/${album}/items`)).list("data.items");
    const nothing = {
      width: null,
      height: null,
      durationSeconds: null,
      takenAt: null,
      motion: null,
      motionFileId: null,
    };
    const shown = { id: photo, type: "file", width: 320, height: 240, takenAt: "2024-05-06T07:08:09.000+00:00" };
    expect(await items(client)).toMatchObject([
      { ...shown, motion: "pair", motionFileId: video },
      { id: note, ...nothing },
    ]);
    expect((await client.get(`/api/albums/${album}/aspects`)).at("data")).toEqual({ fileIds, aspects: [133, 0] });
    const shared = await client.post(`/api/albums/${album}/shares`, { user: friend.email });
    expectStatus(shared, 201);
    expect(await items(friend.client)).toMatchObject([{ ...shown, motion: null, motionFileId: null }, { id: note }]);
    expectStatus(await client.post(`/api/albums/${album}/items`, { fileIds: [video] }), 200);
    expect(await items(friend.client)).toMatchObject([{ motion: "pair", motionFileId: video }, {}, { id: video }]);
  });
});
