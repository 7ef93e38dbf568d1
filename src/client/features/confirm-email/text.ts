import { defineText } from "../../app/text.ts";

/** Words of the notice about an e-mail that is not confirmed. */
export const text = defineText("confirmEmail", {
  title: "Your e-mail is not confirmed",
  lead: (email: string) =>
    `Confirm your e-mail: open the link in the mail to ${email}. Until then you can't share files.`,
  send: "Send again",
  sent: (email: string) => `A mail is on its way to ${email}. The link in it works for 24 hours.`,
  confirmed: "Your e-mail is confirmed.",
});
