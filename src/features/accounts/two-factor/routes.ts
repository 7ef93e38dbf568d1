import { ok } from "../../../http/envelope.ts";
import type { authGuard } from "../auth/guard.ts";
import { ProofBody } from "../auth/model.ts";
import type { Asking, ProofService } from "../auth/proof.ts";
import { Router } from "../routing/router.ts";
import * as docs from "./openapi.ts";
import { EnableBody, FactorProofBody } from "./model.ts";
import type { TwoFactorService } from "./service.ts";

/** Dependencies of the routes about two-factor sign-in. */
export interface TwoFactorRoutesOptions {
  readonly twoFactor: TwoFactorService;
  readonly proof: ProofService;
  readonly guard: ReturnType<typeof authGuard>;
  /** How many passkeys a user has. */
  readonly countPasskeys: (userId: number) => number;
}

/** /api/users/two-factor. No API key can call them. */
export function twoFactorRoutes({ twoFactor, proof, guard, countPasskeys }: TwoFactorRoutesOptions) {
  const prove = (asking: Omit<Asking, "access">, body: typeof FactorProofBody.static) =>
    proof.require({ ...asking, access: "self" }, { ...body, code: body.code ?? body.recoveryCode });

  return new Router({ name: "two-factor-routes", prefix: "/api/users/two-factor", guard })
    .get(
      "/",
      { access: "self", scope: "never", rate: "profile", audit: "unaudited", docs: docs.status },
      ({ principal }) => {
        const { isEnabled, recoveryCodesLeft } = twoFactor.state(principal.user.id);
        return ok({ enabled: isEnabled, recoveryCodesLeft, passkeys: countPasskeys(principal.user.id) });
      },
    )
    .post(
      "/setup",
      {
        access: "self",
        scope: "never",
        rate: "profile",
        audit: { action: "two_factor.set_up" },
        docs: docs.setUp,
        body: ProofBody,
        isBodyOptional: true,
      },
      async ({ principal, body, request, set }) => {
        twoFactor.checkOff(principal.user.id);
        const proven = await prove({ principal, request, headers: set.headers }, body);
        return ok(await twoFactor.setUp(principal.user, proven));
      },
    )
    .post(
      "/enable",
      {
        access: "self",
        scope: "never",
        rate: "profile",
        audit: { action: "two_factor.enable", isGuess: true },
        docs: docs.enable,
        body: EnableBody,
      },
      async ({ principal, body, request, set }) => {
        // The proof was asked for the secret, which only its receiver can make a code from.
        const standing = proof.standing({ principal, request, headers: set.headers, access: "self" });
        return ok({ recoveryCodes: [...(await twoFactor.enable(principal.user, body.code, standing))] });
      },
    )
    .post(
      "/disable",
      {
        access: "self",
        scope: "never",
        rate: "profile",
        audit: { action: "two_factor.disable", isGuess: true },
        docs: docs.disable,
        body: FactorProofBody,
        isBodyOptional: true,
      },
      async ({ principal, body, request, set }) => {
        const proven = await prove({ principal, request, headers: set.headers }, body);
        await twoFactor.switchOff(principal.user, proven);
        return ok({ enabled: false }, "Two-factor authentication is off.");
      },
    )
    .post(
      "/recovery-codes",
      {
        access: "self",
        scope: "never",
        rate: "profile",
        audit: { action: "two_factor.renew_codes", isGuess: true },
        docs: docs.renewRecoveryCodes,
        body: FactorProofBody,
        isBodyOptional: true,
      },
      async ({ principal, body, request, set }) => {
        const proven = await prove({ principal, request, headers: set.headers }, body);
        return ok({ recoveryCodes: [...(await twoFactor.renewRecoveryCodes(principal.user, proven))] });
      },
    );
}
