/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { Identity, Methods } from "./model.ts";
import { PROOF_ERRORS } from "../auth/confirm-routes.ts";
import { SIGN_IN_MODES } from "./types.ts";
import { SignedInResponse } from "../auth/model.ts";

const RETURN_TO = {
  type: "string",
  description: "Path on this server where the browser is sent at the end; by default the start page",
};

export const getLink = (): RouteDocs => ({
  tag: "Authentication",
  summary: "List the providers that can sign in to this account",
  description: "Identities of OpenID Connect providers that are linked to the account.",
  data: {
    type: "object",
    required: ["identities"],
    properties: { identities: { type: "array", items: Identity } },
  },
  errors: ["not_found"],
});

export const link = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Link this account to the provider",
  description:
    "For browsers: go to `url` with the cookie that the response sets, and sign in there. From then on, that " +
    "identity can sign in to this account. The owner gets an email. Needs proof.",
  data: { type: "object", required: ["url"], properties: { url: { type: "string" } } },
  errors: [...PROOF_ERRORS, "not_found", "provider_unavailable"],
});

export const confirmByProvider = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Start to confirm this session through the provider",
  description:
    "For browsers, and for accounts without a known password. Go to `url` with the cookie that the response sets, " +
    "and sign in there again. Then the session is confirmed as by POST /api/auth/confirm. The browser is sent to " +
    "`returnTo`, or shows a page that can be closed.",
  data: { type: "object", required: ["url"], properties: { url: { type: "string" } } },
  errors: ["invalid_request", "not_found", "provider_unavailable"],
});

export const unlink = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Unlink this account from the provider",
  description: "Sessions stay. If the account has no password, set one first: see password/forgot.",
  data: { type: "object", required: ["removed"], properties: { removed: { type: "integer" } } },
  errors: [...PROOF_ERRORS, "not_found"],
});

export const methods = (): RouteDocs => ({
  tag: "Authentication",
  summary: "List the sign-in methods of this server",
  description: "What a sign-in page needs to know before anyone is signed in.",
  data: Methods,
});

export const start = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Start a sign-in through the OpenID Connect provider",
  description:
    "For browsers: 302 to the provider. At the end, the browser is sent to `returnTo` and is signed in by the cookie " +
    "`larder_session`. Programs use `mode=code`: the sign-in ends with a one-time code, after `#code=` in " +
    "`returnTo`, or on a page to copy it from. Exchange it at `POST /api/auth/oidc/token` within 5 minutes. " +
    "`challenge` (base64url of the sha256 of a `verifier`) binds the code to the program. Two-factor authentication " +
    "is left to the provider. For accounts, see the settings `oidc.*`.",
  otherResponses: { 302: "Redirect to the provider" },
  content: { "text/html": "Never; the response is a redirect" },
  query: {
    returnTo: RETURN_TO,
    mode: { type: "string", enum: [...SIGN_IN_MODES], description: "By default cookie" },
    challenge: { type: "string", description: "Binds the code of `mode=code` to the program" },
  },
  errors: ["invalid_field", "not_found", "provider_unavailable"],
});

export const callback = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Complete a sign-in through the provider",
  description: "For browsers only: the provider redirects here. 302 to `returnTo`, or a page that shows the code.",
  otherResponses: { 302: "Redirect: signed in, linked or confirmed" },
  content: { "text/html": "The page with the code" },
  query: {
    code: { type: "string", description: "Code from the provider" },
    state: { type: "string", description: "The state that was sent to the provider" },
    iss: { type: "string", description: "The provider (RFC 9207)" },
    error: { type: "string", description: "The error of the provider, if it rejected the sign-in" },
  },
  errors: [
    "invalid_request",
    "invalid_field",
    "not_found",
    "bad_credentials",
    "signup_closed",
    "account_disabled",
    "email_taken",
    "provider_unavailable",
  ],
});

export const token = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Exchange a sign-in code for a token",
  description: "A code works once and is used up by any attempt. Counts as a sign-in, per address.",
  body: SignedInResponse,
  errors: ["invalid_code", "bad_credentials", "account_disabled", "not_found"],
});
