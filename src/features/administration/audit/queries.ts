import type { Database } from "bun:sqlite";
import { numbers, type Read, rows } from "../../../db/reader.ts";
import { AUDIT_ACTIONS } from "../../accounts/routing/audit-rule.ts";
import type { AuditEntry, AuditFilter, AuditRow } from "./types.ts";

const COLUMNS = `id, at, user_id AS userId, email, via, via_name AS viaName, action, subject_id AS subjectId,
  subject_email AS subjectEmail, target_type AS targetType, target_id AS targetId, outcome, reason,
  client_address AS clientAddress, user_agent AS userAgent, times, details`;

const EMAIL_CHARACTERS_MAX = 320;
const NAME_CHARACTERS_MAX = 200;
const AGENT_CHARACTERS_MAX = 300;
const DETAILS_CHARACTERS_MAX = 4_096;

type Value = string | number | null;

/** Writes the log. Synchronous: for transactions. */
export function auditWrites(sqlite: Database) {
  const insert = sqlite.prepare<void, Value[]>(
    `INSERT INTO audit (at, user_id, email, via, via_name, action, subject_id, subject_email, target_type, target_id,
       outcome, reason, client_address, user_agent, times, details)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)`,
  );
  // Index audit_at.
  const sweep = sqlite.prepare<void, [number, number]>(
    "DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE at < ?1 ORDER BY at LIMIT ?2)",
  );
  const keep = sqlite.prepare<void, [string]>(
    `INSERT INTO meta (key, value) VALUES ('audit.keep_ms', ?1) ON CONFLICT DO UPDATE SET value = excluded.value`,
  );
  return {
    insert(entry: AuditEntry, atMs: number): void {
      const { user, subject, target } = entry;
      const details = JSON.stringify(entry.details ?? {});
      insert.run(
        atMs,
        user?.id ?? null,
        cut(user?.email, EMAIL_CHARACTERS_MAX),
        entry.via,
        cut(entry.viaName, NAME_CHARACTERS_MAX),
        entry.action,
        subject?.id ?? null,
        cut(subject?.email, EMAIL_CHARACTERS_MAX),
        target?.type ?? null,
        cut(target?.id, NAME_CHARACTERS_MAX),
        entry.outcome,
        entry.reason ?? null,
        entry.clientAddress ?? null,
        cut(entry.userAgent, AGENT_CHARACTERS_MAX),
        entry.times ?? 1,
        details.length <= DETAILS_CHARACTERS_MAX ? details : "{}",
      );
    },
    /** Deletes rows that are older than this, at most `limit`. @returns how many */
    sweep: (olderThanMs: number, limit: number): number => sweep.run(olderThanMs, limit).changes,
    /** The trigger compares deletions with this. */
    setKeep: (keepMs: number): void => void keep.run(String(keepMs)),
  };
}

/** Newest first. With a filter, the total is counted over an index. */
export function auditPage(
  filter: AuditFilter,
  limit: number,
  offset: number,
): readonly [Read<readonly AuditRow[]>, Read<Float64Array>] {
  const { where, values } = conditions(filter);
  return [
    rows<AuditRow>(`SELECT ${COLUMNS} FROM audit ${where} ORDER BY id DESC LIMIT ? OFFSET ?`, [
      ...values,
      limit,
      offset,
    ]),
    numbers(`SELECT CAST(count(*) AS TEXT) AS total FROM audit ${where}`, values),
  ];
}

/** At most `limit` rows below this id, newest first: the next page of an export. */
export function auditBefore(filter: AuditFilter, beforeId: number, limit: number): Read<readonly AuditRow[]> {
  const { where, values } = conditions(filter, ["id < ?"], [beforeId]);
  return rows<AuditRow>(`SELECT ${COLUMNS} FROM audit ${where} ORDER BY id DESC LIMIT ?`, [...values, limit]);
}

/** Indexes audit_user, audit_subject, audit_action, audit_address, audit_at. */
function conditions(filter: AuditFilter, first: readonly string[] = [], firstValues: readonly Value[] = []) {
  const parts = [...first];
  const values: Value[] = [...firstValues];
  const add = (part: string, ...given: Value[]) => {
    parts.push(part);
    values.push(...given);
  };
  const { user, subjectId, action, outcome, clientAddress, fromMs, toMs } = filter;
  if (user?.startsWith("usr_")) add("(user_id = ? OR subject_id = ?)", user, user);
  else if (user !== undefined) {
    const key = user.trim().normalize("NFC");
    add("(email = ? COLLATE NOCASE OR subject_email = ? COLLATE NOCASE)", key, key);
  }
  if (subjectId !== undefined) add("subject_id = ?", subjectId);
  if (action !== undefined && isGroup(action)) add("action >= ? AND action < ?", `${action}.`, `${action}/`);
  else if (action !== undefined) add("action = ?", action);
  if (outcome !== undefined) add("outcome = ?", outcome);
  if (clientAddress !== undefined) add("client_address = ?", clientAddress);
  if (fromMs !== undefined) add("at >= ?", fromMs);
  if (toMs !== undefined) add("at < ?", toMs);
  return { where: parts.length === 0 ? "" : `WHERE ${parts.join(" AND ")}`, values };
}

/** Whether this is the part of actions before the dot. A single action is read from its index in order. */
function isGroup(action: string): boolean {
  return AUDIT_ACTIONS.some((known) => known.startsWith(`${action}.`));
}

function cut(text: string | undefined, max: number): string | null {
  return text === undefined ? null : text.slice(0, max);
}
