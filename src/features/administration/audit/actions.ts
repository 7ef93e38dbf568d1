/** Which requests are audited, and as what: one table, by method and path. What is not in it costs one look-up. */
import type { AuditFiles } from "./types.ts";

/** How a request is audited. */
export interface AuditedAction {
  readonly action: string;
  /** What it is done to: its id where the path has it, else the answer tells. */
  readonly target: { readonly type: string; readonly id: string | undefined } | undefined;
  /** Public id of the account that the path names. */
  readonly subjectId: string | undefined;
  /**
   * `security`: written before the answer; `behind`: within a second; `rejections`: only what was refused, within a second.
   */
  readonly kind: "security" | "behind" | "refusals";
  /** The password is given in it: a limit that was reached is worth a row. */
  readonly isGuess: boolean;
}

interface Rule {
  readonly segments: readonly string[];
  readonly action: string;
  readonly targetType: string | undefined;
  readonly kind: AuditedAction["kind"];
  /** From which setting of `audit.files` on; undefined for what is always audited. */
  readonly level: "changes" | "all" | undefined;
  readonly isGuess: boolean;
}

type Row = readonly [
  request: string,
  action: string,
  targetType?: string | undefined,
  options?: { readonly kind?: AuditedAction["kind"]; readonly level?: "changes" | "all"; readonly isGuess?: boolean },
];

const FILES = { kind: "behind", level: "changes" } as const;
const ALL_FILES = { kind: "behind", level: "all" } as const;
const GUESS = { isGuess: true } as const;

/**
 * The table. `:x` is any segment, `*` at the end any rest, an empty one too; the first row that fits counts. `:id` is the
 * target, `:user` the account that it is done to.
 */
const ROWS: readonly Row[] = [
  ["POST /api/auth/signup", "sign_up", "user"],
  ["POST /api/auth/signin", "sign_in", undefined, GUESS],
  ["POST /api/auth/signout", "sign_out"],
  ["POST /api/auth/confirm", "session.confirm", undefined, GUESS],
  ["POST /api/auth/confirm/passkey", "session.confirm", undefined, GUESS],
  ["POST /api/auth/confirm/provider", "session.confirm", undefined, { kind: "refusals" }],
  ["POST /api/auth/passkey/verify", "sign_in", undefined, GUESS],
  ["GET /api/auth/oidc/callback", "sign_in", undefined, { kind: "refusals", isGuess: true }],
  ["POST /api/auth/oidc/token", "sign_in", undefined, GUESS],
  ["POST /api/auth/oidc/link", "identity.link", undefined, { kind: "refusals", isGuess: true }],
  ["DELETE /api/auth/oidc/link", "identity.unlink", undefined, GUESS],
  ["POST /api/auth/password/forgot", "password.forgot", undefined, { kind: "behind" }],
  ["POST /api/auth/password/reset", "password.reset", undefined, GUESS],
  ["POST /reset-password", "password.reset", undefined, GUESS],
  ["POST /api/auth/email/confirm", "email.confirm"],
  ["POST /confirm-email", "email.confirm"],
  ["POST /api/auth/email/send", "email.confirmation_sent", undefined, { kind: "behind" }],
  ["POST /invite", "sign_up", "user"],
  ["POST /setup", "sign_up", "user"],
  ["POST /api/mobile/auth/register", "device.register", undefined, GUESS],
  ["POST /api/mobile/auth", "device.sign_in", undefined, GUESS],
  ["POST /api/mobile/auth/refresh", "device.refresh", undefined, { kind: "refusals" }],
  ["PUT /api/users/profile", "profile.change", undefined, GUESS],
  ["DELETE /api/users/profile", "account.erase", undefined, GUESS],
  ["DELETE /api/users/sessions/:id", "session.end", "session"],
  ["DELETE /api/users/devices/:id", "device.remove", "device"],
  ["DELETE /api/mobile/devices/:id", "device.remove", "device"],
  ["POST /api/mobile/devices/:id/rewind", "device.rewind", "device", FILES],
  ["POST /api/users/devices/:id/rewind", "device.rewind", "device", FILES],
  ["POST /api/mobile/devices/:device/holds/:id", "hold.decide", "hold", FILES],
  ["POST /api/users/holds/:id", "hold.decide", "hold", FILES],
  ["POST /api/users/conflicts/:id", "conflict.decide", "conflict", FILES],
  ["POST /api/users/api-keys", "api_key.create", "api_key", GUESS],
  ["DELETE /api/users/api-keys/:id", "api_key.delete", "api_key"],
  ["POST /api/users/two-factor/setup", "two_factor.set_up"],
  ["POST /api/users/two-factor/enable", "two_factor.enable", undefined, GUESS],
  ["POST /api/users/two-factor/disable", "two_factor.disable", undefined, GUESS],
  ["POST /api/users/two-factor/recovery-codes", "two_factor.renew_codes", undefined, GUESS],
  ["POST /api/users/passkeys/options", "passkey.add", undefined, { kind: "refusals", isGuess: true }],
  ["POST /api/users/passkeys", "passkey.add", "passkey", GUESS],
  ["DELETE /api/users/passkeys/:id", "passkey.remove", "passkey"],
  ["PATCH /api/users/passkeys/:id", "passkey.change", "passkey"],
  ["POST /api/files/:node/shares", "share.create", "share"],
  ["POST /api/files/folders/:node/shares", "share.create", "share"],
  ["PATCH /api/shares/:id", "share.change", "share"],
  ["DELETE /api/shares/received/:id", "share.leave", "share"],
  ["DELETE /api/shares/:id", "share.revoke", "share"],
  ["POST /api/public/:token/unlock", "share.unlock", undefined, { kind: "refusals", isGuess: true }],
  ["POST /s/:token/unlock", "share.unlock", undefined, { kind: "refusals", isGuess: true }],
  ["POST /api/webhooks", "webhook.create", "webhook"],
  ["POST /api/webhooks/:id/secret", "webhook.new_secret", "webhook"],
  ["PATCH /api/webhooks/:id", "webhook.change", "webhook"],
  ["DELETE /api/webhooks/:id", "webhook.delete", "webhook"],
  ["DELETE /api/files/trash/*", "trash.empty", undefined, FILES],
  ["DELETE /api/files/folders/:id", "folder.delete", "folder", FILES],
  ["DELETE /api/files/:id", "file.delete", "file", FILES],
  ["DELETE /api/files/:id/versions/:n", "version.delete", "file", FILES],
  ["POST /api/files/:id/versions/:n/restore", "version.restore", "file", ALL_FILES],
  ["POST /api/files/tags", "file.tag", undefined, ALL_FILES],
  ["POST /api/files/restore", "folder.restore", undefined, FILES],
  ["POST /api/files/trash", "file.trash", undefined, ALL_FILES],
  ["POST /api/files/trash/restore", "file.untrash", undefined, ALL_FILES],
  ["POST /api/files/upload", "file.upload", "file", ALL_FILES],
  ["POST /api/mobile/upload", "file.upload", "file", ALL_FILES],
  ["POST /api/public/:token/upload", "share.upload", undefined, ALL_FILES],
  ["POST /api/mobile/upload/complete", "file.upload", "file", ALL_FILES],
  ["POST /api/tus", "file.upload", undefined, ALL_FILES],
  ["POST /api/tus/:upload", "file.upload", undefined, ALL_FILES],
  ["PATCH /api/tus/:upload", "file.upload", undefined, ALL_FILES],
  ["POST /api/public/:token/tus", "share.upload", undefined, ALL_FILES],
  ["POST /api/public/:token/tus/:upload", "share.upload", undefined, ALL_FILES],
  ["PATCH /api/public/:token/tus/:upload", "share.upload", undefined, ALL_FILES],
  ["PUT /api/files/:id/content", "file.replace", "file", ALL_FILES],
  ["PUT /api/files/folders/:id", "folder.change", "folder", ALL_FILES],
  ["PUT /api/files/:id", "file.change", "file", ALL_FILES],
  ["POST /api/files/move", "file.move", undefined, ALL_FILES],
  ["POST /api/files/copy", "file.copy", undefined, ALL_FILES],
  ["POST /api/files/folders", "folder.create", "folder", ALL_FILES],
  ["POST /api/files/archive", "file.download", undefined, ALL_FILES],
  ["GET /api/files/:id/download", "file.download", "file", ALL_FILES],
  ["GET /api/files/folders/:id/archive", "file.download", "folder", ALL_FILES],
  ["POST /api/admin/users", "user.create", "user"],
  ["PATCH /api/admin/users/:id", "user.change", "user"],
  ["DELETE /api/admin/users/:id", "user.erase", "user"],
  ["DELETE /api/admin/users/:id/sessions", "user.end_sessions", "user"],
  ["DELETE /api/admin/users/:user/sessions/:id", "user.end_session", "session"],
  ["DELETE /api/admin/users/:user/devices/:id", "user.remove_device", "device"],
  ["DELETE /api/admin/users/:id/two-factor", "user.disable_two_factor", "user"],
  ["POST /api/admin/users/:id/reset-link", "user.reset_link", "user"],
  ["POST /api/admin/invites", "invite.create", "invite"],
  ["DELETE /api/admin/invites/:id", "invite.revoke", "invite"],
  ["POST /api/admin/jobs/:id/run", "job.run", "job"],
  ["GET /api/admin/audit/export", "audit.export"],
  ["GET /api/admin/*", "admin.read", undefined, { kind: "refusals" }],
  ["POST /api/admin/*", "admin.change"],
  ["PUT /api/admin/*", "admin.change"],
  ["PATCH /api/admin/*", "admin.change"],
  ["DELETE /api/admin/*", "admin.change"],
];

const RULES = Map.groupBy(ROWS.map(toRule), ({ key }) => key);

/** Whether requests by GET with this address may be audited at all: almost none are, and they are the most. */
export function mayAuditRead(url: string, files: AuditFiles): boolean {
  if (url.includes("/api/admin/") || url.includes("/api/auth/oidc/")) return true;
  return files === "all" && (url.includes("/download") || url.includes("/archive"));
}

/** How a request is audited; undefined where it is not. @param path as sent, without the query */
export function auditedAction(method: string, path: string, files: AuditFiles): AuditedAction | undefined {
  const segments = (path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path).split("/").slice(1);
  const rules = RULES.get(keyOf(method, segments));
  const found = rules?.find((rule) => fits(rule.segments, segments));
  if (found === undefined || !isWanted(found, files)) return undefined;
  const { action, targetType, kind, isGuess } = found;
  const at = (name: string) => segments[found.segments.indexOf(name)];
  const id = at(":id");
  return {
    action,
    kind,
    isGuess,
    target: targetType === undefined ? undefined : { type: targetType, id },
    subjectId: targetType === "user" ? id : at(":user"),
  };
}

/** What no path stands for: handlers, commands and the program itself name it. */
const OTHER_ACTIONS = [
  "credentials.change",
  "device.token_reused",
  "email.change",
  "password.change",
  "server.start",
  "setup_link",
  "transfer.export",
  "transfer.import",
  "user.token",
];

/** Every action there is, for whoever chooses among them. */
export const AUDIT_ACTIONS: readonly string[] = [
  ...new Set([...ROWS.map(([, action]) => action), ...OTHER_ACTIONS]),
].toSorted();

function isWanted({ level }: Rule, files: AuditFiles): boolean {
  return level === undefined || files === "all" || files === level;
}

function toRule([request, action, targetType, options = {}]: Row): Rule & { readonly key: string } {
  const [method = "", path = ""] = request.split(" ");
  const segments = path.split("/").slice(1);
  const { kind = "security", level, isGuess = false } = options;
  return { key: keyOf(method, segments), segments, action, targetType, kind, level, isGuess };
}

/** Method and the first two segments: no row leaves one of these open. */
function keyOf(method: string, segments: readonly string[]): string {
  return segments[0] === "s" ? `${method} s` : `${method} ${segments[0] ?? ""}/${segments[1] ?? ""}`;
}

function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  const isOpen = pattern.at(-1) === "*";
  const fixed = isOpen ? pattern.slice(0, -1) : pattern;
  if (isOpen ? segments.length < fixed.length : segments.length !== fixed.length) return false;
  return fixed.every((part, index) => part.startsWith(":") || part === segments[index]);
}
