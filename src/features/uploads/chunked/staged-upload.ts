import type { BlobStore } from "../../../blobs/blob-store.ts";
import type { FileHashes } from "../../../blobs/prefix-hasher.ts";
import { AppError } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";
import type { PendingUpload } from "../../library/files/service.ts";
import { MEDIA_TYPE_HEAD_BYTES } from "../../library/files/media-type.ts";
import type { UploadStore } from "./store.ts";

/** A staged, durable file, with its hashes. */
interface StagedContent {
  readonly name: string;
  readonly sizeBytes: number;
  readonly hashes: FileHashes;
}

/** An empty file as a pending upload of one request. */
export function emptyUpload(blobs: BlobStore): PendingUpload {
  const incoming = blobs.begin({
    limitBytes: 0,
    tooLarge: () => new AppError("file_too_large", say`The body must be empty.`),
  });
  return { incoming, discard: () => incoming.abort() };
}

/** A staged file as a pending upload of one request, without a copy. Nothing may write to the file afterwards. */
export function stagedUpload(
  { staging }: UploadStore,
  blobs: BlobStore,
  { name, sizeBytes, hashes }: StagedContent,
): PendingUpload {
  const staged = staging.open(name, sizeBytes);
  let head: Uint8Array;
  try {
    head = staged.read(Math.min(sizeBytes, MEDIA_TYPE_HEAD_BYTES), 0);
  } finally {
    staged.release();
  }
  return {
    incoming: {
      sizeBytes,
      head,
      write: () => {
        throw new Error("a staged upload is whole");
      },
      digest: () => hashes.digest,
      commit: () => blobs.adopt(staging.pathOf(name), { ...hashes, sizeBytes }),
      abort: () => {},
    },
    discard: () => {},
  };
}
