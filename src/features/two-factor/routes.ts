import { Elysia, t } from "elysia";
import { documented } from "../../http/documented.ts";
import { ok } from "../../http/envelope.ts";
import { type authGuard, takesJson } from "../auth/guard.ts";
import type { Principal } from "../auth/principal.ts";
import type { AuthService } from "../auth/service.ts";
import type { RateGate } from "../rate-limits/guard.ts";
import { EnableBody, ProofBody, RecoveryCodesRecord, SetUpBody, SetUpRecord, TwoFactorRecord } from "./model.ts";
import type { TwoFactorService } from "./service.ts";

/** What the routes about two-factor sign-in work with. */
export interface TwoFactorRoutesOptions {
  readonly twoFactor: TwoFactorService;
  readonly auth: AuthService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly rateGate: RateGate;
  /** How many passkeys a user has. */
  readonly countPasskeys: (userId: number) => number;
}

type Headers = Record<string, string | number>;

/** /api/users/two-factor. Never by an API key: `auth/scopes.ts` closes these paths to keys. */
export function twoFactorRoutes({ twoFactor, auth, guard, rateGate, countPasskeys }: TwoFactorRoutesOptions) {
  /** Password and, where the account asks for it, code; wrong ones count as failed sign-ins do. */
  const prove = (request: Request, headers: Headers, { user }: Principal, proof: typeof ProofBody.static) =>
    rateGate.guardPassword(request, headers, user.email, () =>
      auth.checkCredentials(user.email, proof.currentPassword, proof.code ?? proof.recoveryCode),
    );

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
          access: "self",
          data: TwoFactorRecord,
        }),
      },
    )
    .post(
      "/setup",
      async ({ principal, body, request, set }) => {
        const { user } = principal;
        await rateGate.guardPassword(request, set.headers, user.email, () =>
          auth.checkPassword(user.email, body.currentPassword),
        );
        return ok(await twoFactor.setUp(user));
      },
      {
        ...takesJson("self", SetUpBody),
        ...documented({
          takesJson: true,
          tag: "Users",
          summary: "Begin to set up two-factor sign-in",
          description:
            "Gives a secret for an authenticator app (TOTP, RFC 6238: SHA-1, 6 digits, 30 seconds). It is in force once " +
            "…/enable has seen a code made from it, within an hour.",
          access: "self",
          data: SetUpRecord,
          errors: ["bad_credentials", "account_disabled", "invalid_request"],
        }),
      },
    )
    .post(
      "/enable",
      async ({ principal, body }) => ok({ recoveryCodes: [...(await twoFactor.enable(principal.user, body.code))] }),
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
        await prove(request, set.headers, principal, body);
        await twoFactor.switchOff(principal.user);
        return ok({ enabled: false }, "Two-factor sign-in is off.");
      },
      {
        ...takesJson("self", ProofBody),
        ...documented({
          takesJson: true,
          tag: "Users",
          summary: "Switch two-factor sign-in off",
          access: "self",
          data: t.Object({ enabled: t.Boolean() }),
          errors: ["bad_credentials", "account_disabled", "second_factor_required", "invalid_code", "invalid_request"],
        }),
      },
    )
    .post(
      "/recovery-codes",
      async ({ principal, body, request, set }) => {
        await prove(request, set.headers, principal, body);
        return ok({ recoveryCodes: [...(await twoFactor.renewRecoveryCodes(principal.user))] });
      },
      {
        ...takesJson("self", ProofBody),
        ...documented({
          takesJson: true,
          tag: "Users",
          summary: "New recovery codes in place of all former ones",
          access: "self",
          data: RecoveryCodesRecord,
          errors: ["bad_credentials", "account_disabled", "second_factor_required", "invalid_code", "invalid_request"],
        }),
      },
    );
}
