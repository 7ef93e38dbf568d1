import { defineText } from "../../base/text.ts";

/** The text of the dialog that asks people to confirm their identity. */
export const text = defineText("proof", {
  title: "Confirm it's you",
  lead: "Enter your password to continue. We won't ask again for 10 minutes.",
  leadWithout: "Confirm your identity to continue. We won't ask again for 10 minutes.",
  confirm: "Confirm",
  password: "Your password",
  passwordWrong: "Wrong password. Try again.",
  code: "Code",
  codeHint: "From your authenticator app, or a recovery code.",
  passkey: "Use a passkey",
  provider: "Sign in with {name}",
  providerWaiting: "Sign in again in the other window, then return here.",
  noMethod: "Your account has no password. Sign out, choose “Forgot your password?” to set one, then try again.",
});
