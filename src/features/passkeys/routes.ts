import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { Elysia, t } from "elysia";
import { documented } from "../../http/documented.ts";
import { ok } from "../../http/envelope.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { IdParams } from "../../http/fields.ts";
import { type authGuard, takesJson } from "../auth/guard.ts";
import { SignedInAnswer } from "../auth/model.ts";
import { presentSignedIn } from "../auth/present.ts";
import { clientOf, type SessionCookies } from "../auth/routes.ts";
import type { AuthService } from "../auth/service.ts";
import type { RateGate } from "../rate-limits/guard.ts";
import {
  NewPasskeyBody,
  OptionsRecord,
  PasskeyRecord,
  PasskeySignInBody,
  RegistrationOptionsBody,
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
  readonly rateGate: RateGate;
  readonly cookies: SessionCookies;
  readonly tokenLifetimeMs: number;
}

/** /api/users/passkeys, never by an API key; and sign-in with a passkey below /api/auth/passkey. */
export function passkeyRoutes(options: PasskeyRoutesOptions) {
  const { passkeys, auth, guard, rateGate, cookies, tokenLifetimeMs } = options;
  return new Elysia({ name: "passkey-routes", prefix: "/api" })
    .use(guard)
    .get("/users/passkeys", ({ principal }) => ok({ passkeys: passkeys.list(principal.user.id).map(presentPasskey) }), {
      access: "self",
      ...documented({
        tag: "Users",
        summary: "One's own passkeys, newest first",
        access: "self",
        data: t.Object({ passkeys: t.Array(PasskeyRecord) }),
      }),
    })
    .post(
      "/users/passkeys/options",
      async ({ principal, body, request, set }) => {
        const { user } = principal;
        await rateGate.guardPassword(request, set.headers, user.email, () =>
          auth.checkCredentials(user.email, body.currentPassword, body.code),
        );
        return ok({ options: { ...(await passkeys.registrationOptions(user, siteOf(request))) } });
      },
      {
        ...takesJson("self", RegistrationOptionsBody),
        ...documented({
          takesJson: true,
          tag: "Users",
          summary: "Begin to add a passkey",
          description:
            "Gives what navigator.credentials.create() takes (PublicKeyCredentialCreationOptionsJSON), good once and for " +
            "five minutes. With two-factor sign-in on it needs `code` too, since a passkey counts as both factors. " +
            "Passkeys are for the host name of LARDER_PUBLIC_URL, or else of the request.",
          access: "self",
          data: OptionsRecord,
          errors: ["bad_credentials", "account_disabled", "second_factor_required", "invalid_code"],
        }),
      },
    )
    .post(
      "/users/passkeys",
      async ({ principal, body, request, set }) => {
        const { name = "Passkey" } = body;
        const passkey = await passkeys.add(principal.user, siteOf(request), toRegistration(body.response), name);
        set.status = 201;
        return ok(presentPasskey(passkey));
      },
      {
        ...takesJson("self", NewPasskeyBody),
        ...documented({
          takesJson: true,
          tag: "Users",
          summary: "Add the passkey that the browser made",
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
          access: "self",
          data: PasskeyRecord,
          errors: ["not_found"],
        }),
      },
    )
    .delete(
      "/users/passkeys/:id",
      async ({ principal, params }) => {
        await passkeys.remove(principal.user, params.id);
        return ok({ id: params.id }, "The passkey is removed. It no longer signs in.");
      },
      {
        access: "self",
        params: IdParams,
        ...documented({
          tag: "Users",
          summary: "Remove a passkey",
          access: "self",
          data: t.Object({ id: t.String() }),
          errors: ["not_found", "invalid_field"],
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
          body: SignedInAnswer,
          errors: ["bad_credentials", "account_disabled"],
        }),
      },
    );
}

function siteOf(request: Request): Site {
  const { origin, hostname } = new URL(exchangeOf(request).baseUrl);
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
