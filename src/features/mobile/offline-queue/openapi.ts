/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { AddedRecord, OPERATIONS_MAX, QueueRecord, STATUSES } from "./model.ts";

export const add = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Queue operations that were requested offline",
  description:
    "Each operation is processed separately: high, normal, then low priority, then by createdAt. A known id " +
    "returns its current status. A `delete` (fileId) is done by the server. An `upload` (localPath, remotePath) " +
    "waits for at most 30 days until a file arrives at remotePath. It is complete at once if a file newer than " +
    "createdAt is there. A new operation with an error is not saved: correct it and send it again.",
  data: AddedRecord,
  errors: ["overloaded", "disk_full"],
});

export const list = (): RouteDocs => ({
  tag: "Mobile",
  summary: "List the queue of this device",
  description:
    "Waiting, then failed, then completed operations, each in the order of processing. Completed operations are " +
    "deleted after 7 days.",
  query: {
    status: { type: "string", enum: STATUSES },
    page: { type: "integer", minimum: 1, default: 1 },
    limit: { type: "integer", minimum: 1, maximum: OPERATIONS_MAX, default: OPERATIONS_MAX },
  },
  data: QueueRecord,
  errors: ["invalid_field"],
});
