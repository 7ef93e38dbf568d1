/** What the manifest of an export says about a file or folder. */
import { toTimestamp } from "../../../lib/clock.ts";
import type { FileNode, TreeNode } from "../../../tree/model/types.ts";
import { extensionType } from "../../library/files/media-type.ts";
import type { ManifestEntry } from "./manifest.ts";

/** The modification time that the device sent, or else that of the content, in milliseconds. */
export function modificationTimeOf(node: {
  readonly fileModifiedAt: string | null;
  readonly contentAtMs: number | null;
  readonly modifiedAtMs: number;
}): number {
  const own = node.fileModifiedAt === null ? Number.NaN : Date.parse(node.fileModifiedAt);
  return Number.isNaN(own) ? (node.contentAtMs ?? node.modifiedAtMs) : own;
}

/** What the exported file or folder itself can't say. */
export function labelsOf(node: TreeNode): Partial<ManifestEntry> {
  const metadata = Object.keys(node.metadata).length > 0 ? { metadata: node.metadata } : {};
  if (node.kind === "folder") return metadata;
  return {
    ...metadata,
    ...(node.tags.length > 0 && { tags: node.tags }),
    ...(node.capturedAt !== null && { capturedAt: node.capturedAt }),
    ...(node.originalName !== node.name && { originalName: node.originalName }),
    ...(node.mediaType !== extensionType(node.name) && { mediaType: node.mediaType }),
    ...modificationTextOf(node),
  };
}

/** The modification time in the words of the device. The file on disk has only the instant. */
function modificationTextOf({ fileModifiedAt }: FileNode): Pick<ManifestEntry, "fileModifiedAt"> {
  if (fileModifiedAt === null) return {};
  const ms = Date.parse(fileModifiedAt);
  return Number.isNaN(ms) || toTimestamp(ms) === fileModifiedAt ? {} : { fileModifiedAt };
}
