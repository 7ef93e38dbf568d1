import type { Database } from "bun:sqlite";
import { normalizeDeviceId } from "../../../lib/device-id.ts";
import { readDeviceSettings } from "./settings.ts";
import type { Device, DeviceInfo, DeviceName } from "./types.ts";

/** A row of `devices`. */
export interface DeviceRow extends Omit<Device, "settings"> {
  readonly removedAtMs: number | null;
  readonly lastSyncAtMs: number | null;
  /** JSON. */
  readonly settings: string;
}

const COLUMNS = `id, user_id AS accountId, public_id AS publicId, name, platform, model, os_version AS osVersion,
  app_version AS appVersion, registered_at AS registeredAtMs, last_active_at AS lastActiveAtMs,
  removed_at AS removedAtMs, last_sync_at AS lastSyncAtMs, settings`;

/** The statements about devices. Each uses the primary key or the index `devices_public`. */
export class DeviceQueries {
  readonly #statements: ReturnType<typeof statements>;

  constructor(sqlite: Database) {
    this.#statements = statements(sqlite);
  }

  /** Finds removed devices too. The hidden devices of app passwords are not found. */
  find(accountId: number, publicId: string): DeviceRow | undefined {
    return this.#statements.byPublicId.get(accountId, normalizeDeviceId(publicId)) ?? undefined;
  }

  /** The row id of a device, also of a removed one and of the hidden one of an app password. */
  findId(accountId: number, publicId: string): number | undefined {
    return this.#statements.idByPublicId.get(accountId, normalizeDeviceId(publicId))?.id;
  }

  /** Finds removed devices too. */
  findById(id: number): DeviceRow | undefined {
    return this.#statements.byId.get(id) ?? undefined;
  }

  /** Finds removed devices too. */
  findName(id: number): DeviceName | undefined {
    return this.#statements.nameById.get(id) ?? undefined;
  }

  /** The registered devices, last active first. */
  list(accountId: number): DeviceRow[] {
    return this.#statements.ofAccount.all(accountId);
  }

  /** The number of registered devices. */
  count(accountId: number): number {
    return this.#statements.count.get(accountId)?.count ?? 0;
  }

  insert(accountId: number, info: DeviceInfo, name: string, nowMs: number): void {
    const { deviceId, platform, model, osVersion, appVersion } = info;
    this.#statements.insert.run(
      accountId,
      deviceId,
      name,
      platform,
      model ?? null,
      osVersion ?? null,
      appVersion ?? null,
      nowMs,
    );
  }

  update(id: number, info: DeviceInfo, name: string, nowMs: number): void {
    const { platform, model, osVersion, appVersion } = info;
    this.#statements.update.run(id, name, platform, model ?? null, osVersion ?? null, appVersion ?? null, nowMs);
  }

  /** Registers a removed device again, with default settings. */
  restore(id: number, nowMs: number): void {
    this.#statements.restore.run(id, nowMs);
  }

  touch(id: number, nowMs: number): void {
    this.#statements.touch.run(id, nowMs);
  }

  remove(id: number, nowMs: number): void {
    this.#statements.remove.run(id, nowMs);
  }

  /**
   * Deletes the rows of removed devices, except the last removed ones, and those whose changes can still be undone.
   * @param retained how many of the last removed devices stay
   * @returns the row ids of the deleted ones
   */
  deleteRemoved(accountId: number, retained: number): number[] {
    return this.#statements.deleteRemoved.all(accountId, retained).map(({ id }) => id);
  }

  setSettings(id: number, json: string): void {
    this.#statements.setSettings.run(id, json);
  }

  noteSync(id: number, atMs: number): void {
    this.#statements.noteSync.run(id, atMs);
  }
}

/** Converts a row. */
export function toDevice({ removedAtMs: _removed, lastSyncAtMs: _synced, settings, ...row }: DeviceRow): Device {
  return { ...row, settings: readDeviceSettings(settings) };
}

function statements(sqlite: Database) {
  return {
    byPublicId: sqlite.prepare<DeviceRow, [number, string]>(
      `SELECT ${COLUMNS} FROM devices WHERE user_id = ?1 AND public_id = ?2 AND is_app = 0`,
    ),
    idByPublicId: sqlite.prepare<{ id: number }, [number, string]>(
      "SELECT id FROM devices WHERE user_id = ?1 AND public_id = ?2",
    ),
    byId: sqlite.prepare<DeviceRow, [number]>(`SELECT ${COLUMNS} FROM devices WHERE id = ?1`),
    nameById: sqlite.prepare<DeviceName, [number]>("SELECT public_id AS publicId, name FROM devices WHERE id = ?1"),
    ofAccount: sqlite.prepare<DeviceRow, [number]>(
      `SELECT ${COLUMNS} FROM devices WHERE user_id = ?1 AND removed_at IS NULL AND is_app = 0
       ORDER BY last_active_at DESC, id DESC`,
    ),
    count: sqlite.prepare<{ count: number }, [number]>(
      "SELECT count(*) AS count FROM devices WHERE user_id = ?1 AND removed_at IS NULL AND is_app = 0",
    ),
    insert: sqlite.prepare<void, [number, string, string, string, string | null, string | null, string | null, number]>(
      `INSERT INTO devices
         (user_id, public_id, name, platform, model, os_version, app_version, registered_at, last_active_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)`,
    ),
    update: sqlite.prepare<void, [number, string, string, string | null, string | null, string | null, number]>(
      `UPDATE devices SET name = ?2, platform = ?3, model = ?4, os_version = ?5, app_version = ?6, last_active_at = ?7
       WHERE id = ?1`,
    ),
    restore: sqlite.prepare<void, [number, number]>(
      "UPDATE devices SET removed_at = NULL, registered_at = ?2, settings = '{}', last_sync_at = NULL WHERE id = ?1",
    ),
    touch: sqlite.prepare<void, [number, number]>("UPDATE devices SET last_active_at = ?2 WHERE id = ?1"),
    remove: sqlite.prepare<void, [number, number]>("UPDATE devices SET removed_at = ?2 WHERE id = ?1"),
    /** Indexes devices_public and the primary key of `undo`. */
    deleteRemoved: sqlite.prepare<{ id: number }, [number, number]>(
      `DELETE FROM devices WHERE user_id = ?1 AND is_app = 0 AND removed_at IS NOT NULL
         AND id NOT IN (SELECT id FROM devices WHERE user_id = ?1 AND is_app = 0 AND removed_at IS NOT NULL
           ORDER BY removed_at DESC, id DESC LIMIT ?2)
         AND NOT EXISTS (SELECT 1 FROM undo u WHERE u.account_id = ?1 AND u.device_id = devices.id)
       RETURNING id`,
    ),
    setSettings: sqlite.prepare<void, [number, string]>("UPDATE devices SET settings = ?2 WHERE id = ?1"),
    noteSync: sqlite.prepare<void, [number, number]>("UPDATE devices SET last_sync_at = ?2 WHERE id = ?1"),
  };
}
