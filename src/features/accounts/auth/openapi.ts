/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { ConfirmedRecord, SessionResponse, SignedInResponse } from "./model.ts";

export const confirm = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Confirm this session by the account's password",
  description:
    "For ten minutes this session alone may use the routes that otherwise return 401 password_required: make API keys, change e-mail, " +
    "password, second factor and passkeys, erase the account, and administer other accounts. It ends with the " +
    "session, with a new password and when two-factor sign-in is switched on; a refreshed token is not confirmed. " +
    "With two-factor sign-in it needs `code`, which is used up. Wrong ones count as failed sign-ins. The details of " +
    "401 password_required list the `methods` of the account (password, passkey, provider) and `needsCode`.",
  data: ConfirmedRecord,
  errors: ["bad_credentials", "account_disabled", "second_factor_required", "invalid_code"],
});

export const signUp = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Make an account and sign in",
  description: "Depends on the server's setting `signup`: open, by invitation, or closed.",
  status: 201,
  body: SignedInResponse,
  errors: ["email_taken", "signup_closed"],
});

export const signIn = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Sign in",
  description:
    "An unknown e-mail and a wrong password get the same answer. An account with two-factor sign-in answers the " +
    "right password with 401 second_factor_required, and `details.methods`; the same again with `code` signs in.",
  body: SignedInResponse,
  errors: ["bad_credentials", "account_disabled", "second_factor_required", "invalid_code"],
});

export const session = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Who am I, and until when",
  description: "An API key shows itself as a session of the kind `key`, with its scopes.",
  body: SessionResponse,
});

export const refresh = (): RouteDocs => ({
  tag: "Authentication",
  summary: "A new token in place of this one",
  description:
    "The token that was sent is dead from then on. A device's token gives one of that device, for 7 days; its " +
    "refresh token stays as it is.",
  body: SignedInResponse,
});

export const signOut = (): RouteDocs => ({
  tag: "Authentication",
  summary: "End this session, or all of them",
  description: "A device's token ends all that the device is signed in by. The device stays registered.",
  body: {
    type: "object",
    required: ["success", "message"],
    properties: { success: { type: "boolean" }, message: { type: "string" } },
  },
});
