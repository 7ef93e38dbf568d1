/** A user changes their own account: the deed spans accounts and sessions. */
import { AppError, invalidField } from "../../errors.ts";
import type { Events } from "../../events/events.ts";
import type { Principal } from "../auth/principal.ts";
import type { AuthService } from "../auth/service.ts";
import type { UserService } from "./service.ts";
import type { User } from "./types.ts";

/** PUT /api/users/profile. */
export interface ProfileChange {
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  readonly newPassword?: string | undefined;
}

/**
 * Changes name, e-mail or password; durable on return. A new password ends all other sessions in the same deed, and
 * `security.credentials_changed` is told in it, once for each of the two that changed. That the current password was given for e-mail and password is the caller's to check.
 * @throws AppError invalid_field | email_taken | overloaded
 */
export async function changeProfile(
  services: { users: UserService; auth: Pick<AuthService, "endSessions">; events: Events },
  principal: Principal,
  change: ProfileChange,
): Promise<User> {
  const { name, email, newPassword } = change;
  if (name === undefined && email === undefined && newPassword === undefined) {
    throw new AppError("invalid_field", "There is nothing to change. Give name, email or newPassword.");
  }
  return services.users
    .update(
      principal.user.id,
      {
        ...(name !== undefined && { name }),
        ...(email !== undefined && { email }),
        ...(newPassword !== undefined && { password: newPassword }),
      },
      (tx, after) => {
        const { id: accountId, email: emailBefore, viaDeviceId: deviceId = null } = principal.user;
        const tell = (what: "password" | "email") =>
          services.events.emit(tx, "security.credentials_changed", { accountId, what, deviceId });
        if (newPassword !== undefined) {
          services.auth.endSessions(tx, accountId, principal.session);
          tell("password");
        }
        if (after.email !== emailBefore) tell("email");
      },
    )
    .catch((error: unknown) => {
      // The field is called otherwise here than where accounts are made.
      const isPassword = error instanceof AppError && error.details["field"] === "password";
      throw isPassword ? invalidField("newPassword", error.message) : error;
    });
}
