/** Declares whether the requests of a route are audited. `features/administration/audit` implements the audit log. */

/** All actions of the audit log, in alphabetical order. */
export const AUDIT_ACTIONS = [
  "account.erase",
  "admin.change",
  "admin.read",
  "album.change",
  "album.create",
  "album.delete",
  "api_key.create",
  "api_key.delete",
  "app_password.create",
  "app_password.delete",
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
  "file.extract",
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
  "group.add_member",
  "group.change",
  "group.create",
  "group.delete",
  "group.remove_member",
  "hold.decide",
  "identity.link",
  "identity.unlink",
  "invite.create",
  "invite.revoke",
  "job.run",
  "lock.end",
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
  "settings.change",
  "settings.test_mail",
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
  "user.app_password",
  "user.change",
  "user.create",
  "user.disable_two_factor",
  "user.end_app_password",
  "user.end_session",
  "user.end_sessions",
  "user.erase",
  "user.remove_avatar",
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
type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** How the requests of a route are audited. */
export interface AuditRule {
  readonly action: AuditAction;
  /** The type of the target, such as `share`. Its id is in the path ({@link targetParam}) or in the response. */
  readonly target?: string;
  /** The path parameter with the id of the target. */
  readonly targetParam?: string;
  /** The path parameter with the public id of the affected account. The target `user` needs none. */
  readonly accountParam?: string;
  /**
   * `security` (the default): written before the response is sent. `deferred`: written within a second. `rejections`:
   * only rejected requests, within a second.
   */
  readonly write?: "security" | "deferred" | "rejections";
  /** The lowest value of the setting `audit.files` with which this is audited; absent for always. */
  readonly files?: "changes" | "all";
  /** The request contains a password, code or token, so reaching a rate limit is audited. */
  readonly isGuess?: true;
}
