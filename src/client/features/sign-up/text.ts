import { defineText } from "../../base/text.ts";

/** The text of the sign-up page. */
export const text = defineText("sign-up", {
  title: "Create account",
  email: "Email",
  name: "Your name",
  nameHint: "Optional. People see it next to files you share.",
  password: "Password",
  invite: "Invitation",
  inviteHint: "Enter the invitation code or the whole link.",
  inviteMissing: "Enter your invitation code.",
  emailMissing: "Enter your email address.",
  passwordShort: "Password must have at least 8 characters.",
  submit: "Create account",
  haveAccount: "Already have an account?",
  signIn: "Sign in",
  closed: "Sign-up is turned off",
  closedLead: "Ask your administrator to create an account for you.",
});
