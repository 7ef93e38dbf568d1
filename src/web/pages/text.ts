/** The texts of the pages that the server renders, apart from those of shares. */
import { defineTexts } from "../../translations/server-texts.ts";

/** The frame of every page. */
export const frameTexts = defineTexts("page-frame", {
  footer: "Larder, a self-hosted file server",
  description: "Larder, a self-hosted file server",
  loading: "Loading Larder…",
  needsScript: "Larder needs JavaScript. Turn it on for this site, or use the {api} instead.",
  api: "API",
  docsNeedScript: "This page needs JavaScript. You can also read the OpenAPI document: {link}.",
});

/** What phones and computers show of the installed app. */
export const installTexts = defineTexts("app-install", {
  description: "Self-hosted file server",
  photos: "Photos",
  search: "Search",
  sharedWithMe: "Shared with me",
});

/** The error page. */
export const errorTexts = defineTexts("page-error", {
  titles: {
    "400": "Invalid request",
    "401": "Sign in to continue",
    "403": "You don't have access",
    "404": "Page not found",
    "405": "Not supported here",
    "410": "No longer available",
    "413": "Too large",
    "429": "Too many requests",
    "503": "Temporarily unavailable",
    "507": "Server disk full",
    rejected: "Request failed",
    failed: "Something went wrong",
  },
  status: "Status {status}",
  signIn: "Sign in",
  toFiles: "Go to your files",
});

/** The forms of new people. */
export const formTexts = defineTexts("page-form", {
  errorTitle: "Error: {title}",
  email: "Email",
  boundEmail: "This invitation is for this email address only.",
  name: "Your name",
  nameHint: "Optional. Shown next to the files you share.",
  password: "Password",
  showPassword: "Show password",
  show: "Show",
  hide: "Hide",
  passwordHint: "Use at least 8 characters. A few unrelated words make a strong password.",
});

/** The page of the setup link. */
export const setupTexts = defineTexts("page-setup", {
  title: "Set up Larder",
  welcome: "Welcome to Larder",
  lead: "Create the first account. It will be the administrator of this server.",
  use: "Who will use this server?",
  household: "One household",
  householdHint: "High limits. People can join only if you add them.",
  accounts: "Anyone, limited by plan",
  accountsHint: "Anyone can create an account. Each account's plan limits its storage and requests.",
  create: "Create account",
  done: "You created the administrator account {email} and are signed in. The setup link no longer works.",
  restarting: "Larder is restarting with the settings for a household. You can open pages in a few seconds.",
  restarted: "Larder has restarted.",
  restartLate:
    "Larder has not restarted yet. Look for the reason in its output or in the service log. This page continues to check.",
  restartHint:
    "Larder is restarting with the settings for a household. If a page does not open, reload it after a few seconds.",
  notSaved:
    "Larder could not save the settings for a household. Look for the reason in its output or in the service log. Then add {setting} to {file}, and restart Larder.",
  open: "Open Larder",
  nextSteps: "Next steps",
  protect: "Protect your account",
  protectHint: "Add a passkey or an authenticator app.",
  add: "Add other people",
  addHint: "Nobody can join unless you add them.",
  invite: "Invite other people",
  inviteHint: "They can also create their own accounts.",
  connect: "Connect your phone and computer",
  connectHint: "The Nextcloud app on Android or another WebDAV app uploads your photos.",
  gone: "This setup link does not work",
  goneLead:
    "A setup link works only until the first administrator is created. If that hasn't happened yet, use the newest link from the server's output, or run:",
  toSignIn: "Go to sign-in",
});

/** The page of a server without accounts. */
export const notSetUpTexts = defineTexts("page-not-set-up", {
  title: "Set up Larder",
  lead: "This server has no accounts yet. Open the one-time setup link to create the first one.",
  where:
    "The server prints the link when it starts. Look in its output or in the service log. To get a new link, run this command on the server:",
  toSignIn: "Continue to sign in",
  docs: "API documentation",
});

/** The page of an invitation. */
export const inviteTexts = defineTexts("page-invite", {
  title: "Your invitation",
  heading: "You are invited",
  lead: "Create your account to store your files on this Larder server.",
  create: "Create account",
  welcome: "Welcome to Larder",
  done: "You created the account {email}. The invitation no longer works.",
  doneSignedIn: "You created the account {email} and are signed in. The invitation no longer works.",
  open: "Open Larder",
  signIn: "Sign in",
  gone: "This invitation does not work",
  goneLead: "It has expired, was already used, or was revoked. Ask the person who invited you for a new one.",
  toSignIn: "Go to sign-in",
});

/** The page of a welcome link. */
export const welcomeTexts = defineTexts("page-welcome", {
  title: "Welcome to Larder",
  heading: "Welcome to Larder, {name}",
  lead: "Your account is ready. Choose a password to sign in.",
  otherPerson: "In this browser, {other} is signed in. If you continue, this browser is signed in as {email} instead.",
  email: "Email",
  emailHint: "You sign in with this address.",
  start: "Start using Larder",
  passwordSet: "Your password is set",
  passwordSetLead: "Sign in as {email} to open your files.",
  signIn: "Sign in",
  signedIn: "You are signed in",
  signedInHeading: "You are signed in, {name}",
  signedInLead: "Next time, sign in as {email} with your new password. The welcome link no longer works.",
  open: "Open Larder",
  nextSteps: "Next steps",
  connect: "Connect your phone and computer",
  connectHint: "Upload your photos, and work with your files.",
  protect: "Protect your account",
  protectHint: "Add a passkey or an authenticator app.",
  gone: "This link does not work",
  goneLead:
    "It works once, for 7 days, and only the newest link works. If you have already chosen a password, sign in. Otherwise, ask the person who added you for a new link.",
  toSignIn: "Go to sign-in",
});

/** The page of a password reset link. */
export const resetTexts = defineTexts("page-reset-password", {
  title: "Choose a new password",
  lead: "You will be signed out in all browsers and on registered devices. Programs with an app password stay connected, unless you end those too.",
  password: "New password",
  passwordHint: "Use at least 8 characters. A few unrelated words make a strong password.",
  endKeys: "End all API keys and app passwords",
  endKeysHint:
    "Select this if someone else might know your password. Phones and programs that use them must be connected again.",
  change: "Change password",
  done: "Password changed",
  doneLead:
    "Sign in again with your new password on each device. Passkeys and two-factor authentication did not change. Check your passkeys, API keys, and app passwords in Settings.",
  gone: "This link does not work",
  goneLead:
    "A reset link works once and expires after 30 minutes. Only the newest link works. Request a new link, or contact your administrator.",
  toSignIn: "Go to sign-in",
});

/** The page of a link that confirms an email address. */
export const confirmEmailTexts = defineTexts("page-confirm-email", {
  title: "Confirm your email address",
  lead: "An account on this server uses {email}. Confirm this address only if the account is yours: it can then open files shared with this address.",
  confirm: "Confirm email address",
  done: "Email address confirmed",
  doneLead: "The account {email} can now share files and open files shared with it.",
  open: "Open Larder",
  gone: "This link does not work",
  goneLead:
    "A confirmation link works once and expires after 24 hours. If you already used it, your address is confirmed. Otherwise, sign in and request a new email.",
});

/** The sign-in page. */
export const signInTexts = defineTexts("page-sign-in", {
  title: "Sign in",
  needsScript: "Larder needs JavaScript. Turn it on for this site.",
  email: "Email",
  password: "Password",
  showPassword: "Show password",
  show: "Show",
  hide: "Hide",
  submit: "Sign in",
  forgot: "Forgot your password?",
  forgotWithoutMail: "Forgot your password? Ask your administrator for a reset link.",
  or: "or",
  passkey: "Sign in with a passkey",
  withProvider: "Sign in with {name}",
  openSignup: "No account yet?",
  create: "Create account",
  inviteSignup: "No account yet? Ask your administrator for an invitation.",
  codeTitle: "Two-factor authentication",
  codeLead: "Enter the 6-digit code from your authenticator app.",
  code: "Code",
  back: "Back to sign-in",
  recoveryCode: "Use a recovery code",
  forgotTitle: "Reset your password",
  forgotLead: "We'll email you a link to set a new password. It works once and expires after 30 minutes.",
  sendLink: "Send link",
  sent: "Check your email",
});

/** The pages that end a sign-in with an identity provider. */
export const providerTexts = defineTexts("page-provider", {
  failed: "Sign-in failed",
  again: "Try again",
  back: "Back to sign-in",
  code: "Your sign-in code",
  codeLead:
    "Enter this code in the app you are signing in to. Don't share it. It works once and expires in {minutes, plural, one {# minute} other {# minutes}}.",
  confirmed: "Identity confirmed",
  confirmedLead: "Close this window to continue.",
});
