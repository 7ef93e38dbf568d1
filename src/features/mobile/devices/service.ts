import type { Db } from "../../../db/open.ts";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError, invalidField } from "../../../errors.ts";
import type { Events } from "../../../events/events.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { ClientInfo, DeviceRef } from "../../accounts/auth/principal.ts";
import type { AuthService, CheckedUser } from "../../accounts/auth/service.ts";
import type { Plans } from "../../accounts/plans/plans.ts";
import type { UserService } from "../../accounts/users/service.ts";
import type { User } from "../../accounts/users/types.ts";
import { normalizeDeviceId } from "../../../lib/device-id.ts";
import { say } from "../../../translations/say.ts";
import { DeviceQueries, toDevice } from "./queries.ts";
import {
  changeDeviceSettings,
  type DeviceSettings,
  type DeviceSettingsChange,
  readDeviceSettings,
} from "./settings.ts";
import { SyncTimes } from "./sync-times.ts";
import type { Device, DeviceInfo, DeviceName, SignedInDevice } from "./types.ts";

/** The addresses for push messages, managed by the notifications. */
interface PushTokens {
  /**
   * Checks whether messages can be sent to this token. Call it before the transaction: it may resolve host names.
   * @param field the request field with the token
   * @throws AppError invalid_field | forbidden_target
   */
  checkPushToken(token: string, field: string): Promise<void>;
  /** Assigns the token to the device. Call it inside the transaction of the registration. */
  registerPushToken(tx: Transaction, accountId: number, device: DeviceRef, token: string, platform: string): void;
}

/** Options of {@link DeviceService}. */
interface DeviceServiceOptions {
  readonly db: Db;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  readonly users: UserService;
  readonly auth: AuthService;
  readonly events: Events;
  readonly plans: Plans;
  readonly pushTokens: PushTokens;
}

/** The maximum of cached names, which save lists that name devices a query for each entry. */
const NAMES_MAX = 1_000;
/** The number of removed devices of an account whose names stay available for records. */
const REMOVED_MAX = 100;

/**
 * Devices: registering, signing in and out, settings. A device has one sign-in at a time: a further sign-in, a removal,
 * or the reuse of a refresh token ends all its former tokens.
 */
export class DeviceService {
  readonly #options: DeviceServiceOptions;
  readonly #queries: DeviceQueries;
  readonly #syncTimes: SyncTimes;
  readonly #names = new Map<number, DeviceName>();

  constructor(options: DeviceServiceOptions) {
    this.#options = options;
    this.#queries = new DeviceQueries(options.db.sqlite);
    this.#syncTimes = new SyncTimes({ queries: this.#queries, writer: options.writer, log: options.log });
  }

  /**
   * Registers a device of a user whose password was just checked, and signs it in; durable on return. A registered
   * device is updated, and does not count twice. A removed device is registered again, with default settings.
   * @throws AppError device_limit | bad_credentials | account_disabled; errors of {@link PushTokens.checkPushToken}
   */
  async register(checked: CheckedUser, info: DeviceInfo, client: ClientInfo): Promise<SignedInDevice> {
    const { auth, writer, clock, pushTokens, events } = this.#options;
    const { user } = checked;
    const { pushToken, platform } = info;
    if (pushToken !== undefined) await pushTokens.checkPushToken(pushToken, "deviceInfo.pushToken");
    const prepared = await auth.prepareDeviceSession(user, client);
    return writer.run((tx) => {
      const owner = auth.confirm(tx, checked);
      const known = this.#queries.find(user.id, info.deviceId);
      const isNew = known === undefined || known.removedAtMs !== null;
      if (isNew) this.#checkLimit(owner);
      const nowMs = clock.nowMs();
      const name = info.model ?? platform;
      if (known === undefined) this.#checkNoApp(user.id, info.deviceId);
      if (known === undefined) this.#queries.insert(user.id, info, name, nowMs);
      else this.#queries.update(known.id, info, name, nowMs);
      if (known !== undefined && isNew) this.#restore(tx, known.id, nowMs);
      const device = this.#get(user.id, info.deviceId);
      if (known !== undefined) events.emit(tx, "device.signing_in", { accountId: user.id, device });
      const refreshToken = auth.signInDevice(tx, device.id, prepared);
      if (pushToken !== undefined) pushTokens.registerPushToken(tx, user.id, device, pushToken, platform);
      if (isNew) events.emit(tx, "device.registered", { accountId: user.id, device });
      tx.afterCommit(() => this.#names.delete(device.id));
      return { user: owner, device, tokens: { accessToken: prepared.token, refreshToken } };
    });
  }

  /**
   * Signs in a registered device of a user whose password was just checked; durable on return.
   * @throws AppError not_found for unknown and removed devices; bad_credentials | account_disabled
   */
  async signIn(checked: CheckedUser, publicId: string, client: ClientInfo): Promise<SignedInDevice> {
    const { auth, writer, clock, events } = this.#options;
    const { user } = checked;
    const prepared = await auth.prepareDeviceSession(user, client);
    return writer.run((tx) => {
      const owner = auth.confirm(tx, checked);
      const device = this.#get(user.id, publicId);
      this.#queries.touch(device.id, clock.nowMs());
      events.emit(tx, "device.signing_in", { accountId: user.id, device });
      const refreshToken = auth.signInDevice(tx, device.id, prepared);
      return {
        user: owner,
        device: this.#get(user.id, publicId),
        tokens: { accessToken: prepared.token, refreshToken },
      };
    });
  }

  /**
   * Exchanges a refresh token for new tokens; durable on return. The former access token stays valid until it expires
   * or the sign-in ends, for requests in progress. The reuse of a refresh token ends the sign-in, unless it is the last
   * one, whose response may have been lost.
   * @throws AppError invalid_token | expired_token | revoked_token | overloaded
   */
  async refresh(refreshToken: string, publicId: string, client: ClientInfo): Promise<SignedInDevice> {
    const { auth, users, writer, clock, events } = this.#options;
    const deviceId = auth.findRefreshedDevice(refreshToken);
    const row = deviceId === undefined ? undefined : this.#queries.findById(deviceId);
    if (row?.publicId !== normalizeDeviceId(publicId)) throw unknownRefreshToken();
    const user = users.findById(row.accountId);
    if (user === undefined || user.disabledAtMs !== null) throw endedSignIn();
    const prepared = await auth.prepareDeviceSession(user, client);
    const result = await writer.run((tx) => {
      const exchange = auth.refreshDevice(tx, row.id, refreshToken, prepared);
      if (exchange.outcome === "exchanged") {
        this.#queries.touch(row.id, clock.nowMs());
        const tokens = { accessToken: prepared.token, refreshToken: exchange.token };
        return { user, device: this.#get(row.accountId, publicId), tokens };
      }
      if (exchange.outcome === "reused") {
        events.emit(tx, "security.token_reused", { accountId: row.accountId, device: row });
      }
      return exchange.outcome;
    });
    // Thrown after the transaction, because the end of the sign-in must not be rolled back.
    switch (result) {
      case "unknown":
        throw unknownRefreshToken();
      case "expired":
        throw new AppError(
          "expired_token",
          say`The refresh token has expired. Sign in again with your email and password.`,
        );
      case "replaced":
      case "reused":
        throw endedSignIn();
      default:
        return result;
    }
  }

  /** A registered device of the account; undefined for removed devices and those of other accounts. */
  find(accountId: number, publicId: string): Device | undefined {
    const row = this.#queries.find(accountId, publicId);
    return row === undefined || row.removedAtMs !== null ? undefined : toDevice(row);
  }

  /** The account's registered devices, last active first. */
  list(accountId: number): Device[] {
    return this.#queries.list(accountId).map(toDevice);
  }

  /** The number of the account's registered devices. */
  count(accountId: number): number {
    return this.#queries.count(accountId);
  }

  /** Id and name of a device by its row id, for records; also of a removed device. */
  findById(id: number): DeviceName | undefined {
    const known = this.#names.get(id);
    if (known !== undefined) return known;
    const found = this.#queries.findName(id);
    if (found === undefined) return undefined;
    if (this.#names.size >= NAMES_MAX) this.#names.clear();
    this.#names.set(id, found);
    return found;
  }

  /**
   * The row id of the account's device or app password, also of a removed one: its changes can still be undone.
   * @throws AppError not_found
   */
  getId(accountId: number, publicId: string): number {
    const id = this.#queries.findId(accountId, publicId);
    if (id === undefined) throw new AppError("not_found", say`This device was not found. Check the ID.`);
    return id;
  }

  /**
   * Changes the settings of the account's device; durable on return.
   * @returns all settings
   * @throws AppError not_found | invalid_path | invalid_field
   */
  async changeSettings(accountId: number, publicId: string, change: DeviceSettingsChange): Promise<DeviceSettings> {
    return this.#options.writer.run(() => {
      const row = this.#getRow(accountId, publicId);
      const json = changeDeviceSettings(row.settings, change);
      this.#queries.setSettings(row.id, json);
      return readDeviceSettings(json);
    });
  }

  /**
   * Removes the account's device and signs it out; durable on return. The names of the last {@link REMOVED_MAX} removed
   * devices stay available for records.
   * @param check runs first in the same transaction; an error rolls it back
   * @throws AppError not_found
   */
  async remove(
    accountId: number,
    publicId: string,
    check?: (tx: Transaction) => unknown,
  ): Promise<{ device: Device; removedAtMs: number }> {
    const { auth, writer, clock, events } = this.#options;
    return writer.run((tx) => {
      check?.(tx);
      const device = this.#get(accountId, publicId);
      const removedAtMs = clock.nowMs();
      this.#queries.remove(device.id, removedAtMs);
      auth.endDevice(tx, device.id);
      events.emit(tx, "device.removed", { accountId, device });
      const deletedIds = this.#queries.deleteRemoved(accountId, REMOVED_MAX);
      tx.afterCommit(() => {
        for (const id of deletedIds) this.#names.delete(id);
      });
      return { device, removedAtMs };
    });
  }

  /** Records a sync of a device. @param deviceId row id */
  noteSync(deviceId: number, atMs: number): void {
    this.#syncTimes.note(deviceId, atMs);
  }

  /** The time of a device's last sync in ms; undefined if there was none. @param deviceId row id */
  lastSyncAt(deviceId: number): number | undefined {
    return this.#syncTimes.read(deviceId);
  }

  /** Writes pending sync times; call it at shutdown. */
  flush(): Promise<void> {
    return this.#syncTimes.flush();
  }

  /** Registers a removed device again: only records of its changes refer to its former registration. */
  #restore(tx: Transaction, deviceId: number, nowMs: number): void {
    this.#queries.restore(deviceId, nowMs);
    tx.afterCommit(() => this.#syncTimes.forget(deviceId));
  }

  /** @throws AppError device_limit */
  #checkLimit(user: User): void {
    const { name: plan, devices: limit } = this.#options.plans[user.plan];
    if (limit === null || this.#queries.count(user.id) < limit) return;
    throw new AppError("device_limit", say`Your plan allows ${limit} devices. Remove one, then register this device.`, {
      limit,
      plan,
    });
  }

  /** @throws AppError invalid_field if the id is that of an app password */
  #checkNoApp(accountId: number, publicId: string): void {
    if (this.#queries.findId(accountId, publicId) === undefined) return;
    throw invalidField("deviceInfo.deviceId", say`This ID belongs to an app password. Choose another one.`);
  }

  #getRow(accountId: number, publicId: string) {
    const row = this.#queries.find(accountId, publicId);
    if (row === undefined || row.removedAtMs !== null) {
      throw new AppError("not_found", say`This device is not registered. Register it again.`);
    }
    return row;
  }

  #get(accountId: number, publicId: string): Device {
    return toDevice(this.#getRow(accountId, publicId));
  }
}

function unknownRefreshToken(): AppError {
  return new AppError(
    "invalid_token",
    say`The refresh token is not valid for this device. Sign in with your email and password.`,
  );
}

function endedSignIn(): AppError {
  return new AppError("revoked_token", say`This device was signed out. Sign in again with your email and password.`);
}
