import { AppError } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";
import type { User } from "./types.ts";

/**
 * Required for everything that shares or gives others access: links, public files, drop boxes, shares with accounts.
 * @throws AppError email_unconfirmed
 */
export function requireConfirmedEmail({ isEmailUnconfirmed, email }: User): void {
  if (isEmailUnconfirmed !== true) return;
  throw new AppError(
    "email_unconfirmed",
    say`Confirm your email address before you share. Open the link in the email sent to ${email}, or request a new email.`,
  );
}
