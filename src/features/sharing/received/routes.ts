import { Elysia } from "elysia";
import { documented } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { IdParams } from "../../../http/fields.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { LeftShareRecord, ReceivedSharesRecord } from "./model.ts";
import { presentReceived } from "./present.ts";
import type { ReceivedShareService } from "./service.ts";

/** What the routes of received shares work with. */
export interface ReceivedShareRoutesOptions {
  readonly received: ReceivedShareService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: (file: FileNode) => boolean;
}

/** /api/shares/received… (contract §5, between accounts). */
export function receivedShareRoutes({ received, guard, hasThumbnail }: ReceivedShareRoutesOptions) {
  return new Elysia({ name: "received-share-routes", prefix: "/api/shares/received" })
    .use(guard)
    .get(
      "/",
      ({ principal, request }) => {
        const context = { baseUrl: requestContextOf(request).baseUrl, hasThumbnail };
        return ok({ shares: received.list(principal.user).map((share) => presentReceived(share, context)) });
      },
      {
        access: "reader",
        ...documented({
          tag: "Shares",
          summary: "What others share with you",
          description:
            "Newest first, at most 1,000. The ids in it work at the file and folder endpoints, as far as permissions says; " +
            "GET /api/files?share={id} lists a shared folder. Expired shares, and those of disabled accounts, are not in it.",
          access: "reader",
          data: ReceivedSharesRecord,
        }),
      },
    )
    .delete(
      "/:id",
      async ({ principal, params }) => {
        await received.leave(principal.user, params.id);
        return ok({ id: params.id }, "You have left this share. Its owner can share it with you again.");
      },
      {
        access: "writer",
        params: IdParams,
        ...documented({
          tag: "Shares",
          summary: "Leave a share that was made for you",
          description: "Nothing of what was shared changes. The owner is told as when they end it themselves.",
          access: "writer",
          data: LeftShareRecord,
          errors: ["not_found", "invalid_field"],
        }),
      },
    );
}
