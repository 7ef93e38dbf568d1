// TIFF 6.0 §2: entries are tag, type, count, value; tags ascend; values beyond four bytes lie elsewhere.
const SHORT = 3;
const LONG = 4;
const UNDEFINED = 7;
const ENTRY_BYTES = 12;

/**
 * Packs 8-bit RGB rows into an uncompressed TIFF, with an ICC profile if given: the only container of plain pixels in
 * which libvips reads a profile.
 * @param row returns the `width * 3` bytes of a row; used immediately
 */
export function packTiff(
  width: number,
  height: number,
  profile: Uint8Array | undefined,
  row: (index: number) => Uint8Array,
): Buffer {
  const pixelBytes = width * height * 3;
  const pixelsAt = 8;
  const bitsAt = pixelsAt + pixelBytes + (pixelBytes % 2);
  const profileAt = bitsAt + 6;
  const profileBytes = profile?.byteLength ?? 0;
  const directoryAt = profileAt + profileBytes + (profileBytes % 2);
  const entries: [tag: number, type: number, count: number, value: number][] = [
    [256, LONG, 1, width],
    [257, LONG, 1, height],
    [258, SHORT, 3, bitsAt],
    [259, SHORT, 1, 1], // no compression
    [262, SHORT, 1, 2], // RGB
    [273, LONG, 1, pixelsAt],
    [277, SHORT, 1, 3],
    [278, LONG, 1, height],
    [279, LONG, 1, pixelBytes],
  ];
  if (profile !== undefined) entries.push([34675, UNDEFINED, profileBytes, profileAt]);

  const tiff = Buffer.alloc(directoryAt + 2 + entries.length * ENTRY_BYTES + 4);
  tiff.write("II*\0", 0, "latin1");
  tiff.writeUInt32LE(directoryAt, 4);
  for (let index = 0; index < height; index += 1) tiff.set(row(index), pixelsAt + index * width * 3);
  for (let sample = 0; sample < 3; sample += 1) tiff.writeUInt16LE(8, bitsAt + sample * 2);
  if (profile !== undefined) tiff.set(profile, profileAt);
  let at = tiff.writeUInt16LE(entries.length, directoryAt);
  for (const [tag, type, count, value] of entries) {
    tiff.writeUInt16LE(tag, at);
    tiff.writeUInt16LE(type, at + 2);
    tiff.writeUInt32LE(count, at + 4);
    tiff.writeUInt32LE(value, at + 8);
    at += ENTRY_BYTES;
  }
  return tiff;
}
