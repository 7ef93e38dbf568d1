import { describe, expect, test } from "bun:test";
import sharp from "sharp";
import type { ApiResponse, Client } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { seededRandom } from "../support/random.ts";
import { sharedServer, withServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

const EXIF = {
  IFD0: { Make: "Larder", Model: "Larder Cam 5" },
  IFD2: { DateTimeOriginal: "2021:07:01 12:30:00", OffsetTimeOriginal: "+02:00" },
  IFD3: {
    GPSLatitudeRef: "N",
    GPSLatitude: "48/1 12/1 2952/100",
    GPSLongitudeRef: "E",
    GPSLongitude: "16/1 22/1 2568/100",
  },
};

let photos = 0;

/** A JPEG with the metadata of `EXIF` and a unique color, so that no other test has the same content. */
async function createPhoto(width: number, height: number): Promise<Uint8Array> {
  const background = { r: (photos++ * 8) % 256, g: 100, b: 7 };
  const picture = sharp({ create: { width, height, channels: 3, background } });
  return new Uint8Array(await picture.withExif(EXIF).withMetadata({ orientation: 6 }).jpeg().toBuffer());
}

/** One second of silence in PCM, with a title and an artist (RIFF INFO). */
function createWave(title: string): Uint8Array {
  const rate = 8_000;
  const chunk = (id: string, body: Buffer) => {
    const head = Buffer.alloc(8);
    head.write(id, 0, "latin1");
    head.writeUInt32LE(body.length, 4);
    return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
  };
  const format = Buffer.alloc(16);
  format.writeUInt16LE(1, 0);
  format.writeUInt16LE(1, 2);
  format.writeUInt32LE(rate, 4);
  format.writeUInt32LE(rate * 2, 8);
  format.writeUInt16LE(2, 12);
  format.writeUInt16LE(16, 14);
  const info = Buffer.concat([
    Buffer.from("INFO", "latin1"),
    chunk("INAM", Buffer.from(`${title}\0`)),
    chunk("IART", Buffer.from("Ann\0")),
  ]);
  const body = Buffer.concat([
    Buffer.from("WAVE", "latin1"),
    chunk("fmt ", format),
    chunk("LIST", info),
    chunk("data", Buffer.alloc(rate * 2)),
  ]);
  return chunk("RIFF", body);
}

/** The info of a file once the metadata of its content is read. */
async function waitForMetadata(client: Client, id: string): Promise<ApiResponse> {
  let response = await client.get(`/api/files/${id}`);
  await eventually("the metadata is read", async () => {
    response = await client.get(`/api/files/${id}`);
    return response.at("data.media") !== null;
  });
  return response;
}

describe("media of GET /api/files/{id}", () => {
  test.concurrent("a photo has time, location, camera, and its size as displayed", async () => {
    const { client } = await server().signUp();
    const stored = await client.stored(await createPhoto(40, 20), { name: "photo.jpg", fields: { folder: "/m" } });
    const response = await waitForMetadata(client, stored.string("data.id"));
    expect(response.at("data.media")).toEqual({
      width: 20,
      height: 40,
      orientation: 6,
      durationSeconds: null,
      takenAt: "2021-07-01T12:30:00+02:00",
      camera: "Larder Cam 5",
      location: { latitude: 48.2082, longitude: 16.3738 },
      codec: null,
      bitrate: null,
      title: null,
      artist: null,
      album: null,
    });
    expect(response.at("data.capturedAt")).toBe(stored.at("data.capturedAt"));
  });

  test.concurrent("a sound has length, title and artist", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId(createWave("Lagoon song"), { name: "s.wav" });
    const response = await waitForMetadata(client, id);
    expect(response.at("data.media.durationSeconds")).toBe(1);
    expect(response.at("data.media.title")).toBe("Lagoon song");
    expect(response.at("data.media.artist")).toBe("Ann");
  });

  test.concurrent("searches find media by camera, day and title", async () => {
    const { client } = await server().signUp();
    const picture = await client.storedId(await createPhoto(30, 10), { name: "p.jpg" });
    const sound = await client.storedId(createWave(`Lagoon ${crypto.randomUUID()}`), { name: "s.wav" });
    const searchNames = async (q: string) => {
      const response = await client.get(`/api/files/search?q=${encodeURIComponent(q)}`);
      expectStatus(response, 200);
      return response.strings("data.files", "id");
    };
    await waitForMetadata(client, picture);
    await waitForMetadata(client, sound);
    await eventually("the index has the photo", async () => (await searchNames("taken:2021-07-01")).length === 1);
    expect(await searchNames("camera:larder")).toEqual([picture]);
    expect(await searchNames('camera:"cam 5" type:image taken:2021')).toEqual([picture]);
    expect(await searchNames("-camera:larder type:image")).toEqual([]);
    await eventually("the index has the sound", async () => (await searchNames("lagoon ann")).length === 1);
    expect(await searchNames("lagoon ann")).toEqual([sound]);
  });

  test.concurrent("the date from the device takes precedence over that in the picture", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId(await createPhoto(31, 11), {
      name: "p.jpg",
      fields: { capturedAt: "2001-02-03T04:05:06Z" },
    });
    const response = await waitForMetadata(client, id);
    expect(response.at("data.capturedAt")).toBe("2001-02-03T04:05:06Z");
    expect(response.at("data.media.takenAt")).toBe("2021-07-01T12:30:00+02:00");
    const searchNames = await client.get("/api/files/search?q=taken:2001-02-03");
    expect(searchNames.strings("data.files", "id")).toEqual([id]);
  });

  test.concurrent("new content has its own metadata, and another file with the same content has the same", async () => {
    const { client } = await server().signUp();
    const first = await createPhoto(32, 12);
    const id = await client.storedId(first, { name: "a.jpg" });
    await waitForMetadata(client, id);
    const copy = await client.storedId(first, { name: "b.jpg" });
    expect((await client.get(`/api/files/${copy}`)).at("data.media.width")).toBe(12);
    expectStatus(await client.putContent(id, await createPhoto(64, 48)), 200);
    expect((await waitForMetadata(client, id)).at("data.media.width")).toBe(48);
  });

  test.concurrent("broken and hostile files have no metadata and do no harm", async () => {
    const { client } = await server().signUp();
    const { bytes } = seededRandom(1);
    const random = () => bytes(3000);
    const createBox = (type: string, size: number) => {
      const head = Buffer.alloc(8);
      head.writeUInt32BE(size, 0);
      head.write(type, 4, "latin1");
      return head;
    };
    const ids = [
      await client.storedId(Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0xff, 0xff]), random()]), {
        name: "broken.jpg",
      }),
      await client.storedId(
        Buffer.concat([createBox("ftyp", 16), Buffer.from("isom\0\0\0\0"), createBox("moov", 0xffffffff), random()]),
        { name: "broken.mp4" },
      ),
      await client.storedId(
        Buffer.concat([Buffer.from("RIFF\xff\xff\xff\x7fWAVEdata\xff\xff\xff\xff", "latin1"), random()]),
        {
          name: "broken.wav",
        },
      ),
      await client.storedId(Buffer.concat([Buffer.from("ID3\x04\x00\x00\x7f\x7f\x7f\x7f", "latin1"), random()]), {
        name: "broken.mp3",
        type: "audio/mpeg",
      }),
    ];
    const good = await client.storedId(await createPhoto(33, 13), { name: "good.jpg" });
    expect((await waitForMetadata(client, good)).at("data.media.width")).toBe(13);
    for (const id of ids) expectStatus(await client.get(`/api/files/${id}`), 200);
  });

  test.concurrent("plain files have no metadata", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId("text");
    expect((await client.get(`/api/files/${id}`)).at("data.media")).toBeNull();
  });

  test.concurrent("pending files survive a crash", async () => {
    await withServer({}, async (own) => {
      const { client } = await own.signUp();
      const ids = [];
      for (let index = 0; index < 4; index++) {
        ids.push(await client.storedId(await createPhoto(50 + index, 40), { name: `${index}.jpg` }));
      }
      await own.kill9();
      await own.start();
      for (const [index, id] of ids.entries()) {
        expect((await waitForMetadata(client, id)).at("data.media.height")).toBe(50 + index);
      }
    });
  });

  test.concurrent("a public link does not reveal the location", async () => {
    const { client } = await server().signUp();
    const id = await client.storedId(await createPhoto(34, 14), { name: "p.jpg", fields: { isPublic: "true" } });
    const token = (await waitForMetadata(client, id)).string("data.shareLink").split("/s/")[1] ?? "";
    const response = await server().visitor.get(`/api/public/${token}`);
    expectStatus(response, 200);
    expect(response.text).not.toContain("48.2082");
    expect(response.text).not.toContain("latitude");
  });
});

testAllResponses(server);
