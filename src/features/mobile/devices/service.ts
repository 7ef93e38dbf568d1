import type { Db } from "../../../db/open.ts";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { Events } from "../../../events/events.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { ClientInfo, DeviceRef } from "../../accounts/auth/principal.ts";
import type { AuthService, CheckedUser } from "../../accounts/auth/service.ts";
import type { Plans } from "../../accounts/plans/plans.ts";
import type { UserService } from "../../accounts/users/service.ts";
import type { User } from "../../accounts/users/types.ts";
import { normalizeDeviceId } from "../../../lib/device-id.ts";
import { DeviceQueries, toDevice } from "./queries.ts";
import {
  changeDeviceSettings,
  type DeviceSettings,
  type DeviceSettingsChange,
  readDeviceSettings,
} from "./settings.ts";
import { SyncTimes } from "./sync-times.ts";
import type { Device, DeviceInfo, DeviceName, SignedInDevice } from "./types.ts";

/** What push messages are sent to, kept by whoever sends them. */
export interface PushTokens {
  /**
   * Whether messages could be sent to this token at all. Before the deed: it may look up addresses.
   * @param field where in the request the token stands
   * @throws AppError invalid_field | forbidden_target
   */
  checkPushToken(token: string, field: string): Promise<void>;
  /** Makes the token this device's, in the deed that registers it. */
  registerPushToken(tx: Transaction, accountId: number, device: DeviceRef, token: string, platform: string): void;
}

/** What {@link DeviceService} works with. */
export interface DeviceServiceOptions {
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

/** Names that are remembered, so that lists that tell of devices cost no look-up each. */
const NAMES_MAX = 1_000;
/** Removed devices whose names an account can still be told; what the earlier ones did is told without. */
const REMOVED_MAX = 100;

/**
 * Devices: registering, signing in and out, settings. A device is signed in as a whole: another sign-in, its removal,
 * or a refresh token that comes a second time end every token that it had.
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
   * Registers a device of a user who has just given their password, and signs it in; durable on return. One that is
   * registered already is renewed and takes no further place; one that was removed begins anew.
   * @throws AppError device_limit | bad_credentials | account_disabled; what the push token's check throws
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
      if (known === undefined) this.#queries.insert(user.id, info, name, nowMs);
      else this.#queries.renew(known.id, info, name, nowMs);
      if (known !== undefined && isNew) this.#begin(tx, known.id, nowMs);
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
   * Signs a registered device in, of a user who has just given their password; durable on return.
   * @throws AppError not_found for unknown and removed devices; bad_credentials | account_disabled
   */
  async signIn(checked: CheckedUser, publicId: string, client: ClientInfo): Promise<SignedInDevice> {
    const { auth, writer, clock, events } = this.#options;
    const { user } = checked;
    const prepared = await auth.prepareDeviceSession(user, client);
    return writer.run((tx) => {
      const owner = auth.confirm(tx, checked);
      const known = this.#get(user.id, publicId);
      const { id } = known;
      this.#queries.touch(id, clock.nowMs());
      events.emit(tx, "device.signing_in", { accountId: user.id, device: known });
      const refreshToken = auth.signInDevice(tx, id, prepared);
      return {
        user: owner,
        device: this.#get(user.id, publicId),
        tokens: { accessToken: prepared.token, refreshToken },
      };
    });
  }

  /**
   * Exchanges a refresh token for the next pair; durable on return. The access token that was in use stays good until
   * it expires, for requests that are under way; it ends with the device's sign-in. A token that comes a second time
   * ends that sign-in, unless it is the last one and its answer may have got lost.
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
      const requestContext = auth.refreshDevice(tx, row.id, refreshToken, prepared);
      if (requestContext.outcome === "exchanged") {
        this.#queries.touch(row.id, clock.nowMs());
        const tokens = { accessToken: prepared.token, refreshToken: requestContext.token };
        return { user, device: this.#get(row.accountId, publicId), tokens };
      }
      if (requestContext.outcome === "reused") {
        events.emit(tx, "security.token_reused", { accountId: row.accountId, device: row });
      }
      return requestContext.outcome;
    });
    // Thrown only now: what a reused token ends must stay ended.
    switch (result) {
      case "unknown":
        throw unknownRefreshToken();
      case "expired":
        throw new AppError(
          "expired_token",
          "The refresh token has expired. Sign in again with your email and password.",
        );
      case "replaced":
      case "reused":
        throw endedSignIn();
      default:
        return result;
    }
  }

  /** A registered device of an account; undefined for removed ones and for those of others. */
  find(accountId: number, publicId: string): Device | undefined {
    const row = this.#queries.find(accountId, publicId);
    return row === undefined || row.removedAtMs !== null ? undefined : toDevice(row);
  }

  /** An account's registered devices, the latest active first. */
  list(accountId: number): Device[] {
    return this.#queries.list(accountId).map(toDevice);
  }

  /** How many devices an account has registered. */
  count(accountId: number): number {
    return this.#queries.count(accountId);
  }

  /** How a device is called by its row id, also after its removal: for records that tell what it did. */
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
   * Row id of an account's device, also of a removed one: what it did can still be undone.
   * @throws AppError not_found
   */
  getId(accountId: number, publicId: string): number {
    const row = this.#queries.find(accountId, publicId);
    if (row === undefined) throw new AppError("not_found", "This device was not found. Check the ID.");
    return row.id;
  }

  /**
   * Changes the settings of an account's device; durable on return.
   * @returns all of them
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
   * Removes an account's device; durable on return. It is signed out at once and its place is free; what it did can
   * still be told, of the latest removed {@link REMOVED_MAX}.
   * @param check runs first in the same transaction; what it throws undoes it
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
      const forgotten = this.#queries.forgetRemoved(accountId, REMOVED_MAX);
      tx.afterCommit(() => {
        for (const id of forgotten) this.#names.delete(id);
      });
      return { device, removedAtMs };
    });
  }

  /** Notes that a device asked for changes. @param deviceId row id */
  noteSync(deviceId: number, atMs: number): void {
    this.#syncTimes.note(deviceId, atMs);
  }

  /**
   * When a device last asked for changes, in ms; undefined where never since it was registered.
   * @param deviceId row id
   */
  lastSyncAt(deviceId: number): number | undefined {
    return this.#syncTimes.read(deviceId);
  }

  /** Writes what waits; at shutdown. */
  flush(): Promise<void> {
    return this.#syncTimes.flush();
  }

  /** A device that was removed comes back with nothing of its former life but its name in records. */
  #begin(tx: Transaction, deviceId: number, nowMs: number): void {
    this.#queries.restore(deviceId, nowMs);
    tx.afterCommit(() => this.#syncTimes.forget(deviceId));
  }

  /** @throws AppError device_limit */
  #checkLimit(user: User): void {
    const { name: plan, devices: limit } = this.#options.plans[user.plan];
    if (limit === null || this.#queries.count(user.id) < limit) return;
    throw new AppError("device_limit", `Your plan allows ${limit} devices. Remove one, then register this device.`, {
      limit,
      plan,
    });
  }

  #getRow(accountId: number, publicId: string) {
    const row = this.#queries.find(accountId, publicId);
    if (row === undefined || row.removedAtMs !== null) {
      throw new AppError("not_found", "This device is not registered. Register it again.");
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
    "The refresh token is not valid for this device. Sign in with your email and password.",
  );
}

function endedSignIn(): AppError {
  return new AppError("revoked_token", "This device was signed out. Sign in again with your email and password.");
}
