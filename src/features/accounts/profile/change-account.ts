/** Changes an account for an administrator or the command line: the transaction spans accounts and sessions. */
import type { Transaction } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { Events } from "../../../events/events.ts";
import { say } from "../../../translations/say.ts";
import type { AppPasswordService } from "../app-passwords/service.ts";
import type { TransactionCheck } from "../auth/proof.ts";
import type { AuthService } from "../auth/service.ts";
import type { UserService } from "../users/service.ts";
import type { User, UserChanges } from "../users/types.ts";

/** Dependencies of {@link changeAccount}. */
interface ChangeAccountServices {
  readonly users: UserService;
  readonly auth: Pick<AuthService, "endSessions">;
  readonly appPasswords: Pick<AppPasswordService, "revokeAll">;
  readonly events: Events;
}

/**
 * Changes an account; durable when this returns. A new password, and disabling, end all of its sessions in the same
 * transaction, including those of phones. Disabling also ends its app passwords. A new password or email emits
 * `security.credentials_changed`, as when the owner changes it.
 * @param within runs afterwards in the same transaction
 * @param check runs first in it; what it throws undoes the change
 * @throws AppError not_found | invalid_field | email_taken | last_admin | overloaded
 */
export async function changeAccount(
  { users, auth, appPasswords, events }: ChangeAccountServices,
  userId: number,
  changes: UserChanges,
  within?: (tx: Transaction, user: User) => void,
  check?: TransactionCheck,
): Promise<User> {
  let emailBefore: string | undefined;
  return users.update(
    userId,
    { ...changes, isByAdministrator: true },
    (tx, after) => {
      const emitChange = (what: "password" | "email") =>
        events.emit(tx, "security.credentials_changed", {
          accountId: userId,
          what,
          deviceId: null,
          byAdministrator: true,
          ...(what === "email" && { emailBefore }),
        });
      if (changes.password !== undefined || changes.isDisabled === true) auth.endSessions(tx, userId);
      if (changes.isDisabled === true) appPasswords.revokeAll(tx, userId);
      if (changes.password !== undefined) emitChange("password");
      if (after.email !== emailBefore) emitChange("email");
      within?.(tx, after);
    },
    (tx) => {
      check?.(tx);
      const before = users.findById(userId);
      // A deleted account exists until all its files are deleted; nobody can change it any longer.
      if (before === undefined || before.email === "") throw unknownAccount();
      emailBefore = before.email;
    },
  );
}

/** The account does not exist, or no longer. */
export function unknownAccount(): AppError {
  return new AppError("not_found", say`This account was not found. Check the ID, or list the accounts.`);
}
