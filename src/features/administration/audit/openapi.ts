/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { AUDIT_ACTIONS } from "../../accounts/routing/audit-rule.ts";
import { AUDIT_OUTCOMES } from "./types.ts";
import { ActivityPageRecord, AuditPageRecord, LIMIT_DEFAULT, LIMIT_MAX } from "./model.ts";

const FILTER_QUERY = {
  user: { type: "string", description: "Id or email of the account that did it, or that it was done to" },
  action: {
    type: "string",
    description: `One of: ${AUDIT_ACTIONS.join(", ")}; or the part before the dot, for all of these`,
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
  summary: "List the audit log, newest first",
  description:
    "`user` is the account that did it, and `account` is the account that it was done to. Files and folders are " +
    "named only by their ids.",
  data: AuditPageRecord,
  errors: ["invalid_field"],
  query: { ...FILTER_QUERY, ...PAGE_QUERY },
});

export const exportAudit = (): RouteDocs => ({
  tag: "Administration",
  summary: "Download the audit log, newest first",
  description: "`jsonl`: one entry per line, as in the list. `csv`: a table. The filters are those of the list.",
  content: { "application/jsonl": "One entry per line", "text/csv": "A table" },
  errors: ["invalid_field"],
  query: { format: { type: "string", enum: ["jsonl", "csv"], default: "jsonl" }, ...FILTER_QUERY },
});

export const listActivity = (): RouteDocs => ({
  tag: "Users",
  summary: "List the activity of your account, newest first",
  description: "Sign-ins, wrong passwords and changes: the entries of the audit log that concern your account.",
  data: ActivityPageRecord,
  errors: ["invalid_field"],
  query: PAGE_QUERY,
});
