import { t } from "elysia";
import { AppError } from "../../../errors.ts";
import { ok } from "../../../http/envelope.ts";
import { type authGuard, callerOf, uploaderOf } from "../../accounts/auth/guard.ts";
import type { Principal } from "../../accounts/auth/principal.ts";
import { presentContextOf } from "../../library/files/present.ts";
import type { StorageLimits } from "../../library/files/storage-limits.ts";
import { keyedRequest } from "../../library/idempotency/service.ts";
import type { Permissions } from "../../library/permissions/permissions.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { User } from "../../accounts/users/types.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { capabilities, uploadsPathOf, type TusRequest, TusRequests, type TusRequestsOptions } from "./tus-requests.ts";
import { type OwnSenderOptions, ownSender } from "./own-sender.ts";
import { presentTus } from "./present.ts";
import type { TusProgress } from "./service.ts";

/** Dependencies of the routes of accounts. */
export interface TusRoutesOptions extends OwnSenderOptions, TusRequestsOptions {
  readonly permissions: Permissions;
  readonly limitsOf: (user: User) => StorageLimits;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: (file: FileNode) => boolean;
}

const UploadParams = t.Object({ uploadId: t.String({ description: "tus_…, as Location gave it" }) });
const UPLOADS_PATH = "/api/tus";
const LISTED_MAX = 1_000;
const CHANGE_UPLOAD = { access: "writer", scope: "files:write", rate: "general" } as const;
const AUDITED_UPLOAD = { action: "file.upload", files: "all" } as const;

/** OPTIONS /api/tus: what this server supports, and the largest file of a signed-in user. */
export function tusOptionsRoutes({ limitsOf, guard }: TusRoutesOptions) {
  const declaration = { access: "public", rate: "general", audit: "unaudited", docs: "hidden" } as const;
  const setCapabilities = ({ request, set }: { request: Request; set: TusRequest["set"] }) => {
    const caller = callerOf(request);
    Object.assign(set.headers, capabilities(caller === undefined ? null : limitsOf(caller.user).maxFileSizeBytes));
    return new Response(null, { status: 204 });
  };
  return new Router({ guard })
    .options(UPLOADS_PATH, declaration, setCapabilities)
    .options(`${UPLOADS_PATH}/:uploadId`, declaration, setCapabilities);
}

/** /api/tus (https://tus.io/protocols/resumable-upload): files of any size, in uploads that can be resumed. */
export function tusRoutes(options: TusRoutesOptions) {
  const { tus, permissions, guard, hasThumbnail } = options;
  const requests = new TusRequests(options);
  const tusRequestOf = (request: Request, set: TusRequest["set"]): TusRequest => ({
    sender: ownSender(options, uploaderOf(request)),
    request,
    set,
    uploadsPath: uploadsPathOf(request, UPLOADS_PATH),
  });
  const present = ({ user }: Principal, progress: TusProgress, request: Request) => {
    const { fileId } = progress.tus.upload;
    const file = progress.file ?? (fileId === undefined ? undefined : findFile(permissions, user, fileId));
    return presentTus(progress, file, presentContextOf(request, hasThumbnail));
  };

  return new Router({ guard })
    .get(
      UPLOADS_PATH,
      {
        access: "reader",
        scope: "files:write",
        rate: "general",
        audit: "unaudited",
        docs: docs.list,
        acknowledges: true,
      },
      ({ principal, request, set }) => {
        const { sender } = tusRequestOf(request, set);
        const uploads = tus.list(sender, LISTED_MAX).map((found) => {
          return present(principal, { tus: found, offsetBytes: found.offsetBytes, file: undefined }, request);
        });
        return ok({ uploads });
      },
    )
    .post(
      UPLOADS_PATH,
      { ...CHANGE_UPLOAD, rate: "uploads", audit: AUDITED_UPLOAD, docs: docs.create, parse: "none" },
      async ({ principal, request, set }) => {
        const key = request.headers.get("idempotency-key");
        const progress = await requests.create(tusRequestOf(request, set), (parts) =>
          keyedRequest(principal.user.id, key, parts),
        );
        return ok(present(principal, progress, request));
      },
    )
    .get(
      `${UPLOADS_PATH}/:uploadId`,
      { ...CHANGE_UPLOAD, audit: "unaudited", docs: docs.progress, params: UploadParams, acknowledges: true },
      async ({ principal, params, request, set }) => {
        const progress = await requests.show(tusRequestOf(request, set), params.uploadId);
        return ok(present(principal, progress, request));
      },
    )
    .patch(
      `${UPLOADS_PATH}/:uploadId`,
      { ...CHANGE_UPLOAD, audit: AUDITED_UPLOAD, docs: docs.append, params: UploadParams, parse: "none" },
      ({ params, request, set }) => requests.append(tusRequestOf(request, set), params.uploadId),
    )
    .post(
      `${UPLOADS_PATH}/:uploadId`,
      { ...CHANGE_UPLOAD, audit: AUDITED_UPLOAD, docs: docs.override, params: UploadParams, parse: "none" },
      ({ params, request, set }) => requests.override(tusRequestOf(request, set), params.uploadId),
    )
    .delete(
      `${UPLOADS_PATH}/:uploadId`,
      { ...CHANGE_UPLOAD, audit: "unaudited", docs: docs.end, params: UploadParams },
      ({ params, request, set }) => requests.end(tusRequestOf(request, set), params.uploadId),
    );
}

/** The file that an upload became, if it still exists for this user. */
function findFile(permissions: Permissions, user: User, fileId: string): FileNode | undefined {
  try {
    return permissions.file(user, fileId, "read").node;
  } catch (error) {
    if (error instanceof AppError) return undefined; // deleted since then, or no longer shared
    throw error;
  }
}
