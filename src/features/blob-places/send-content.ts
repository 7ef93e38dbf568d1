/** Sends one content of this disk to the bucket, in parts where it is large; read, and compared with its digest, on the way. */
import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import type { Digest } from "../../blobs/digest.ts";
import type { S3Body, S3Client } from "../../blobs/s3/client.ts";

/** The copy on this disk is not what its digest says: nothing was kept of it in the bucket. */
export class DamagedHereError extends Error {
  override readonly name = "DamagedHereError";
}

/** Up to this size a content goes at once; larger ones in parts of at least so much. */
const PART_BYTES = 8 * 1024 * 1024;
const PARTS_MAX = 10_000;
/** So much is summed up before others have their turn. */
const PIECE_BYTES = 512 * 1024;

/**
 * Sends the file at `path`. On return the service has acknowledged all of it.
 * @throws S3Error; DamagedHereError; the system's error where it can't be read
 */
export async function sendContent(
  client: S3Client,
  key: string,
  { path, digest, sizeBytes }: { path: string; digest: Digest; sizeBytes: number },
): Promise<void> {
  const file = await open(path, "r");
  try {
    if ((await file.stat()).size !== sizeBytes) throw new DamagedHereError("The file has another length.");
    if (sizeBytes <= PART_BYTES) {
      const whole = createHash("sha256");
      const body = await readPart(file, 0, sizeBytes, whole);
      checkWhole(whole.digest("hex"), digest);
      await client.put(key, body);
    } else await client.putParts(key, partsOf(file, digest, sizeBytes));
  } finally {
    await file.close();
  }
}

async function* partsOf(file: FileHandle, digest: Digest, sizeBytes: number): AsyncGenerator<S3Body, void, undefined> {
  const partBytes = Math.max(PART_BYTES, Math.ceil(sizeBytes / PARTS_MAX));
  const whole = createHash("sha256");
  for (let offset = 0; offset < sizeBytes; offset += partBytes) {
    yield await readPart(file, offset, Math.min(partBytes, sizeBytes - offset), whole);
  }
  // Before the parts are put together: what is damaged here never becomes an object.
  checkWhole(whole.digest("hex"), digest);
}

async function readPart(
  file: FileHandle,
  offset: number,
  lengthBytes: number,
  whole: ReturnType<typeof createHash>,
): Promise<S3Body> {
  const bytes = new Uint8Array(lengthBytes);
  const [sha256, md5] = [createHash("sha256"), createHash("md5")];
  for (let at = 0; at < lengthBytes; ) {
    const length = Math.min(PIECE_BYTES, lengthBytes - at);
    const { bytesRead } = await file.read(bytes, at, length, offset + at);
    if (bytesRead === 0) throw new DamagedHereError("The file ends before its length.");
    const piece = bytes.subarray(at, at + bytesRead);
    for (const sum of [sha256, md5, whole]) sum.update(piece);
    at += bytesRead;
  }
  return { bytes, sha256: sha256.digest("hex"), md5: md5.digest("hex") };
}

function checkWhole(actual: string, digest: Digest): void {
  if (actual !== digest) throw new DamagedHereError("The file is not what its digest says.");
}
