/** Orphaned blobs: those in the store that a rebuilt database does not name. */
import type { Database } from "bun:sqlite";
import { type FileHandle, open, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import mime from "mime";
import { type Digest, digestToBytes } from "../../../blobs/digest.ts";
import { Layout } from "../../../blobs/layout.ts";
import { newId } from "../../../lib/id.ts";
import { detectMediaType, MEDIA_TYPE_HEAD_BYTES, UNKNOWN_MEDIA_TYPE } from "../../library/files/media-type.ts";
import { namesIn } from "./object-file.ts";
import type { FileRecord } from "./records.ts";

const BUFFER_BYTES = 1024 * 1024;

/** The digests of all blobs in the store that have no row. */
export async function* findOrphans(sqlite: Database, layout: Layout): AsyncGenerator<Digest> {
  const known = sqlite.query<{ one: 1 }, [Uint8Array]>("SELECT 1 AS one FROM blobs WHERE digest = ?1");
  const folder = dirname(layout.firstByteFolder("00"));
  for (const first of await namesIn(folder)) {
    for (const second of await namesIn(join(folder, first))) {
      const digests = (await namesIn(join(folder, first, second))).map((name) => Layout.digestOf(name));
      yield* digests
        .filter((digest) => digest !== undefined)
        .filter((digest) => known.get(digestToBytes(digest)) === null);
    }
  }
}

/**
 * Makes the record of a file for an orphaned blob. Its name is the digest with the extension of the detected media
 * type, its time that of the blob's file on disk.
 * @returns undefined if the bytes do not match the digest
 */
export async function describeOrphan(layout: Layout, digest: Digest, by: string): Promise<FileRecord | undefined> {
  const path = layout.blob(digest);
  const file = await open(path, "r");
  try {
    const { sha256, checksum, head, sizeBytes } = await readThrough(file);
    if (sha256 !== digest) return undefined;
    const type = await detectMediaType(head, undefined, digest);
    const extension = type === UNKNOWN_MEDIA_TYPE ? null : mime.getExtension(type);
    const at = Math.floor((await stat(path)).mtimeMs);
    return {
      file: newId("file", at),
      name: extension === null ? digest : `${digest}.${extension}`,
      created: at,
      modified: at,
      content: { version: 1, sha256: digest, size: sizeBytes, crc32: checksum, type, at, by },
    };
  } finally {
    await file.close();
  }
}

interface BlobSummary {
  readonly sha256: string;
  readonly checksum: number;
  /** The first bytes. */
  readonly head: Uint8Array;
  readonly sizeBytes: number;
}

async function readThrough(file: FileHandle): Promise<BlobSummary> {
  const hasher = new Bun.CryptoHasher("sha256");
  const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  let head = new Uint8Array();
  let checksum = 0;
  let sizeBytes = 0;
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, BUFFER_BYTES);
    if (bytesRead === 0) return { sha256: hasher.digest("hex"), checksum, head, sizeBytes };
    const bytes = buffer.subarray(0, bytesRead);
    if (sizeBytes === 0) head = new Uint8Array(bytes.subarray(0, MEDIA_TYPE_HEAD_BYTES));
    hasher.update(bytes);
    checksum = crc32(bytes, checksum);
    sizeBytes += bytesRead;
  }
}
