/** POST /api/auth/confirm: a session counts as confirmed by its owner for ten minutes. */
import { ok } from "../../../http/envelope.ts";
import { Router } from "../routing/router.ts";
import * as docs from "./openapi.ts";
import type { authGuard } from "./guard.ts";
import { ConfirmBody } from "./model.ts";
import { presentConfirmed } from "./present.ts";
import type { ProofService } from "./proof.ts";

/** Why proof was rejected, for the document of the API. */
export const PROOF_ERRORS = [
  "password_required",
  "bad_credentials",
  "account_disabled",
  "second_factor_required",
  "invalid_code",
] as const;

/** The route that confirms a session by password and code. */
export function confirmRoutes({ proof, guard }: { proof: ProofService; guard: ReturnType<typeof authGuard> }) {
  return new Router({ prefix: "/api/auth", guard }).post(
    "/confirm",
    {
      access: "self",
      scope: "never",
      rate: "general",
      audit: { action: "session.confirm", isGuess: true },
      docs: docs.confirm,
      body: ConfirmBody,
    },
    async ({ request, set, principal, body }) =>
      ok(presentConfirmed(await proof.confirm("self", { request, set, principal, body }))),
  );
}
