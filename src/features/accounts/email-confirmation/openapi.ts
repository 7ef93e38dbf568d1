/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { ConfirmedRecord, SentRecord } from "./model.ts";

export const confirmEmail = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Confirm an email address",
  description:
    "`token` comes from the link in the email. The link works once, for 24 hours, and only while the account has " +
    "that address. Any other link returns 401 invalid_token.",
  data: ConfirmedRecord,
  errors: ["invalid_token"],
});

export const sendConfirmation = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Send the confirmation email again",
  description: "At most three emails an hour per account and per address; more return 429. Earlier links stay valid.",
  data: SentRecord,
  errors: ["invalid_request"],
});
