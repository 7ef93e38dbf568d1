import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { ok } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { IdParams } from "../../../http/fields.ts";
import type { authGuard } from "../auth/guard.ts";
import { WITH_PROOF } from "../auth/model.ts";
import { presentConfirmed, presentSignedIn } from "../auth/present.ts";
import { sessionPrincipalOf } from "../auth/principal.ts";
import type { ProofService } from "../auth/proof.ts";
import { clientOf, type SessionCookies } from "../auth/routes.ts";
import type { AuthService } from "../auth/service.ts";
import { Router } from "../routing/router.ts";
import * as docs from "./openapi.ts";
import { NewPasskeyBody, PasskeyConfirmBody, PasskeySignInBody, RenameBody } from "./model.ts";
import { presentPasskey } from "./present.ts";
import type { PasskeyService } from "./service.ts";
import type { Site } from "./types.ts";

/** Dependencies of the routes about passkeys. */
export interface PasskeyRoutesOptions {
  readonly passkeys: PasskeyService;
  readonly auth: AuthService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly proof: ProofService;
  readonly cookies: SessionCookies;
  readonly tokenLifetimeMs: number;
}

/** No API key can call these routes. */
const OWN_ROUTE = { access: "self", scope: "never", rate: "profile" } as const;

/** /api/users/passkeys */
export function passkeyRoutes({ passkeys, proof, guard }: PasskeyRoutesOptions) {
  return new Router({ prefix: "/api/users/passkeys", guard })
    .get("/", { ...OWN_ROUTE, audit: "unaudited", docs: docs.listPasskeys }, ({ principal }) =>
      ok({ passkeys: passkeys.list(principal.user.id).map(presentPasskey) }),
    )
    .post(
      "/options",
      {
        ...OWN_ROUTE,
        audit: { action: "passkey.add", write: "rejections", isGuess: true },
        docs: docs.addOptions,
        ...WITH_PROOF,
      },
      async ({ request, set, principal, body }) => {
        await proof.require("self", { request, set, principal, body });
        const bySession = sessionPrincipalOf(principal);
        return ok({ options: { ...(await passkeys.registrationOptions(bySession, readSite(request))) } });
      },
    )
    .post(
      "/",
      {
        ...OWN_ROUTE,
        audit: { action: "passkey.add", target: "passkey", isGuess: true },
        docs: docs.addPasskey,
        body: NewPasskeyBody,
      },
      async ({ principal, body, request, set }) => {
        const { name = "Passkey" } = body;
        const bySession = sessionPrincipalOf(principal);
        // The challenge was issued with proof, and is valid only in this session.
        const checkSession = proof.checkSession("self", principal);
        const response = toRegistration(body.response);
        const passkey = await passkeys.add(bySession, readSite(request), response, name, checkSession);
        set.status = 201;
        return ok(presentPasskey(passkey));
      },
    )
    .patch(
      "/:id",
      {
        ...OWN_ROUTE,
        audit: { action: "passkey.change", target: "passkey", targetParam: "id" },
        docs: docs.renamePasskey,
        params: IdParams,
        body: RenameBody,
      },
      async ({ principal, params, body }) =>
        ok(presentPasskey(await passkeys.rename(principal.user.id, params.id, body.name))),
    )
    .delete(
      "/:id",
      {
        ...OWN_ROUTE,
        audit: { action: "passkey.remove", target: "passkey", targetParam: "id" },
        docs: docs.deletePasskey,
        params: IdParams,
        ...WITH_PROOF,
      },
      async ({ request, set, principal, body, params }) => {
        const checkProof = await proof.require("self", { request, set, principal, body });
        await passkeys.remove(principal.user, params.id, checkProof);
        return ok({ id: params.id }, "The passkey was removed and no longer works.");
      },
    );
}

/** /api/auth/passkey: sign-in with a passkey. */
export function passkeySignInRoutes({ passkeys, auth, guard, cookies, tokenLifetimeMs }: PasskeyRoutesOptions) {
  return new Router({ prefix: "/api/auth/passkey", guard })
    .post(
      "/options",
      { access: "public", rate: "general", audit: "unaudited", docs: docs.signInOptions, parse: "none" },
      async ({ request }) => ok({ options: { ...(await passkeys.signInOptions(readSite(request))) } }),
    )
    .post(
      "/verify",
      {
        access: "public",
        rate: "general",
        audit: { action: "sign_in", isGuess: true },
        docs: docs.signIn,
        body: PasskeySignInBody,
      },
      async ({ body, request, set }) => {
        const { user, confirm } = await passkeys.verify(readSite(request), toAssertion(body.response));
        const signedIn = await auth.signInConfirmed(user, clientOf(request), confirm);
        if (body.cookie === true) set.headers["set-cookie"] = cookies.forSignIn(request, signedIn);
        return presentSignedIn(signedIn, tokenLifetimeMs);
      },
    );
}

/** /api/auth/confirm/passkey: a passkey confirms a session. */
export function passkeyConfirmRoutes({ passkeys, proof, guard }: PasskeyRoutesOptions) {
  return new Router({ prefix: "/api/auth/confirm/passkey", guard })
    .post(
      "/options",
      { access: "self", scope: "never", rate: "general", audit: "unaudited", docs: docs.confirmOptions, parse: "none" },
      async ({ principal, request }) => {
        const current = sessionPrincipalOf(principal);
        return ok({ options: { ...(await passkeys.confirmOptions(current, readSite(request))) } });
      },
    )
    .post(
      "/",
      {
        access: "self",
        scope: "never",
        rate: "general",
        audit: { action: "session.confirm", isGuess: true },
        docs: docs.confirm,
        body: PasskeyConfirmBody,
      },
      async ({ principal, body, request }) => {
        const current = sessionPrincipalOf(principal);
        const { confirm } = await passkeys.verifyConfirmation(current, readSite(request), toAssertion(body.response));
        return ok(presentConfirmed(await proof.confirmBy("self", principal, confirm)));
      },
    );
}

function readSite(request: Request): Site {
  const { origin, hostname } = new URL(requestContextOf(request).baseUrl);
  return { origin, rpId: hostname };
}

/** The library's types require fields that it does not read. Transports are stored as a hint and never compared. */
function toRegistration({ id, rawId, type, response }: (typeof NewPasskeyBody.static)["response"]) {
  const { clientDataJSON, attestationObject, transports = [] } = response;
  const known = TRANSPORTS.filter((transport) => transports.includes(transport));
  const json: RegistrationResponseJSON = {
    id,
    rawId,
    type,
    response: { clientDataJSON, attestationObject, transports: known },
    clientExtensionResults: {},
  };
  return json;
}

function toAssertion({ id, rawId, type, response }: (typeof PasskeySignInBody.static)["response"]) {
  const { clientDataJSON, authenticatorData, signature, userHandle } = response;
  const json: AuthenticationResponseJSON = {
    id,
    rawId,
    type,
    response: { clientDataJSON, authenticatorData, signature, ...(userHandle && { userHandle }) },
    clientExtensionResults: {},
  };
  return json;
}

/** WebAuthn §5.8.4, with the names that browsers use. */
const TRANSPORTS = ["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"] as const;
