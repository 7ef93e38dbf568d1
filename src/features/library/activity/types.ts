/** Kinds of activity of a file or folder. */
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

/** A former or later location of a file or folder. */
export interface ActivityFolder {
  readonly name: string;
  /** Path of the folder; null if it is gone. */
  readonly folder: string | null;
}

/** One entry of the activity. */
export interface Activity {
  readonly kind: ActivityKind;
  readonly atMs: number;
  /** Who did it, by their current name; undefined if it is not recorded or the account is erased. */
  readonly by?: { readonly publicId: string; readonly name: string } | undefined;
  /** The device that did it; undefined if no device did. */
  readonly device?: { readonly publicId: string; readonly name: string } | undefined;
  readonly from?: ActivityFolder | undefined;
  readonly to?: ActivityFolder | undefined;
  /** The version number, for content. */
  readonly version?: number | undefined;
  /** The kind of share, for a share. */
  readonly share?: "public" | "link" | "upload" | "account" | undefined;
}
