/** Notifications to users: their inbox, the push registrations of their devices, and the creation of messages. */
import type { Db } from "../../../db/open.ts";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError, invalidField } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newId } from "../../../lib/id.ts";
import type { DeviceRef, Principal } from "../../accounts/auth/principal.ts";
import { normalizeDeviceId } from "../../../lib/device-id.ts";
import { invariant } from "../../../lib/invariant.ts";
import { say } from "../../../translations/say.ts";
import type { NotificationChange } from "../../accounts/users/settings.ts";
import type { UserService } from "../../accounts/users/service.ts";
import type { PushCategory, PushChannel } from "./channels/channel.ts";
import { looksLikeUrl } from "./channels/url.ts";
import { type Outbox, readData } from "./outbox.ts";
import { decidePush, mergePreferences, preferencesInForce } from "./preferences.ts";
import { type DeviceRow, inboxQueries, type NotificationRow, targetQueries } from "./queries.ts";
import { canonicalToken, concurrencyGroupOf } from "./token.ts";
import type { Delivery, InboxItem, NewMessage, PushChannelSet, Registration, SentMessage } from "./types.ts";

/** Dependencies of {@link NotificationService}. */
interface NotificationServiceOptions {
  readonly db: Db;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly users: Pick<UserService, "settingsJson">;
  readonly channels: PushChannelSet;
  readonly outbox: Outbox;
  /** Called after each commit that may have added a message to the outbox. */
  readonly onQueued: () => void;
}

/** A change of a device's registration; absent fields stay unchanged. */
interface RegistrationChange {
  /** Public id of the device. */
  readonly deviceId: string;
  readonly pushToken?: string | undefined;
  readonly platform?: string | undefined;
  readonly preferences?: NotificationChange | undefined;
}

/** A message that a user sends to their own devices. */
interface OwnPush {
  readonly title: string;
  readonly body: string;
  /** Default: `uploads`. */
  readonly category?: PushCategory | undefined;
  /** Public id of the device. Default: all devices. */
  readonly deviceId?: string | undefined;
  readonly data?: Readonly<Record<string, string>> | undefined;
}

/** A page of a device's inbox. */
interface InboxPage {
  readonly items: readonly InboxItem[];
  readonly total: number;
  readonly unread: number;
}

/** One message for one device, to be added to the outbox. */
interface PendingPush {
  readonly accountId: number;
  readonly message: NewMessage;
  /** Row id of the message. */
  readonly notificationId: number;
  readonly nowMs: number;
  readonly dueAtMs: number;
}

/** Title, body and data of a push together, in UTF-8. Push services accept 4 KiB, including everything we add. */
const PUSH_BYTES_MAX = 3 * 1024;

/** The most messages in an inbox; the oldest are deleted first. */
const INBOX_MAX = 1_000;
const INBOX_AGE_MS = 90 * 24 * 60 * 60_000;
/** How long the database retains the results of pushes. */
const DELIVERY_AGE_MS = 7 * 24 * 60 * 60_000;

/** The inbox, the devices' registrations, and the creation of messages. */
export class NotificationService {
  readonly #options: NotificationServiceOptions;
  readonly #inbox: ReturnType<typeof inboxQueries>;
  readonly #targets: ReturnType<typeof targetQueries>;

  constructor(options: NotificationServiceOptions) {
    this.#options = options;
    this.#inbox = inboxQueries(options.db.sqlite);
    this.#targets = targetQueries(options.db.sqlite);
  }

  /** The push configuration that an app needs before it registers. */
  get config(): { vapidPublicKey: string; providers: readonly string[] } {
    const { vapidPublicKey, providers } = this.#options.channels;
    return { vapidPublicKey, providers };
  }

  /**
   * Registers the push token and the preferences of one of the account's devices; durable on return.
   * @throws AppError not_found | invalid_field | forbidden_target
   */
  async register(principal: Principal, change: RegistrationChange): Promise<Registration> {
    const accountId = principal.user.id;
    const before = this.#getDevice(accountId, change.deviceId);
    const { pushToken, preferences } = change;
    const platform = change.platform ?? before.platform ?? before.devicePlatform;
    if (pushToken !== undefined) await this.checkPushToken(pushToken, "pushToken");
    return this.#options.writer.run((tx) => {
      // The device may have been removed while its token was checked.
      const device = this.#getDevice(accountId, change.deviceId);
      if (pushToken !== undefined) this.registerPushToken(tx, accountId, device, pushToken, platform);
      else if (change.platform !== undefined) this.#targets.setPlatform.run(device.id, platform);
      if (preferences !== undefined) this.mergePreferences(tx, device, preferences);
      return this.#readRegistration(accountId, change.deviceId);
    });
  }

  /**
   * Rejects a push token that can never work. Must be called before {@link registerPushToken}, outside the transaction.
   * @param field the field of the request that contains the token
   * @throws AppError invalid_field | forbidden_target
   */
  checkPushToken(token: string, field: string): Promise<void> {
    return this.#options.channels.checkToken(token, field);
  }

  /**
   * Assigns a checked push token to a device, in the transaction that registers it. Another device that had the token
   * loses it. A plain URL stays with devices of other accounts too: a user who guesses it must not silence its owner.
   */
  registerPushToken(
    tx: Transaction,
    accountId: number,
    device: Pick<DeviceRef, "id">,
    givenToken: string,
    platform: string,
  ): void {
    const { outbox, clock } = this.#options;
    const nowMs = clock.nowMs();
    const token = canonicalToken(givenToken);
    const isShared = looksLikeUrl(token);
    for (const { deviceId, accountId: ownerId } of this.#targets.ownersOf.all(token, device.id)) {
      if (isShared && ownerId !== accountId) continue;
      this.#targets.dropToken.run(deviceId);
      // The phone may have a new owner, who must not get the messages of the former one.
      outbox.dropAll(deviceId, "the push token now belongs to another device", nowMs);
    }
    this.#targets.setToken.run(device.id, token, platform, concurrencyGroupOf(token, platform));
    outbox.reschedule(device.id);
    tx.afterCommit(this.#options.onQueued);
  }

  /** Changes the preferences of a device, in the caller's transaction. @throws AppError invalid_field */
  mergePreferences(tx: Transaction, device: Pick<DeviceRef, "id">, change: NotificationChange): void {
    const { outbox, clock, onQueued } = this.#options;
    const before = this.#targets.preferences.get(device.id)?.preferences ?? null;
    this.#targets.setPreferences.run(device.id, mergePreferences(before, change));
    outbox.release(device.id, clock.nowMs());
    tx.afterCommit(onQueued);
  }

  /** Deletes the registration and the queued messages of a device, in the transaction that removes the device. */
  forgetDevice(_tx: Transaction, deviceId: number): void {
    const { outbox, clock } = this.#options;
    outbox.dropAll(deviceId, "the device was removed", clock.nowMs());
    this.#targets.remove.run(deviceId);
  }

  /** Makes deferred messages due at the devices that use the user's settings, in the caller's transaction. */
  releaseFollowers(tx: Transaction, accountId: number): void {
    const { outbox, clock, onQueued } = this.#options;
    const nowMs = clock.nowMs();
    for (const { id, preferences } of this.#targets.ofAccount.all(accountId, nowMs)) {
      if (preferences === null) outbox.release(id, nowMs);
    }
    tx.afterCommit(onQueued);
  }

  /** A page of the device's inbox, newest first. */
  list(principal: Principal, device: Pick<DeviceRef, "id">, page: number, limit: number): InboxPage {
    const { id: accountId } = principal.user;
    return {
      items: this.#inbox.page.all(accountId, device.id, limit, (page - 1) * limit).map(toInboxItem),
      total: this.#inbox.count.get(accountId, device.id)?.count ?? 0,
      unread: this.#unread(accountId, device.id),
    };
  }

  /**
   * Marks messages as read, for all devices of the account. Ignores unknown ids and messages that are already read.
   * @param ids public ids, or `all` for everything in this device's inbox
   */
  async markRead(
    principal: Principal,
    device: Pick<DeviceRef, "id">,
    ids: readonly string[] | "all",
  ): Promise<{ read: number; unread: number }> {
    const { writer, clock } = this.#options;
    const { id: accountId } = principal.user;
    return writer.run(() => {
      const nowMs = clock.nowMs();
      let read = 0;
      if (ids === "all") read = this.#inbox.markAllRead.run(accountId, device.id, nowMs).changes;
      else for (const id of ids) read += this.#inbox.markRead.run(accountId, device.id, nowMs, id).changes;
      return { read, unread: this.#unread(accountId, device.id) };
    });
  }

  /**
   * Sends a message to the user's own devices. Durable on return; does not wait for a push service.
   * @throws AppError not_found | invalid_field
   */
  async push(principal: Principal, push: OwnPush): Promise<SentMessage> {
    const { writer } = this.#options;
    const { title, body, category = "uploads", data = {}, deviceId } = push;
    checkMessage({ title, body, data });
    return writer.run((tx) => {
      const onlyDeviceId = deviceId === undefined ? undefined : this.#getDevice(principal.user.id, deviceId).id;
      return this.notify(tx, principal.user.id, { category, title, body, data, onlyDeviceId });
    });
  }

  /**
   * Creates a message in the caller's transaction: one row in the inbox, and one in the outbox for each device that
   * gets a push. The dispatcher sends them after the commit.
   */
  notify(tx: Transaction, accountId: number, message: NewMessage): SentMessage {
    const { clock } = this.#options;
    const nowMs = clock.nowMs();
    const publicId = newId("ntf", nowMs);
    const { id = 0 } =
      this.#inbox.insert.get(
        accountId,
        publicId,
        message.category,
        message.title,
        message.body,
        JSON.stringify(message.data),
        message.collapseKey ?? null,
        message.onlyDeviceId ?? null,
        message.exceptDeviceId ?? null,
        nowMs,
      ) ?? {};
    this.#inbox.deleteOldest.run(accountId, INBOX_MAX);
    const push: PendingPush = { accountId, message, notificationId: id, nowMs, dueAtMs: nowMs };
    const deliveries = this.#findRecipients(accountId, message, nowMs).map((device) => this.#queue(tx, device, push));
    return { id, publicId, deliveries };
  }

  /**
   * Replaces the text of a message and marks it as unread. Pushes it again at `dueAtMs` to the devices without a queued
   * push of it; to none if `dueAtMs` is undefined.
   */
  renew(tx: Transaction, accountId: number, id: number, message: NewMessage, dueAtMs: number | undefined): void {
    const { clock, outbox } = this.#options;
    const nowMs = clock.nowMs();
    this.#inbox.renew.run(id, message.title, message.body, JSON.stringify(message.data), nowMs);
    if (dueAtMs === undefined) return;
    for (const device of this.#findRecipients(accountId, message, nowMs)) {
      if (outbox.isQueued(device.id, id, nowMs)) continue;
      this.#queue(tx, device, { accountId, message, notificationId: id, nowMs, dueAtMs });
    }
  }

  /** The name and public id of a device. Also of removed devices; their uploads were canceled at removal. */
  getDevice(deviceId: number): { publicId: string; name: string } {
    const device = this.#targets.device.get(deviceId);
    invariant(device !== null, "a device that uploads is in the database");
    return device;
  }

  /** Deletes messages older than 90 days, and results of pushes older than a week. @returns the number of rows */
  async sweep(limit: number): Promise<number> {
    const { writer, clock, outbox } = this.#options;
    return writer.run(() => {
      const nowMs = clock.nowMs();
      const messages = this.#inbox.sweep.run(nowMs - INBOX_AGE_MS, limit).changes;
      return messages + outbox.sweep(nowMs - DELIVERY_AGE_MS, limit);
    });
  }

  /** The devices that get a push of a message. */
  #findRecipients(accountId: number, message: NewMessage, nowMs: number): DeviceRow[] {
    const { onlyDeviceId, exceptDeviceId, unpushedDeviceId } = message;
    return this.#targets.ofAccount
      .all(accountId, nowMs)
      .filter(
        ({ id }) =>
          (onlyDeviceId === undefined || id === onlyDeviceId) && id !== exceptDeviceId && id !== unpushedDeviceId,
      );
  }

  /** Adds a message for a device to the outbox, unless the device can't be reached or turned off the category. */
  #queue(tx: Transaction, device: DeviceRow, push: PendingPush): Delivery {
    const { users, outbox, onQueued } = this.#options;
    const { accountId, notificationId, nowMs } = push;
    const { category, collapseKey } = push.message;
    const decision = decidePush(preferencesInForce(device.preferences, users.settingsJson(accountId)), category, nowMs);
    const channel = this.#pickChannel(device)?.name ?? null;
    // A signed-out browser may have another user by now, so not even warnings go there.
    const isReachable = device.isSignedIn !== 0 || (category === "security" && device.isBrowser === 0);
    const provider = isReachable ? channel : null;
    const { publicId: deviceId } = device;
    if (decision.action === "mute") return { deviceId, status: "muted", provider, deliverAtMs: null };
    if (provider === null) return { deviceId, status: "inbox_only", provider, deliverAtMs: null };
    const deliverAtMs = decision.action === "defer" ? decision.untilMs : null;
    const isDeferred = deliverAtMs !== null;
    const dueAtMs = Math.max(push.dueAtMs, deliverAtMs ?? 0);
    outbox.add({ notificationId, deviceId: device.id, isDeferred, collapseKey, dueAtMs }, nowMs);
    tx.afterCommit(onQueued);
    return { deviceId, status: isDeferred ? "held" : "queued", provider, deliverAtMs };
  }

  #pickChannel({ token, platform, devicePlatform }: DeviceRow): PushChannel | undefined {
    return token === null ? undefined : this.#options.channels.pick({ token, platform: platform ?? devicePlatform });
  }

  #readRegistration(accountId: number, deviceId: string): Registration {
    const device = this.#getDevice(accountId, deviceId);
    return {
      deviceId: device.publicId,
      platform: device.platform ?? device.devicePlatform,
      provider: this.#pickChannel(device)?.name ?? null,
      preferences: preferencesInForce(device.preferences, this.#options.users.settingsJson(accountId)),
    };
  }

  #getDevice(accountId: number, publicId: string): DeviceRow {
    const nowMs = this.#options.clock.nowMs();
    const device = this.#targets.byPublicId.get(accountId, nowMs, normalizeDeviceId(publicId));
    if (device === null)
      throw new AppError("not_found", say`This device was not found. List your devices to check the ID.`);
    return device;
  }

  #unread(accountId: number, deviceId: number): number {
    return this.#inbox.unread.get(accountId, deviceId)?.count ?? 0;
  }
}

function checkMessage({ title, body, data }: Pick<NewMessage, "title" | "body" | "data">): void {
  for (const [field, text] of Object.entries({ title, body })) {
    if (text.trim() === "") throw invalidField(field, say`${field} must not be empty.`);
  }
  const sizeBytes = Buffer.byteLength(title) + Buffer.byteLength(body) + Buffer.byteLength(JSON.stringify(data));
  if (sizeBytes > PUSH_BYTES_MAX) {
    throw invalidField(
      "body",
      say`Title, body and data can have at most ${PUSH_BYTES_MAX} bytes in total, but have ${sizeBytes}. Send a shorter message.`,
      { limit: PUSH_BYTES_MAX, actual: sizeBytes },
    );
  }
}

function toInboxItem(row: NotificationRow): InboxItem {
  const { publicId, category, title, body, createdAt, readAt } = row;
  return { publicId, category, title, body, data: readData(row.data), createdAtMs: createdAt, readAtMs: readAt };
}
