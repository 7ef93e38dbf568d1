/** Subscribes features to events. Listeners run in the order given here, in the transaction that emits. */
import type { LoginFlowService } from "../../features/clients/login-flow/service.ts";
import type { TextIndexer } from "../../features/library/text-index/indexer.ts";
import type { TextSearch } from "../../features/library/text-index/text-search.ts";
import type { PhotoBackfill } from "../../features/library/photos/backfill.ts";
import type { Events } from "../../events/events.ts";
import type { SettingsService } from "../../features/administration/settings/service.ts";
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

/** The services that listen to events. */
interface Subscribers {
  readonly events: Events;
  readonly auditTriggers: AuditTriggers;
  readonly mailNotices: MailNotices;
  readonly passwordReset: PasswordReset;
  readonly emailConfirmation: EmailConfirmation;
  readonly auth: Pick<AuthService, "endConfirmations" | "dropCaches">;
  readonly settings: Pick<SettingsService, "onChange">;
  readonly notificationTriggers: NotificationTriggers;
  readonly conflicts: ConflictService;
  readonly holds: HoldService;
  readonly queue: QueueService;
  readonly photoBackfill: Pick<PhotoBackfill, "wakeSoon">;
  readonly textIndexer: Pick<TextIndexer, "wakeSoon" | "applySettings">;
  readonly texts: Pick<TextSearch, "dropState">;
  readonly uploads: UploadService;
  readonly receivedShares: ReceivedShareService;
  readonly loginFlows: LoginFlowService;
  readonly storageMarks: StorageMarks;
  readonly webhookRecorder: WebhookRecorder;
}

/** Subscribes each feature to its events; once per server, before the first request. */
export function subscribe(subscribers: Subscribers): void {
  subscribeMobile(subscribers);
  subscribeNotifications(subscribers);
  subscribeMail(subscribers);
  subscribeAccounts(subscribers);
  subscribeWebhooks(subscribers);
  subscribePhotos(subscribers);
  subscribeTexts(subscribers);
  // Cached accounts know whether their email must be confirmed, which a setting decides.
  subscribers.settings.onChange(() => subscribers.auth.dropCaches());
}

/** Photos: a file that changed may be half of a Live Photo. */
function subscribePhotos({ events, photoBackfill }: Subscribers): void {
  for (const name of ["file.created", "file.updated", "file.moved", "file.deleted", "folder.created"] as const) {
    events.on(name, (tx) => tx.afterCommit(() => photoBackfill.wakeSoon()));
  }
}

/** The text index: it follows files, and ends when an administrator switches it off. */
function subscribeTexts({ events, settings, textIndexer, texts }: Subscribers): void {
  for (const name of ["file.created", "file.updated", "file.deleted", "folder.created", "folder.deleted"] as const) {
    events.on(name, (tx) => tx.afterCommit(() => textIndexer.wakeSoon()));
  }
  settings.onChange(() => {
    textIndexer.applySettings();
    texts.dropState();
  });
}

/** Devices: their queues, conflicts, holds, and uploads. */
function subscribeMobile({ events, queue, conflicts, holds, uploads }: Subscribers): void {
  // Operations of an offline queue may wait for a file at a path, however the file gets there.
  for (const name of ["file.created", "file.updated", "file.moved"] as const) {
    events.on(name, (tx, { accountId, file }) => queue.onFileStored(tx, accountId, () => pathOfFile(file)));
  }
  // An upload of a file that exists already, or that got a numbered name, counts as well.
  events.on("upload.completed", (tx, { accountId, path }) => queue.onFileStored(tx, accountId, () => path));
  // An upload of a device may resolve a conflict of that device.
  events.on("file.updated", (tx, event) => conflicts.onFileUpdated(tx, event));
  events.on("file.created", (tx, event) => conflicts.onFileCreated(tx, event));
  events.on("device.removed", (tx, { device }) => queue.dropDevice(tx, device.id));
  events.on("device.removed", (tx, { device }) => conflicts.dropDevice(tx, device.id));
  events.on("device.removed", (tx, { device }) => holds.dropDevice(tx, device.id));
  events.on("app_password.ended", (tx, { deviceId }) => holds.dropDevice(tx, deviceId));
  events.on("device.signing_in", (tx, { device }) => uploads.onSignIn(tx, device.id));
  events.on("device.removed", (tx, { device }) => uploads.cancelOfDevice(tx, device.id));
}

/** Notifications to the owner of an account: in the list of notifications, and by push. */
function subscribeNotifications(subscribers: Subscribers): void {
  const { events, storageMarks, auditTriggers: audit, notificationTriggers: notifications } = subscribers;
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
  events.on("security.app_password_created", (tx, event) => notifications.appPasswordCreated(tx, event));
  events.on("device.registered", (tx, event) => notifications.deviceRegistered(tx, event));
  events.on("device.removed", (tx, event) => notifications.deviceRemoved(tx, event));
  events.on("settings.notifications_changed", (tx, event) => notifications.preferencesChanged(tx, event));
  events.on("security.token_reused", (tx, event) => notifications.tokenReused(tx, event));
  events.on("security.token_reused", (tx, event) => audit.tokenReused(tx, event));
  events.on("security.credentials_changed", (tx, event) => notifications.credentialsChanged(tx, event));
  events.on("security.mass_change", (tx, event) => notifications.massChange(tx, event));
}

/** Notifications by email, if the server sends email. */
function subscribeMail({ events, mailNotices }: Subscribers): void {
  events.on("share.received", (tx, event) => mailNotices.shareReceived(tx, event));
  events.on("storage.warning", (tx, event) => mailNotices.storageWarning(tx, event));
  events.on("storage.damaged", (tx, event) => mailNotices.contentsDamaged(tx, event));
  events.on("server.damaged", (tx, event) => mailNotices.serverDamaged(tx, event));
  events.on("server.bucket_away", (tx, event) => mailNotices.bucketAway(tx, event));
  events.on("security.api_key_created", (tx, event) => mailNotices.apiKeyCreated(tx, event));
  events.on("security.app_password_created", (tx, event) => mailNotices.appPasswordCreated(tx, event));
  events.on("security.credentials_changed", (tx, event) => mailNotices.credentialsChanged(tx, event));
}

/** Confirmations, reset links, and shares that depend on an account's credentials or email address. */
function subscribeAccounts(subscribers: Subscribers): void {
  const { events, auth, passwordReset, emailConfirmation, receivedShares, loginFlows } = subscribers;
  // A reset link is valid only for the credentials at the time it was sent.
  events.on("security.credentials_changed", (tx, { accountId }) => passwordReset.forget(tx, accountId));
  // Nor does a program get an app password that somebody agreed to with other credentials.
  events.on("security.credentials_changed", (tx, { accountId }) => loginFlows.endOf(tx, accountId));
  events.on("user.email_unconfirmed", (tx, event) => emailConfirmation.sendFirstLink(tx, event));
  // A confirmation by the former password, or without the second factor that is required now, is no longer valid.
  events.on("security.credentials_changed", (tx, { accountId, what }) => {
    if (what === "password" || what === "two_factor_on") auth.endConfirmations(tx, accountId);
  });
  // Shares with an email address wait until an account confirms that address.
  events.on("user.email_confirmed", (tx, event) => receivedShares.claim(tx, event));
}

/** Webhooks of the account. */
function subscribeWebhooks({ events, webhookRecorder: webhooks }: Subscribers): void {
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
