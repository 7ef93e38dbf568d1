import { toTimestamp } from "../../../lib/clock.ts";
import { formatDuration } from "../../../lib/duration.ts";
import type { User } from "../users/types.ts";
import type { DeviceRef, Principal } from "./principal.ts";
import type { SignedIn } from "./service.ts";

/** An account in the responses of sign-in. */
export function presentUser(user: User): { id: string; email: string; name: string } {
  return { id: user.publicId, email: user.email, name: user.name };
}

/** The session of GET /api/auth/session; for an API key, a record in its place. */
export function presentSession({ session, device, key }: Principal, confirmedUntilMs: number | undefined) {
  if (key !== undefined) {
    return {
      id: key.publicId,
      kind: "key" as const,
      createdAt: toTimestamp(key.createdAtMs),
      expiresAt: key.expiresAtMs === null ? null : toTimestamp(key.expiresAtMs),
      scopes: key.scopes,
    };
  }
  return {
    id: session.publicId,
    kind: session.kind,
    createdAt: toTimestamp(session.createdAtMs),
    expiresAt: toTimestamp(session.expiresAtMs),
    ...(device !== undefined && { device: presentDeviceRef(device) }),
    confirmedUntil: confirmedUntilMs === undefined ? null : toTimestamp(confirmedUntilMs),
  };
}

/** Response of everything that confirms a session. */
export function presentConfirmed(untilMs: number): { confirmedUntil: string } {
  return { confirmedUntil: toTimestamp(untilMs) };
}

/** The device that a session belongs to. */
export function presentDeviceRef(device: DeviceRef): { id: string; name: string } {
  return { id: device.publicId, name: device.name };
}

/** Response of signup, signin and refresh. Its fields are at the top level, not in `data`. */
export function presentSignedIn(signedIn: SignedIn, tokenLifetimeMs: number) {
  return {
    success: true as const,
    user: presentUser(signedIn.user),
    token: signedIn.token,
    expiresIn: formatDuration(tokenLifetimeMs),
  };
}
