/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { AddedRecord, OPERATIONS_MAX, QueueRecord, STATUSES } from "./model.ts";

export const add = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Queue what was wanted while offline",
  description:
    "Each operation by itself, served high, normal, low, then by createdAt. An id that is known gives its present " +
    "status. A delete (fileId) is carried out by the server; an upload (localPath, remotePath) waits, 30 days at " +
    "most, until a file arrives at remotePath, and is complete at once where one is there that is newer than " +
    "createdAt. One with an error that was not known before is not kept: send it again, corrected.",
  data: AddedRecord,
  errors: ["overloaded", "disk_full"],
});

export const list = (): RouteDocs => ({
  tag: "Mobile",
  summary: "The calling device's queue",
  description:
    "What waits, then what failed, then what is done, each in the order in which it is served. Finished " +
    "operations are forgotten after 7 days.",
  query: {
    status: { type: "string", enum: STATUSES },
    page: { type: "integer", minimum: 1, default: 1 },
    limit: { type: "integer", minimum: 1, maximum: OPERATIONS_MAX, default: OPERATIONS_MAX },
  },
  data: QueueRecord,
  errors: ["invalid_field"],
});
