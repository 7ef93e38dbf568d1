/** Receives a file into a drop box: one file of a form, stored in the owner's account. */
import { toChecksum } from "../../../blobs/digest.ts";
import { AppError, invalidField } from "../../../errors.ts";
import type { FormFields } from "../../../http/read-multipart.ts";
import { declaredBytes } from "../../../http/request-body.ts";
import type { Clock } from "../../../lib/clock.ts";
import { ROOT_PATH, uploadedName } from "../../../lib/path.ts";
import type { PendingUpload, FileService, UploadHooks } from "../../library/files/service.ts";
import type { StorageLimits } from "../../library/files/storage-limits.ts";
import { receiveForm } from "../../library/files/incoming.ts";
import { readUploadFields, type UploadFields } from "../../library/files/upload-form.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";
import type { ShareAccess, LinkRequest } from "./share-access.ts";
import type { ShareRows } from "./queries.ts";
import type { OpenedShare, Share } from "./types.ts";

/** Dependencies of {@link DropBox}. */
interface DropBoxOptions {
  readonly shareAccess: ShareAccess;
  readonly rows: ShareRows;
  readonly files: Pick<FileService, "beginUpload" | "finishUpload">;
  readonly limitsOf: (user: User) => StorageLimits;
  readonly clock: Clock;
}

/** The response to a sender. It reveals nothing about the folder, not even whether the name was free. */
export interface DroppedFile {
  readonly name: string;
  readonly size: number;
  readonly checksum: string;
}

const SENDER_CHARACTERS_MAX = 100;
/** Most bytes of text fields and part headers, in addition to the file. */
const FORM_OVERHEAD_BYTES = 64 * 1024;

export class DropBox {
  readonly #options: DropBoxOptions;

  constructor(options: DropBoxOptions) {
    this.#options = options;
  }

  /**
   * Largest file that a drop box accepts now, in bytes; null for no limit. It does not reveal the owner's remaining
   * quota.
   */
  largestFile({ share, owner }: OpenedShare): number | null {
    const max = this.#options.limitsOf(owner).maxFileSizeBytes;
    const left = leftBytes(share);
    return left === null ? max : Math.min(left, max ?? Number.POSITIVE_INFINITY);
  }

  /**
   * The bytes that a drop box can still accept in total; null for no limit.
   * @throws AppError as {@link ShareAccess.open}
   */
  leftBytes(linkRequest: LinkRequest): number | null {
    return leftBytes(this.#options.shareAccess.open(linkRequest).share);
  }

  /**
   * The folder for a file of this drop box, and its largest size.
   * @throws AppError as {@link ShareAccess.open}
   */
  destination(linkRequest: LinkRequest): {
    share: Share;
    owner: User;
    path: string;
    limitBytes: number | null;
    tooLarge: () => AppError;
  } {
    const { shareAccess } = this.#options;
    const opened = shareAccess.open(linkRequest);
    const limitBytes = this.largestFile(opened);
    const { path } = shareAccess.folder(opened, ROOT_PATH);
    return { share: opened.share, owner: opened.owner, path, limitBytes, tooLarge: () => full(limitBytes ?? 0) };
  }

  /**
   * Creates a file from a received upload. Even if this fails, the upload can't be used again.
   * @param fields the fields of a sender: `checksum`, `sender`
   * @param hooks called in the transaction: before the file is created, and after
   * @throws AppError as {@link receive}
   */
  async finish(
    linkRequest: LinkRequest,
    pendingUpload: PendingUpload,
    file: { fileName: string | undefined; declaredType: string | undefined },
    fields: FormFields,
    hooks: Pick<UploadHooks, "before" | "onDone"> = {},
  ): Promise<FileNode> {
    const { shareAccess, files } = this.#options;
    const opened = shareAccess.open(linkRequest);
    // The current path of the folder, which may have been renamed while the bytes arrived.
    const { path } = shareAccess.folder(opened, ROOT_PATH);
    const { file: made } = await files.finishUpload(
      { user: opened.owner, confirm: () => void shareAccess.open(linkRequest) },
      pendingUpload,
      file,
      { ...readSenderFields(fields), folderPath: path },
      {
        before: (tx) => {
          // Rejects a drop box that has ended, moved or filled up since the upload began.
          this.#checkFolderUnchanged(linkRequest, path);
          hooks.before?.(tx);
        },
        onDone: (tx, done, requested) => {
          this.#countUpload(linkRequest, done.sizeBytes);
          hooks.onDone?.(tx, done, requested);
        },
      },
    );
    return made;
  }

  /** Replaces an error that would reveal something about the owner. */
  explain(linkRequest: LinkRequest, error: unknown): unknown {
    if (!(error instanceof AppError)) return error;
    if (error.reason === "locked") {
      const message = say`The owner is working on this folder. Try again later.`;
      return new AppError("locked", message, { expiresAt: error.details["expiresAt"] }, error);
    }
    if (error.reason !== "quota_exceeded") return error;
    return this.#quotaError(this.#options.shareAccess.open(linkRequest), error);
  }

  /**
   * Receives one file. On return it is durable; on any error nothing of it is left.
   * @throws AppError as {@link ShareAccess.open}, and as an upload of the owner's; file_too_large if the drop box is
   *   full
   */
  async receive(linkRequest: LinkRequest, request: Request): Promise<DroppedFile> {
    const opened = this.#options.shareAccess.open(linkRequest);
    const begunRequest = { ...linkRequest, hasBegun: true };
    try {
      return await this.#receive(begunRequest, opened, request);
    } catch (error) {
      throw this.explain(begunRequest, error);
    }
  }

  async #receive(linkRequest: LinkRequest, opened: OpenedShare, request: Request): Promise<DroppedFile> {
    const { files } = this.#options;
    const { owner } = opened;
    const left = leftBytes(opened.share);
    const declared = declaredBytes(request);
    if (left !== null && (declared ?? 0) > left + FORM_OVERHEAD_BYTES) throw full(left);
    const checkSize = (sizeBytes: number) => {
      if (left !== null && sizeBytes > left) throw full(left);
    };
    const sender = { user: owner, key: null, kind: "guestFile", checkSize } as const;
    return receiveForm(files, request, sender, async (pendingUpload, form) => {
      const name = uploadedName(form.file.fileName ?? "file");
      const file = await this.finish(linkRequest, pendingUpload, form.file, form.fields);
      return { name, size: file.sizeBytes, checksum: toChecksum(file.digest) };
    });
  }

  /** The error if the owner's quota is exhausted. It reveals nothing about what the owner stores. */
  #quotaError({ owner }: OpenedShare, cause: AppError): AppError {
    const { limit, of } = cause.details;
    const { plan } = this.#options.limitsOf(owner);
    const message =
      of === "nodes"
        ? say`This drop box can't accept more files. Ask the person who sent you the link.`
        : say`Not enough space for this file. Send a smaller file, or ask the person who sent you the link.`;
    return new AppError("quota_exceeded", message, { limit, ...(of !== undefined && { of }), plan }, cause);
  }

  #checkFolderUnchanged(linkRequest: LinkRequest, path: string): void {
    const { node } = this.#options.shareAccess.open(linkRequest);
    if (node.kind === "folder" && node.path === path) return;
    throw new AppError("database_busy", say`The folder was moved during the upload. Send the file again.`);
  }

  #countUpload(linkRequest: LinkRequest, sizeBytes: number): void {
    const { rows, shareAccess, clock } = this.#options;
    const { share } = shareAccess.open(linkRequest);
    if (!rows.addUpload(share.id, sizeBytes, clock.nowMs())) throw full(leftBytes(share) ?? 0);
  }
}

function leftBytes(share: Share): number | null {
  return share.maxUploadBytes === null ? null : Math.max(0, share.maxUploadBytes - share.uploadedBytes);
}

function full(remainingBytes: number): AppError {
  return new AppError(
    "file_too_large",
    remainingBytes === 0
      ? say`This drop box is full. Ask the person who sent you the link.`
      : say`This drop box accepts at most ${remainingBytes} more bytes. Send a smaller file.`,
    { limit: remainingBytes },
  );
}

/**
 * Reads the checksum and the sender's name. Tags and visibility are the owner's decision.
 * @throws AppError invalid_field
 */
export function readSenderFields(fields: FormFields): UploadFields {
  const checksum = fields.get("checksum");
  const sender = fields.get("sender")?.at(-1)?.trim().normalize("NFC") ?? "";
  if ([...sender].length > SENDER_CHARACTERS_MAX || /\p{Cc}/u.test(sender)) {
    throw invalidField(
      "sender",
      say`A name can have at most ${SENDER_CHARACTERS_MAX} characters, and no control characters.`,
    );
  }
  const own = readUploadFields(new Map(checksum === undefined ? [] : [["checksum", checksum]]));
  return { ...own, metadata: sender === "" ? {} : { sender }, onConflict: "rename" };
}
