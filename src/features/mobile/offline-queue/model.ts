import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { ref } from "../../../http/documented.ts";
import { Timestamp } from "../../../http/fields.ts";
import type { OperationStatus } from "./types.ts";

const Id = t.String({ minLength: 1, maxLength: 200, description: "The device's own name for the operation" });
const OperationType = t.Union([t.Literal("upload"), t.Literal("delete")]);
const Priority = t.Union([t.Literal("high"), t.Literal("normal"), t.Literal("low")]);
const Status = t.Union([t.Literal("queued"), t.Literal("running"), t.Literal("completed"), t.Literal("failed")]);
const Path = t.String({ minLength: 1, maxLength: 8192 });

/** The maximum of operations in one request. */
export const OPERATIONS_MAX = 500;

/** POST queue/add */
export const AddBody = t.Object({
  operations: t.Array(
    t.Object({
      id: Id,
      type: OperationType,
      priority: t.Optional(Priority),
      createdAt: t.String({ description: "By the clock of the device; a future time counts as now" }),
      localPath: t.Optional(Path),
      remotePath: t.Optional(Path),
      fileId: t.Optional(t.String({ minLength: 1, maxLength: 200 })),
    }),
    { maxItems: OPERATIONS_MAX },
  ),
});

const ErrorItem = t.Object({
  code: t.String(),
  message: t.String(),
  details: t.Object({ reason: t.String() }, { additionalProperties: true }),
});

/** Response of queue/add. */
export const AddedRecord = t.Object({
  results: t.Array(t.Object({ id: t.String(), status: Status, error: t.Optional(ErrorItem) })),
});

/** Response of GET queue; `pagination` as in GET files. */
export const QueueRecord = {
  type: "object",
  required: ["operations", "pagination"],
  properties: {
    operations: t.Array(
      t.Object({
        id: t.String(),
        type: OperationType,
        priority: Priority,
        status: Status,
        attempts: Type.Integer({ minimum: 0 }),
        error: t.Optional(ErrorItem),
        createdAt: Timestamp,
        finishedAt: t.Union([Timestamp, t.Null()]),
      }),
    ),
    pagination: ref("Pagination"),
  },
};

export const STATUSES: readonly OperationStatus[] = ["queued", "running", "completed", "failed"];
