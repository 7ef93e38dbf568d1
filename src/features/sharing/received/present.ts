import { toTimestamp } from "../../../lib/clock.ts";
import { type PresentContext, presentFileItem, presentFolder } from "../../library/files/present.ts";
import type { ReceivedShare } from "./types.ts";

/** A share as shown to its recipient. */
export function presentReceived(share: ReceivedShare, context: PresentContext) {
  const { owner, node, expiresAtMs } = share;
  return {
    id: share.publicId,
    permissions: share.canWrite ? ("write" as const) : ("read" as const),
    versions: share.showsVersions,
    owner: { id: owner.publicId, name: owner.name, email: owner.email },
    createdAt: toTimestamp(share.createdAtMs),
    expiresAt: expiresAtMs === null ? null : toTimestamp(expiresAtMs),
    label: share.label,
    ...(node.kind === "file"
      ? { file: presentFileItem(node, context) }
      : { folder: presentFolder(node, context.favorites) }),
  };
}
