import { Elysia } from "elysia";
import { invalidField } from "../../../errors.ts";
import { documented } from "../../../http/documented.ts";
import { ok, paginate } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { readChoice, readInteger, readQuery, readInstant } from "../../../http/fields.ts";
import { type authGuard, deviceOf, takesJson } from "../../accounts/auth/guard.ts";
import { AddBody, AddedRecord, OPERATIONS_MAX, QueueRecord } from "./model.ts";
import { presentAdded, presentOperation } from "./present.ts";
import type { QueueService } from "./service.ts";
import type { NewOperation, OperationStatus } from "./types.ts";

/** What the routes of the offline queue work with. */
export interface QueueRoutesOptions {
  readonly queue: QueueService;
  readonly guard: ReturnType<typeof authGuard>;
}

const STATUSES: readonly OperationStatus[] = ["queued", "running", "completed", "failed"];

/** /api/mobile/queue (api.md, Mobile; contract §7). */
export function queueRoutes({ queue, guard }: QueueRoutesOptions) {
  return new Elysia({ name: "queue-routes", prefix: "/api/mobile/queue" })
    .use(guard)
    .post(
      "/add",
      async ({ principal, body }) => {
        const added = await queue.add(principal.user, deviceOf(principal), body.operations.map(readOperation));
        return ok({ results: added.map(presentAdded) });
      },
      {
        ...takesJson("deviceWriter", AddBody),
        ...documented({
          takesJson: true,
          tag: "Mobile",
          summary: "Queue what was wanted while offline",
          description:
            "Each operation by itself, served high, normal, low, then by createdAt. An id that is known gives its present " +
            "status. A delete (fileId) is carried out by the server; an upload (localPath, remotePath) waits, 30 days at " +
            "most, until a file arrives at remotePath, and is complete at once where one is there that is newer than " +
            "createdAt. One with an error that was not known before is not kept: send it again, corrected.",
          access: "deviceWriter",
          data: AddedRecord,
          errors: ["overloaded", "disk_full"],
        }),
      },
    )
    .get(
      "/",
      ({ principal, request }) => {
        const query = readQuery(requestContextOf(request).query);
        const status = readChoice(query["status"], "status", STATUSES);
        const page = readInteger(query, "page", { min: 1, max: Number.MAX_SAFE_INTEGER, default: 1 });
        const limit = readInteger(query, "limit", { min: 1, max: OPERATIONS_MAX, default: OPERATIONS_MAX });
        const offset = Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER);
        const { operations, total } = queue.list(deviceOf(principal), { status, offset, limit });
        return ok({ operations: operations.map(presentOperation), pagination: paginate(page, limit, total) });
      },
      {
        access: "device",
        ...documented({
          tag: "Mobile",
          summary: "The calling device's queue",
          description:
            "What waits, then what failed, then what is done, each in the order in which it is served. Finished " +
            "operations are forgotten after 7 days.",
          access: "device",
          query: {
            status: { type: "string", enum: STATUSES },
            page: { type: "integer", minimum: 1, default: 1 },
            limit: { type: "integer", minimum: 1, maximum: OPERATIONS_MAX, default: OPERATIONS_MAX },
          },
          data: QueueRecord,
          errors: ["invalid_field"],
        }),
      },
    );
}

/** What each type needs is there; @throws AppError invalid_field */
function readOperation(operation: (typeof AddBody.static)["operations"][number], index: number): NewOperation {
  const { id, type, priority = "normal", createdAt, localPath, remotePath, fileId } = operation;
  const at = `operations.${index}`;
  const instant = readInstant(createdAt, `${at}.createdAt`);
  if (instant === undefined)
    throw invalidField(`${at}.createdAt`, "createdAt must be an ISO 8601 time with its offset.");
  const created = { id, type, priority, createdAtMs: Date.parse(instant) };
  if (type === "upload") {
    if (localPath === undefined) throw invalidField(`${at}.localPath`, "An upload needs localPath and remotePath.");
    if (remotePath === undefined) throw invalidField(`${at}.remotePath`, "An upload needs localPath and remotePath.");
    return { ...created, remotePath };
  }
  if (fileId === undefined) throw invalidField(`${at}.fileId`, "A delete needs fileId.");
  return { ...created, fileId };
}
