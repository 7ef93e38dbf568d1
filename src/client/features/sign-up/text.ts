import { defineText } from "../../app/text.ts";

const STRENGTHS = [
  "At least 8 characters. Several unrelated words make a good one.",
  "Too short: at least 8 characters.",
  "Fair. A few more characters make it good.",
  "Good.",
  "Very good.",
];

/** The words of the sign-up. */
export const text = defineText("sign-up", {
  title: "Make an account",
  lead: "on this Larder, a place for your files",
  email: "E-mail",
  name: "Your name",
  nameHint: "Shown beside the files you share. You may leave it empty.",
  password: "Password",
  invite: "Invitation",
  inviteHint: "The code from your invitation, or the whole link.",
  inviteMissing: "Enter the code from your invitation.",
  emailMissing: "Enter your e-mail address.",
  passwordShort: "A password has 8 characters or more.",
  submit: "Make the account",
  haveAccount: "You have an account?",
  signIn: "Sign in",
  closed: "No sign-up here",
  closedLead: "On this Larder accounts are made by whoever runs it. Ask them for one.",
  strength: (step: number) => STRENGTHS[step] ?? "",
});
