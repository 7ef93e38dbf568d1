/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { MessageResponse } from "./model.ts";

export const forgotPassword = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Request a link to set a new password",
  description:
    "The response and its time are the same whether or not there is such an account. The link is sent by email, " +
    "works once, and expires after 30 minutes. A newer link or a change of the account ends it. At most three links " +
    "in 30 minutes per account. If the server cannot send email, the message says so. Counts as a sign-in, per " +
    "address.",
  body: MessageResponse,
});

export const resetPassword = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Set a new password with a link",
  description:
    "`token` comes from the link. All sessions end, including those of devices; with `endKeys` also API keys and app " +
    "passwords. Passkeys and two-factor authentication stay. A link that was used, has expired or is unknown returns " +
    "401 invalid_token. If the new password is rejected, the link stays valid.",
  body: MessageResponse,
  errors: ["invalid_token"],
});
