import { Elysia, t } from "elysia";
import { documented } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { PROOF_ERRORS } from "../auth/confirm-routes.ts";
import { type authGuard, takesJson } from "../auth/guard.ts";
import { ProofBody } from "../auth/model.ts";
import type { Asking, ProofService } from "../auth/proof.ts";
import { EnableBody, FactorProofBody, RecoveryCodesRecord, SetUpRecord, TwoFactorRecord } from "./model.ts";
import type { TwoFactorService } from "./service.ts";

/** What the routes about two-factor sign-in work with. */
export interface TwoFactorRoutesOptions {
  readonly twoFactor: TwoFactorService;
  readonly proof: ProofService;
  readonly guard: ReturnType<typeof authGuard>;
  /** How many passkeys a user has. */
  readonly countPasskeys: (userId: number) => number;
}

/** /api/users/two-factor. Never by an API key: `auth/scopes.ts` closes these paths to keys. */
export function twoFactorRoutes({ twoFactor, proof, guard, countPasskeys }: TwoFactorRoutesOptions) {
  const prove = (asking: Omit<Asking, "access">, body: typeof FactorProofBody.static) =>
    proof.require({ ...asking, access: "self" }, { ...body, code: body.code ?? body.recoveryCode });

  return new Elysia({ name: "two-factor-routes", prefix: "/api/users/two-factor" })
    .use(guard)
    .get(
      "/",
      ({ principal }) => {
        const { isEnabled, recoveryCodesLeft } = twoFactor.state(principal.user.id);
        return ok({ enabled: isEnabled, recoveryCodesLeft, passkeys: countPasskeys(principal.user.id) });
      },
      {
        access: "self",
        ...documented({
          tag: "Users",
          summary: "Whether sign-in asks for a second factor",
          description: "Also says how many recovery codes are unused.",
          access: "self",
          data: TwoFactorRecord,
        }),
      },
    )
    .post(
      "/setup",
      async ({ principal, body, request, set }) => {
        twoFactor.checkOff(principal.user.id);
        const proven = await prove({ principal, request, headers: set.headers }, body);
        return ok(await twoFactor.setUp(principal.user, proven));
      },
      {
        ...takesJson("self", ProofBody, false),
        ...documented({
          takesJson: true,
          tag: "Users",
          summary: "Begin to set up two-factor sign-in",
          description:
            "Gives a secret for an authenticator app (TOTP, RFC 6238: SHA-1, 6 digits, 30 seconds). It is in force once " +
            "…/enable has seen a code made from it, within an hour. Needs proof, as …/disable and …/recovery-codes do: " +
            "`currentPassword` (and `code`), or a confirmed session.",
          access: "self",
          data: SetUpRecord,
          errors: ["invalid_request", ...PROOF_ERRORS],
        }),
      },
    )
    .post(
      "/enable",
      async ({ principal, body, request, set }) => {
        // The proof was asked for the secret, which only its receiver can make a code from.
        const standing = proof.standing({ principal, request, headers: set.headers, access: "self" });
        return ok({ recoveryCodes: [...(await twoFactor.enable(principal.user, body.code, standing))] });
      },
      {
        ...takesJson("self", EnableBody),
        ...documented({
          takesJson: true,
          tag: "Users",
          summary: "Put two-factor sign-in in force",
          description:
            "Gives ten recovery codes, each good once in place of a code. Sessions and API keys stay as they are.",
          access: "self",
          data: RecoveryCodesRecord,
          errors: ["invalid_code", "invalid_request"],
        }),
      },
    )
    .post(
      "/disable",
      async ({ principal, body, request, set }) => {
        const proven = await prove({ principal, request, headers: set.headers }, body);
        await twoFactor.switchOff(principal.user, proven);
        return ok({ enabled: false }, "Two-factor sign-in is off.");
      },
      {
        ...takesJson("self", FactorProofBody, false),
        ...documented({
          takesJson: true,
          tag: "Users",
          summary: "Switch two-factor sign-in off",
          description: "The recovery codes end too.",
          access: "self",
          data: t.Object({ enabled: t.Boolean() }),
          errors: ["invalid_request", ...PROOF_ERRORS],
        }),
      },
    )
    .post(
      "/recovery-codes",
      async ({ principal, body, request, set }) => {
        const proven = await prove({ principal, request, headers: set.headers }, body);
        return ok({ recoveryCodes: [...(await twoFactor.renewRecoveryCodes(principal.user, proven))] });
      },
      {
        ...takesJson("self", FactorProofBody, false),
        ...documented({
          takesJson: true,
          tag: "Users",
          summary: "New recovery codes in place of all former ones",
          description: "The previous codes stop working.",
          access: "self",
          data: RecoveryCodesRecord,
          errors: ["invalid_request", ...PROOF_ERRORS],
        }),
      },
    );
}
