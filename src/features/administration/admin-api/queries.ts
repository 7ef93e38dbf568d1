/**
 * The queries for administrators. They run in the reader thread, because lists and sums over all accounts must not
 * delay other requests.
 */
import { numbers, type Read, rows } from "../../../db/reader.ts";
import { nameKey } from "../../accounts/users/service.ts";
import { PLAN_NAMES, ROLES } from "../../accounts/users/types.ts";
import type { AccountFilter, AccountQuery, AccountRow, AccountSort } from "./types.ts";

type Value = string | number;

const USED = "a.file_bytes + a.version_bytes + a.trash_bytes + a.reserved_bytes";

const ORDER_BY: Readonly<Record<AccountSort, string>> = {
  email: "u.email_key",
  name: "u.name_key",
  createdAt: "u.created_at",
  lastActiveAt: "coalesce(u.last_active_at, 0)",
  used: USED,
};

const ACCOUNT = `SELECT u.id, u.public_id AS publicId, u.email, u.name, u.role, u.plan, a.quota_bytes AS quotaBytes,
  u.disabled_at AS disabledAt, u.created_at AS createdAt,
  u.email_unconfirmed_since AS emailUnconfirmedSince, u.last_active_at AS lastActiveAt, ${USED} AS usedBytes,
  a.files, a.folders,
  (SELECT count(*) FROM devices d WHERE d.user_id = u.id AND d.removed_at IS NULL AND d.is_app = 0) AS devices
  FROM users u JOIN accounts a ON a.id = u.id`;

/**
 * A page of accounts, and the number of all. A scan of the accounts; other tables are read only for those of the page.
 */
export function accountPage(query: AccountQuery): readonly [Read<readonly AccountRow[]>, Read<Float64Array>] {
  const { where, values } = conditions(query);
  const order = `${ORDER_BY[query.sort]} ${query.order}, u.id ${query.order}`;
  const matching = `FROM users u JOIN accounts a ON a.id = u.id WHERE ${where}`;
  return [
    rows<AccountRow>(
      `WITH page AS MATERIALIZED (SELECT u.id ${matching} ORDER BY ${order} LIMIT ? OFFSET ?)
       ${ACCOUNT} WHERE u.id IN (SELECT id FROM page) ORDER BY ${order}`,
      [...values, query.limit, query.offset],
    ),
    numbers(`SELECT CAST(count(*) AS TEXT) AS total ${matching}`, values),
  ];
}

/** One account, by its public id. Index users_public. */
export function accountOf(publicId: string): Read<readonly AccountRow[]> {
  return rows<AccountRow>(`${ACCOUNT} WHERE u.public_id = ? AND u.email <> ''`, [publicId]);
}

/** Accounts by role, plan and state. A scan of the accounts. */
export function accountCounts(activeSinceMs: number) {
  const kinds = [
    ...PLAN_NAMES.map((plan) => `${count(`plan = '${plan}'`)} AS ${plan}`),
    ...ROLES.map((role) => `${count(`role = '${role}'`)} AS role_${role}`),
  ].join(", ");
  return rows<Readonly<Record<string, number>>>(
    `SELECT count(*) AS total, ${count("disabled_at IS NULL AND last_active_at >= ?1")} AS active,
       ${count("disabled_at IS NOT NULL")} AS disabled, ${kinds} FROM users WHERE email <> ''`,
    [activeSinceMs],
  );
}

function count(condition: string): string {
  return `count(*) FILTER (WHERE ${condition})`;
}

/** The stored bytes of all accounts. A scan of the accounts. */
export function storageTotals() {
  return rows<{ usedBytes: number; files: number; folders: number; versionsBytes: number; trashBytes: number }>(
    `SELECT coalesce(sum(${USED}), 0) AS usedBytes, coalesce(sum(files), 0) AS files,
       coalesce(sum(folders), 0) AS folders, coalesce(sum(version_bytes), 0) AS versionsBytes,
       coalesce(sum(trash_bytes), 0) AS trashBytes
     FROM accounts a JOIN users u ON u.id = a.id WHERE u.email <> ''`,
  );
}

/** Referenced blobs. It scans all of them, so the caller caches the result. */
export function blobTotals() {
  return rows<{ blobs: number; blobBytes: number }>(
    "SELECT count(*) AS blobs, coalesce(sum(size_bytes), 0) AS blobBytes FROM blobs WHERE refs > 0",
  );
}

/** Transfers of a month. A scan of the months of all accounts. */
export function transferTotals(period: string) {
  return rows<{ uploads: number; uploadedBytes: number; downloads: number; downloadedBytes: number }>(
    `SELECT coalesce(sum(uploads), 0) AS uploads, coalesce(sum(uploaded_bytes), 0) AS uploadedBytes,
       coalesce(sum(downloads), 0) AS downloads, coalesce(sum(downloaded_bytes), 0) AS downloadedBytes
     FROM transfers WHERE period = ?1`,
    [period],
  );
}

/**
 * Requests since an instant, without the counts of wrong passwords. Index rate_hits_at; rows are at most an hour old.
 */
export function requestTotals(sinceMs: number) {
  return rows<{ accepted: number; refused: number }>(
    `SELECT coalesce(sum(hits), 0) AS accepted, coalesce(sum(rejected), 0) AS refused FROM rate_hits
     WHERE at >= ?1 AND subject NOT GLOB '[lw]:*'`,
    [sinceMs],
  );
}

/** Chunked uploads that are not completed. Index uploads_open. */
export function uploadsUnderWay() {
  return rows<{ waiting: number }>("SELECT count(*) AS waiting FROM uploads WHERE ended_at IS NULL");
}

function conditions({ search, role, plan, isDisabled }: AccountFilter) {
  const parts = ["u.email <> ''"];
  const values: Value[] = [];
  if (search !== undefined) {
    parts.push("(instr(u.email_key, ?) > 0 OR instr(coalesce(u.name_key, lower(u.name)), ?) > 0)");
    values.push(search.normalize("NFC").toLowerCase(), nameKey(search));
  }
  if (role !== undefined) {
    parts.push("u.role = ?");
    values.push(role);
  }
  if (plan !== undefined) {
    parts.push("u.plan = ?");
    values.push(plan);
  }
  if (isDisabled !== undefined) parts.push(`u.disabled_at IS ${isDisabled ? "NOT NULL" : "NULL"}`);
  return { where: parts.join(" AND "), values };
}
