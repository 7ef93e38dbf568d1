/** The records of a share: for its owner, and for clients that open it. */
import { toChecksum } from "../../../blobs/digest.ts";
import { toTimestamp, timestampOrNull } from "../../../lib/clock.ts";
import { ROOT_PATH } from "../../../lib/path.ts";
import type { FileNode, FolderNode, TreeNode } from "../../../tree/model/types.ts";
import { permissionsOf } from "./settings.ts";
import { hasCameraData, shownName } from "./shown-name.ts";
import type { ShareCounts } from "./statistics.ts";
import { type OpenedShare, type OwnShare, type Share, UPLOADS_PER_ADDRESS, type SharedItem } from "./types.ts";

/** A share as its owner sees it. */
export function presentShare(
  { share, node }: OwnShare,
  context: { readonly baseUrl: string; readonly token: string; readonly counts: ShareCounts },
) {
  const shared = { id: node.publicId, name: node.name };
  return {
    id: share.publicId,
    kind: share.kind,
    permissions: permissionsOf(share),
    url: `${context.baseUrl}/s/${context.token}`,
    token: context.token,
    label: share.label,
    expiresAt: timestampOrNull(share.expiresAtMs),
    hasPassword: share.passwordHash !== null,
    maxDownloads: share.maxDownloads,
    downloads: context.counts.downloads,
    views: context.counts.views,
    lastAccessedAt: timestampOrNull(context.counts.lastAccessedAtMs),
    createdAt: toTimestamp(share.createdAtMs),
    pinned: share.pinnedVersion !== null,
    pinnedVersion: share.pinnedVersion,
    hideLocation: share.hidesLocation,
    maxUploadBytes: share.maxUploadBytes,
    maxUploadsPerAddress: share.kind === "upload" ? (share.maxUploadsPerAddress ?? UPLOADS_PER_ADDRESS) : null,
    uploads: share.uploads,
    uploadedBytes: share.uploadedBytes,
    user: share.recipientEmailKey,
    person: share.groupId === null ? recipientOf(share) : null,
    group: share.groupId === null ? null : recipientOf(share),
    versions: share.kind === "account" ? (share.showsVersions ?? share.canWrite) : null,
    ...(node.kind === "file" ? { file: { ...shared, type: "file" as const } } : {}),
    ...(node.kind === "folder" ? { folder: { ...shared, type: "folder" as const } } : {}),
    ...(node.kind === "album" ? { albumId: node.publicId, album: { ...shared, type: "album" as const } } : {}),
  };
}

function recipientOf({ recipientPublicId: id, recipientName: name }: Share) {
  return id === null || name === null ? null : { id, name };
}

/** The context of a visitor's record, in addition to share and node. */
interface VisitorContext {
  /** `http://host[:port][/base]` */
  readonly baseUrl: string;
  readonly hasThumbnail: (file: FileNode) => boolean;
}

/** A file as a share shows it. */
export function presentSharedFile(opened: OpenedShare, file: FileNode, context: VisitorContext) {
  const isOneOfMany = opened.node.kind !== "file";
  const downloadUrl = `${publicUrl(opened, context)}/download`;
  const query = isOneOfMany ? `?fileId=${file.publicId}` : "";
  return {
    name: shownName(opened, file),
    type: "file" as const,
    mimeType: file.mediaType,
    size: file.sizeBytes,
    modifiedAt: toTimestamp(file.modifiedAtMs),
    checksum: opened.share.hidesLocation ? null : toChecksum(file.digest),
    downloadUrl: `${downloadUrl}${query}`,
    thumbnailUrl: `${downloadUrl}${query === "" ? "?" : `${query}&`}thumbnail=true`,
    hasThumbnail: context.hasThumbnail(file),
  };
}

/** An item of a shared folder or album; paths begin at the shared folder. */
export function presentSharedItem(opened: OpenedShare, node: TreeNode, context: VisitorContext) {
  const folder = relativePath(opened, node.folder);
  if (node.kind === "file") {
    const presented = presentSharedFile(opened, node, context);
    return { id: node.publicId, ...presented, size: listedSize(opened, node), folder };
  }
  return {
    id: node.publicId,
    name: node.name,
    type: "folder" as const,
    folder,
    path: relativePath(opened, node.path),
    itemCount: node.itemCount,
    modifiedAt: toTimestamp(node.modifiedAtMs),
  };
}

/**
 * The size of a file in a list; null if visitors get another content than the original, which must be created first.
 */
export function listedSize({ share }: OpenedShare, file: FileNode): number | null {
  return share.hidesLocation && hasCameraData(file) ? null : file.sizeBytes;
}

/** The folder that is listed, with its path within the share. */
export function presentCurrentFolder(opened: OpenedShare, folder: FolderNode) {
  if (folder.id === opened.node.id) return { path: ROOT_PATH, name: folderTitle(folder), parent: ROOT_PATH };
  return {
    path: relativePath(opened, folder.path),
    name: folder.name,
    parent: relativePath(opened, folder.folder),
  };
}

/** The title of what is shared. */
export function titleOf(node: SharedItem): string {
  return node.kind === "folder" ? folderTitle(node) : node.name;
}

/** The title of a shared folder; the root folder of an account has no name of its own. */
export function folderTitle(folder: FolderNode): string {
  return folder.path === ROOT_PATH ? "Files" : folder.name;
}

/** `…/api/public/{token}` */
export function publicUrl(opened: OpenedShare, { baseUrl }: Pick<VisitorContext, "baseUrl">): string {
  return `${baseUrl}/api/public/${opened.token}`;
}

/** A path relative to the shared folder, which itself is `/`. An album has no folders, and reveals none. */
export function relativePath({ node }: OpenedShare, path: string): string {
  if (node.kind === "album") return ROOT_PATH;
  const top = node.kind === "folder" ? node.path : node.folder;
  if (top === ROOT_PATH) return path;
  return path.slice(top.length) || ROOT_PATH;
}
