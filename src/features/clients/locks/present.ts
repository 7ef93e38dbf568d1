import { toTimestamp } from "../../../lib/clock.ts";
import { joinPath } from "../../../lib/path.ts";
import type { ListedLock } from "./service.ts";

/** An entry of GET /api/users/locks. */
export function presentLock({ lock, node }: ListedLock) {
  return {
    id: lock.publicId,
    ...(node.kind === "file" ? { fileId: node.publicId } : { folderId: node.publicId }),
    name: node.name,
    path: node.kind === "file" ? joinPath(node.folder, node.name) : node.path,
    program: lock.program,
    createdAt: toTimestamp(lock.createdAtMs),
    expiresAt: toTimestamp(lock.expiresAtMs),
  };
}
