import { toTimestamp } from "../../../lib/clock.ts";
import type { AuditRow } from "./types.ts";

/** An entry as administrators see it. */
export function presentAuditRow(row: AuditRow) {
  return {
    ...presentCommon(row),
    user: presentPerson(row.userId, row.email),
    via: { kind: row.via, name: row.viaName },
    account: presentPerson(row.subjectId, row.subjectEmail),
    details: detailsOf(row),
  };
}

/** Others act on an account's files because these are shared with them; in all other cases they are administrators. */
const BY_GUESTS = /^(file|folder|version)\./;

/** An entry as the affected user sees it. Of other people it shows only their role, or that they are unknown. */
export function presentActivity(row: AuditRow, ownId: string) {
  const isOwn = row.userId === ownId;
  const other = BY_GUESTS.test(row.action) ? "guest" : "administrator";
  // After a rejected sign-in, nobody is known.
  const by = isOwn ? "you" : row.userId === null && row.via !== "cli" ? "unknown" : other;
  const isHidden = by === other;
  const what = presentCommon(row);
  return {
    ...what,
    by,
    via: { kind: row.via, name: isHidden ? null : row.viaName },
    clientAddress: isHidden ? null : what.clientAddress,
    userAgent: isHidden ? null : what.userAgent,
  };
}

/** The columns of the CSV export, in their order. */
const CSV_COLUMNS = [
  "id",
  "at",
  "userId",
  "email",
  "via",
  "viaName",
  "action",
  "outcome",
  "reason",
  "accountId",
  "accountEmail",
  "targetType",
  "targetId",
  "clientAddress",
  "userAgent",
  "times",
  "details",
] as const;

/** The first line of the CSV export (RFC 4180). */
export const CSV_HEADING = `${CSV_COLUMNS.join(",")}\r\n`;

/** A row of the CSV export. */
export function presentCsvLine(row: AuditRow): string {
  const values: Readonly<Record<(typeof CSV_COLUMNS)[number], string | number | null>> = {
    id: idOf(row),
    at: toTimestamp(row.at),
    userId: row.userId,
    email: row.email,
    via: row.via,
    viaName: row.viaName,
    action: row.action,
    outcome: row.outcome,
    reason: row.reason,
    accountId: row.subjectId,
    accountEmail: row.subjectEmail,
    targetType: row.targetType,
    targetId: row.targetId,
    clientAddress: row.clientAddress,
    userAgent: row.userAgent,
    times: row.times,
    details: row.details,
  };
  return `${CSV_COLUMNS.map((column) => csvField(values[column])).join(",")}\r\n`;
}

/**
 * A CSV field that no spreadsheet interprets as a formula. An apostrophe is put before text that would start one:
 * anybody can send such an email or browser name.
 */
function csvField(value: string | number | null): string {
  if (value === null) return "";
  const text = String(value);
  const safe = /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function presentCommon(row: AuditRow) {
  return {
    id: idOf(row),
    at: toTimestamp(row.at),
    action: row.action,
    outcome: row.outcome,
    reason: row.reason,
    target: row.targetType === null ? null : { type: row.targetType, id: row.targetId },
    clientAddress: row.clientAddress,
    userAgent: row.userAgent,
    times: row.times,
  };
}

function presentPerson(id: string | null, email: string | null) {
  return id === null && email === null ? null : { id, email };
}

function detailsOf({ details }: AuditRow): object {
  const parsed: unknown = JSON.parse(details);
  return typeof parsed === "object" && parsed !== null ? parsed : {};
}

/** Ids that sort in the order in which the rows were written. */
function idOf({ id }: AuditRow): string {
  return `aud_${String(id).padStart(12, "0")}`;
}
