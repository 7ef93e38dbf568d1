/** Additional steps of a device's upload in one request, compared with POST /api/files/upload. */
import type { BlobStore } from "../../../blobs/blob-store.ts";
import type { Events } from "../../../events/events.ts";
import type { UploadHooks } from "../../library/files/service.ts";
import { summarizeFile } from "../../../tree/model/file-summary.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { type ExifData, EXIF_HEAD_BYTES } from "../../media/metadata/exif.ts";
import { addMissingExif, exifMetadata } from "./complete.ts";
import { deletedByYou, findSameFile, type KnownContents } from "./known-contents.ts";

/** Dependencies of {@link deviceUploadHooks}. */
interface OneRequestOptions {
  readonly blobs: BlobStore;
  readonly contents: KnownContents;
  readonly tree: TreeReader;
  readonly events: Events;
}

/** A device's upload. */
export interface DeviceUpload {
  readonly accountId: number;
  readonly deviceId: number;
  /** As sent in the form. */
  readonly exif: ExifData;
  /** Sent by an unattended backup. */
  readonly isAutomatic: boolean;
}

/** Rejects content that its user deleted, avoids duplicates, records time and location, and emits the completion. */
export function deviceUploadHooks(options: OneRequestOptions, upload: DeviceUpload): UploadHooks {
  const { blobs, contents, events, tree } = options;
  const { accountId, deviceId, exif, isAutomatic } = upload;
  return {
    admit: (digest) => {
      if (isAutomatic && contents.wasDeleted(accountId, digest)) throw deletedByYou(digest);
    },
    describe: async ({ digest, sizeBytes }, mediaType) => {
      const head = await blobs.read(digest, 0, Math.min(sizeBytes, EXIF_HEAD_BYTES));
      const filled = await addMissingExif(exif, head, mediaType);
      return { metadata: exifMetadata(filled), capturedAt: filled.capturedAt };
    },
    findSame: ({ folderPath, onConflict }, name, { digest, isNew }) => {
      const same = findSameFile(tree, { accountId, folderPath, name, digest, onConflict, isAutomatic });
      if (same !== undefined && isNew) contents.markWhole(digest);
      return same;
    },
    onDone: (tx, file, path) =>
      events.emit(tx, "upload.completed", { accountId, deviceId, uploadId: null, file: summarizeFile(file), path }),
  };
}
