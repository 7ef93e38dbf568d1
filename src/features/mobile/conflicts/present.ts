import { toChecksum } from "../../../blobs/digest.ts";
import { errorItem } from "../../../http/error-response.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import type { ResolveOutcome } from "./service.ts";
import type { OpenConflict } from "./types.ts";

/** A conflict as the API returns it. `remote` is the current state; after a deletion, only its id is not null. */
export function presentConflict(conflict: OpenConflict) {
  const { change, remote, remoteDeviceId } = conflict;
  return {
    conflictId: conflict.publicId,
    fileId: conflict.fileId,
    type: conflict.type,
    action: change.action,
    localId: change.localId,
    local: {
      name: change.name ?? null,
      folder: change.folder ?? null,
      size: change.sizeBytes ?? null,
      checksum: change.digest === undefined ? null : toChecksum(change.digest),
      modifiedAt: change.lastModified === undefined ? null : toTimestamp(Date.parse(change.lastModified)),
      deviceId: conflict.devicePublicId,
    },
    remote: {
      fileId: conflict.remoteFileId,
      name: remote?.name ?? null,
      folder: remote?.folder ?? null,
      size: remote?.sizeBytes ?? null,
      checksum: remote === undefined ? null : toChecksum(remote.digest),
      modifiedAt: remote === undefined ? null : toTimestamp(remote.modifiedAtMs),
      deviceId: remoteDeviceId ?? null,
    },
    detectedAt: toTimestamp(conflict.detectedAtMs),
    awaitsContent: conflict.awaitsContent,
  };
}

/** One result of conflicts/resolve. */
export function presentResolved(outcome: ResolveOutcome, request: Request) {
  const { conflictId, status } = outcome;
  if (outcome.status === "rejected") return { conflictId, status, error: errorItem(outcome.error, request) };
  return { conflictId, status, ...(outcome.fileId !== null && { fileId: outcome.fileId }) };
}
