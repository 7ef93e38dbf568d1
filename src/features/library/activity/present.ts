import { toTimestamp } from "../../../lib/clock.ts";
import type { Activity } from "./types.ts";

/** An entry of GET /api/files/{id}/activity. */
export function presentNodeActivity({ kind, atMs, by, device, from, to, version, share }: Activity) {
  return {
    kind,
    at: toTimestamp(atMs),
    by: by === undefined ? null : { id: by.publicId, name: by.name },
    device: device === undefined ? null : { id: device.publicId, name: device.name },
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(version !== undefined && { version }),
    ...(share !== undefined && { share }),
  };
}
