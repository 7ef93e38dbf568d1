/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { ConfirmedRecord, SessionResponse, SignedInResponse } from "./model.ts";

export const confirm = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Confirm this session with the account's password",
  description:
    "Some routes need proof of who is calling: create API keys and app passwords, change email, password, two-factor " +
    "authentication and passkeys, delete the account, and manage other accounts. Without it they return 401 " +
    "password_required with the `methods` of the account and `needsCode`. The proof is `currentPassword` (and " +
    "`code`) in the request, or a session that was confirmed here. The confirmation lasts ten minutes. It ends " +
    "earlier with the session and with a new password. A refreshed token is not confirmed. With two-factor " +
    "authentication, `code` is required and is used up. Wrong passwords and codes count as failed sign-ins.",
  data: ConfirmedRecord,
  errors: ["bad_credentials", "account_disabled", "second_factor_required", "invalid_code"],
});

export const signUp = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Create an account and sign in",
  description: "Depends on the setting `signup` of the server: open, by invitation, or closed.",
  status: 201,
  body: SignedInResponse,
  errors: ["email_taken", "signup_closed"],
});

export const signIn = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Sign in",
  description:
    "An unknown email and a wrong password get the same response. With two-factor authentication, the right password " +
    "without a code returns 401 second_factor_required and `details.methods`. Send the same request with `code` to " +
    "sign in.",
  body: SignedInResponse,
  errors: ["bad_credentials", "account_disabled", "second_factor_required", "invalid_code"],
});

export const session = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Get the current user and session",
  description: "An API key is shown as a session of kind `key`, with its scopes.",
  body: SessionResponse,
});

export const refresh = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Replace this token with a new one",
  description:
    "The old token stops working at once. A device's token is replaced by another token of that device, valid for 7 " +
    "days. The device's refresh token stays valid.",
  body: SignedInResponse,
});

export const signOut = (): RouteDocs => ({
  tag: "Authentication",
  summary: "End this session, or all sessions",
  description: "A device's token ends all tokens of that device. The device stays registered.",
  body: {
    type: "object",
    required: ["success", "message"],
    properties: { success: { type: "boolean" }, message: { type: "string" } },
  },
});
