// Photos with a video inside whose lengths are wrong, as hostile or cut-off files have them.
import { expect, test } from "bun:test";
import { readLiveParts } from "../../../../src/features/media/metadata/read-motion.ts";
import { liveVideo, microVideo, motionPhoto, samsungPhoto } from "../../../support/live-photos.ts";
import { seededRandom, seedsToRun } from "../../../support/random.ts";

const VIDEO = Buffer.from(liveVideo(2, {}));
/** The directory of Samsung's trailer with one entry, and what follows it. */
const DIRECTORY_BYTES = 24;
const END_BYTES = 8;

/** The motion of a file with this content. Fails if anything but its bytes is requested. */
async function motionOf(content: Buffer): Promise<{ readonly offset: number; readonly bytes: number } | null> {
  const file = {
    read: async (target: Buffer, at: number, length: number, position: number) => {
      expect(position).toBeGreaterThanOrEqual(0);
      expect(length).toBeLessThanOrEqual(64 * 1024);
      return { bytesRead: content.copy(target, at, position, position + length), buffer: target };
    },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the only method that is used
  const handle = file as unknown as Parameters<typeof readLiveParts>[0];
  return (await readLiveParts(handle, content.length, content.subarray(0, 512 * 1024))).motion;
}

/** A Samsung photo with its trailer changed. Positions count from the start of the directory. */
async function changed(change: (photo: Buffer, directory: number) => Buffer | void): Promise<Buffer> {
  const photo = Buffer.from(await samsungPhoto(1, VIDEO));
  return change(photo, photo.length - END_BYTES - DIRECTORY_BYTES) ?? photo;
}

test("Samsung's trailer is read", async () => {
  const photo = await changed(() => undefined);
  const motion = await motionOf(photo);
  expect(motion?.bytes).toBe(VIDEO.length);
  expect(photo.subarray(motion?.offset, (motion?.offset ?? 0) + VIDEO.length).equals(VIDEO)).toBe(true);
});

test.each<[string, (photo: Buffer, directory: number) => Buffer | void]>([
  ["a directory that is longer than the file", (photo) => void photo.writeUInt32LE(60_000, photo.length - 8)],
  ["a directory of 4 GB", (photo) => void photo.writeUInt32LE(0xffff_ffff, photo.length - 8)],
  ["a directory of no bytes", (photo) => void photo.writeUInt32LE(0, photo.length - 8)],
  ["a directory that ends inside an entry", (photo) => void photo.writeUInt32LE(DIRECTORY_BYTES - 4, photo.length - 8)],
  ["an entry before the file", (photo, at) => void photo.writeUInt32LE(photo.length, at + 16)],
  ["an entry 4 GB before the directory", (photo, at) => void photo.writeUInt32LE(0xffff_ffff, at + 16)],
  ["an entry that begins in the directory", (photo, at) => void photo.writeUInt32LE(0, at + 16)],
  [
    "an entry that overlaps the directory",
    (photo, at) => void photo.writeUInt32LE(photo.readUInt32LE(at + 20) + 1, at + 20),
  ],
  ["an entry of 4 GB", (photo, at) => void photo.writeUInt32LE(0xffff_ffff, at + 20)],
  ["an entry of no bytes", (photo, at) => void photo.writeUInt32LE(0, at + 20)],
  ["an entry that is only its header", (photo, at) => void photo.writeUInt32LE(24, at + 20)],
  [
    "a name that is longer than the entry",
    (photo, at) => void photo.writeUInt32LE(0xffff_fff0, at - photo.readUInt32LE(at + 16) + 4),
  ],
  [
    "an entry that begins in the middle of another",
    (photo, at) => void photo.writeUInt32LE(photo.readUInt32LE(at + 16) - 9, at + 16),
  ],
  ["no photo, only the trailer's end", (photo) => photo.subarray(-END_BYTES)],
  ["a beginning that was cut off", (photo, at) => photo.subarray(at - 10)],
  ["an end that was cut off", (photo) => photo.subarray(0, -3)],
  [
    "a video that was cut out",
    (photo, at) => Buffer.concat([photo.subarray(0, at - VIDEO.length), photo.subarray(at)]),
  ],
])("a photo with %s has no motion", async (_, change) => {
  expect(await motionOf(await changed(change))).toBeNull();
});

test.each<[string, (length: number) => number]>([
  ["is longer than the file", () => 10_000_000],
  ["is as long as the file", (length) => length],
  ["is too short for a video", () => 5],
  ["begins elsewhere", () => VIDEO.length - 1],
])("a photo whose XMP names a video that %s has no motion", async (_, lengthOf) => {
  for (const make of [motionPhoto, microVideo]) {
    const photo = Buffer.from(await make(2, VIDEO));
    const wrong = String(lengthOf(photo.length));
    const text = photo.toString("latin1").replace(`Length="${VIDEO.length}"`, `Length="${wrong}"`);
    const replaced = text.replace(`MicroVideoOffset="${VIDEO.length}"`, `MicroVideoOffset="${wrong}"`);
    expect(await motionOf(Buffer.from(replaced, "latin1"))).toBeNull();
  }
});

test.each(seedsToRun([1, 2]))(
  "with random lengths, a video is inside the file or there is none (seed %d)",
  async (seed) => {
    const random = seededRandom(seed);
    const photo = await changed(() => undefined);
    const trailer = photo.length - END_BYTES - DIRECTORY_BYTES;
    for (let round = 0; round < 500; round++) {
      const hostile = Buffer.from(photo);
      for (let count = random.below(3) + 1; count > 0; count--) {
        const value = random.chance(0.5) ? random.below(hostile.length * 2) : random.below(2 ** 32);
        const field = random.pick([
          trailer + 12,
          trailer + 16,
          trailer + 20,
          photo.length - 8,
          trailer - VIDEO.length - 20,
        ]);
        hostile.writeUInt32LE(value, field);
      }
      const motion = await motionOf(hostile);
      if (motion === null) continue;
      expect(motion.offset).toBeGreaterThan(0);
      expect(motion.offset + motion.bytes).toBeLessThanOrEqual(hostile.length);
      expect(hostile.toString("latin1", motion.offset + 4, motion.offset + 8)).toBe("ftyp");
    }
  },
);
