/** Nouns of this feature. */
import type { Transaction } from "../../../db/transaction.ts";
import type { PendingUpload } from "../../library/files/service.ts";
import type { WriteTarget } from "../../library/permissions/user-tree-writer.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { Upload } from "../chunked/types.ts";
import type { TusMetadata } from "./metadata.ts";

/** A file; a part of one that is joined later; or parts being joined (tus, Concatenation). */
export type TusKind = "whole" | "partial" | "final";

/** A tus upload as stored in the database. */
export interface TusUpload {
  readonly upload: Upload;
  /** Row id of the account that began it; undefined for a guest of a drop box. */
  readonly senderId: number | undefined;
  /** Public id of the drop box's share. */
  readonly shareId: string | undefined;
  readonly kind: TusKind;
  /**
   * The public ids of the parts of a final upload, in order. For a part that was joined, the id of the final upload.
   */
  readonly parts: readonly string[];
  /** The number of durable bytes from the start. */
  readonly offsetBytes: number;
  /** Undefined until the client has sent it. */
  readonly lengthBytes: number | undefined;
  /** Upload-Metadata as received. */
  readonly metadata: string;
}

/** Called in the transaction that creates the file. */
export interface CreationHooks {
  /** Before the file is created: releases reservations for it. */
  readonly before: (tx: Transaction) => void;
  /** After the file is created. */
  readonly onDone: (tx: Transaction, file: FileNode) => void;
}

/**
 * The destination of an upload: the account whose quota and limits apply, and the folder by its path in that account.
 */
export interface Destination extends WriteTarget {
  readonly folderPath: string;
  /** Largest accepted file; null for no limit. */
  readonly limitBytes: number | null;
  /** The bytes that all uploads of this sender in progress may still add now; null for no limit. */
  readonly leftBytes: () => number | null;
  /** The error for a larger file. */
  readonly tooLarge: () => Error;
}

/** The sender: an account, or a guest of a drop box. Only the sender who began an upload finds it. */
export interface TusSender {
  readonly senderId: number | undefined;
  readonly shareId: string | undefined;
  /** For a guest: the address by which their uploads are counted. */
  readonly address: string | undefined;
  /** For a guest: how many uploads in progress the drop box accepts from their address. */
  readonly uploadsMax: number | undefined;
  /**
   * Whether quota and room are reserved for the whole upload when it begins. Otherwise they are reserved as its bytes
   * arrive, so that a stranger's announcement reserves nothing.
   */
  readonly isTrusted: boolean;
  /** Called when the bytes of a request have arrived. @throws AppError if the sender may send no more */
  readonly confirm: () => void;
  /**
   * Checked before an upload begins, to reject it before its bytes are sent.
   * @throws AppError name_taken | invalid_field
   */
  admit(metadata: TusMetadata, destination: Destination): void;
  /** Whether the upload creates a new file, as far as known before its bytes arrive. */
  makesFile(kind: TusKind, metadata: TusMetadata, destination: Destination): boolean;
  /** @throws AppError if the sender may not upload there */
  destination(metadata: TusMetadata): Destination;
  /** Creates the file from a received upload. @throws AppError as an upload in one request */
  createFile(pendingUpload: PendingUpload, metadata: TusMetadata, hooks: CreationHooks): Promise<FileNode>;
  /** Replaces an error with what this sender may know. */
  explain(error: unknown): unknown;
}
