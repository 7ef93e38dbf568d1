/** SQL of the inbox, of the devices' registrations, and of the messages queued for them. */
import type { Database } from "bun:sqlite";
import type { PushCategory } from "./channels/channel.ts";

/** A device with its push token and preferences. */
export interface DeviceRow {
  readonly id: number;
  readonly publicId: string;
  readonly name: string;
  readonly devicePlatform: string;
  readonly token: string | null;
  readonly platform: string | null;
  readonly preferences: string | null;
  /** 1 if the device has a session or refresh token that is still valid. */
  readonly isSignedIn: number;
  /** 1 for the hidden device of a sign-in in a browser. */
  readonly isBrowser: number;
}

/** A row of `notifications`. */
export interface NotificationRow {
  readonly publicId: string;
  readonly category: PushCategory;
  readonly title: string;
  readonly body: string;
  readonly data: string;
  readonly createdAt: number;
  readonly readAt: number | null;
}

/** The first message in the queue of a device, with everything that decides whether it is sent. */
export interface HeadRow {
  readonly id: number;
  readonly attempts: number;
  readonly createdAt: number;
  readonly publicId: string;
  readonly category: PushCategory;
  readonly title: string;
  readonly body: string;
  readonly data: string;
  readonly collapseKey: string | null;
  readonly token: string | null;
  readonly platform: string | null;
  readonly preferences: string | null;
  readonly userSettings: string;
  readonly isDisabled: number;
  readonly isSignedIn: number;
  readonly isBrowser: number;
}

/** A device with a due message. */
export interface DueRow {
  readonly deviceId: number;
  readonly concurrencyGroup: string | null;
}

/** Indexes sessions_device, sessions_user and refresh_tokens_device. */
const IS_SIGNED_IN = `(EXISTS (SELECT 1 FROM sessions s WHERE s.device_id = d.id AND s.expires_at > ?2)
  OR (d.session_origin IS NOT NULL AND EXISTS (SELECT 1 FROM sessions s WHERE s.user_id = d.user_id
    AND coalesce(s.origin_id, s.public_id) = d.session_origin AND s.expires_at > ?2))
  OR EXISTS (SELECT 1 FROM refresh_tokens r WHERE r.device_id = d.id AND r.used_at IS NULL AND r.expires_at > ?2))`;

const DEVICE = `SELECT d.id, d.public_id AS publicId, d.name, d.platform AS devicePlatform, t.token, t.platform,
  t.preferences, ${IS_SIGNED_IN} AS isSignedIn, d.session_origin IS NOT NULL AS isBrowser
  FROM devices d LEFT JOIN push_targets t ON t.device_id = d.id`;

/** The messages that a device sees in the inbox. */
const VISIBLE = `account_id = ?1 AND (only_device_id IS NULL OR only_device_id = ?2)
  AND (except_device_id IS NULL OR except_device_id <> ?2)`;

/** The rows of `notifications`. */
export function inboxQueries(sqlite: Database) {
  return {
    insert: sqlite.prepare<
      { id: number },
      [number, string, string, string, string, string, string | null, number | null, number | null, number]
    >(
      `INSERT INTO notifications
         (account_id, public_id, category, title, body, data, collapse_key, only_device_id, except_device_id, created_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) RETURNING id`,
    ),
    /** The message gets a new text, moves to the top and is unread again. */
    renew: sqlite.prepare<void, [number, string, string, string, number]>(
      "UPDATE notifications SET title = ?2, body = ?3, data = ?4, created_at = ?5, read_at = NULL WHERE id = ?1",
    ),
    /** Index notifications_account, read backwards. */
    page: sqlite.prepare<NotificationRow, [number, number, number, number]>(
      `SELECT public_id AS publicId, category, title, body, data, created_at AS createdAt, read_at AS readAt
       FROM notifications WHERE ${VISIBLE} ORDER BY created_at DESC, id DESC LIMIT ?3 OFFSET ?4`,
    ),
    /** Index notifications_account; an account has a bounded number of rows. */
    count: sqlite.prepare<{ count: number }, [number, number]>(
      `SELECT count(*) AS count FROM notifications WHERE ${VISIBLE}`,
    ),
    /** Index notifications_unread. */
    unread: sqlite.prepare<{ count: number }, [number, number]>(
      `SELECT count(*) AS count FROM notifications WHERE ${VISIBLE} AND read_at IS NULL`,
    ),
    markAllRead: sqlite.prepare<void, [number, number, number]>(
      `UPDATE notifications SET read_at = ?3 WHERE ${VISIBLE} AND read_at IS NULL`,
    ),
    /** Index notifications_public. */
    markRead: sqlite.prepare<void, [number, number, number, string]>(
      `UPDATE notifications SET read_at = ?3 WHERE public_id = ?4 AND ${VISIBLE} AND read_at IS NULL`,
    ),
    /** Index notifications_account. */
    deleteOldest: sqlite.prepare<void, [number, number]>(
      `DELETE FROM notifications WHERE id IN (SELECT id FROM notifications WHERE account_id = ?1
         ORDER BY created_at DESC, id DESC LIMIT 1000 OFFSET ?2)`,
    ),
    /** Index notifications_age. */
    sweep: sqlite.prepare<void, [number, number]>(
      "DELETE FROM notifications WHERE id IN (SELECT id FROM notifications WHERE created_at < ?1 LIMIT ?2)",
    ),
  };
}

/** The devices and their rows in `push_targets`. */
export function targetQueries(sqlite: Database) {
  return {
    /** Index devices_public. */
    ofAccount: sqlite.prepare<DeviceRow, [number, number]>(
      `${DEVICE} WHERE d.user_id = ?1 AND d.removed_at IS NULL
         AND (d.is_app = 0 OR d.session_origin IS NOT NULL) ORDER BY d.id`,
    ),
    /** Index devices_public. */
    byPublicId: sqlite.prepare<DeviceRow, [number, number, string]>(
      `${DEVICE} WHERE d.user_id = ?1 AND d.public_id = ?3 AND d.removed_at IS NULL AND d.is_app = 0`,
    ),
    device: sqlite.prepare<{ publicId: string; name: string }, [number]>(
      "SELECT public_id AS publicId, name FROM devices WHERE id = ?1",
    ),
    currentToken: sqlite.prepare<{ token: string | null }, [number]>(
      "SELECT token FROM push_targets WHERE device_id = ?1",
    ),
    /** Index push_targets_token. */
    ownersOf: sqlite.prepare<{ deviceId: number; accountId: number }, [string, number]>(
      `SELECT t.device_id AS deviceId, d.user_id AS accountId FROM push_targets t JOIN devices d ON d.id = t.device_id
       WHERE t.token = ?1 AND t.device_id <> ?2`,
    ),
    setToken: sqlite.prepare<void, [number, string, string, string]>(
      `INSERT INTO push_targets (device_id, token, platform, lane) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET
         token = excluded.token, platform = excluded.platform, lane = excluded.lane, paused_until = 0`,
    ),
    setPlatform: sqlite.prepare<void, [number, string]>(
      `INSERT INTO push_targets (device_id, platform) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET
         platform = excluded.platform`,
    ),
    preferences: sqlite.prepare<{ preferences: string | null }, [number]>(
      "SELECT preferences FROM push_targets WHERE device_id = ?1",
    ),
    setPreferences: sqlite.prepare<void, [number, string | null]>(
      `INSERT INTO push_targets (device_id, preferences) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET
         preferences = excluded.preferences`,
    ),
    dropToken: sqlite.prepare<void, [number]>(
      "UPDATE push_targets SET token = NULL, lane = NULL, paused_until = 0 WHERE device_id = ?1",
    ),
    remove: sqlite.prepare<void, [number]>("DELETE FROM push_targets WHERE device_id = ?1"),
  };
}

/** The hidden devices of sign-ins in browsers. Index devices_session_origin. */
export function browserQueries(sqlite: Database) {
  return {
    device: sqlite.prepare<{ id: number }, [string]>("SELECT id FROM devices WHERE session_origin = ?1"),
    /** The token is null if the push service has forgotten the browser. */
    target: sqlite.prepare<{ token: string | null; preferences: string | null }, [string]>(
      `SELECT t.token, t.preferences FROM devices d JOIN push_targets t ON t.device_id = d.id WHERE d.session_origin = ?1`,
    ),
    /** Deletes all but the newest. Index devices_public. */
    makeRoom: sqlite.prepare<void, [number, number]>(
      `DELETE FROM devices WHERE id IN (SELECT id FROM devices WHERE user_id = ?1 AND session_origin IS NOT NULL
         ORDER BY id DESC LIMIT 1000 OFFSET ?2)`,
    ),
    /** Index sessions_public. */
    session: sqlite.prepare<{ id: number }, [string]>("SELECT id FROM sessions WHERE public_id = ?1"),
    insert: sqlite.prepare<{ id: number }, [number, string, string, number]>(
      `INSERT INTO devices
         (user_id, public_id, name, platform, registered_at, last_active_at, is_app, session_origin)
       VALUES (?1, ?2, 'Browser', 'browser', ?4, ?4, 1, ?3) RETURNING id`,
    ),
    remove: sqlite.prepare<void, [string]>("DELETE FROM devices WHERE session_origin = ?1"),
  };
}

/** Single rows of `push_deliveries`. */
export function deliveryQueries(sqlite: Database) {
  return {
    insert: sqlite.prepare<void, [number, number, string, string | null, number, number]>(
      `INSERT INTO push_deliveries (notification_id, device_id, state, collapse_key, created_at, due_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6)`,
    ),
    /** Index push_deliveries_notification. */
    isDeferred: sqlite.prepare<{ id: number }, [number]>(
      "SELECT id FROM push_deliveries WHERE notification_id = ?1 AND state = 'held' LIMIT 1",
    ),
    end: sqlite.prepare<void, [number, string, string | null, number, number]>(
      `UPDATE push_deliveries SET state = ?2, last_error = ?3, finished_at = ?4, attempts = attempts + ?5
       WHERE id = ?1 AND finished_at IS NULL`,
    ),
    postpone: sqlite.prepare<void, [number, string]>(
      "UPDATE push_deliveries SET attempts = attempts + 1, last_error = ?2 WHERE id = ?1 AND finished_at IS NULL",
    ),
    /** Index push_deliveries_done. */
    sweep: sqlite.prepare<void, [number, number]>(
      `DELETE FROM push_deliveries WHERE id IN (SELECT id FROM push_deliveries
         WHERE finished_at IS NOT NULL AND finished_at < ?1 LIMIT ?2)`,
    ),
  };
}

/**
 * The unfinished rows of a device in `push_deliveries`. INDEXED BY: SQLite would choose the index that includes
 * finished rows.
 */
export function queueQueries(sqlite: Database) {
  return {
    /** Index push_deliveries_waiting. */
    head: sqlite.prepare<HeadRow, [number, number]>(
      `SELECT p.id, p.attempts, p.created_at AS createdAt, n.public_id AS publicId, n.category, n.title, n.body, n.data,
         n.collapse_key AS collapseKey, t.token, t.platform, t.preferences, u.settings AS userSettings,
         u.disabled_at IS NOT NULL AS isDisabled, ${IS_SIGNED_IN} AS isSignedIn,
         d.session_origin IS NOT NULL AS isBrowser
       FROM push_deliveries p
         JOIN notifications n ON n.id = p.notification_id
         JOIN devices d ON d.id = p.device_id
         JOIN users u ON u.id = d.user_id
         LEFT JOIN push_targets t ON t.device_id = d.id
       WHERE p.device_id = ?1 AND p.finished_at IS NULL AND p.due_at <= ?2 ORDER BY p.due_at, p.id LIMIT 1`,
    ),
    /** Index push_deliveries_waiting. */
    isQueued: sqlite.prepare<{ id: number }, [number, number, number]>(
      `SELECT id FROM push_deliveries INDEXED BY push_deliveries_waiting
       WHERE device_id = ?1 AND finished_at IS NULL AND notification_id = ?2 AND due_at > ?3 LIMIT 1`,
    ),
    /** Index push_deliveries_waiting. */
    supersede: sqlite.prepare<void, [number, string, number]>(
      `UPDATE push_deliveries INDEXED BY push_deliveries_waiting SET state = 'dropped', finished_at = ?3, last_error = 'a later message took its place'
       WHERE device_id = ?1 AND finished_at IS NULL AND collapse_key = ?2`,
    ),
    /** Index push_deliveries_waiting. */
    dropOldest: sqlite.prepare<void, [number, number, number]>(
      `UPDATE push_deliveries SET state = 'dropped', finished_at = ?3, last_error = 'too many were waiting'
       WHERE id IN (SELECT id FROM push_deliveries INDEXED BY push_deliveries_waiting WHERE device_id = ?1 AND finished_at IS NULL
         ORDER BY id DESC LIMIT 1000 OFFSET ?2)`,
    ),
    /** Index push_deliveries_waiting. */
    endAll: sqlite.prepare<void, [number, string, string, number]>(
      `UPDATE push_deliveries INDEXED BY push_deliveries_waiting SET state = ?2, last_error = ?3, finished_at = ?4
       WHERE device_id = ?1 AND finished_at IS NULL`,
    ),
    /**
     * Defers all messages due before the end of the quiet hours, so that their order stays. Index
     * push_deliveries_waiting.
     */
    defer: sqlite.prepare<void, [number, number]>(
      `UPDATE push_deliveries INDEXED BY push_deliveries_waiting SET state = 'held', due_at = ?2
       WHERE device_id = ?1 AND finished_at IS NULL AND due_at < ?2`,
    ),
    /** Index push_deliveries_waiting. */
    release: sqlite.prepare<void, [number, number]>(
      `UPDATE push_deliveries INDEXED BY push_deliveries_waiting SET state = 'queued', due_at = min(due_at, ?2)
       WHERE device_id = ?1 AND finished_at IS NULL AND state = 'held'`,
    ),
    /** Index push_deliveries_waiting. */
    resetDueTimes: sqlite.prepare<void, [number, number, number]>(
      `UPDATE push_deliveries INDEXED BY push_deliveries_waiting
       SET state = 'queued', due_at = ?3, created_at = min(created_at, ?3)
       WHERE device_id = ?1 AND finished_at IS NULL AND due_at > ?2`,
    ),
  };
}

/** When each device is due: `next_at` and `paused_until` in `push_targets`. */
export function scheduleQueries(sqlite: Database) {
  return {
    pause: sqlite.prepare<void, [number, number]>("UPDATE push_targets SET paused_until = ?2 WHERE device_id = ?1"),
    unpause: sqlite.prepare<void, [number, number]>(
      "UPDATE push_targets SET paused_until = 0 WHERE device_id = ?1 AND paused_until > ?2",
    ),
    /** Must run after every change of a device's queue. Index push_deliveries_waiting. */
    reschedule: sqlite.prepare<void, [number]>(
      `UPDATE push_targets SET next_at = (SELECT max(min(due_at), push_targets.paused_until) FROM push_deliveries
         WHERE device_id = ?1 AND finished_at IS NULL) WHERE device_id = ?1`,
    ),
    /** Index push_targets_next. */
    due: sqlite.prepare<DueRow, [number, string, string, number]>(
      `SELECT device_id AS deviceId, lane AS concurrencyGroup FROM push_targets WHERE next_at <= ?1
         AND device_id NOT IN (SELECT value FROM json_each(?2))
         AND (lane IS NULL OR lane NOT IN (SELECT value FROM json_each(?3)))
       ORDER BY next_at LIMIT ?4`,
    ),
    /** Index push_targets_next. */
    dueAfter: sqlite.prepare<{ deviceId: number }, [number, number]>(
      "SELECT device_id AS deviceId FROM push_targets WHERE next_at > ?1 LIMIT ?2",
    ),
    /** Index push_targets_next. */
    nextAt: sqlite.prepare<{ nextAt: number | null }, [number]>(
      "SELECT min(next_at) AS nextAt FROM push_targets WHERE next_at > ?1",
    ),
  };
}

/** The message that collects the recent uploads of a device. */
export interface BurstRow {
  readonly notificationId: number;
  readonly files: number;
  readonly pushes: number;
  readonly pushedAt: number;
}

/** The rows of `upload_bursts`. */
export function burstQueries(sqlite: Database) {
  return {
    find: sqlite.prepare<BurstRow, [number, string]>(
      `SELECT notification_id AS notificationId, files, pushes, pushed_at AS pushedAt FROM upload_bursts
       WHERE device_id = ?1 AND kind = ?2`,
    ),
    set: sqlite.prepare<void, [number, string, number, number, number, number]>(
      `INSERT OR REPLACE INTO upload_bursts (device_id, kind, notification_id, files, pushes, pushed_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6)`,
    ),
  };
}
