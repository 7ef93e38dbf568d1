/** Messages to the people who own the files: what their inbox holds, and which of their devices are told at once. */
import type { Db } from "../../../db/open.ts";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError, invalidField } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newId } from "../../../lib/id.ts";
import type { DeviceRef, Principal } from "../../accounts/auth/principal.ts";
import { normalizeDeviceId } from "../../../lib/device-id.ts";
import type { NotificationChange } from "../../accounts/users/settings.ts";
import type { UserService } from "../../accounts/users/service.ts";
import type { PushCategory, PushChannel } from "./channels/channel.ts";
import { looksLikeUrl } from "./channels/url.ts";
import { type Outbox, readData } from "./outbox.ts";
import { mergePreferences, preferencesInForce, type Wish, wishOf } from "./preferences.ts";
import { type DeviceRow, inboxQueries, type NotificationRow, targetQueries } from "./queries.ts";
import { canonicalToken, laneOf } from "./token.ts";
import type { Delivery, Draft, InboxItem, PushChannelSet, Registration, Sent } from "./types.ts";

/** What {@link NotificationService} works with. */
export interface NotificationServiceOptions {
  readonly db: Db;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly users: Pick<UserService, "settingsJson">;
  readonly channels: PushChannelSet;
  readonly outbox: Outbox;
  /** Called after each commit that may have put something into the outbox. */
  readonly onQueued: () => void;
}

/** What a device registers; what is absent stays. */
export interface RegistrationChange {
  /** As the API names the device. */
  readonly deviceId: string;
  readonly pushToken?: string | undefined;
  readonly platform?: string | undefined;
  readonly preferences?: NotificationChange | undefined;
}

/** A message that a user sends to their own devices. */
export interface OwnPush {
  readonly title: string;
  readonly body: string;
  /** `uploads` where none is given. */
  readonly category?: PushCategory | undefined;
  /** As the API names the device; all devices where none is given. */
  readonly deviceId?: string | undefined;
  readonly data?: Readonly<Record<string, string>> | undefined;
}

/** A page of the inbox as a device sees it. */
export interface InboxPage {
  readonly items: readonly InboxItem[];
  readonly total: number;
  readonly unread: number;
}

/** A push may be this large: title, body and data together in UTF-8: push services take 4 KiB with all that is around it. */
const PUSH_BYTES_MAX = 3 * 1024;

/** An inbox holds no more; the oldest go first. */
const INBOX_MAX = 1_000;
const INBOX_AGE_MS = 90 * 24 * 60 * 60_000;
/** How long it can be looked up in the database what became of a push. */
const DELIVERY_AGE_MS = 7 * 24 * 60 * 60_000;

/** The inbox, the devices' registrations, and the making of messages. */
export class NotificationService {
  readonly #options: NotificationServiceOptions;
  readonly #inbox: ReturnType<typeof inboxQueries>;
  readonly #targets: ReturnType<typeof targetQueries>;

  constructor(options: NotificationServiceOptions) {
    this.#options = options;
    this.#inbox = inboxQueries(options.db.sqlite);
    this.#targets = targetQueries(options.db.sqlite);
  }

  /** What an app needs to know before it registers. */
  get config(): { vapidPublicKey: string; providers: readonly string[] } {
    const { vapidPublicKey, providers } = this.#options.channels;
    return { vapidPublicKey, providers };
  }

  /**
   * Registers push token and preferences of one of the account's devices; durable on return.
   * @throws AppError not_found | invalid_field | forbidden_target
   */
  async register(principal: Principal, change: RegistrationChange): Promise<Registration> {
    const accountId = principal.user.id;
    const before = this.#getDevice(accountId, change.deviceId);
    const { pushToken, preferences } = change;
    const platform = change.platform ?? before.platform ?? before.devicePlatform;
    if (pushToken !== undefined) await this.checkPushToken(pushToken, "pushToken");
    return this.#options.writer.run((tx) => {
      // The device may have been removed while its token was looked at.
      const device = this.#getDevice(accountId, change.deviceId);
      if (pushToken !== undefined) this.registerPushToken(tx, accountId, device, pushToken, platform);
      else if (change.platform !== undefined) this.#targets.setPlatform.run(device.id, platform);
      if (preferences !== undefined) this.#mergePreferences(tx, device, preferences);
      return this.#registrationOf(accountId, change.deviceId);
    });
  }

  /**
   * Rejects a push token that can never be delivered to. To be called before {@link registerPushToken}, outside the deed.
   * @param field where in the request the token stands
   * @throws AppError invalid_field | forbidden_target
   */
  checkPushToken(token: string, field: string): Promise<void> {
    return this.#options.channels.checkToken(token, field);
  }

  /**
   * Gives a checked push token to a device, in the transaction that registers it. A device that had it before loses it, but
   * for plain URLs of other accounts: somebody who knows or guesses one must not silence its owner by it.
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
    for (const { deviceId, accountId: holder } of this.#targets.ownersOf.all(token, device.id)) {
      if (isShared && holder !== accountId) continue;
      this.#targets.dropToken.run(deviceId);
      // Another person may hold the phone by now: nothing of the former one's goes there.
      outbox.dropAll(deviceId, "the push token now belongs to another device", nowMs);
    }
    this.#targets.setToken.run(device.id, token, platform, laneOf(token, platform));
    outbox.reschedule(device.id);
    tx.afterCommit(this.#options.onQueued);
  }

  /** Nothing more is sent to a removed device; its preferences go too. Within the deed that removes it. */
  forgetDevice(_tx: Transaction, deviceId: number): void {
    const { outbox, clock } = this.#options;
    outbox.dropAll(deviceId, "the device was removed", clock.nowMs());
    this.#targets.remove.run(deviceId);
  }

  /** Lets what is held at devices without preferences of their own be looked at anew, within the caller's deed. */
  releaseFollowers(tx: Transaction, accountId: number): void {
    const { outbox, clock, onQueued } = this.#options;
    const nowMs = clock.nowMs();
    for (const { id, preferences } of this.#targets.ofAccount.all(accountId, nowMs)) {
      if (preferences === null) outbox.release(id, nowMs);
    }
    tx.afterCommit(onQueued);
  }

  /** A page of what the device finds in its inbox, newest first. */
  list(principal: Principal, device: DeviceRef, page: number, limit: number): InboxPage {
    const { id: accountId } = principal.user;
    return {
      items: this.#inbox.page.all(accountId, device.id, limit, (page - 1) * limit).map(toInboxItem),
      total: this.#inbox.count.get(accountId, device.id)?.count ?? 0,
      unread: this.#unread(accountId, device.id),
    };
  }

  /**
   * Marks messages as read, for all devices of the account; unknown ids and those read already count for nothing.
   * @param ids which, or `all` that this device finds in its inbox
   */
  async markRead(
    principal: Principal,
    device: DeviceRef,
    ids: readonly string[] | "all",
  ): Promise<{ read: number; unread: number }> {
    const { writer, clock } = this.#options;
    const { id: accountId } = principal.user;
    return writer.run(() => {
      const nowMs = clock.nowMs();
      let read = 0;
      if (ids === "all") read = this.#inbox.readAll.run(accountId, device.id, nowMs).changes;
      else for (const id of ids) read += this.#inbox.readOne.run(accountId, device.id, nowMs, id).changes;
      return { read, unread: this.#unread(accountId, device.id) };
    });
  }

  /**
   * Sends a message to the user's own devices; durable on return, and no push service is waited for.
   * @throws AppError not_found | invalid_field
   */
  async push(principal: Principal, push: OwnPush): Promise<Sent> {
    const { writer } = this.#options;
    const { category = "uploads", data = {} } = push;
    const draft = { category, title: push.title, body: push.body, data };
    checkDraft(draft);
    return writer.run((tx) => {
      const { deviceId } = push;
      const only = deviceId === undefined ? undefined : this.#getDevice(principal.user.id, deviceId).id;
      return this.notify(tx, principal.user.id, { ...draft, onlyDeviceId: only });
    });
  }

  /**
   * Makes a message within a deed: a row in the inbox, and one in the outbox for each device that is to be told. What has
   * just been put there is sent after the commit.
   */
  notify(tx: Transaction, accountId: number, draft: Draft): Sent {
    const { clock } = this.#options;
    const nowMs = clock.nowMs();
    const publicId = newId("ntf", nowMs);
    const { id = 0 } =
      this.#inbox.insert.get(
        accountId,
        publicId,
        draft.category,
        draft.title,
        draft.body,
        JSON.stringify(draft.data),
        draft.collapseKey ?? null,
        draft.onlyDeviceId ?? null,
        draft.exceptDeviceId ?? null,
        nowMs,
      ) ?? {};
    this.#inbox.dropBeyond.run(accountId, INBOX_MAX);
    const deliveries = this.#addresseesOf(accountId, draft, nowMs).map((device) =>
      this.#send(tx, accountId, device, draft, id, nowMs, nowMs),
    );
    return { id, publicId, deliveries };
  }

  /**
   * Lets a message say something new, and be unread again; pushed once more at `dueAtMs` to the devices that don't wait
   * for it anyway, or not at all where that is undefined.
   */
  renew(tx: Transaction, accountId: number, id: number, draft: Draft, dueAtMs: number | undefined): void {
    const { clock, outbox } = this.#options;
    const nowMs = clock.nowMs();
    this.#inbox.renew.run(id, draft.title, draft.body, JSON.stringify(draft.data), nowMs);
    if (dueAtMs === undefined) return;
    for (const device of this.#addresseesOf(accountId, draft, nowMs)) {
      if (outbox.isAnnounced(device.id, id, nowMs)) continue;
      this.#send(tx, accountId, device, draft, id, nowMs, dueAtMs);
    }
  }

  /** A device as messages speak of it. */
  findDevice(deviceId: number): { publicId: string; name: string } | undefined {
    return this.#targets.device.get(deviceId) ?? undefined;
  }

  /** Removes messages older than 90 days, and the records of pushes older than a week. @returns how many rows */
  async sweep(limit: number): Promise<number> {
    const { writer, clock, outbox } = this.#options;
    return writer.run(() => {
      const nowMs = clock.nowMs();
      const messages = this.#inbox.sweep.run(nowMs - INBOX_AGE_MS, limit).changes;
      return messages + outbox.sweep(nowMs - DELIVERY_AGE_MS, limit);
    });
  }

  #addresseesOf(accountId: number, draft: Draft, nowMs: number): DeviceRow[] {
    const { onlyDeviceId, exceptDeviceId, unpushedDeviceId } = draft;
    return this.#targets.ofAccount
      .all(accountId, nowMs)
      .filter(
        ({ id }) =>
          (onlyDeviceId === undefined || id === onlyDeviceId) && id !== exceptDeviceId && id !== unpushedDeviceId,
      );
  }

  /** Decides what becomes of a message at a device, and puts it into the outbox where it is to be sent. */
  #send(
    tx: Transaction,
    accountId: number,
    device: DeviceRow,
    { category, collapseKey }: Draft,
    notificationId: number,
    nowMs: number,
    dueAtMs: number,
  ): Delivery {
    const { users, outbox, onQueued } = this.#options;
    const preferences = preferencesInForce(device.preferences, users.settingsJson(accountId));
    const wish = wishOf(preferences, category, nowMs);
    const provider = this.#channelOf(device)?.name ?? null;
    const isReachable = provider !== null && (device.isSignedIn !== 0 || category === "security");
    if (isReachable && wish.is !== "muted") {
      const isHeld = wish.is === "held";
      const heldUntilMs = isHeld ? wish.untilMs : 0;
      const delivery = { notificationId, deviceId: device.id, isHeld, collapseKey };
      outbox.add({ ...delivery, dueAtMs: Math.max(dueAtMs, heldUntilMs) }, nowMs);
      tx.afterCommit(onQueued);
    }
    return describeDelivery(device, wish, isReachable ? provider : null);
  }

  #channelOf({ token, platform, devicePlatform }: DeviceRow): PushChannel | undefined {
    return token === null ? undefined : this.#options.channels.pick({ token, platform: platform ?? devicePlatform });
  }

  #mergePreferences(tx: Transaction, device: DeviceRow, change: NotificationChange): void {
    const { outbox, clock, onQueued } = this.#options;
    this.#targets.setPreferences.run(device.id, mergePreferences(device.preferences, change));
    outbox.release(device.id, clock.nowMs());
    tx.afterCommit(onQueued);
  }

  #registrationOf(accountId: number, deviceId: string): Registration {
    const device = this.#getDevice(accountId, deviceId);
    return {
      deviceId: device.publicId,
      platform: device.platform ?? device.devicePlatform,
      provider: this.#channelOf(device)?.name ?? null,
      preferences: preferencesInForce(device.preferences, this.#options.users.settingsJson(accountId)),
    };
  }

  #getDevice(accountId: number, publicId: string): DeviceRow {
    const nowMs = this.#options.clock.nowMs();
    const device = this.#targets.byPublicId.get(accountId, nowMs, normalizeDeviceId(publicId));
    if (device === null)
      throw new AppError("not_found", "This device was not found. List your devices to check the ID.");
    return device;
  }

  #unread(accountId: number, deviceId: number): number {
    return this.#inbox.unread.get(accountId, deviceId)?.count ?? 0;
  }
}

function describeDelivery(device: DeviceRow, wish: Wish, provider: PushChannel["name"] | null): Delivery {
  const deviceId = device.publicId;
  if (wish.is === "muted") return { deviceId, status: "muted", provider, deliverAtMs: null };
  if (provider === null) return { deviceId, status: "inbox_only", provider, deliverAtMs: null };
  if (wish.is === "held") return { deviceId, status: "held", provider, deliverAtMs: wish.untilMs };
  return { deviceId, status: "queued", provider, deliverAtMs: null };
}

function checkDraft({ title, body, data }: Pick<Draft, "title" | "body" | "data">): void {
  for (const [field, text] of Object.entries({ title, body })) {
    if (text.trim() === "") throw invalidField(field, `${field} must not be empty.`);
  }
  const sizeBytes = Buffer.byteLength(title) + Buffer.byteLength(body) + Buffer.byteLength(JSON.stringify(data));
  if (sizeBytes > PUSH_BYTES_MAX) {
    throw invalidField(
      "body",
      `Title, body and data can have at most ${PUSH_BYTES_MAX} bytes ` +
        `in total, but have ${sizeBytes}. Send a shorter message.`,
      { limit: PUSH_BYTES_MAX, actual: sizeBytes },
    );
  }
}

function toInboxItem(row: NotificationRow): InboxItem {
  const { publicId, category, title, body, createdAt, readAt } = row;
  return { publicId, category, title, body, data: readData(row.data), createdAtMs: createdAt, readAtMs: readAt };
}
