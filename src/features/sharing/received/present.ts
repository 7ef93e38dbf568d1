import { toTimestamp } from "../../../lib/clock.ts";
import { type PresentContext, presentFileItem, presentFolder } from "../../library/files/present.ts";
import { presentAlbum } from "../../library/albums/present.ts";
import type { ReceivedAlbum, ReceivedShare } from "./types.ts";

/** A share as shown to its recipient. */
export function presentReceived(share: ReceivedShare | ReceivedAlbum, context: PresentContext) {
  const { owner, expiresAtMs } = share;
  return {
    id: share.publicId,
    permissions: share.canWrite ? ("write" as const) : ("read" as const),
    versions: share.showsVersions,
    owner: { id: owner.publicId, name: owner.name, email: owner.email },
    createdAt: toTimestamp(share.createdAtMs),
    expiresAt: expiresAtMs === null ? null : toTimestamp(expiresAtMs),
    label: share.label,
    group: share.group === null ? null : { id: share.group.publicId, name: share.group.name },
    ...presentShared(share, context),
  };
}

function presentShared(share: ReceivedShare | ReceivedAlbum, context: PresentContext) {
  if ("album" in share) return { album: presentAlbum(share.album, context) };
  const { node } = share;
  return node.kind === "file" ? { file: presentFileItem(node, context) } : { folder: presentFolder(node, context) };
}
