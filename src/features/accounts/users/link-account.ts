import { AppError } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";
import type { UserService } from "./service.ts";

/**
 * Checks an account before a link is created with which its owner chooses a password.
 * @throws AppError not_found | account_disabled
 */
export function checkLinkAccount(users: Pick<UserService, "findById">, userId: number): void {
  const user = users.findById(userId);
  if (user === undefined || user.email === "") throw new AppError("not_found", say`This account no longer exists.`);
  if (user.disabledAtMs === null) return;
  throw new AppError("account_disabled", say`This account is disabled. Enable it first, then create the link.`);
}
