/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { ConfirmedRecord, SentRecord } from "./model.ts";

export const confirmEmail = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Confirm an e-mail address by the link in the mail",
  description:
    "`token` is from the link, which works once, for 24 hours, and only while the account has that address. What " +
    "others shared with the address opens from now on. Another link: 401 invalid_token.",
  data: ConfirmedRecord,
  errors: ["invalid_token"],
});

export const sendConfirmation = (): RouteDocs => ({
  tag: "Authentication",
  summary: "Send the mail again by which one's e-mail address is confirmed",
  description: "Three mails an hour for an account and to an address; 429 above that. Earlier links stay good.",
  data: SentRecord,
  errors: ["invalid_request"],
});
