import { planName } from "../../../base/plan-names.ts";
import { defineText, plural } from "../../../base/text.ts";
import { text as jobsText } from "./jobs-text.ts";
import { describeSettings } from "./audit-settings.ts";
import { text as adminText } from "../text.ts";
import type { AuditEntry } from "../types.ts";

/** The text of the audit log: each action as a sentence. */
export const text = defineText("admin-audit", {
  someone: "Someone",
  theServer: "The server",
  attempt: (sentence: string) => `${sentence} (unsuccessful)`,
  unknownAction: (who: string, action: string) => `${who}: ${action}`,
  changedPlan: (who: string, whom: string, plan: string) => `${who} changed ${whom} plan to ${plan}`,
  changedRole: (who: string, whom: string, role: string) => `${who} changed ${whom} role to ${role}`,
  disabled: (who: string, whom: string) => `${who} disabled ${whom}`,
  enabled: (who: string, whom: string) => `${who} enabled ${whom}`,
  ranJob: (who: string, job: string) => `${who} ran the job “${job}”`,
  invited: (who: string, email: string) => `${who} invited ${email}`,
  importedFiles: (whom: string, n: number) => `${plural(n, "# file was", "# files were")} imported for ${whom}`,
  exportedFiles: (whom: string, n: number) => `${plural(n, "# file was", "# files were")} exported for ${whom}`,
  possessive: (name: string) => `${name}'s`,
  allActions: "All actions",
  groups: (action: string) => GROUPS[action] ?? action,
  details: "Details",
  detailsOf: (what: string) => `Details of: ${what}`,
  actionName: "Action",
  reason: "Reason",
  target: "Target",
  account: "Account",
  browser: "Browser",
});

/** What was done, after the name of who did it. `%` is the affected account, `%s` its possessive form. */
const ACTIONS: Readonly<Record<string, string>> = {
  "account.erase": "deleted their account",
  "admin.read": "opened Administration",
  "admin.change": "made a change in Administration",
  "album.change": "changed an album",
  "album.create": "created an album",
  "album.delete": "deleted an album",
  "api_key.create": "created an API key",
  "api_key.delete": "deleted an API key",
  "app_password.create": "created an app password",
  "app_password.delete": "ended an app password",
  "audit.export": "exported the audit log",
  "conflict.decide": "resolved a conflict",
  "credentials.change": "changed their email address and password",
  "device.register": "registered a device",
  "device.remove": "removed a device",
  "device.refresh": "renewed the sign-in of a device",
  "device.rewind": "undid the changes of a device",
  "device.sign_in": "signed in with a device",
  "device.token_reused": "reused an old sign-in of a device",
  "email.change": "changed their email address",
  "email.confirm": "confirmed their email address",
  "email.confirmation_sent": "requested a confirmation email",
  "file.delete": "deleted a file permanently",
  "folder.delete": "deleted a folder permanently",
  "file.upload": "uploaded a file",
  "file.download": "downloaded a file",
  "file.change": "changed a file",
  "file.copy": "copied a file",
  "file.extract": "extracted an archive",
  "file.move": "moved a file",
  "file.replace": "replaced a file",
  "file.tag": "tagged a file",
  "file.trash": "moved a file to trash",
  "file.untrash": "restored a file from trash",
  "folder.change": "changed a folder",
  "folder.create": "created a folder",
  "folder.restore": "restored a folder",
  "group.add_member": "added % to a group",
  "group.change": "renamed a group",
  "group.create": "created a group",
  "group.delete": "deleted a group",
  "group.remove_member": "removed % from a group",
  "hold.decide": "approved or rejected waiting changes",
  "identity.link": "linked single sign-on",
  "identity.unlink": "unlinked single sign-on",
  "invite.create": "invited someone",
  "invite.revoke": "revoked an invitation",
  "job.run": "ran a job",
  "lock.end": "released a file lock",
  "passkey.add": "added a passkey",
  "passkey.change": "renamed a passkey",
  "passkey.remove": "removed a passkey",
  "password.change": "changed their password",
  "password.forgot": "requested a new password",
  "password.reset": "set a new password",
  "profile.change": "changed their profile",
  "server.start": "started",
  "session.confirm": "confirmed their identity",
  "session.end": "ended a session",
  "settings.change": "changed server settings",
  "settings.test_mail": "sent a test email",
  setup_link: "created a setup link",
  "share.change": "changed a share",
  "share.create": "shared something",
  "share.leave": "left a share",
  "share.revoke": "stopped sharing something",
  "share.unlock": "entered the password of a link",
  "share.upload": "uploaded to a drop box",
  sign_in: "signed in",
  sign_out: "signed out",
  sign_up: "signed up",
  "transfer.export": "exported files",
  "transfer.import": "imported files",
  "trash.empty": "emptied the trash",
  "two_factor.disable": "turned off two-factor authentication",
  "two_factor.enable": "turned on two-factor authentication",
  "two_factor.renew_codes": "created new recovery codes",
  "two_factor.set_up": "began to set up two-factor authentication",
  "user.app_password": "created an app password for %",
  "user.change": "changed %s account",
  "user.create": "created the account of %",
  "user.disable_two_factor": "turned off %s two-factor authentication",
  "user.end_app_password": "ended %s app password",
  "user.end_session": "signed % out of one session",
  "user.end_sessions": "signed % out everywhere",
  "user.erase": "deleted %s account",
  "user.remove_avatar": "removed %s picture",
  "user.remove_device": "removed %s device",
  "user.reset_link": "created a password reset link for %",
  "user.token": "created a token for %",
  "version.delete": "deleted a version",
  "version.restore": "restored a version",
  "webhook.change": "changed a webhook",
  "webhook.create": "created a webhook",
  "webhook.delete": "deleted a webhook",
  "webhook.new_secret": "created a new secret for a webhook",
};

/** Actions to filter by: each is one action, or the part before the dot of several. */
const GROUPS: Readonly<Record<string, string>> = {
  sign_in: "Sign-in",
  sign_out: "Sign-out",
  sign_up: "Sign-up",
  session: "Sessions",
  password: "Passwords",
  two_factor: "Two-factor authentication",
  passkey: "Passkeys",
  identity: "Single sign-on",
  email: "Email addresses",
  profile: "Profiles",
  credentials: "Email and password together",
  user: "Accounts, by administrators",
  account: "Accounts, by their owners",
  group: "Groups",
  invite: "Invitations",
  api_key: "API keys",
  app_password: "App passwords",
  device: "Devices",
  conflict: "Conflicts",
  hold: "Changes waiting for approval",
  share: "Shares",
  album: "Albums",
  file: "Files",
  folder: "Folders",
  version: "Earlier versions",
  lock: "File locks",
  trash: "Trash",
  transfer: "Imports and exports",
  settings: "Server settings",
  admin: "Administration",
  job: "Jobs",
  webhook: "Webhooks",
  server: "Server starts",
  setup_link: "Setup links",
  audit: "Exports of the audit log",
};

/** The choices of the filter. */
export const ACTION_GROUPS: readonly string[] = Object.keys(GROUPS);

/** Returns the name of an account in the log. */
export type NameOf = (person: AuditEntry["user"]) => string | undefined;

/** An entry as a sentence, with names in place of ids. */
export function describeEntry(entry: AuditEntry, nameOf: NameOf): string {
  const { user, account, action, outcome, via } = entry;
  const nobody = via.kind === "system" || via.kind === "cli" ? text.theServer : text.someone;
  const who = nameOf(user) ?? (action === "sign_in" ? nameOf(account) : undefined) ?? nobody;
  const whom = nameOf(account) ?? text.someone;
  const sentence = describeChange(entry, who, whom) ?? describeAction(action, who, whom);
  return outcome === "done" ? sentence : text.attempt(sentence);
}

function describeAction(action: string, who: string, whom: string): string {
  const verb = ACTIONS[action];
  if (verb === undefined) return text.unknownAction(who, action);
  return `${who} ${verb.replace("%s", text.possessive(whom)).replace("%", whom)}`;
}

/** The sentence of a change whose new value says more than its action. */
function describeChange({ action, details, target }: AuditEntry, who: string, whom: string): string | undefined {
  const values: Readonly<Record<string, unknown>> = details;
  if (action === "job.run" && typeof target?.id === "string") return text.ranJob(who, jobsText.names(target.id));
  const { email, files } = values;
  if (action === "invite.create" && typeof email === "string") return text.invited(who, email);
  if (action === "transfer.import" && typeof files === "number") return text.importedFiles(whom, files);
  if (action === "transfer.export" && typeof files === "number") return text.exportedFiles(whom, files);
  if (action === "settings.change") return describeSettings(who, values);
  const [name, ...others] = Object.keys(values);
  if (action !== "user.change" || name === undefined || others.length > 0) return undefined;
  const value = values[name];
  if (name === "plan") return text.changedPlan(who, text.possessive(whom), planName(String(value)));
  if (name === "role") return text.changedRole(who, text.possessive(whom), adminText.roles(String(value)));
  if (name === "disabled") return value === true ? text.disabled(who, whom) : text.enabled(who, whom);
  return undefined;
}

/** All that is known about an entry, as names and values. */
export function detailsOf(entry: AuditEntry): [string, string][] {
  const { action, reason, target, account, userAgent, details } = entry;
  const known: [string, string | null | undefined][] = [
    [text.actionName, action],
    [text.reason, reason],
    [text.account, account === null ? undefined : [account.email, account.id].filter(Boolean).join(", ")],
    [text.target, target === null ? undefined : [target.type, target.id].filter(Boolean).join(" ")],
    [text.browser, userAgent],
    ...Object.entries(details).map(([name, value]): [string, string] => [
      name,
      typeof value === "string" ? value : JSON.stringify(value),
    ]),
  ];
  return known.filter((pair): pair is [string, string] => typeof pair[1] === "string" && pair[1] !== "");
}
