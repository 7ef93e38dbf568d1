/** How a route says that its requests are audited. The audit log itself is `features/administration/audit`. */

/** Every action that the audit log knows, in alphabetical order. */
export const AUDIT_ACTIONS = [
  "account.erase",
  "admin.change",
  "admin.read",
  "api_key.create",
  "api_key.delete",
  "audit.export",
  "conflict.decide",
  "credentials.change",
  "device.refresh",
  "device.register",
  "device.remove",
  "device.rewind",
  "device.sign_in",
  "device.token_reused",
  "email.change",
  "email.confirm",
  "email.confirmation_sent",
  "file.change",
  "file.copy",
  "file.delete",
  "file.download",
  "file.move",
  "file.replace",
  "file.tag",
  "file.trash",
  "file.untrash",
  "file.upload",
  "folder.change",
  "folder.create",
  "folder.delete",
  "folder.restore",
  "hold.decide",
  "identity.link",
  "identity.unlink",
  "invite.create",
  "invite.revoke",
  "job.run",
  "passkey.add",
  "passkey.change",
  "passkey.remove",
  "password.change",
  "password.forgot",
  "password.reset",
  "profile.change",
  "server.start",
  "session.confirm",
  "session.end",
  "setup_link",
  "share.change",
  "share.create",
  "share.leave",
  "share.revoke",
  "share.unlock",
  "share.upload",
  "sign_in",
  "sign_out",
  "sign_up",
  "transfer.export",
  "transfer.import",
  "trash.empty",
  "two_factor.disable",
  "two_factor.enable",
  "two_factor.renew_codes",
  "two_factor.set_up",
  "user.change",
  "user.create",
  "user.disable_two_factor",
  "user.end_session",
  "user.end_sessions",
  "user.erase",
  "user.remove_device",
  "user.reset_link",
  "user.token",
  "version.delete",
  "version.restore",
  "webhook.change",
  "webhook.create",
  "webhook.delete",
  "webhook.new_secret",
] as const;

/** One of {@link AUDIT_ACTIONS}. */
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** How the requests of a route are audited. */
export interface AuditRule {
  readonly action: AuditAction;
  /** The kind of thing that it is done to, such as `share`. Its id is in the path ({@link targetParam}) or in the response. */
  readonly target?: string;
  /** The path parameter that holds the id of the target. */
  readonly targetParam?: string;
  /** The path parameter that holds the public id of the account that it is done to. With the target `user`: the target. */
  readonly accountParam?: string;
  /**
   * `security` (the default): written before the response is sent. `deferred`: within a second. `rejections`: only what was
   * rejected, within a second.
   */
  readonly write?: "security" | "deferred" | "rejections";
  /** Audited only from this value of the setting `audit.files` on. Always, where it is left out. */
  readonly files?: "changes" | "all";
  /** The request carries a password, a code or a token to be guessed: a rate limit that it meets is worth a row. */
  readonly isGuess?: true;
}
