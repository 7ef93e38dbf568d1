import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { ref } from "../../../http/documented.ts";
import { Timestamp } from "../../../http/fields.ts";
import { FINDING_KINDS } from "./types.ts";

const Count = Type.Integer({ minimum: 0 });
const TimestampOrNone = t.Union([Timestamp, t.Null()]);
const Kind = t.String({
  enum: [...FINDING_KINDS],
  description: "database: its structure; the others are of one content",
});

/** An entry of GET /api/admin/findings. */
export const FindingRecord = t.Object({
  id: t.String(),
  kind: Kind,
  checksum: t.Union([t.String(), t.Null()], { description: "The content: what it should be" }),
  size: t.Union([Count, t.Null()]),
  detail: t.String({ examples: ["it has 1024 bytes instead of 4096"] }),
  files: Type.Integer({ description: "How many files have or had this content; whose and which, larder verify tells" }),
  foundAt: Timestamp,
  seenAt: t.String({ format: "date-time", description: "When a reading last found it so" }),
  resolvedAt: TimestampOrNone,
  resolution: t.Union([t.String(), t.Null()], {
    description: "healed: found whole since; removed: no file has the content any more",
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
    description: "When the content was read and found whole, or stored, that was read longest ago",
  }),
  readWithinDays: t.Union([t.Number(), t.Null()], {
    description: "Every byte was read again, or stored, within so many days; null in an empty store",
  }),
  scrubWithinDays: t.Number({ description: "As scrub.within asks for" }),
});

export const STATES = ["open", "resolved", "all"] as const;
export const LIMIT_MAX = 100;
export const LIMIT_DEFAULT = 20;
