/** The JSON records of files and folders: as uploaded, as listed, in full, as updated, as deleted. */
import { toChecksum } from "../../../blobs/digest.ts";
import { errorItem } from "../../../http/error-response.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { type Clock, timestampOrNull, toTimestamp } from "../../../lib/clock.ts";
import { presentMedia } from "../../media/metadata/present.ts";
import type { MediaInfo } from "../../media/metadata/types.ts";
import type { Town } from "../../media/places/types.ts";
import type { NodeAccess } from "../../accounts/plans/access-counters.ts";
import type { FileNode, FolderNode, TreeNode } from "../../../tree/model/types.ts";
import type { User } from "../../accounts/users/types.ts";
import type { ShareMark } from "../marks/share-marks.ts";
import type { Outcome } from "./outcomes.ts";

/** Data for presenting a node, in addition to the node. */
export interface PresentContext {
  /** `http://host[:port][/base]` */
  readonly baseUrl: string;
  readonly hasThumbnail: (file: FileNode) => boolean;
  /** Row ids of the nodes that the caller marked; without it, records do not say what is a favorite. */
  readonly favorites?: ReadonlySet<number> | undefined;
  /** How the caller shares nodes, by row id; without it, records do not say what is shared. */
  readonly shares?: ReadonlyMap<number, ShareMark> | undefined;
  /** Bytes below folders by row id; without it, records do not show them. */
  readonly sizes?: ReadonlyMap<number, number | null> | undefined;
}

/** Where the video of a Live Photo is: in a file of its own, or in the photo. */
export interface MotionFields {
  readonly motion: "pair" | "embedded" | null;
  /** The API's id of the file of its own. */
  readonly motionFileId: string | null;
}

/** The context of the response to a request. */
export function presentContextOf(
  request: Request,
  hasThumbnail: PresentContext["hasThumbnail"],
  favorites?: PresentContext["favorites"],
  shares?: PresentContext["shares"],
  sizes?: PresentContext["sizes"],
): PresentContext {
  return { baseUrl: requestContextOf(request).baseUrl, hasThumbnail, favorites, shares, sizes };
}

/** The record of a permanently deleted node. */
export function presentDeleted(node: TreeNode, clock: Clock) {
  return { id: node.publicId, name: node.name, deletedAt: toTimestamp(clock.nowMs()) };
}

/**
 * The two lists of a bulk response.
 * @throws the error of the first item if every item failed
 */
export function presentOutcomes<T, P>(
  request: Request,
  outcomes: readonly Outcome<T>[],
  present: (done: T, id: string) => P,
) {
  const done = outcomes.flatMap((outcome) => ("done" in outcome ? [present(outcome.done, outcome.id)] : []));
  const failed = outcomes.flatMap((outcome) => ("error" in outcome ? [outcome] : []));
  const [first] = failed;
  if (done.length === 0 && first !== undefined) throw first.error;
  return { done, failed: failed.map(({ id, error }) => ({ id, error: errorItem(error, request) })) };
}

function fileUrls(file: FileNode, { baseUrl, hasThumbnail }: PresentContext) {
  const url = `${baseUrl}/api/files/${file.publicId}/download`;
  return { url, thumbnailUrl: `${url}?thumbnail=true`, hasThumbnail: hasThumbnail(file) };
}

/** The record returned by an upload. */
export function presentUploaded(file: FileNode, context: PresentContext) {
  return {
    id: file.publicId,
    name: file.name,
    originalName: file.originalName,
    mimeType: file.mediaType,
    size: file.sizeBytes,
    folder: file.folder,
    ...fileUrls(file, context),
    uploadedAt: toTimestamp(file.contentAtMs),
    isPublic: file.isPublic,
    tags: file.tags,
    metadata: file.metadata,
    checksum: toChecksum(file.digest),
    version: file.version,
    fileModifiedAt: file.fileModifiedAt,
    capturedAt: file.capturedAt,
  };
}

/** How a node is shared; null if it is not. */
export function presentShareMark(mark: ShareMark | undefined) {
  if (mark === undefined) return null;
  const { expiresAtMs, ...counts } = mark;
  return { ...counts, expiresAt: timestampOrNull(expiresAtMs) };
}

/** A file in a listing. */
export function presentFileItem(file: FileNode, context: PresentContext) {
  return {
    id: file.publicId,
    name: file.name,
    type: "file" as const,
    mimeType: file.mediaType,
    size: file.sizeBytes,
    folder: file.folder,
    ...fileUrls(file, context),
    createdAt: toTimestamp(file.createdAtMs),
    modifiedAt: toTimestamp(file.modifiedAtMs),
    fileModifiedAt: file.fileModifiedAt,
    isPublic: file.isPublic,
    tags: file.tags,
    metadata: file.metadata,
    checksum: toChecksum(file.digest),
    version: file.version,
    isFavorite: context.favorites?.has(file.id),
    shared: context.shares && presentShareMark(context.shares.get(file.id)),
  };
}

/** A folder in a listing, with its own path and description. */
export function presentFolder(
  folder: FolderNode,
  context: Pick<PresentContext, "favorites" | "shares" | "sizes"> = {},
) {
  return {
    id: folder.publicId,
    name: folder.name,
    type: "folder" as const,
    folder: folder.folder,
    path: folder.path,
    itemCount: folder.itemCount,
    size: context.sizes?.get(folder.id),
    createdAt: toTimestamp(folder.createdAtMs),
    modifiedAt: toTimestamp(folder.modifiedAtMs),
    description: folder.metadata["description"] ?? "",
    isFavorite: context.favorites?.has(folder.id),
    shared: context.shares && presentShareMark(context.shares.get(folder.id)),
  };
}

/** An entry of a listing. */
export function presentItem(node: TreeNode, context: PresentContext) {
  return node.kind === "file" ? presentFileItem(node, context) : presentFolder(node, context);
}

/** The full record of a file. */
export function presentInfo(
  file: FileNode,
  context: PresentContext & {
    owner: User;
    shareToken: string | undefined;
    access: NodeAccess;
    media: MediaInfo | undefined;
    /** Where it was taken, for the owner. */
    place: Town | undefined;
    /** The video of a Live Photo that the caller can open. */
    motion: MotionFields;
  },
) {
  const urls = fileUrls(file, context);
  return {
    id: file.publicId,
    name: file.name,
    originalName: file.originalName,
    mimeType: file.mediaType,
    size: file.sizeBytes,
    folder: file.folder,
    url: urls.url,
    downloadUrl: urls.url,
    thumbnailUrl: urls.thumbnailUrl,
    hasThumbnail: urls.hasThumbnail,
    createdAt: toTimestamp(file.createdAtMs),
    modifiedAt: toTimestamp(file.modifiedAtMs),
    uploadedAt: toTimestamp(file.contentAtMs),
    fileModifiedAt: file.fileModifiedAt,
    capturedAt: file.capturedAt,
    lastAccessedAt: toTimestamp(context.access.lastAccessedAtMs ?? file.createdAtMs),
    downloadCount: context.access.downloads,
    isPublic: file.isPublic,
    shareLink: shareLink(context.shareToken, context.baseUrl),
    tags: file.tags,
    metadata: file.metadata,
    owner: { id: context.owner.publicId, name: context.owner.name, email: context.owner.email },
    media: presentMedia(context.media),
    place: context.place === undefined ? null : { id: String(context.place.id), name: context.place.name },
    motion: context.motion.motion,
    motionFileId: context.motion.motionFileId,
    checksum: toChecksum(file.digest),
    version: file.version,
  };
}

/** The record returned by an update. */
export function presentUpdated(file: FileNode, shareToken: string | undefined, baseUrl: string) {
  return {
    id: file.publicId,
    name: file.name,
    folder: file.folder,
    modifiedAt: toTimestamp(file.modifiedAtMs),
    isPublic: file.isPublic,
    shareLink: shareLink(shareToken, baseUrl),
    tags: file.tags,
    metadata: file.metadata,
  };
}

/** The address of the public link of a file. */
export function shareLink(token: string | undefined, baseUrl: string): string | null {
  return token === undefined ? null : `${baseUrl}/s/${token}`;
}
