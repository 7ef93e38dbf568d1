/** Nouns of this feature. */
import type { Transaction } from "../../../db/transaction.ts";
import type { PendingUpload } from "../../library/files/service.ts";
import type { Target } from "../../library/permissions/acting.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { Upload } from "../chunked/types.ts";
import type { TusMetadata } from "./metadata.ts";

/** A file; a part of one that is joined later; or parts being joined (tus, Concatenation). */
export type TusKind = "whole" | "partial" | "final";

/** An upload by tus, as the database has it. */
export interface TusUpload {
  readonly upload: Upload;
  /** Row id of the account that began it; undefined where a guest of a drop box did. */
  readonly senderId: number | undefined;
  /** Public id of the drop box's share. */
  readonly shareId: string | undefined;
  readonly kind: TusKind;
  /**
   * The public ids of the parts of a final upload, in order. For a part that was joined, the id of the final upload.
   */
  readonly parts: readonly string[];
  /** So many bytes from the start are on the device. */
  readonly offsetBytes: number;
  /** Undefined until the client has sent it. */
  readonly lengthBytes: number | undefined;
  /** Upload-Metadata as it came. */
  readonly metadata: string;
}

/** Called in the transaction that gives the content its file. */
export interface Naming {
  /** Before the file is made: what was held for it makes room for it. */
  readonly before: (tx: Transaction) => void;
  /** With the file. */
  readonly done: (tx: Transaction, file: FileNode) => void;
}

/** Where an upload goes: whose quota and limits it touches, and the folder by its owner's path. */
export interface Destination extends Target {
  readonly folderPath: string;
  /** Largest file that is taken; null for no limit. */
  readonly limitBytes: number | null;
  /**
   * What may come in all of all uploads of this sender that are in progress, as of now, in bytes; null for no limit.
   */
  readonly leftBytes: () => number | null;
  /** What is said of a larger one. */
  readonly tooLarge: () => Error;
}

/** The sender: an account, or a guest of a drop box. Only the sender who began an upload finds it. */
export interface TusSender {
  readonly senderId: number | undefined;
  readonly shareId: string | undefined;
  /** Of a guest: the address by which they are counted. */
  readonly address: string | undefined;
  /** Of a guest: how many uploads the drop box takes from their address at once. */
  readonly uploadsMax: number | undefined;
  /**
   * Whether quota and disk are held for all of an upload when it begins; else they are asked for as its bytes come, so
   * that a stranger who only announces takes nothing.
   */
  readonly isTrusted: boolean;
  /** Called when the bytes of a request have arrived. @throws AppError where the sender may send no more */
  readonly confirm: () => void;
  /**
   * Checked before an upload begins, to reject it before its bytes are sent.
   * @throws AppError name_taken | invalid_field
   */
  admit(metadata: TusMetadata, destination: Destination): void;
  /** Whether the upload makes one more file, as far as can be known before its bytes arrive. */
  makesFile(kind: TusKind, metadata: TusMetadata, destination: Destination): boolean;
  /** @throws AppError where nothing may be put there */
  destination(metadata: TusMetadata): Destination;
  /** Makes a file of what has arrived. @throws AppError as an upload in one request */
  name(pendingUpload: PendingUpload, metadata: TusMetadata, naming: Naming): Promise<FileNode>;
  /** Replaces an error with what this sender may know. */
  explain(error: unknown): unknown;
}
