import { describe, expect, test } from "bun:test";
import sharp from "sharp";
import { type FilePart, type Quarter, rotateByTag } from "../../../../src/features/media/editing/orientation.ts";

const QUARTERS: readonly Quarter[] = [90, 180, 270];

async function rotate(bytes: Buffer, mediaType: string, quarter: Quarter): Promise<Buffer | undefined> {
  const read = async (offset: number, length: number) => bytes.subarray(offset, offset + length);
  const parts = await rotateByTag(read, bytes.length, mediaType, quarter);
  return parts && joined(bytes, parts);
}

function joined(bytes: Buffer, parts: readonly FilePart[]): Buffer {
  return Buffer.concat(
    parts.map((part) => ("bytes" in part ? part.bytes : bytes.subarray(part.from, part.from + part.lengthBytes))),
  );
}

/** A picture whose four corners differ, so that each orientation shows other pixels. */
function corners() {
  const data = Buffer.from([255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 0, 255, 255, 255, 0, 0, 0]);
  return sharp(data, { raw: { width: 3, height: 2, channels: 3 } }).resize(48, 32, { kernel: "nearest" });
}

/** The displayed pixels of a picture. */
function shown(bytes: Buffer | Uint8Array, quarter?: Quarter): Promise<Buffer> {
  const picture = sharp(bytes).autoOrient();
  return (quarter === undefined ? picture : sharp(bytes).autoOrient().rotate(quarter)).raw().toBuffer();
}

describe("a rotation by the tag", () => {
  for (const format of ["jpeg", "tiff"] as const) {
    test.each([1, 2, 3, 4, 5, 6, 7, 8])(
      `shows a ${format} of orientation %p as if its pixels were rotated`,
      async (orientation) => {
        const bytes = await corners().withMetadata({ orientation }).toFormat(format).toBuffer();
        for (const quarter of QUARTERS) {
          const rotated = await rotate(bytes, `image/${format}`, quarter);
          if (rotated === undefined) throw new Error("it was not rotated");
          expect(await shown(rotated)).toEqual(await shown(bytes, quarter));
        }
      },
    );

    test(`adds the tag to a ${format} that has none, and leaves the rest`, async () => {
      const bytes = await corners().toFormat(format).toBuffer();
      const rotated = await rotate(bytes, `image/${format}`, 90);
      if (rotated === undefined) throw new Error("it was not rotated");
      expect((await sharp(rotated).metadata()).orientation).toBe(6);
      expect(await shown(rotated)).toEqual(await shown(bytes, 90));
    });
  }

  test("adds the tag to Exif data without one, and keeps its other tags", async () => {
    const bytes = await corners()
      .jpeg()
      .withExif({ IFD0: { Make: "Camera", Copyright: "Ada" } })
      .toBuffer();
    const exif = (await sharp(bytes).metadata()).exif;
    expect(exif?.includes("Camera")).toBe(true);
    const rotated = await rotate(bytes, "image/jpeg", 270);
    if (rotated === undefined) throw new Error("it was not rotated");
    const { orientation, exif: after } = await sharp(rotated).metadata();
    expect(orientation).toBe(8);
    expect([after?.includes("Camera"), after?.includes("Ada")]).toEqual([true, true]);
  });

  test("turns each rotation property of a HEIC, and changes no other byte", async () => {
    const box = (type: string, ...parts: Uint8Array[]) => {
      const body = Buffer.concat(parts);
      const head = Buffer.alloc(8);
      head.writeUInt32BE(8 + body.length);
      head.write(type, 4, "latin1");
      return Buffer.concat([head, body]);
    };
    const heic = (properties: Uint8Array[]) =>
      Buffer.concat([
        box("ftyp", Buffer.from("heic\0\0\0\0mif1heic", "latin1")),
        box("meta", Buffer.alloc(4), box("hdlr", Buffer.alloc(24)), box("iprp", box("ipco", ...properties))),
        box("mdat", Buffer.from("irot is no property here")),
      ]);
    const irot = (angle: number) => box("irot", Uint8Array.of(angle));
    for (const [quarter, angle] of [
      [90, 3],
      [180, 2],
      [270, 1],
    ] as const) {
      const rotated = await rotate(heic([irot(0), box("ispe", Buffer.alloc(12)), irot(3)]), "image/heic", quarter);
      expect(rotated).toEqual(heic([irot(angle), box("ispe", Buffer.alloc(12)), irot((angle + 3) % 4)]));
    }
    expect(await rotate(heic([box("ispe", Buffer.alloc(12))]), "image/heic", 90)).toBeUndefined();
    expect(await rotate(heic([irot(1), box("imir", Buffer.alloc(1))]), "image/heic", 90)).toBeUndefined();
  });

  test("leaves a HEIC alone whose boxes claim to be longer than the file", async () => {
    // Reading beyond the end was an error of the server.
    const box = (type: string, sizeBytes: number) => {
      const head = Buffer.alloc(8);
      head.writeUInt32BE(sizeBytes);
      head.write(type, 4, "latin1");
      return head;
    };
    const inner = [box("iprp", 0x1000_0000), box("ipco", 0x0100_0000), box("irot", 0x0010_0000), Buffer.alloc(2)];
    const meta = Buffer.concat([Buffer.alloc(4), ...inner]);
    const damaged = Buffer.concat([box("meta", 8 + meta.length), meta]);
    const rotated = await rotate(damaged, "image/heic", 90);
    if (rotated !== undefined) expect(rotated.length).toBe(damaged.length);
  });

  test.each(["image/jpeg", "image/tiff", "image/heic"])("leaves damaged files of %s alone", async (mediaType) => {
    const whole = await corners().withMetadata({ orientation: 6 }).jpeg().toBuffer();
    for (let cut = 0; cut < 200; cut++) {
      const damaged = Buffer.from(whole.subarray(0, cut));
      expect(await rotate(damaged, mediaType, 90).catch((error: unknown) => error)).not.toBeInstanceOf(Error);
    }
    for (let seed = 1; seed < 500; seed++) {
      const damaged = Buffer.from(whole);
      damaged[(seed * 7919) % 160] = (seed * 104_729) & 0xff;
      await rotate(damaged, mediaType, 90);
    }
  });
});
