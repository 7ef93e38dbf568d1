import { ok } from "../../../http/envelope.ts";
import type { authGuard } from "../auth/guard.ts";
import { WITH_PROOF } from "../auth/model.ts";
import type { ProofContext, ProofService } from "../auth/proof.ts";
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

/** No API key can call these routes. */
const OWN_ROUTE = { access: "self", scope: "never", rate: "profile" } as const;

/** /api/users/two-factor */
export function twoFactorRoutes({ twoFactor, proof, guard, countPasskeys }: TwoFactorRoutesOptions) {
  const prove = ({ body, ...context }: ProofContext<typeof FactorProofBody.static>) =>
    proof.require("self", { ...context, body: { ...body, code: body.code ?? body.recoveryCode } });

  return new Router({ prefix: "/api/users/two-factor", guard })
    .get("/", { ...OWN_ROUTE, audit: "unaudited", docs: docs.status }, ({ principal }) => {
      const { isEnabled, recoveryCodesLeft } = twoFactor.state(principal.user.id);
      return ok({ enabled: isEnabled, recoveryCodesLeft, passkeys: countPasskeys(principal.user.id) });
    })
    .post(
      "/setup",
      {
        ...OWN_ROUTE,
        audit: { action: "two_factor.set_up" },
        docs: docs.setUp,
        ...WITH_PROOF,
      },
      async ({ request, set, principal, body }) => {
        twoFactor.checkOff(principal.user.id);
        const checkProof = await proof.require("self", { request, set, principal, body });
        return ok(await twoFactor.setUp(principal.user, checkProof));
      },
    )
    .post(
      "/enable",
      {
        ...OWN_ROUTE,
        audit: { action: "two_factor.enable", isGuess: true },
        docs: docs.enable,
        body: EnableBody,
      },
      async ({ principal, body }) => {
        // The secret was issued with proof, and only its recipient can make a code from it.
        const checkSession = proof.checkSession("self", principal);
        return ok({ recoveryCodes: [...(await twoFactor.enable(principal.user, body.code, checkSession))] });
      },
    )
    .post(
      "/disable",
      {
        ...OWN_ROUTE,
        audit: { action: "two_factor.disable", isGuess: true },
        docs: docs.disable,
        body: FactorProofBody,
        isBodyOptional: true,
      },
      async ({ request, set, principal, body }) => {
        await twoFactor.switchOff(principal.user, await prove({ request, set, principal, body }));
        return ok({ enabled: false }, "Two-factor authentication is off.");
      },
    )
    .post(
      "/recovery-codes",
      {
        ...OWN_ROUTE,
        audit: { action: "two_factor.renew_codes", isGuess: true },
        docs: docs.renewRecoveryCodes,
        body: FactorProofBody,
        isBodyOptional: true,
      },
      async ({ request, set, principal, body }) => {
        const checkProof = await prove({ request, set, principal, body });
        return ok({ recoveryCodes: [...(await twoFactor.renewRecoveryCodes(principal.user, checkProof))] });
      },
    );
}
