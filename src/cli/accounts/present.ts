import type { User } from "../../features/accounts/users/types.ts";
import { toTimestamp } from "../../lib/clock.ts";

/** An account for `--json`, with the names of the API. `quota` is null for unlimited, and absent if the plan's applies. */
export function presentAccount(user: User) {
  return {
    id: user.publicId,
    email: user.email,
    name: user.name,
    role: user.role,
    plan: user.plan,
    ...(user.quotaBytes !== undefined && { quota: user.quotaBytes }),
    disabled: user.disabledAtMs !== null,
    emailVerified: user.isEmailUnconfirmed !== true,
    createdAt: toTimestamp(user.createdAtMs),
  };
}
