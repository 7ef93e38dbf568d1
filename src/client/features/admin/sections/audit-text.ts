import { planName } from "../../../base/plan-names.ts";
import { defineText } from "../../../base/text.ts";
import { text as jobsText } from "./jobs-text.ts";
import { describeSettings } from "./audit-settings.ts";
import { text as adminText } from "../text.ts";
import type { AuditEntry } from "../types.ts";

/** The text of the audit log: each action as a sentence. */
export const text = defineText("admin-audit", {
  someone: "Someone",
  theServer: "The server",
  attempt: "{sentence} (unsuccessful)",
  unknownAction: "{who}: {action}",
  changedPlan: "{who} changed {whom}'s plan to {plan}",
  changedRole: "{who} changed {whom}'s role to {role}",
  disabled: "{who} disabled {whom}",
  enabled: "{who} enabled {whom}",
  ranJob: "{who} ran the job “{job}”",
  invited: "{who} invited {email}",
  importedFiles: "{n, plural, one {# file was} other {# files were}} imported for {whom}",
  exportedFiles: "{n, plural, one {# file was} other {# files were}} exported for {whom}",
  /** What was done. `who` did it; `whom` is the affected account. */
  actions: {
    "account.erase": "{who} deleted their account",
    "admin.read": "{who} opened Administration",
    "admin.change": "{who} made a change in Administration",
    "album.change": "{who} changed an album",
    "album.create": "{who} created an album",
    "album.delete": "{who} deleted an album",
    "api_key.create": "{who} created an API key",
    "api_key.delete": "{who} deleted an API key",
    "app_password.create": "{who} created an app password",
    "app_password.delete": "{who} ended an app password",
    "audit.export": "{who} exported the audit log",
    "conflict.decide": "{who} resolved a conflict",
    "credentials.change": "{who} changed their email address and password",
    "device.register": "{who} registered a device",
    "device.remove": "{who} removed a device",
    "device.refresh": "{who} renewed the sign-in of a device",
    "device.rewind": "{who} undid the changes of a device",
    "device.sign_in": "{who} signed in with a device",
    "device.token_reused": "{who} reused an old sign-in of a device",
    "email.change": "{who} changed their email address",
    "email.confirm": "{who} confirmed their email address",
    "email.confirmation_sent": "{who} requested a confirmation email",
    "file.delete": "{who} deleted a file permanently",
    "folder.delete": "{who} deleted a folder permanently",
    "file.upload": "{who} uploaded a file",
    "file.download": "{who} downloaded a file",
    "file.change": "{who} changed a file",
    "file.copy": "{who} copied a file",
    "file.extract": "{who} extracted an archive",
    "file.move": "{who} moved a file",
    "file.replace": "{who} replaced a file",
    "file.tag": "{who} tagged a file",
    "file.trash": "{who} moved a file to trash",
    "file.untrash": "{who} restored a file from trash",
    "folder.change": "{who} changed a folder",
    "folder.create": "{who} created a folder",
    "folder.restore": "{who} restored a folder",
    "group.add_member": "{who} added {whom} to a group",
    "group.change": "{who} renamed a group",
    "group.create": "{who} created a group",
    "group.delete": "{who} deleted a group",
    "group.remove_member": "{who} removed {whom} from a group",
    "hold.decide": "{who} approved or rejected waiting changes",
    "identity.link": "{who} linked single sign-on",
    "identity.unlink": "{who} unlinked single sign-on",
    "invite.create": "{who} invited someone",
    "invite.revoke": "{who} revoked an invitation",
    "job.run": "{who} ran a job",
    "lock.end": "{who} released a file lock",
    "passkey.add": "{who} added a passkey",
    "passkey.change": "{who} renamed a passkey",
    "passkey.remove": "{who} removed a passkey",
    "password.change": "{who} changed their password",
    "password.forgot": "{who} requested a new password",
    "password.reset": "{who} set a new password",
    "profile.change": "{who} changed their profile",
    "server.start": "{who} started",
    "session.confirm": "{who} confirmed their identity",
    "session.end": "{who} ended a session",
    "settings.change": "{who} changed server settings",
    "settings.test_mail": "{who} sent a test email",
    setup_link: "{who} created a setup link",
    "share.change": "{who} changed a share",
    "share.create": "{who} shared something",
    "share.leave": "{who} left a share",
    "share.revoke": "{who} stopped sharing something",
    "share.unlock": "{who} entered the password of a link",
    "share.upload": "{who} uploaded to a drop box",
    sign_in: "{who} signed in",
    sign_out: "{who} signed out",
    sign_up: "{who} signed up",
    "transfer.export": "{who} exported files",
    "transfer.import": "{who} imported files",
    "trash.empty": "{who} emptied the trash",
    "two_factor.disable": "{who} turned off two-factor authentication",
    "two_factor.enable": "{who} turned on two-factor authentication",
    "two_factor.renew_codes": "{who} created new recovery codes",
    "two_factor.set_up": "{who} began to set up two-factor authentication",
    "user.app_password": "{who} created an app password for {whom}",
    "user.change": "{who} changed {whom}'s account",
    "user.create": "{who} created the account of {whom}",
    "user.disable_two_factor": "{who} turned off {whom}'s two-factor authentication",
    "user.end_app_password": "{who} ended {whom}'s app password",
    "user.end_session": "{who} signed {whom} out of one session",
    "user.end_sessions": "{who} signed {whom} out everywhere",
    "user.erase": "{who} deleted {whom}'s account",
    "user.remove_avatar": "{who} removed {whom}'s picture",
    "user.remove_device": "{who} removed {whom}'s device",
    "user.reset_link": "{who} created a password reset link for {whom}",
    "user.token": "{who} created a token for {whom}",
    "version.delete": "{who} deleted a version",
    "version.restore": "{who} restored a version",
    "webhook.change": "{who} changed a webhook",
    "webhook.create": "{who} created a webhook",
    "webhook.delete": "{who} deleted a webhook",
    "webhook.new_secret": "{who} created a new secret for a webhook",
  },
  allActions: "All actions",
  groups: {
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
  },
  details: "Details",
  detailsOf: "Details of: {what}",
  actionName: "Action",
  reason: "Reason",
  target: "Target",
  account: "Account",
  browser: "Browser",
});

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
  return outcome === "done" ? sentence : text.attempt({ sentence });
}

function describeAction(action: string, who: string, whom: string): string {
  return text.actions(action, { who, whom }, text.unknownAction({ who, action }));
}

/** The sentence of a change whose new value says more than its action. */
function describeChange({ action, details, target }: AuditEntry, who: string, whom: string): string | undefined {
  const values: Readonly<Record<string, unknown>> = details;
  if (action === "job.run" && typeof target?.id === "string")
    return text.ranJob({ who, job: jobsText.names(target.id) });
  const { email, files } = values;
  if (action === "invite.create" && typeof email === "string") return text.invited({ who, email });
  if (action === "transfer.import" && typeof files === "number") return text.importedFiles({ whom, n: files });
  if (action === "transfer.export" && typeof files === "number") return text.exportedFiles({ whom, n: files });
  if (action === "settings.change") return describeSettings(who, values);
  const [name, ...others] = Object.keys(values);
  if (action !== "user.change" || name === undefined || others.length > 0) return undefined;
  const value = values[name];
  if (name === "plan") return text.changedPlan({ who, whom, plan: planName(String(value)) });
  if (name === "role") return text.changedRole({ who, whom, role: adminText.roles(String(value)) });
  if (name === "disabled") return value === true ? text.disabled({ who, whom }) : text.enabled({ who, whom });
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
