import { defineText } from "../../base/text.ts";

/** The text of the notice about an email address that is not confirmed. */
export const text = defineText("confirmEmail", {
  title: "Confirm your email address",
  lead: "Open the link in the email we sent to {email}. You can't share files until you do.",
  send: "Send again",
  sent: "We sent an email to {email}. The link in it works for 24 hours.",
  confirmed: "Email address confirmed.",
});
