import { userInfo } from "node:os";
import type { AuditEntry } from "../../features/administration/audit/types.ts";
import type { User } from "../../features/accounts/users/types.ts";

/** What a command did to an account, for the audit log: written in the deed that does it. */
export function commandEntry(
  action: string,
  user: User | undefined,
  details: Readonly<Record<string, unknown>> = {},
  target = user === undefined ? undefined : { type: "user", id: user.publicId },
): AuditEntry {
  return {
    action,
    outcome: "done",
    via: "cli",
    viaName: systemUser(),
    subject: user && { id: user.publicId, email: user.email || undefined },
    target,
    details,
  };
}

/** Who runs the command; a number where the system has no name for them, as in a container. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
