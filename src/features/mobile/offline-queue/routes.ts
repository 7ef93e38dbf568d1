import { invalidField } from "../../../errors.ts";
import { ok, paginate } from "../../../http/envelope.ts";
import { readChoice, readInteger, queryOf, readInstant } from "../../../http/fields.ts";
import { say } from "../../../translations/say.ts";
import { type authGuard, deviceOf } from "../../accounts/auth/guard.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { AddBody, OPERATIONS_MAX, STATUSES } from "./model.ts";
import { presentAdded, presentOperation } from "./present.ts";
import type { QueueService } from "./service.ts";
import type { NewOperation } from "./types.ts";

/** Options of {@link queueRoutes}. */
export interface QueueRoutesOptions {
  readonly queue: QueueService;
  readonly guard: ReturnType<typeof authGuard>;
}

/** The routes below /api/mobile/queue. */
export function queueRoutes({ queue, guard }: QueueRoutesOptions) {
  return new Router({ prefix: "/api/mobile/queue", guard })
    .post(
      "/add",
      { access: "deviceWriter", scope: "device", rate: "general", audit: "unaudited", docs: docs.add, body: AddBody },
      async ({ principal, body, request }) => {
        const added = await queue.add(principal.user, deviceOf(principal), body.operations.map(readOperation));
        return ok({ results: added.map((one) => presentAdded(one, request)) });
      },
    )
    .get(
      "/",
      {
        access: "device",
        scope: "device",
        rate: "general",
        audit: "unaudited",
        docs: docs.list,
        acknowledges: true,
      },
      ({ principal, request }) => {
        const query = queryOf(request);
        const status = readChoice(query["status"], "status", STATUSES);
        const page = readInteger(query, "page", { min: 1, max: Number.MAX_SAFE_INTEGER, default: 1 });
        const limit = readInteger(query, "limit", { min: 1, max: OPERATIONS_MAX, default: OPERATIONS_MAX });
        const offset = Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER);
        const { operations, total } = queue.list(deviceOf(principal), { status, offset, limit });
        return ok({
          operations: operations.map((one) => presentOperation(one, request)),
          pagination: paginate(page, limit, total),
        });
      },
    );
}

/** Checks that the operation has the fields that its type requires. @throws AppError invalid_field */
function readOperation(operation: (typeof AddBody.static)["operations"][number], index: number): NewOperation {
  const { id, type, priority = "normal", createdAt, localPath, remotePath, fileId } = operation;
  const at = `operations.${index}`;
  const instant = readInstant(createdAt, `${at}.createdAt`);
  if (instant === undefined)
    throw invalidField(`${at}.createdAt`, say`createdAt must be an ISO 8601 time with an offset.`);
  const created = { id, type, priority, createdAtMs: Date.parse(instant) };
  if (type === "upload") {
    const missing = localPath === undefined ? "localPath" : "remotePath";
    if (localPath === undefined || remotePath === undefined)
      throw invalidField(`${at}.${missing}`, say`An upload requires localPath and remotePath.`);
    return { ...created, remotePath };
  }
  if (fileId === undefined) throw invalidField(`${at}.fileId`, say`A delete requires fileId.`);
  return { ...created, fileId };
}
