/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { AUDIT_ACTIONS } from "../../accounts/routing/audit-rule.ts";
import { AUDIT_OUTCOMES } from "./types.ts";
import { ActivityPageRecord, AuditPageRecord, LIMIT_DEFAULT, LIMIT_MAX } from "./model.ts";

const FILTER_QUERY = {
  user: { type: "string", description: "Id or e-mail: who did it, or whom it was done to" },
  action: {
    type: "string",
    description: `One of: ${AUDIT_ACTIONS.join(", ")}; or what stands before the dot, for all that begins so`,
  },
  outcome: { type: "string", enum: [...AUDIT_OUTCOMES] },
  ip: { type: "string", description: "The client's address" },
  from: { type: "string", format: "date-time", description: "Inclusive" },
  to: { type: "string", format: "date-time", description: "Exclusive" },
} as const;

const PAGE_QUERY = {
  page: { type: "integer", minimum: 1, default: 1 },
  limit: { type: "integer", minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT },
} as const;

export const listAudit = (): RouteDocs => ({
  tag: "Administration",
  summary: "Who did what, from where, and when; newest first",
  description:
    "`user` is who did it, `account` whom it was done to. Files and folders are named by their ids alone: an " +
    "administrator sees no contents.",
  data: AuditPageRecord,
  errors: ["invalid_field"],
  query: { ...FILTER_QUERY, ...PAGE_QUERY },
});

export const exportAudit = (): RouteDocs => ({
  tag: "Administration",
  summary: "The audit log as a file, newest first",
  description: "`jsonl`: an entry a line, as the list has them; `csv`: a table. The filters are those of the list.",
  content: { "application/jsonl": "An entry a line", "text/csv": "A table" },
  errors: ["invalid_field"],
  query: { format: { type: "string", enum: ["jsonl", "csv"], default: "jsonl" }, ...FILTER_QUERY },
});

export const listActivity = (): RouteDocs => ({
  tag: "Users",
  summary: "What was done with one's own account: sign-ins, wrong passwords, changes; newest first",
  description: "Entries of the audit log that concern the caller's account.",
  data: ActivityPageRecord,
  errors: ["invalid_field"],
  query: PAGE_QUERY,
});
