import { defineText } from "../../base/text.ts";

/** The text of the sign-in page. */
export const text = defineText("sign-in", {
  email: "Email",
  password: "Password",
  emailMissing: "Enter your email address.",
  passwordMissing: "Enter your password.",
  submit: "Sign in",
  passkey: "Sign in with a passkey",
  passkeyFailed: "No passkey was used. Try again, or sign in with your password.",
  or: "or",
  withProvider: "Sign in with {name}",
  forgot: "Forgot your password?",
  forgotTitle: "Reset your password",
  forgotLead: "We'll email you a link to set a new password. It works once and expires after 30 minutes.",
  forgotSubmit: "Send link",
  forgotDone: "Check your email",
  noEmail: "Forgot your password? Ask your administrator for a reset link.",
  back: "Back to sign-in",
  codeTitle: "Two-factor authentication",
  codeLead: "Enter the 6-digit code from your authenticator app.",
  code: "Code",
  codeMissing: "Enter the code.",
  recoveryLead: "Enter one of your recovery codes. Each code works once.",
  recoveryCode: "Recovery code",
  useRecovery: "Use a recovery code",
  useApp: "Use the authenticator app",
});
