/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { MessageResponse } from "./model.ts";

export const forgotPassword = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Ask for a link to set a new password",
  description:
    "The answer is the same, and takes as long, whether there is an account or not. The link comes by mail, " +
    "works once and for 30 minutes, and ends when a newer one is asked for or the password, the e-mail or the " +
    "account's state changes; at most three in 30 minutes per account. Where the server sends no mail, the message " +
    "says so: then an administrator, or `larder user reset-link`, makes the link. Counts as sign-in, per address.",
  body: MessageResponse,
});

export const resetPassword = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Set a new password by a link",
  description:
    "`token` is from the link. All sessions end, those of phones included, and API keys with `endKeys`; passkeys and " +
    "two-factor sign-in stay. " +
    "A link that was used, is over or is unknown: 401 invalid_token. A password that is refused leaves the link " +
    "as it was.",
  body: MessageResponse,
  errors: ["invalid_token"],
});
