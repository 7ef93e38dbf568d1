/** SQL of webhooks and their deliveries. */
import type { Database } from "bun:sqlite";

/** A row of `webhooks`. */
export interface WebhookRow {
  readonly id: number;
  readonly publicId: string;
  readonly accountId: number;
  readonly url: string;
  readonly events: string;
  readonly nonce: Uint8Array;
  readonly formerNonce: Uint8Array | null;
  readonly formerUntil: number | null;
  readonly isActive: number;
  readonly stoppedBecause: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly failures: number;
  readonly pausedUntil: number;
  readonly waiting: number;
  readonly dropped: number;
}

/** A row of `webhook_deliveries` without its body. */
export interface DeliveryRow {
  readonly id: number;
  readonly publicId: string;
  readonly event: string;
  readonly state: "queued" | "delivered" | "failed";
  readonly attempts: number;
  readonly createdAt: number;
  readonly dueAt: number;
  readonly finishedAt: number | null;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
}

/** A delivery to send. */
export interface DueRow {
  readonly id: number;
  readonly publicId: string;
  readonly event: string;
  readonly body: string;
  readonly attempts: number;
  readonly createdAt: number;
  readonly finishedAt: number | null;
  readonly webhookId: number;
}

interface FinishedRow {
  readonly webhookId: number;
  readonly orderingKey: string;
}

const WEBHOOK = `SELECT w.id, w.public_id AS publicId, w.account_id AS accountId, w.url, w.events, w.nonce,
  w.former_nonce AS formerNonce, w.former_until AS formerUntil, w.is_active AS isActive,
  w.stopped_because AS stoppedBecause, w.created_at AS createdAt, w.updated_at AS updatedAt, w.failures,
  w.paused_until AS pausedUntil, w.waiting, w.dropped FROM webhooks w`;

const DELIVERY = `SELECT id, public_id AS publicId, event, state, attempts, created_at AS createdAt, due_at AS dueAt,
  finished_at AS finishedAt, last_status AS lastStatus, last_error AS lastError FROM webhook_deliveries`;

/** The rows of `webhooks`. */
export function webhookQueries(sqlite: Database) {
  return {
    insert: sqlite.prepare<void, [string, number, string, string, Uint8Array, number, number]>(
      `INSERT INTO webhooks (public_id, account_id, url, events, nonce, is_active, created_at, updated_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)`,
    ),
    /** Index webhooks_account. */
    ofAccount: sqlite.prepare<WebhookRow, [number]>(`${WEBHOOK} WHERE w.account_id = ?1 ORDER BY w.id`),
    byPublicId: sqlite.prepare<WebhookRow, [string, number]>(`${WEBHOOK} WHERE w.public_id = ?1 AND w.account_id = ?2`),
    byId: sqlite.prepare<WebhookRow, [number]>(`${WEBHOOK} WHERE w.id = ?1`),
    /** Without an index: there are only a few administrators. */
    ofAdministrators: sqlite.prepare<WebhookRow, []>(
      `${WEBHOOK} JOIN users u ON u.id = w.account_id WHERE u.role = 'admin' AND u.disabled_at IS NULL AND w.is_active = 1`,
    ),
    update: sqlite.prepare<void, [number, string, string, number, number]>(
      `UPDATE webhooks SET url = ?2, events = ?3, is_active = ?4, updated_at = ?5, failures = 0, paused_until = 0,
         stopped_because = CASE WHEN ?4 = 1 THEN NULL ELSE stopped_because END WHERE id = ?1`,
    ),
    setSecret: sqlite.prepare<void, [number, Uint8Array, number, number]>(
      `UPDATE webhooks SET former_nonce = nonce, former_until = ?3, nonce = ?2, updated_at = ?4 WHERE id = ?1`,
    ),
    remove: sqlite.prepare<void, [number]>("DELETE FROM webhooks WHERE id = ?1"),
    stop: sqlite.prepare<void, [number, string]>(
      "UPDATE webhooks SET is_active = 0, stopped_because = ?2 WHERE id = ?1",
    ),
    pause: sqlite.prepare<void, [number, number, number]>(
      "UPDATE webhooks SET failures = ?2, paused_until = ?3 WHERE id = ?1",
    ),
    countWaiting: sqlite.prepare<void, [number, number]>("UPDATE webhooks SET waiting = waiting + ?2 WHERE id = ?1"),
    countDropped: sqlite.prepare<void, [number]>("UPDATE webhooks SET dropped = dropped + 1 WHERE id = ?1"),
    /**
     * Webhooks with due deliveries, except paused ones. A pause longer than the maximum is ignored: it was set while
     * the clock was ahead. Index webhook_deliveries_due, once per webhook.
     */
    due: sqlite.prepare<{ id: number }, [number, number]>(
      `SELECT w.id FROM webhooks w JOIN users u ON u.id = w.account_id
       WHERE w.is_active = 1 AND w.waiting > 0 AND u.disabled_at IS NULL
         AND (w.paused_until <= ?1 OR w.paused_until > ?2)
         AND EXISTS (SELECT 1 FROM webhook_deliveries d INDEXED BY webhook_deliveries_due
           WHERE d.webhook_id = w.id AND d.is_head = 1 AND d.due_at <= ?1)
       ORDER BY w.id`,
    ),
    /** The next due time. */
    nextDue: sqlite.prepare<{ at: number | null }, [number]>(
      `SELECT min(at) AS at FROM (SELECT max(w.paused_until, (SELECT min(d.due_at)
           FROM webhook_deliveries d INDEXED BY webhook_deliveries_due WHERE d.webhook_id = w.id AND d.is_head = 1)) AS at
         FROM webhooks w WHERE w.is_active = 1 AND w.waiting > 0) WHERE at > ?1`,
    ),
  };
}

/** The rows of `webhook_deliveries`. */
export function deliveryQueries(sqlite: Database) {
  return {
    /** The first delivery with an ordering key can be sent at once. Index webhook_deliveries_lane. */
    insert: sqlite.prepare<{ id: number }, [string, number, string, string, string, number]>(
      `INSERT INTO webhook_deliveries (public_id, webhook_id, event, lane, body, state, created_at, due_at, is_head)
       VALUES (?1, ?2, ?3, ?4, ?5, 'queued', ?6, ?6, NOT EXISTS (SELECT 1 FROM webhook_deliveries d
         WHERE d.webhook_id = ?2 AND d.lane = ?4 AND d.finished_at IS NULL)) RETURNING id`,
    ),
    /** Index webhook_deliveries_due. */
    heads: sqlite.prepare<{ id: number }, [number, number, number]>(
      `SELECT id FROM webhook_deliveries INDEXED BY webhook_deliveries_due
       WHERE webhook_id = ?1 AND is_head = 1 AND due_at <= ?2 ORDER BY due_at, id LIMIT ?3`,
    ),
    byId: sqlite.prepare<DueRow, [number]>(
      `SELECT id, public_id AS publicId, event, body, attempts, created_at AS createdAt, finished_at AS finishedAt,
         webhook_id AS webhookId FROM webhook_deliveries WHERE id = ?1`,
    ),
    stateById: sqlite.prepare<DeliveryRow, [number]>(`${DELIVERY} WHERE id = ?1`),
    /** Index webhook_deliveries_webhook, read backwards. */
    page: sqlite.prepare<DeliveryRow, [number, string | null, number, number]>(
      `${DELIVERY} WHERE webhook_id = ?1 AND (?2 IS NULL OR state = ?2) ORDER BY id DESC LIMIT ?3 OFFSET ?4`,
    ),
    count: sqlite.prepare<{ count: number }, [number, string | null]>(
      "SELECT count(*) AS count FROM webhook_deliveries WHERE webhook_id = ?1 AND (?2 IS NULL OR state = ?2)",
    ),
    /** Deletes the body: otherwise the log would retain large records, and names of deleted files, for weeks. */
    finish: sqlite.prepare<FinishedRow, [number, string, number, number | null, string | null]>(
      `UPDATE webhook_deliveries SET state = ?2, finished_at = ?3, is_head = 0, attempts = attempts + 1, last_status = ?4,
         last_error = ?5, body = '' WHERE id = ?1 AND finished_at IS NULL RETURNING webhook_id AS webhookId,
         lane AS orderingKey`,
    ),
    postpone: sqlite.prepare<void, [number, number, number | null, string | null]>(
      `UPDATE webhook_deliveries SET attempts = attempts + 1, due_at = ?2, last_status = ?3, last_error = ?4
       WHERE id = ?1 AND finished_at IS NULL`,
    ),
    /** Index webhook_deliveries_lane. */
    promote: sqlite.prepare<void, [number, string]>(
      `UPDATE webhook_deliveries SET is_head = 1 WHERE id = (SELECT id FROM webhook_deliveries
         WHERE webhook_id = ?1 AND lane = ?2 AND finished_at IS NULL ORDER BY id LIMIT 1)`,
    ),
    /** At most ?4 deliveries that are due after ?2. Index webhook_deliveries_due. */
    makeDue: sqlite.prepare<void, [number, number, number, number]>(
      `UPDATE webhook_deliveries SET due_at = ?3 WHERE id IN
         (SELECT id FROM webhook_deliveries INDEXED BY webhook_deliveries_due
          WHERE webhook_id = ?1 AND is_head = 1 AND due_at > ?2 LIMIT ?4)`,
    ),
    dueTooLate: sqlite.prepare<{ id: number }, [number]>(
      `SELECT w.id FROM webhooks w WHERE w.waiting > 0 AND EXISTS (SELECT 1 FROM webhook_deliveries d
         INDEXED BY webhook_deliveries_due WHERE d.webhook_id = w.id AND d.is_head = 1 AND d.due_at > ?1)`,
    ),
    /**
     * Of webhooks that are off, or whose owner is disabled: the dispatcher skips them. Index
     * webhook_deliveries_age.
     */
    expired: sqlite.prepare<{ id: number }, [number, number]>(
      "SELECT id FROM webhook_deliveries WHERE created_at < ?1 AND finished_at IS NULL ORDER BY created_at LIMIT ?2",
    ),
    /** Index webhook_deliveries_webhook. */
    removeSome: sqlite.prepare<void, [number, number]>(
      `DELETE FROM webhook_deliveries WHERE id IN
         (SELECT id FROM webhook_deliveries WHERE webhook_id = ?1 ORDER BY id LIMIT ?2)`,
    ),
    sweep: sqlite.prepare<void, [number, number]>(
      `DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries
         WHERE created_at < ?1 AND finished_at IS NOT NULL ORDER BY created_at LIMIT ?2)`,
    ),
  };
}
