/** Users change their own account: the transaction spans accounts and sessions. */
import type { Transaction } from "../../../db/transaction.ts";
import { AppError, invalidField } from "../../../errors.ts";
import type { Events } from "../../../events/events.ts";
import { say } from "../../../translations/say.ts";
import { type Principal, sessionOf } from "../auth/principal.ts";
import type { ProofCheck } from "../auth/proof.ts";
import type { AuthService } from "../auth/service.ts";
import type { UserService } from "../users/service.ts";
import type { User } from "../users/types.ts";

/** PUT /api/users/profile. */
interface ProfileChange {
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  readonly newPassword?: string | undefined;
  /** With a new password: ends the API keys and the app passwords too. */
  readonly endKeys?: boolean | undefined;
}

/** Ends the API keys and the app passwords of an account in the caller's transaction. */
export interface CredentialRevoker {
  revokeAll(tx: Transaction, userId: number): void;
}

/**
 * Changes name, email or password; durable when this returns. A new password ends all other sessions in the same
 * transaction. A new email and a new password each emit `security.credentials_changed` in it. The caller requires proof
 * for a new email or password. The transaction checks the proof again, so that only one of two concurrent changes with
 * the same old password succeeds.
 * @param checkProof the proof, if it was required
 * @throws AppError invalid_field | email_taken | overloaded | bad_credentials | account_disabled; scope for an API key
 *   that changes more than the name
 */
export async function changeProfile(
  services: {
    users: UserService;
    auth: Pick<AuthService, "endSessions">;
    credentialRevoker: CredentialRevoker;
    events: Events;
  },
  principal: Principal,
  change: ProfileChange,
  checkProof?: ProofCheck,
): Promise<User> {
  const { name, email, newPassword, endKeys = false } = change;
  if (name === undefined && email === undefined && newPassword === undefined) {
    throw new AppError("invalid_field", say`The request contains no changes. Send name, email or newPassword.`);
  }
  if (endKeys && newPassword === undefined) {
    throw invalidField(
      "endKeys",
      say`API keys and app passwords can be ended only together with a password change. Send newPassword, or delete the keys.`,
    );
  }
  if (email !== undefined || newPassword !== undefined) sessionOf(principal);
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
        const emitChange = (what: "password" | "email") =>
          services.events.emit(tx, "security.credentials_changed", {
            accountId,
            what,
            deviceId,
            ...(what === "email" && { emailBefore }),
          });
        if (newPassword !== undefined) {
          services.auth.endSessions(tx, accountId, sessionOf(principal));
          if (endKeys) services.credentialRevoker.revokeAll(tx, accountId);
          emitChange("password");
        }
        if (after.email !== emailBefore) emitChange("email");
      },
      checkProof,
    )
    .catch((error: unknown) => {
      // The name of the field differs from that of new accounts.
      const isPassword = error instanceof AppError && error.details["field"] === "password";
      throw isPassword ? invalidField("newPassword", error.text) : error;
    });
}
