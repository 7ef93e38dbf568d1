import type { Digest } from "../../../blobs/digest.ts";

/** What a device did to its own copy of a file. */
export type ChangeAction = "upload" | "update" | "rename" | "move" | "delete";

/**
 * One change that a device reports, with checked and normalized fields; absent fields were not sent. It is stored as
 * JSON while it waits for a person's approval, or for the resolution of a conflict.
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
  /** The digest of the device's content. */
  readonly digest?: Digest | undefined;
  /** The digest of the content that the device's content is based on. */
  readonly baseDigest?: Digest | undefined;
  /** When the file was changed, by the device's clock. */
  readonly lastModified?: string | undefined;
  /** Sent by an automatic backup, not on a person's request. */
  readonly isAutomatic?: boolean | undefined;
  /** The device's position in the journal; not part of the fingerprint. */
  readonly sinceSeq?: number | undefined;
}

/** Deletions and replacements of a device that wait for a person's decision. */
export interface Hold {
  /** Row id. */
  readonly id: number;
  /** `hold_…` */
  readonly publicId: string;
  readonly accountId: number;
  readonly deviceId: number;
  /** The device's id in the API. */
  readonly devicePublicId: string;
  /** The number of held changes. */
  readonly changes: number;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly decision: "accepted" | "declined" | null;
}
