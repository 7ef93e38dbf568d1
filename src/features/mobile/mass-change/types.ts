import type { Digest } from "../../../blobs/digest.ts";

/** What a device did to its own copy of a file. */
export type ChangeAction = "upload" | "update" | "rename" | "move" | "delete";

/**
 * One change that a device reports, with checked and normalized fields; absent fields were not sent. It is stored as JSON
 * while it waits for a person's approval, or for the resolution of a conflict.
 */
export interface LocalChange {
  readonly action: ChangeAction;
  /** The device's own name for the file. */
  readonly localId: string;
  /** Public id. */
  readonly fileId?: string | undefined;
  readonly name?: string | undefined;
  readonly folder?: string | undefined;
  readonly sizeBytes?: number | undefined;
  /** Of the content that the device has. */
  readonly digest?: Digest | undefined;
  /** Of the content that the device's own came from. */
  readonly baseDigest?: Digest | undefined;
  /** When the file was changed, by the device's clock. */
  readonly lastModified?: string | undefined;
  /** Offered by an automatic backup, without a person's asking. */
  readonly isAutomatic?: boolean | undefined;
  /** Where the device stood in the journal; no part of what the change is. */
  readonly sinceSeq?: number | undefined;
}

/** A stop: deletions and replacements of a device that wait for a person's word. */
export interface Hold {
  /** Key inside the database. */
  readonly id: number;
  /** `hold_…` */
  readonly publicId: string;
  readonly accountId: number;
  readonly deviceId: number;
  /** As the device calls itself. */
  readonly devicePublicId: string;
  /** How many changes were held. */
  readonly changes: number;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly decision: "accepted" | "declined" | null;
}
