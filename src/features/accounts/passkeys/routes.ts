import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { ok } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { IdParams } from "../../../http/fields.ts";
import type { authGuard } from "../auth/guard.ts";
import { ProofBody } from "../auth/model.ts";
import { presentConfirmed, presentSignedIn } from "../auth/present.ts";
import { sessionOf, sessionPrincipalOf } from "../auth/principal.ts";
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

/** /api/users/passkeys, never by an API key; and sign-in with a passkey below /api/auth/passkey. */
export function passkeyRoutes(options: PasskeyRoutesOptions) {
  const { passkeys, auth, proof, guard, cookies, tokenLifetimeMs } = options;
  return new Router({ name: "passkey-routes", prefix: "/api", guard })
    .get(
      "/users/passkeys",
      { access: "self", scope: "never", rate: "profile", audit: "unaudited", docs: docs.listPasskeys },
      ({ principal }) => ok({ passkeys: passkeys.list(principal.user.id).map(presentPasskey) }),
    )
    .post(
      "/users/passkeys/options",
      {
        access: "self",
        scope: "never",
        rate: "profile",
        audit: { action: "passkey.add", write: "rejections", isGuess: true },
        docs: docs.addOptions,
        body: ProofBody,
        isBodyOptional: true,
      },
      async ({ principal, body, request, set }) => {
        const session = sessionOf(principal);
        await proof.require({ request, headers: set.headers, principal, access: "self" }, body);
        return ok({ options: { ...(await passkeys.registrationOptions(principal.user, session, siteOf(request))) } });
      },
    )
    .post(
      "/users/passkeys",
      {
        access: "self",
        scope: "never",
        rate: "profile",
        audit: { action: "passkey.add", target: "passkey", isGuess: true },
        docs: docs.addPasskey,
        body: NewPasskeyBody,
      },
      async ({ principal, body, request, set }) => {
        const { name = "Passkey" } = body;
        const bySession = sessionPrincipalOf(principal);
        // The proof was asked for the challenge, which holds in this session alone.
        const standing = proof.standing({ request, headers: set.headers, principal, access: "self" });
        const passkey = await passkeys.add(bySession, siteOf(request), toRegistration(body.response), name, standing);
        set.status = 201;
        return ok(presentPasskey(passkey));
      },
    )
    .patch(
      "/users/passkeys/:id",
      {
        access: "self",
        scope: "never",
        rate: "profile",
        audit: { action: "passkey.change", target: "passkey", targetParam: "id" },
        docs: docs.renamePasskey,
        params: IdParams,
        body: RenameBody,
      },
      async ({ principal, params, body }) =>
        ok(presentPasskey(await passkeys.rename(principal.user.id, params.id, body.name))),
    )
    .delete(
      "/users/passkeys/:id",
      {
        access: "self",
        scope: "never",
        rate: "profile",
        audit: { action: "passkey.remove", target: "passkey", targetParam: "id" },
        docs: docs.deletePasskey,
        params: IdParams,
        body: ProofBody,
        isBodyOptional: true,
      },
      async ({ principal, params, body, request, set }) => {
        const proven = await proof.require({ request, headers: set.headers, principal, access: "self" }, body);
        await passkeys.remove(principal.user, params.id, proven);
        return ok({ id: params.id }, "The passkey was removed and no longer works.");
      },
    )
    .post(
      "/auth/passkey/options",
      { access: "public", rate: "general", audit: "unaudited", docs: docs.signInOptions, parse: "none" },
      async ({ request }) => ok({ options: { ...(await passkeys.signInOptions(siteOf(request))) } }),
    )
    .post(
      "/auth/passkey/verify",
      {
        access: "public",
        rate: "general",
        audit: { action: "sign_in", isGuess: true },
        docs: docs.signIn,
        body: PasskeySignInBody,
      },
      async ({ body, request, set }) => {
        const { user, confirm } = await passkeys.verify(siteOf(request), toAssertion(body.response));
        const signedIn = await auth.signInConfirmed(user, clientOf(request), confirm);
        if (body.cookie === true) set.headers["set-cookie"] = cookies.forSignIn(request, signedIn);
        return presentSignedIn(signedIn, tokenLifetimeMs);
      },
    )
    .use(confirmByPasskey(options));
}

/** POST /api/auth/confirm/passkey: a passkey confirms a session. */
function confirmByPasskey({ passkeys, proof, guard }: PasskeyRoutesOptions) {
  return new Router({ name: "passkey-confirm-routes", prefix: "/auth/confirm/passkey", guard })
    .post(
      "/options",
      { access: "self", scope: "never", rate: "general", audit: "unaudited", docs: docs.confirmOptions, parse: "none" },
      async ({ principal, request }) => {
        const asking = sessionPrincipalOf(principal);
        return ok({ options: { ...(await passkeys.confirmOptions(asking, siteOf(request))) } });
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
      async ({ principal, body, request, set }) => {
        const asking = sessionPrincipalOf(principal);
        const shown = await passkeys.verifyConfirmation(asking, siteOf(request), toAssertion(body.response));
        const untilMs = await proof.confirmBy(
          { request, headers: set.headers, principal, access: "self" },
          asking.session,
          shown.confirm,
        );
        return ok(presentConfirmed(untilMs));
      },
    );
}

function siteOf(request: Request): Site {
  const { origin, hostname } = new URL(requestContextOf(request).baseUrl);
  return { origin, rpId: hostname };
}

/** The library's types name what it doesn't read; transports are kept as a hint and compared with nothing. */
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

/** WebAuthn §5.8.4, as browsers name them. */
const TRANSPORTS = ["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"] as const;
