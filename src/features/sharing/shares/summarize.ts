import type { ShareFacts } from "../../../events/catalogue.ts";
import type { Share, SharedItem } from "./types.ts";

/** The properties of a share that events contain. */
export function summarizeShare(share: Share, node: SharedItem): ShareFacts {
  return {
    publicId: share.publicId,
    kind: share.kind,
    label: share.label,
    expiresAtMs: share.expiresAtMs,
    node: { type: node.kind, publicId: node.publicId, name: node.name },
  };
}
