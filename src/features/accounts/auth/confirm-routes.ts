/** POST /api/auth/confirm: a session counts as confirmed by its owner for ten minutes. */
import { Elysia } from "elysia";
import { documented } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { type authGuard, takesJson } from "./guard.ts";
import { ConfirmBody, ConfirmedRecord } from "./model.ts";
import { presentConfirmed } from "./present.ts";
import type { ProofService } from "./proof.ts";

/** Why proof was refused, for the document of the API. */
export const PROOF_ERRORS = [
  "password_required",
  "bad_credentials",
  "account_disabled",
  "second_factor_required",
  "invalid_code",
] as const;

/** The route that confirms a session by password and code. */
export function confirmRoutes({ proof, guard }: { proof: ProofService; guard: ReturnType<typeof authGuard> }) {
  return new Elysia({ name: "confirm-routes", prefix: "/api/auth" }).use(guard).post(
    "/confirm",
    async ({ body, principal, request, set }) => {
      const asking = { request, headers: set.headers, principal, access: "self" } as const;
      return ok(presentConfirmed(await proof.confirm(asking, body.currentPassword, body.code)));
    },
    {
      ...takesJson("self", ConfirmBody),
      ...documented({
        takesJson: true,
        tag: "Authentication",
        summary: "Confirm this session by the account's password",
        description:
          "For ten minutes this session alone may use the routes that otherwise return 401 password_required: make API keys, change e-mail, " +
          "password, second factor and passkeys, erase the account, and administer other accounts. It ends with the " +
          "session, with a new password and when two-factor sign-in is switched on; a refreshed token is not confirmed. " +
          "With two-factor sign-in it needs `code`, which is used up. Wrong ones count as failed sign-ins. The details of " +
          "401 password_required list the `methods` of the account (password, passkey, provider) and `needsCode`.",
        access: "self",
        data: ConfirmedRecord,
        errors: ["bad_credentials", "account_disabled", "second_factor_required", "invalid_code"],
      }),
    },
  );
}
