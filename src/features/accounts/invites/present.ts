import { toTimestamp } from "../../../lib/clock.ts";
import type { Invite, InviteState } from "./types.ts";

/** An invitation as administrators see it. */
export function presentInvite(invite: Invite, state: InviteState) {
  const { usedAtMs } = invite;
  return {
    id: invite.publicId,
    email: invite.email,
    role: invite.role,
    plan: invite.plan,
    state,
    createdAt: toTimestamp(invite.createdAtMs),
    createdBy: invite.createdBy,
    expiresAt: toTimestamp(invite.expiresAtMs),
    usedAt: usedAtMs === null ? null : toTimestamp(usedAtMs),
    usedBy: invite.usedBy,
  };
}
