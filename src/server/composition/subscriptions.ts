/** Which feature hears which event. Listeners run in the order given here, in the deed that emits. */
import type { Events } from "../../events/events.ts";
import type { AuditTriggers } from "../../features/administration/audit/triggers.ts";
import type { AuthService } from "../../features/accounts/auth/service.ts";
import type { ConflictService } from "../../features/mobile/conflicts/service.ts";
import type { HoldService } from "../../features/mobile/mass-change/service.ts";
import type { EmailConfirmation } from "../../features/accounts/email-confirmation/service.ts";
import type { MailNotices } from "../../features/accounts/mail/notices.ts";
import type { PasswordReset } from "../../features/accounts/password-reset/service.ts";
import type { NotificationTriggers } from "../../features/messaging/notifications/triggers.ts";
import { pathOfFile, type QueueService } from "../../features/mobile/offline-queue/service.ts";
import type { StorageMarks } from "../../features/accounts/plans/storage-marks.ts";
import type { ReceivedShareService } from "../../features/sharing/received/service.ts";
import type { UploadService } from "../../features/uploads/chunked/service.ts";
import type { WebhookRecorder } from "../../features/messaging/webhooks/recorder.ts";

/** Who hears something. */
export interface Subscribers {
  readonly events: Events;
  readonly audit: AuditTriggers;
  readonly mailNotices: MailNotices;
  readonly passwordReset: PasswordReset;
  readonly emailConfirmation: EmailConfirmation;
  readonly auth: Pick<AuthService, "endConfirmations">;
  readonly notifications: NotificationTriggers;
  readonly conflicts: ConflictService;
  readonly holds: HoldService;
  readonly queue: QueueService;
  readonly uploads: UploadService;
  readonly receivedShares: ReceivedShareService;
  readonly storageMarks: StorageMarks;
  readonly webhooks: WebhookRecorder;
}

/** Lets each feature hear what concerns it; once per server, before anything is done. */
export function subscribe(subscribers: Subscribers): void {
  const {
    events,
    audit,
    mailNotices,
    passwordReset,
    auth,
    conflicts,
    holds,
    notifications,
    queue,
    uploads,
    storageMarks,
    webhooks,
  } = subscribers;
  // Uploads of offline queues wait for files that come to their paths, however they come.
  for (const name of ["file.created", "file.updated", "file.moved"] as const) {
    events.on(name, (tx, { accountId, file }) => queue.noteArrival(tx, accountId, () => pathOfFile(file)));
  }
  // What was there already, or got a numbered name, came as well.
  events.on("upload.completed", (tx, { accountId, path }) => queue.noteArrival(tx, accountId, () => path));
  // What a device sends may end a conflict that it has.
  events.on("file.updated", (tx, event) => conflicts.onFileUpdated(tx, event));
  events.on("file.created", (tx, event) => conflicts.onFileCreated(tx, event));
  events.on("device.removed", (tx, { device }) => queue.dropDevice(tx, device.id));
  events.on("device.removed", (tx, { device }) => conflicts.dropDevice(tx, device.id));
  events.on("device.removed", (tx, { device }) => holds.dropDevice(tx, device.id));
  events.on("device.signing_in", (tx, { device }) => uploads.onSignIn(tx, device.id));
  events.on("device.removed", (tx, { device }) => uploads.cancelOfDevice(tx, device.id));
  // Who owns the files is told, in the inbox and by a push.
  events.on("upload.completed", (tx, event) => notifications.uploadCompleted(tx, event));
  events.on("upload.failed", (tx, event) => notifications.uploadFailed(tx, event));
  events.on("share.downloaded", (tx, event) => notifications.shareDownloaded(tx, event));
  events.on("share.guessed", (tx, event) => notifications.shareGuessed(tx, event));
  events.on("storage.grown", (tx, event) => storageMarks.storageGrown(tx, event));
  events.on("storage.warning", (tx, event) => notifications.storageWarning(tx, event));
  events.on("storage.damaged", (tx, event) => notifications.contentsDamaged(tx, event));
  events.on("server.damaged", (tx, event) => notifications.serverDamaged(tx, event));
  events.on("server.bucket_away", (tx, event) => notifications.bucketAway(tx, event));
  events.on("share.received", (tx, event) => notifications.shareReceived(tx, event));
  events.on("security.api_key_created", (tx, event) => notifications.apiKeyCreated(tx, event));
  events.on("device.registered", (tx, event) => notifications.deviceRegistered(tx, event));
  events.on("device.removed", (tx, event) => notifications.deviceRemoved(tx, event));
  events.on("settings.notifications_changed", (tx, event) => notifications.preferencesChanged(tx, event));
  events.on("security.token_reused", (tx, event) => notifications.tokenReused(tx, event));
  events.on("security.token_reused", (tx, event) => audit.tokenReused(tx, event));
  events.on("security.credentials_changed", (tx, event) => notifications.credentialsChanged(tx, event));
  events.on("security.mass_change", (tx, event) => notifications.massChange(tx, event));
  // The same by mail, where the server sends any.
  events.on("share.received", (tx, event) => mailNotices.shareReceived(tx, event));
  events.on("storage.warning", (tx, event) => mailNotices.storageWarning(tx, event));
  events.on("storage.damaged", (tx, event) => mailNotices.contentsDamaged(tx, event));
  events.on("server.damaged", (tx, event) => mailNotices.serverDamaged(tx, event));
  events.on("server.bucket_away", (tx, event) => mailNotices.bucketAway(tx, event));
  events.on("security.api_key_created", (tx, event) => mailNotices.apiKeyCreated(tx, event));
  events.on("security.credentials_changed", (tx, event) => mailNotices.credentialsChanged(tx, event));
  // A link for a new password is one for the credentials that were.
  events.on("security.credentials_changed", (tx, { accountId }) => passwordReset.forget(tx, accountId));
  events.on("user.email_unconfirmed", (tx, event) => subscribers.emailConfirmation.addressGiven(tx, event));
  // What was confirmed by the former password, or without the code that is asked from now on, is not confirmed any more.
  events.on("security.credentials_changed", (tx, { accountId, what }) => {
    if (what === "password" || what === "two_factor_on") auth.endConfirmations(tx, accountId);
  });
  // What was shared with an e-mail before there was an account for it, or before its account had confirmed it.
  events.on("user.email_confirmed", (tx, event) => subscribers.receivedShares.claim(tx, event));
  // Webhooks of the account.
  for (const name of ["file.created", "file.updated", "file.moved", "file.deleted", "file.downloaded"] as const) {
    events.on(name, (tx, event) => webhooks.file(tx, name, event));
  }
  for (const name of ["folder.created", "folder.deleted"] as const) {
    events.on(name, (tx, event) => webhooks.folder(tx, name, event));
  }
  for (const name of ["share.created", "share.revoked"] as const) {
    events.on(name, (tx, event) => webhooks.share(tx, name, event));
  }
  for (const name of ["device.registered", "device.removed"] as const) {
    events.on(name, (tx, event) => webhooks.device(tx, name, event));
  }
  events.on("share.downloaded", (tx, event) => webhooks.shareDownloaded(tx, event));
  events.on("storage.warning", (tx, event) => webhooks.storageWarning(tx, event));
  events.on("user.created", (tx, event) => webhooks.userCreated(tx, event));
}
