/**
 * Sends one blob of this disk to the bucket, in parts if it is large, and compares it with its digest while it is read.
 */
import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import type { Digest } from "../../../blobs/digest.ts";
import { expectedEtag, PART_BYTES } from "../../../blobs/s3/etag.ts";
import type { S3Body, S3Client } from "../../../blobs/s3/client.ts";

/** The copy on this disk does not match its digest; nothing of it was stored in the bucket. */
export class DamagedCopyError extends Error {
  override readonly name = "DamagedCopyError";
}

/** Bytes that are read and hashed before requests get their turn. */
const BUFFER_BYTES = 512 * 1024;

/**
 * Sends the file at `path`. On return the service has all of it.
 * @returns its ETag
 * @throws S3Error; DamagedCopyError; the system's error if it can't be read; the reason of the signal
 */
export async function sendContent(
  client: S3Client,
  key: string,
  { path, digest, sizeBytes, signal }: { path: string; digest: Digest; sizeBytes: number; signal?: AbortSignal },
): Promise<string> {
  const file = await open(path, "r");
  try {
    if ((await file.stat()).size !== sizeBytes) throw new DamagedCopyError("The file has another length.");
    if (sizeBytes <= PART_BYTES) return await client.put(key, await readWhole(file, digest, sizeBytes));
    return await client.putLarge(key, { sizeBytes, sha256: digest, read: () => read(file, digest, sizeBytes, signal) });
  } finally {
    await file.close();
  }
}

/**
 * The ETag that most services assign to the object of an intact file.
 * @throws DamagedCopyError; the system's error if it can't be read
 */
export async function etagOfFile(
  path: string,
  { digest, sizeBytes }: { readonly digest: Digest; readonly sizeBytes: number },
): Promise<string> {
  const file = await open(path, "r");
  try {
    if ((await file.stat()).size !== sizeBytes) throw new DamagedCopyError("The file has another length.");
    return await expectedEtag(sizeBytes, read(file, digest, sizeBytes));
  } finally {
    await file.close();
  }
}

async function readWhole(file: FileHandle, digest: Digest, sizeBytes: number): Promise<S3Body> {
  const bytes = new Uint8Array(sizeBytes);
  const md5 = createHash("md5");
  let at = 0;
  for await (const chunk of read(file, digest, sizeBytes)) {
    md5.update(chunk);
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return { bytes, sha256: digest, md5: md5.digest("hex") };
}

/**
 * Reads the file; yields a new buffer each time.
 * @throws DamagedCopyError at the end if it does not match its digest
 */
async function* read(
  file: FileHandle,
  digest: Digest,
  sizeBytes: number,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  const whole = createHash("sha256");
  for (let offset = 0; offset < sizeBytes; ) {
    signal?.throwIfAborted();
    const buffer = new Uint8Array(Math.min(BUFFER_BYTES, sizeBytes - offset));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
    if (bytesRead === 0) throw new DamagedCopyError("The file ends before its length.");
    const bytes = buffer.subarray(0, bytesRead);
    whole.update(bytes);
    offset += bytesRead;
    if (offset === sizeBytes && whole.digest("hex") !== digest) {
      throw new DamagedCopyError("The file is not what its digest says.");
    }
    yield bytes;
  }
  if (sizeBytes === 0 && whole.digest("hex") !== digest) {
    throw new DamagedCopyError("The file is not what its digest says.");
  }
}
