import { EyeOff, KeyRound, Pin } from "lucide-react";
import type { ShareRecord } from "../../api/types.ts";
import { Badge } from "../../ui/badge.tsx";
import { formatBytes, formatDateTime, formatRelative } from "../../base/format.ts";
import { recipientOf } from "./api.ts";
import { text } from "./text.ts";

/** Why a share can no longer be opened; undefined if it can. */
export function closedBecause(
  share: ShareRecord,
  nowMs: number = Date.now(),
): "expired" | "usedUp" | "full" | undefined {
  if (share.expiresAt !== null && Date.parse(share.expiresAt) <= nowMs) return "expired";
  if (share.maxDownloads !== null && share.downloads >= share.maxDownloads) return "usedUp";
  if (share.maxUploadBytes !== null && share.uploadedBytes >= share.maxUploadBytes) return "full";
  return undefined;
}

/** The kind of a share as text. */
export function describeKind(share: ShareRecord): string {
  switch (share.kind) {
    case "public":
      return text.kindPublic;
    case "upload":
      return text.kindUpload;
    case "account":
      return text.kindAccount({ recipient: recipientOf(share).name });
    case "link":
      return text.kindLink;
  }
}

/** Badges of a share: expired, password, expiry. Not its permissions, which have a field. */
export function ShareBadges({ share }: { readonly share: ShareRecord }) {
  const closed = closedBecause(share);
  return (
    <span className="inline-flex flex-wrap gap-1.5">
      {closed !== undefined && <Badge tone="danger">{text[closed]}</Badge>}
      {share.expiresAt !== null && closed !== "expired" && (
        <Badge tone="warning">{text.expiresAt({ when: formatDateTime(share.expiresAt) })}</Badge>
      )}
      {share.hasPassword && <Badge icon={KeyRound}>{text.hasPassword}</Badge>}
      {share.hideLocation && <Badge icon={EyeOff}>{text.hidesLocation}</Badge>}
      {share.pinned && <Badge icon={Pin}>{text.isPinned}</Badge>}
    </span>
  );
}

/** The statistics of a share as text; empty for a share with a person. */
export function describeCounts(share: ShareRecord): string {
  const { kind, views, lastAccessedAt } = share;
  if (kind === "account") return "";
  const last = lastAccessedAt === null ? text.neverOpened : text.lastAccess({ when: formatRelative(lastAccessedAt) });
  return [text.visits({ n: views }), describeTransfers(share), last].join(" · ");
}

/** The downloads of a share, or the uploads of a drop box, as text; empty for a share with a person. */
export function describeTransfers(share: ShareRecord): string {
  const { kind, downloads, maxDownloads, uploads, uploadedBytes, maxUploadBytes } = share;
  if (kind === "account") return "";
  if (kind !== "upload") {
    return maxDownloads === null
      ? text.downloads({ n: downloads })
      : text.downloadsOf({ n: downloads, max: maxDownloads });
  }
  const sent = formatBytes(uploadedBytes);
  return maxUploadBytes === null
    ? text.uploads({ n: uploads, bytes: sent })
    : text.uploadsOf({ n: uploads, bytes: sent, max: formatBytes(maxUploadBytes) });
}
