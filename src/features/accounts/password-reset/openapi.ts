/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { MessageResponse } from "./model.ts";

export const forgotPassword = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Request a link to set a new password",
  description:
    "The response and its time are the same whether or not there is such an account. The link is sent by email, " +
    "works once, and expires after 30 minutes. It also expires when a newer link is requested, or when the " +
    "password, the email or the state of the account changes. At most three links in 30 minutes per account. If " +
    "the server cannot send email, the message says so: an administrator, or `larder user reset-link`, can create " +
    "a link. Counts as a sign-in, per address.",
  body: MessageResponse,
});

export const resetPassword = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Set a new password with a link",
  description:
    "`token` comes from the link. All sessions end, including those of devices; with `endKeys` also API keys. " +
    "Passkeys and two-factor authentication stay. A link that was used, has expired or is unknown returns 401 " +
    "invalid_token. If the new password is rejected, the link stays valid.",
  body: MessageResponse,
  errors: ["invalid_token"],
});
