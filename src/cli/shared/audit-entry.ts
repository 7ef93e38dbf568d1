import { userInfo } from "node:os";
import type { AuditEntry } from "../../features/administration/audit/types.ts";
import type { User } from "../../features/accounts/users/types.ts";

/** An entry of the audit log about a command: written in the transaction that makes the change. */
export function auditEntry(
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

/** The system user who runs the command; a number if the user has no name, as in a container. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
