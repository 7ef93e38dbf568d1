import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { ref } from "../../../http/documented.ts";
import { Timestamp } from "../../../http/fields.ts";
import { FINDING_KINDS } from "./types.ts";

const Count = Type.Integer({ minimum: 0 });
const TimestampOrNone = t.Union([Timestamp, t.Null()]);
const Kind = t.String({
  enum: [...FINDING_KINDS],
  description: "database: its structure; the others: one file content",
});

/** An entry of GET /api/admin/findings. */
export const FindingRecord = t.Object({
  id: t.String(),
  kind: Kind,
  checksum: t.Union([t.String(), t.Null()], { description: "Expected checksum of the content" }),
  size: t.Union([Count, t.Null()]),
  detail: t.String({ examples: ["it has 1024 bytes instead of 4096"] }),
  files: Type.Integer({ description: "Number of files that have or had this content; `larder verify` lists them" }),
  foundAt: Timestamp,
  seenAt: t.String({ format: "date-time", description: "When it was last detected" }),
  resolvedAt: TimestampOrNone,
  resolution: t.Union([t.String(), t.Null()], {
    description: "healed: found intact since; removed: no file has the content anymore",
  }),
});

/** GET /api/admin/findings */
export const FindingPageRecord = {
  type: "object",
  required: ["findings", "pagination"],
  properties: { findings: t.Array(FindingRecord), pagination: ref("Pagination") },
};

/** `integrity` in GET /api/admin/stats. */
export const IntegrityRecord = t.Object({
  openFindings: t.Record(t.String(), Count, { description: "By kind" }),
  oldestReadingAt: t.Union([Timestamp, t.Null()], {
    description: "When the blob that was verified longest ago was read or stored",
  }),
  readWithinDays: t.Union([t.Number(), t.Null()], {
    description: "Every byte was read or stored within this number of days; null in an empty store",
  }),
  scrubWithinDays: t.Number({ description: "As the setting scrub.within requires" }),
});

export const STATES = ["open", "resolved", "all"] as const;
export const LIMIT_MAX = 100;
export const LIMIT_DEFAULT = 20;
