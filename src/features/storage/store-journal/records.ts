/**
 * The records in the objects of `blobs/journal/`, one JSON text a line: the full state of a file, a folder or an
 * account, or the deletion of a node. The last record of a node counts. Pure.
 */
import { FILE, parseMetadata, parseTags } from "../../../tree/model/rows.ts";

/** The first line of an object. */
export interface ObjectHeader {
  readonly larder: "store journal";
  readonly format: 1;
  /** The account's public id. */
  readonly account: string;
  /** Objects of an account are numbered from 1 without a gap. */
  readonly number: number;
  /** True if the object has the whole account, so that no earlier object is needed. */
  readonly isFull: boolean;
  readonly writtenAt: number;
}

/** The last line of an object. */
export interface ObjectEnd {
  readonly end: true;
  /** Number of lines between the first and the last. */
  readonly records: number;
  /** The account's journal number up to which the object is complete. */
  readonly seq: number;
  /** Digest of all lines before this one, with their line ends, in hexadecimal. */
  readonly sha256: string;
}

/** The content of a version. Sizes in bytes, times in milliseconds since 1970 UTC, digests in hexadecimal. */
export interface ContentRecord {
  readonly version: number;
  readonly sha256: string;
  readonly size: number;
  readonly crc32: number;
  readonly type: string;
  readonly at: number;
  /** Public id of the account that stored it. */
  readonly by?: string;
  /** When it was replaced; for earlier versions. */
  readonly until?: number;
}

/** The former location of a node in the trash. */
export interface TrashRecord {
  readonly at: number;
  /** Public id of its folder, if that still exists. */
  readonly in?: string;
  readonly path: string;
}

/**
 * A link or a share. The token is not stored: it is derived from the nonce by a key in `secrets/`. A password is stored
 * as its argon2id hash, as in the database; only the server's user can read both files.
 */
export interface ShareRecord {
  readonly id: string;
  readonly kind: string;
  readonly nonce: string;
  readonly tokenHash: string;
  readonly created: number;
  readonly epoch: number;
  readonly label?: string;
  readonly expires?: number;
  readonly pinned?: number;
  readonly hidesLocation?: number;
  readonly canWrite?: number;
  readonly showsVersions?: number;
  readonly passwordHash?: string;
  /** Limits and their use: a restored share must not have a lower count. */
  readonly maxDownloads?: number;
  readonly downloads?: number;
  readonly maxUploadBytes?: number;
  readonly uploadedBytes?: number;
  readonly maxUploadsPerAddress?: number;
  /** Public id of the receiving account, or the folded email of a person without one. */
  readonly recipient?: string;
  readonly recipientEmail?: string;
  /** Or the public id and the name of the group that it is for, */
  readonly group?: string;
  readonly groupName?: string;
  /** and the public ids of the members who hid it. */
  readonly hiddenBy?: readonly string[];
}

/** The location of a node before a rename, a move or the trash. */
interface LocationRecord {
  /** Number of the change in the account's journal. */
  readonly seq: number;
  readonly at: number;
  readonly name: string;
  /** Public id of the folder; absent if that was deleted, or the node was in the trash. */
  readonly in?: string;
}

interface NodeRecord {
  /** Public id of its folder; absent for a root and for a node in the trash. */
  readonly in?: string;
  readonly name: string;
  readonly created: number;
  readonly modified: number;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly trash?: TrashRecord;
  /** All shares; records without {@link born} lack those with a password or a limit. */
  readonly shares?: readonly ShareRecord[];
  /** Number of its creation in the account's journal; absent in records of earlier versions of Larder. */
  readonly born?: number;
  /** Time of its creation, if it differs from {@link created}; 0 if the journal no longer has it. */
  readonly bornAt?: number;
  /** Former locations that are still stored, oldest first. */
  readonly places?: readonly LocationRecord[];
  /** Public ids of the accounts that marked it as a favorite. */
  readonly favoriteOf?: readonly string[];
}

/** A folder; a root has the name `/`. */
export interface FolderRecord extends NodeRecord {
  readonly folder: string;
}

/** A file. */
export interface FileRecord extends NodeRecord {
  readonly file: string;
  readonly content: ContentRecord;
  /** Earlier versions, oldest first. */
  readonly versions?: readonly ContentRecord[];
  /** The name as uploaded, if it differs. */
  readonly originalName?: string;
  readonly fileModifiedAt?: string;
  readonly capturedAt?: string;
  readonly isPublic?: true;
  readonly tags?: readonly string[];
}

/** A deleted node. */
export interface GoneRecord {
  readonly gone: string;
}

/** The membership of an account in a group. */
export interface GroupMembership {
  readonly id: string;
  readonly name: string;
  /** When the group was made, and when the account was added. */
  readonly created: number;
  readonly added: number;
}

/** The picture of a person: two WebP in hexadecimal, and the digest of both. */
export interface AvatarContent {
  readonly digest: string;
  readonly large: string;
  readonly small: string;
  readonly changed: number;
}

/** An account, in an object of its own. Contains no passwords or keys. */
export interface AccountRecord {
  readonly account: string;
  readonly email: string;
  readonly name: string;
  readonly role: string;
  readonly plan: string;
  /** Bytes; negative for no limit; absent for the plan's quota. */
  readonly quota?: number;
  readonly created: number;
  readonly disabled?: number;
  readonly settings: unknown;
  /** When the unconfirmed email was set; absent for a confirmed one. */
  readonly unconfirmedSince?: number;
  /** The groups that it is a member of. */
  readonly groups?: readonly GroupMembership[];
  /** The picture of the person. */
  readonly avatar?: AvatarContent;
  /** Start of the stored history of locations; absent if that is complete. */
  readonly historySince?: number;
}

/** A node with everything that its record contains, as the database has it. */
export interface JournaledRow {
  readonly id: number;
  readonly kind: number;
  readonly publicId: string;
  readonly parentId: number | null;
  readonly parent: string | null;
  readonly name: string;
  readonly createdAt: number;
  readonly modifiedAt: number;
  readonly metadata: string | null;
  readonly version: number | null;
  readonly digest: string | null;
  readonly sizeBytes: number;
  readonly crc32: number | null;
  readonly mediaType: string | null;
  readonly contentAt: number | null;
  readonly contentBy: string | null;
  readonly originalName: string | null;
  readonly fileModifiedAt: string | null;
  readonly capturedAt: string | null;
  readonly isPublic: number;
  readonly tags: string | null;
  /** JSON array of {@link ContentRecord}. */
  readonly versions: string | null;
  /** JSON array of {@link ShareRecord}, with nulls for what is absent. */
  readonly shares: string | null;
  readonly born: number;
  readonly bornAt: number | null;
  /** JSON array of {@link LocationRecord}, with nulls for what is absent. */
  readonly places: string | null;
  /** JSON array of public ids. */
  readonly favoriteOf: string | null;
  readonly trashedAt: number | null;
  readonly trashedIn: string | null;
  readonly trashedPath: string | null;
}

/** Name of a root. */
export const ROOT = "/";

/** The record of a node. A node that was cut off from the tree, to be purged, counts as deleted. */
export function toRecord(row: JournaledRow): FileRecord | FolderRecord | GoneRecord {
  const isRoot = row.parentId === null && row.name === ROOT;
  const isTrashed = row.trashedAt !== null;
  if (row.parent === null && !isRoot && !isTrashed) return { gone: row.publicId };
  const common = {
    ...(row.parent !== null && !isTrashed && { in: row.parent }),
    name: row.name,
    created: row.createdAt,
    modified: row.modifiedAt,
    ...(row.metadata !== null && { metadata: parseMetadata(row.metadata) }),
    ...(row.trashedAt !== null && {
      trash: {
        at: row.trashedAt,
        ...(row.trashedIn !== null && { in: row.trashedIn }),
        path: row.trashedPath ?? ROOT,
      },
    }),
    ...(row.shares !== null && { shares: parseList<ShareRecord>(row.shares) }),
    born: row.born,
    ...(row.bornAt !== row.createdAt && { bornAt: row.bornAt ?? 0 }),
    ...(row.places !== null && { places: parseList<LocationRecord>(row.places) }),
    ...(row.favoriteOf !== null && { favoriteOf: parseList<string>(row.favoriteOf) }),
  };
  if (row.kind !== FILE) return { folder: row.publicId, ...common };
  return {
    file: row.publicId,
    ...common,
    content: {
      version: row.version ?? 1,
      sha256: row.digest ?? "",
      size: row.sizeBytes,
      crc32: row.crc32 ?? 0,
      type: row.mediaType ?? "",
      at: row.contentAt ?? row.modifiedAt,
      ...(row.contentBy !== null && { by: row.contentBy }),
    },
    ...(row.versions !== null && { versions: parseList<ContentRecord>(row.versions) }),
    ...(row.originalName !== null && { originalName: row.originalName }),
    ...(row.fileModifiedAt !== null && { fileModifiedAt: row.fileModifiedAt }),
    ...(row.capturedAt !== null && { capturedAt: row.capturedAt }),
    ...(row.isPublic === 1 && { isPublic: true }),
    ...(row.tags !== null && { tags: parseTags(row.tags) }),
  };
}

/** Parses a JSON array and drops the nulls that SQL writes for absent values. */
export function parseList<Item>(json: string): Item[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made by the statement that reads the row
  return JSON.parse(json, (_key, value: unknown) => value ?? undefined) as Item[];
}

/** Parses the picture of a person. */
export function parseAvatar(json: string): AvatarContent {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made by the statement that reads the row
  return JSON.parse(json) as AvatarContent;
}
