import { defineText, plural } from "../../../base/text.ts";

/** The text of the page that changes settings. */
export const text = defineText("admin-settings", {
  groups: (group: string) =>
    ({
      signup: "Sign-up",
      plans: "Plans",
      rates: "Rate limits",
      retention: "Trash and versions",
      search: "Search",
      mail: "Email",
    })[group] ?? group,
  groupHints: (group: string) =>
    ({
      signup: "Who can create an account, and whether people find each other.",
      plans: "How much the accounts on each plan can store.",
      rates: "How many requests accounts can send. Sign-ins with wrong passwords are always limited.",
      retention: "How long deleted and replaced files can be restored.",
      search: "What people can find.",
      mail: "The server that sends invitations, password reset links, and notifications.",
    })[group] ?? "",
  labels: (key: string) => LABELS[key] ?? key,
  hints: (key: string) => HINTS[key] ?? "",
  choices: (key: string, choice: string) => CHOICES[`${key}.${choice}`] ?? choice,
  categories: (category: string) => CATEGORIES[category] ?? category,
  perHour: "Requests per hour for each account or IP address",
  showRates: "Limits for each kind of request",
  inUnit: (label: string, unit: string) => `${label} (${unit})`,
  noLimit: "No limit",
  fixedByFile: "Set in larder.toml",
  fixedBy: (source: string) => `Set by ${source}`,
  defaultIs: (value: string) => `Default: ${value}`,
  reset: "Reset",
  resetOf: (label: string) => `Reset ${label} to its default`,
  willReset: "Resets to the default when you save.",
  ignored: (why: string) => `The saved value is ignored: ${why}`,
  invalidNumber: "Enter a number.",
  range: (min: string, max: string) => `From ${min} to ${max}.`,
  openWarning: "Anyone who can reach this server can create an account.",
  accountsAbove: (n: number, names: string) =>
    plural(
      n,
      `# account uses more (${names}). It keeps its files but can't upload.`,
      `# accounts use more (${names}). They keep their files but can't upload.`,
    ),
  unsaved: (n: number) => plural(n, "# unsaved change", "# unsaved changes"),
  save: "Save changes",
  discard: "Discard",
  saved: "Settings saved.",
  leaveTitle: "Discard your changes?",
  leaveBody: "Your changes to the settings aren't saved.",
  leave: "Discard",
  mailReady: "Email is set up.",
  mailOff: "Email isn't set up. Enter a server and a sender.",
  mailPassword:
    "If the mail server needs a password, set mail.host, mail.user, and mail.passwordFile in larder.toml or with environment variables. You can't enter a password here.",
  mailPasswordSet: "The password is set in the server configuration.",
  testMail: "Send test email",
  testResults: (result: string, to: string) =>
    ({
      sent: `Test email sent to ${to}.`,
      rejected: `The mail server rejected the email to ${to}.`,
      unreachable:
        "Couldn't send a test email. Check the address and encryption of the mail server. Details are in the server log.",
    })[result] ?? result,
});

const LABELS: Readonly<Record<string, string>> = {
  signup: "Who can sign up",
  defaultPlan: "Plan of new accounts",
  showPeople: "People find each other",
  rateLimits: "Limit requests",
  rateLimitScale: "Factor for all limits",
  "trash.keep": "Keep items in trash",
  "versions.keep": "Earlier versions of each file",
  "versions.maxAge": "Keep earlier versions",
  "search.content": "Search in the content of files",
  "mail.host": "Mail server",
  "mail.port": "Port",
  "mail.secure": "Encryption",
  "mail.user": "User name",
  "mail.from": "Sender",
  "mail.verify": "Require confirmed email addresses",
  quota: "Storage quota",
  maxFileSize: "Maximum file size",
  maxNodes: "Files and folders",
  devices: "Registered devices",
};

const HINTS: Readonly<Record<string, string>> = {
  showPeople: "Suggests people and groups when somebody shares. Otherwise, they enter complete email addresses.",
  rateLimitScale: "2 allows twice as many requests. Limits that you set individually don't change.",
  "versions.keep": "The minimum. Users can change the number for their account.",
  "versions.maxAge": "The minimum. Also how far back History goes, at most 90 days.",
  "search.content":
    "Text, PDF, and office documents. Turning this off deletes the index. Turning it on again reads all files again.",
  "mail.host": "A server in a private network must be listed in outboundAllow.",
  "mail.port": "0 selects the standard port for the encryption.",
  "mail.from": "For example Larder <larder@example.org>",
  "mail.verify": "New users confirm their address before they can share.",
};

const CHOICES: Readonly<Record<string, string>> = {
  "signup.open": "Everyone",
  "signup.invite": "Only invited people",
  "signup.closed": "No one",
  "showPeople.off": "No",
  "showPeople.on": "By name",
  "showPeople.emails": "By name and email",
  "mail.secure.starttls": "STARTTLS",
  "mail.secure.tls": "TLS",
  "mail.secure.none": "None",
};

const CATEGORIES: Readonly<Record<string, string>> = {
  signin: "Sign-ins",
  signup: "Sign-ups",
  refresh: "Session renewals",
  uploads: "Uploads",
  downloads: "Downloads",
  listing: "File lists",
  operations: "File changes",
  profile: "Profile",
  usage: "Usage",
  sync: "Sync",
  dav: "Connected programs",
  general: "Everything else",
};
