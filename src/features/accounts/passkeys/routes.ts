import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { Elysia, t } from "elysia";
import { documented } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { IdParams } from "../../../http/fields.ts";
import { PROOF_ERRORS } from "../auth/confirm-routes.ts";
import { type authGuard, takesJson } from "../auth/guard.ts";
import { ConfirmedRecord, ProofBody, SignedInResponse } from "../auth/model.ts";
import { presentConfirmed, presentSignedIn } from "../auth/present.ts";
import { sessionOf, sessionPrincipalOf } from "../auth/principal.ts";
import type { ProofService } from "../auth/proof.ts";
import { clientOf, type SessionCookies } from "../auth/routes.ts";
import type { AuthService } from "../auth/service.ts";
import {
  NewPasskeyBody,
  OptionsRecord,
  PasskeyConfirmBody,
  PasskeyRecord,
  PasskeySignInBody,
  RenameBody,
} from "./model.ts";
import { presentPasskey } from "./present.ts";
import type { PasskeyService } from "./service.ts";
import type { Site } from "./types.ts";

/** What the routes about passkeys work with. */
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
  return new Elysia({ name: "passkey-routes", prefix: "/api" })
    .use(guard)
    .get("/users/passkeys", ({ principal }) => ok({ passkeys: passkeys.list(principal.user.id).map(presentPasskey) }), {
      access: "self",
      ...documented({
        tag: "Users",
        summary: "One's own passkeys, newest first",
        description: "Names and dates; a passkey itself never leaves its device.",
        access: "self",
        data: t.Object({ passkeys: t.Array(PasskeyRecord) }),
      }),
    })
    .post(
      "/users/passkeys/options",
      async ({ principal, body, request, set }) => {
        const session = sessionOf(principal);
        await proof.require({ request, headers: set.headers, principal, access: "self" }, body);
        return ok({ options: { ...(await passkeys.registrationOptions(principal.user, session, siteOf(request))) } });
      },
      {
        ...takesJson("self", ProofBody, false),
        ...documented({
          takesJson: true,
          tag: "Users",
          summary: "Begin to add a passkey",
          description:
            "Gives what navigator.credentials.create() takes (PublicKeyCredentialCreationOptionsJSON), good once and for " +
            "five minutes, in this session alone. Needs proof: `currentPassword` (and `code`), or a confirmed session. " +
            "Passkeys are for the host name of LARDER_PUBLIC_URL, or else of the request.",
          access: "self",
          data: OptionsRecord,
          errors: [...PROOF_ERRORS],
        }),
      },
    )
    .post(
      "/users/passkeys",
      async ({ principal, body, request, set }) => {
        const { name = "Passkey" } = body;
        const bySession = sessionPrincipalOf(principal);
        // The proof was asked for the challenge, which holds in this session alone.
        const standing = proof.standing({ request, headers: set.headers, principal, access: "self" });
        const passkey = await passkeys.add(bySession, siteOf(request), toRegistration(body.response), name, standing);
        set.status = 201;
        return ok(presentPasskey(passkey));
      },
      {
        ...takesJson("self", NewPasskeyBody),
        ...documented({
          takesJson: true,
          tag: "Users",
          summary: "Add the passkey that the browser made",
          description: "Takes the browser's response to the options of POST /api/users/passkeys/options.",
          access: "self",
          status: 201,
          data: PasskeyRecord,
          errors: ["invalid_request"],
        }),
      },
    )
    .patch(
      "/users/passkeys/:id",
      async ({ principal, params, body }) =>
        ok(presentPasskey(await passkeys.rename(principal.user.id, params.id, body.name))),
      {
        ...takesJson("self", RenameBody),
        params: IdParams,
        ...documented({
          takesJson: true,
          tag: "Users",
          summary: "Rename a passkey",
          description: "The name is for the account's owner alone.",
          access: "self",
          data: PasskeyRecord,
          errors: ["not_found"],
        }),
      },
    )
    .delete(
      "/users/passkeys/:id",
      async ({ principal, params, body, request, set }) => {
        const proven = await proof.require({ request, headers: set.headers, principal, access: "self" }, body);
        await passkeys.remove(principal.user, params.id, proven);
        return ok({ id: params.id }, "The passkey is removed. It no longer signs in.");
      },
      {
        ...takesJson("self", ProofBody, false),
        params: IdParams,
        ...documented({
          takesJson: true,
          tag: "Users",
          summary: "Remove a passkey",
          description: "It no longer signs in. Needs proof: `currentPassword` (and `code`), or a confirmed session.",
          access: "self",
          data: t.Object({ id: t.String() }),
          errors: ["not_found", "invalid_field", ...PROOF_ERRORS],
        }),
      },
    )
    .post(
      "/auth/passkey/options",
      async ({ request }) => ok({ options: { ...(await passkeys.signInOptions(siteOf(request))) } }),
      {
        access: "public",
        parse: "none",
        ...documented({
          tag: "Authentication",
          summary: "Begin to sign in with a passkey",
          description:
            "Gives what navigator.credentials.get() takes (PublicKeyCredentialRequestOptionsJSON), good once and for five " +
            "minutes. It names no account: the authenticator knows whose passkeys it has.",
          access: "public",
          data: OptionsRecord,
        }),
      },
    )
    .post(
      "/auth/passkey/verify",
      async ({ body, request, set }) => {
        const { user, confirm } = await passkeys.verify(siteOf(request), toAssertion(body.response));
        const signedIn = await auth.signInConfirmed(user, clientOf(request), confirm);
        if (body.cookie === true) set.headers["set-cookie"] = cookies.forSignIn(request, signedIn);
        return presentSignedIn(signedIn, tokenLifetimeMs);
      },
      {
        ...takesJson("public", PasskeySignInBody),
        ...documented({
          takesJson: true,
          tag: "Authentication",
          summary: "Sign in with a passkey",
          description: "The authenticator has verified its user, so that this counts as both factors.",
          access: "public",
          body: SignedInResponse,
          errors: ["bad_credentials", "account_disabled"],
        }),
      },
    )
    .use(confirmByPasskey(options));
}

/** POST /api/auth/confirm/passkey: a passkey confirms a session. */
function confirmByPasskey({ passkeys, proof, guard }: PasskeyRoutesOptions) {
  return new Elysia({ name: "passkey-confirm-routes", prefix: "/auth/confirm/passkey" })
    .use(guard)
    .post(
      "/options",
      async ({ principal, request }) => {
        const asking = sessionPrincipalOf(principal);
        return ok({ options: { ...(await passkeys.confirmOptions(asking, siteOf(request))) } });
      },
      {
        access: "self",
        parse: "none",
        ...documented({
          tag: "Authentication",
          summary: "Begin to confirm this session by a passkey",
          description:
            "Gives what navigator.credentials.get() takes (PublicKeyCredentialRequestOptionsJSON), good once, for five " +
            "minutes and for this session. 400 where the account has no passkey for this address.",
          access: "self",
          data: OptionsRecord,
          errors: ["invalid_request"],
        }),
      },
    )
    .post(
      "/",
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
      {
        ...takesJson("self", PasskeyConfirmBody),
        ...documented({
          takesJson: true,
          tag: "Authentication",
          summary: "Confirm this session by a passkey",
          description:
            "As POST /api/auth/confirm. The authenticator has verified its user, so that this counts as both factors.",
          access: "self",
          data: ConfirmedRecord,
          errors: ["bad_credentials", "account_disabled"],
        }),
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
