import { toTimestamp } from "../../../lib/clock.ts";
import type { GroupRow, Member } from "./types.ts";

/** A group for administrators. */
export function presentGroup({ publicId, name, members, shares, createdAtMs }: GroupRow) {
  return { id: publicId, name, members, shares, createdAt: toTimestamp(createdAtMs) };
}

/** A member of a group for administrators. */
export function presentMember({ publicId, email, name, disabledAtMs, addedAtMs }: Member) {
  return { id: publicId, email, name, disabled: disabledAtMs !== null, addedAt: toTimestamp(addedAtMs) };
}
