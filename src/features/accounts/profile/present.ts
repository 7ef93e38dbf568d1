import { toTimestamp } from "../../../lib/clock.ts";
import { presentDeviceRef } from "../auth/present.ts";
import type { ListedSession, Session } from "../auth/principal.ts";
import type { User } from "../users/types.ts";

/** GET /api/users/profile. @param avatarVersion the version of the picture; null without one */
export function presentProfile(user: User, avatarVersion: string | null) {
  return {
    id: user.publicId,
    email: user.email,
    name: user.name,
    role: user.role,
    plan: user.plan,
    createdAt: toTimestamp(user.createdAtMs),
    emailVerified: user.isEmailUnconfirmed !== true,
    avatar: avatarVersion === null ? null : { version: avatarVersion },
  };
}

/** An entry of GET /api/users/sessions. @param current the session of the request, if it has one */
export function presentSessionItem(session: ListedSession, current: Pick<Session, "publicId"> | undefined) {
  return {
    id: session.publicId,
    kind: session.kind,
    createdAt: toTimestamp(session.createdAtMs),
    expiresAt: toTimestamp(session.expiresAtMs),
    lastSeenAt: toTimestamp(session.lastSeenAtMs),
    userAgent: session.userAgent,
    clientAddress: session.clientAddress,
    isCurrent: session.publicId === current?.publicId,
    ...(session.device !== undefined && { device: presentDeviceRef(session.device) }),
  };
}
