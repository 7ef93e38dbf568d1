import type { BlobStore } from "../../../blobs/blob-store.ts";
import { AppError } from "../../../errors.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { type Message, say } from "../../../translations/say.ts";
import type { Uploader } from "../../accounts/auth/principal.ts";
import { cannotEdit, type EditProcess } from "../../media/editing/edit-process.ts";
import { type FilePart, type Quarter, rotateByTag } from "../../media/editing/orientation.ts";
import type { PictureEdit } from "../../media/editing/types.ts";
import type { FileService, PendingUpload, Replacement } from "../files/service.ts";

/** Dependencies of {@link PictureEdits}. */
export interface PictureEditsOptions {
  readonly files: FileService;
  readonly blobs: Pick<BlobStore, "open" | "fetchLocal" | "pathOf">;
  readonly editProcess: Pick<EditProcess, "edit">;
}

/** Formats that can be encoded again. The others are only rotated, by their orientation tag. */
const ENCODED = new Set(["image/jpeg", "image/png", "image/webp", "image/avif"]);

/** Rotates and crops pictures. Each edit is a new version of the file, and keeps its date. */
export class PictureEdits {
  readonly #options: PictureEditsOptions;

  constructor(options: PictureEditsOptions) {
    this.#options = options;
  }

  /**
   * Edits a picture. A rotation alone changes only the orientation tag, if the format has one.
   * @param precondition checked against the content that is edited and replaced
   * @throws AppError not_found | share_permission | precondition_failed; unsupported_media_type if the picture can't be
   *   edited; file_too_large | quota_exceeded | disk_full as uploads; overloaded
   */
  async edit(
    uploader: Uploader,
    fileId: string,
    edit: PictureEdit,
    precondition: Replacement["precondition"],
  ): Promise<FileNode> {
    const { files } = this.#options;
    const { node, owner } = files.open(uploader.user, fileId, "write");
    precondition?.(node);
    const pending = files.beginUpload(uploader.user, node.sizeBytes, {
      isForm: false,
      key: null,
      possibleOwners: [owner],
    });
    try {
      await this.#write(uploader.user.id, node, edit, pending);
      const replacement = {
        fileId,
        declaredType: node.mediaType,
        fileModifiedAt: new Date(node.fileAtMs).toISOString(),
        precondition: (current: FileNode) => checkUnchanged(node, current),
      };
      return await files.finishReplacement(uploader, pending, replacement, () => undefined);
    } finally {
      pending.discard();
    }
  }

  async #write(accountId: number, node: FileNode, edit: PictureEdit, { incoming }: PendingUpload): Promise<void> {
    const { editProcess, blobs } = this.#options;
    const mediaType = (node.mediaType.split(";")[0] ?? "").trim().toLowerCase();
    if (edit.rotate !== undefined && edit.crop === undefined) {
      const parts = await this.#rotate(node, mediaType, edit.rotate);
      if (parts !== undefined) {
        await this.#copy(node, parts, (bytes) => incoming.write(bytes));
        return;
      }
    }
    if (!ENCODED.has(mediaType)) throw cannotEdit(whyNot(mediaType, edit));
    await blobs.fetchLocal(node.digest);
    const request = { path: blobs.pathOf(node.digest), mediaType, edit };
    await editProcess.edit(accountId, request, (bytes) => incoming.write(bytes));
  }

  #rotate(node: FileNode, mediaType: string, quarter: Quarter): Promise<FilePart[] | undefined> {
    const read = async (offset: number, lengthBytes: number) => {
      const length = Math.min(lengthBytes, node.sizeBytes - offset);
      if (length <= 0) return Buffer.alloc(0);
      const buffers: Uint8Array[] = [];
      for await (const bytes of await this.#options.blobs.open(node.digest, offset, length)) {
        buffers.push(Uint8Array.from(bytes));
      }
      return Buffer.concat(buffers);
    };
    return rotateByTag(read, node.sizeBytes, mediaType, quarter);
  }

  async #copy(node: FileNode, parts: readonly FilePart[], write: (bytes: Uint8Array) => unknown): Promise<void> {
    for (const part of parts) {
      if ("bytes" in part) await write(part.bytes);
      else if (part.lengthBytes > 0) {
        const old = await this.#options.blobs.open(node.digest, part.from, part.lengthBytes);
        for await (const bytes of old) await write(bytes);
      }
    }
  }
}

/** @throws AppError precondition_failed if the file got other content during the edit */
function checkUnchanged(edited: FileNode, { digest }: FileNode): void {
  if (digest === edited.digest) return;
  throw new AppError(
    "precondition_failed",
    say`The file changed while it was edited. Open it again, then repeat your edit.`,
    {
      etag: `"${digest}"`,
    },
  );
}

/** The reason for people why a format can't be edited like this. */
function whyNot(mediaType: string, { crop }: PictureEdit): Message {
  if (!mediaType.startsWith("image/")) return say`the file is not an image`;
  if (mediaType === "image/svg+xml") return say`an SVG is a drawing, which has no pixels to rotate or crop`;
  if (mediaType === "image/gif") return say`Larder can't write GIFs`;
  if (mediaType === "image/tiff") {
    return crop === undefined
      ? say`it has no orientation that could be changed`
      : say`TIFF can be rotated, but not cropped`;
  }
  if (/^image\/(heic|heif)/.test(mediaType)) {
    return crop === undefined
      ? say`it has no orientation that could be changed`
      : say`HEIC can be rotated, but not cropped`;
  }
  return say`Larder can't write ${mediaType}`;
}
