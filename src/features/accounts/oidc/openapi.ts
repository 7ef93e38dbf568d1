/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { Identity, Methods } from "./model.ts";
import { PROOF_ERRORS } from "../auth/confirm-routes.ts";
import { SIGN_IN_MODES } from "./types.ts";
import { SignedInResponse } from "../auth/model.ts";

const RETURN_TO = {
  type: "string",
  description: "Path of this server where the browser goes in the end; the start page where it is left out",
};

export const getLink = (): RouteDocs => ({
  tag: "Authentication",
  summary: "By which providers this account can be entered",
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
  summary: "Let this account be entered by the provider",
  description:
    "For browsers: go to `url` with the cookie that the answer sets, and sign in there; from then on whoever signs " +
    "in there enters this account. Its owner gets a mail. Needs proof: `currentPassword` (and `code`), or a confirmed " +
    "session.",
  data: { type: "object", required: ["url"], properties: { url: { type: "string" } } },
  errors: [...PROOF_ERRORS, "not_found", "provider_unavailable"],
});

export const confirmByProvider = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Begin to confirm this session by the provider",
  description:
    "For browsers, and for accounts whose password nobody knows: go to `url` with the cookie that the response sets, " +
    "and sign in there once more (prompt=login, max_age=0; the provider's auth_time is checked). Then this session " +
    "is confirmed as by POST /api/auth/confirm, and the browser is sent to `returnTo`, or shows a page to be closed.",
  data: { type: "object", required: ["url"], properties: { url: { type: "string" } } },
  errors: ["invalid_request", "not_found", "provider_unavailable"],
});

export const unlink = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Enter this account by the provider no more",
  description: "Sessions stay. Without a password of its own, set one first: see password/forgot.",
  data: { type: "object", required: ["removed"], properties: { removed: { type: "integer" } } },
  errors: [...PROOF_ERRORS, "not_found"],
});

export const methods = (): RouteDocs => ({
  tag: "Authentication",
  summary: "How people may sign in here",
  description: "What a sign-in page needs to know before anybody is signed in.",
  data: Methods,
});

export const start = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Begin a sign-in by the OpenID Connect provider",
  description:
    "For browsers: 302 to the provider (authorization code with PKCE, state and nonce), with a cookie that binds " +
    "the sign-in to this browser for 10 minutes. In the end the browser is sent to `returnTo`, signed in by the " +
    "cookie `larder_session`. Programs say `mode=code`: then it ends in a one-time code, behind `#code=` of " +
    "`returnTo`, or on a page to be copied from, which `POST /api/auth/oidc/token` exchanges within 5 minutes; " +
    "`challenge` (base64url of the sha256 of a `verifier`) binds the code to the program. No token is ever part of " +
    "an address. Two-factor sign-in is the provider's to ask for. Accounts: see the settings `oidc.*`.",
  otherResponses: { 302: "To the provider" },
  content: { "text/html": "Never; a redirect" },
  query: {
    returnTo: RETURN_TO,
    mode: { type: "string", enum: [...SIGN_IN_MODES], description: "cookie unless said otherwise" },
    challenge: { type: "string", description: "Binds the code of `mode=code` to the program" },
  },
  errors: ["invalid_field", "not_found", "provider_unavailable"],
});

export const callback = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Where the provider sends the browser back to",
  description:
    "For browsers alone. 302 to `returnTo`, or a page that shows the code. Refusals are a page with words for " +
    "browsers, the usual errors for everybody else.",
  otherResponses: { 302: "Signed in, linked or confirmed" },
  content: { "text/html": "The page with the code" },
  query: {
    code: { type: "string", description: "Of the provider" },
    state: { type: "string", description: "As it was sent to the provider" },
    iss: { type: "string", description: "The provider (RFC 9207)" },
    error: { type: "string", description: "Where the provider refused" },
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
  summary: "Exchange the code of a sign-in by the provider for a token",
  description: "Once; whatever the answer, the code is used up. Counts as sign-in, per address.",
  body: SignedInResponse,
  errors: ["invalid_code", "bad_credentials", "account_disabled", "not_found"],
});
