/** What can have happened to a file or folder. */
export const ACTIVITY_KINDS = [
  "created",
  "content",
  "renamed",
  "moved",
  "trashed",
  "restored",
  "shared",
  "version_deleted",
  "downloaded",
] as const;

/** One of {@link ACTIVITY_KINDS}. */
export type ActivityKind = (typeof ACTIVITY_KINDS)[number];

/** Where a file or folder was or went. */
export interface ActivityFolder {
  readonly name: string;
  /** Path of the folder; null where that is gone. */
  readonly folder: string | null;
}

/** One thing that happened. */
export interface Activity {
  readonly kind: ActivityKind;
  readonly atMs: number;
  /** Who did it, as they are called now; undefined where nobody noted it, or the account is gone. */
  readonly by?: { readonly publicId: string; readonly name: string } | undefined;
  /** The device that did it, where it was one. */
  readonly device?: { readonly publicId: string; readonly name: string } | undefined;
  readonly from?: ActivityFolder | undefined;
  readonly to?: ActivityFolder | undefined;
  /** Of a content: its number. */
  readonly version?: number | undefined;
  /** Of a share: its kind. */
  readonly share?: "public" | "link" | "upload" | "account" | undefined;
}
