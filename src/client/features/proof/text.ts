import { defineText } from "../../app/text.ts";

/** The words of the dialog that asks for proof. */
export const text = defineText("proof", {
  title: "Confirm that it is you",
  lead: "Enter your password to continue. You are not asked again for ten minutes.",
  leadWithout: "Confirm to continue. You are not asked again for ten minutes.",
  confirm: "Confirm",
  password: "Your password",
  passwordWrong: "This is not your password.",
  code: "Code",
  codeHint: "From your authenticator app, or a recovery code.",
  passkey: "Use a passkey",
  provider: (name: string) => `Sign in with ${name}`,
  providerWaiting: "Sign in again in the other window, then come back here.",
  noWay: "Your account has no password yet. Sign out, choose “Forgot your password?” and set one; then try again.",
});
