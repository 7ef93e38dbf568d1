import { Elysia, t } from "elysia";
import { AppError } from "../../../errors.ts";
import { documented } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { type authGuard, callerOf, uploaderOf } from "../../accounts/auth/guard.ts";
import type { Principal } from "../../accounts/auth/principal.ts";
import type { StorageLimits } from "../../library/files/service.ts";
import { keyedRequest } from "../../library/idempotency/service.ts";
import type { Permissions } from "../../library/permissions/permissions.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { User } from "../../accounts/users/types.ts";
import { capabilities, homeOf, type TusCall, TusCalls, type TusCallsOptions } from "./guard.ts";
import { FirstBytes, OffsetBytes, TusListRecord, TusRecord } from "./model.ts";
import { type OwnSenderOptions, ownSender } from "./own-sender.ts";
import { presentTus } from "./present.ts";
import type { TusProgress } from "./service.ts";

/** What the routes of accounts work with. */
export interface TusRoutesOptions extends OwnSenderOptions, TusCallsOptions {
  readonly permissions: Permissions;
  readonly limitsOf: (user: User) => StorageLimits;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: (file: FileNode) => boolean;
}

const UploadParams = t.Object({ uploadId: t.String({ description: "tus_…, as Location gave it" }) });
const HOME = "/api/tus";
const LISTED_MAX = 1_000;

/** Headers of requests, for the document. */
export const TUS_HEADERS = { "Tus-Resumable": "1.0.0" };
/** Headers of the request that begins an upload. */
export const CREATION_HEADERS = {
  ...TUS_HEADERS,
  "Upload-Length": "Bytes of the file",
  "Upload-Defer-Length": "1 where the length is told later, by a PATCH with Upload-Length",
  "Upload-Metadata":
    "filename, filetype, folder, relativePath, onConflict, checksum, tags, metadata, description, lastModified, capturedAt, share; each with its value in base64",
  "Upload-Concat": "partial, or final; and the addresses of the parts",
  "Upload-Checksum": "Of the first bytes, where they come along: sha1, sha256 or md5, and the digest in base64",
};
/** Headers of a request with bytes. */
export const BYTES_HEADERS = {
  ...TUS_HEADERS,
  "Upload-Offset": "Where these bytes belong",
  "Upload-Length": "What a deferred length turns out to be",
  "Upload-Checksum": "sha1, sha256 or md5, and the digest of these bytes in base64",
};
/** What may be refused of the bytes of an upload, and of the file that it becomes. */
export const BYTES_ERRORS = [
  "invalid_field",
  "invalid_path",
  "path_too_long",
  "not_found",
  "not_a_folder",
  "share_permission",
  "precondition_failed",
  "unsupported_media_type",
  "upload_offset",
  "upload_state",
  "upload_expired",
  "final_upload",
  "chunk_checksum",
  "checksum_mismatch",
  "name_taken",
  "file_too_large",
  "quota_exceeded",
  "body_too_large",
  "storage_error",
  "store_missing",
  "disk_full",
] as const;

/** /api/tus (contract §4; https://tus.io/protocols/resumable-upload): files of any size, sent on where they broke off. */
export function tusRoutes(options: TusRoutesOptions) {
  const { tus, permissions, limitsOf, guard, hasThumbnail } = options;
  const calls = new TusCalls(options);
  const callOf = (request: Request, set: TusCall["set"]): TusCall => ({
    sender: ownSender(options, uploaderOf(request)),
    request,
    set,
    home: homeOf(request, HOME),
  });
  const present = ({ user }: Principal, progress: TusProgress, request: Request) => {
    const { fileId } = progress.tus.upload;
    const file = progress.file ?? (fileId === undefined ? undefined : findFile(permissions, user, fileId));
    return presentTus(progress, file, { baseUrl: requestContextOf(request).baseUrl, hasThumbnail });
  };
  const setCapabilities = ({ request, set }: { request: Request; set: TusCall["set"] }) => {
    const caller = callerOf(request);
    Object.assign(set.headers, capabilities(caller === undefined ? null : limitsOf(caller.user).maxFileSizeBytes));
    return new Response(null, { status: 204 });
  };

  return new Elysia({ name: "tus-routes" })
    .use(guard)
    .options(HOME, setCapabilities, { access: "public" })
    .options(`${HOME}/:uploadId`, setCapabilities, { access: "public" })
    .get(
      HOME,
      ({ principal, request, set }) => {
        const { sender } = callOf(request, set);
        const uploads = tus.list(sender, LISTED_MAX).map((found) => {
          return present(principal, { tus: found, offsetBytes: found.offsetBytes, file: undefined }, request);
        });
        return ok({ uploads });
      },
      {
        access: "reader",
        ...documented({
          tag: "Files",
          summary: "Resumable uploads that are under way",
          description:
            "The newest first, a thousand at most. The offset is that of the last step that was made durable.",
          access: "reader",
          data: TusListRecord,
        }),
      },
    )
    .post(
      HOME,
      async ({ principal, request, set }) => {
        const key = request.headers.get("idempotency-key");
        const progress = await calls.create(callOf(request, set), (parts) =>
          keyedRequest(principal.user.id, key, parts),
        );
        return ok(present(principal, progress, request));
      },
      {
        access: "writer",
        parse: "none",
        ...documented({
          tag: "Files",
          summary: "Begin a resumable upload",
          description:
            "tus 1.0.0, with creation, creation-with-upload, creation-defer-length, expiration, checksum, termination and " +
            "concatenation. Quota and room are held for its length until it is complete, ended, or 24 hours have passed " +
            "without a byte. Location is its address; Larder-File-Id names the file once it is complete.",
          access: "writer",
          status: 201,
          headers: {
            ...CREATION_HEADERS,
            "Idempotency-Key": "The same key within 24 hours gets the same upload again",
          },
          requestBody: FirstBytes,
          data: TusRecord,
          errors: [...BYTES_ERRORS, "idempotency_key"],
        }),
      },
    )
    .get(
      `${HOME}/:uploadId`,
      async ({ principal, params, request, set }) => {
        const progress = await calls.show(callOf(request, set), params.uploadId);
        return ok(present(principal, progress, request));
      },
      {
        access: "writer",
        params: UploadParams,
        ...documented({
          tag: "Files",
          summary: "How far a resumable upload is",
          description:
            "HEAD tells it in headers, as tus has it. Upload-Offset is what is durable. An upload that has all its bytes, " +
            "but was kept from becoming a file, becomes one now.",
          access: "writer",
          headers: TUS_HEADERS,
          data: TusRecord,
          errors: BYTES_ERRORS,
        }),
      },
    )
    .patch(`${HOME}/:uploadId`, ({ params, request, set }) => calls.append(callOf(request, set), params.uploadId), {
      access: "writer",
      parse: "none",
      params: UploadParams,
      ...documented({
        tag: "Files",
        summary: "Send bytes of a resumable upload",
        description:
          "Durable on return. The received bytes of a request that broke off are stored. A new request takes over from an " +
          "earlier one. The last bytes make the file.",
        access: "writer",
        status: 204,
        headers: BYTES_HEADERS,
        requestBody: OffsetBytes,
        errors: BYTES_ERRORS,
      }),
    })
    .post(`${HOME}/:uploadId`, ({ params, request, set }) => calls.override(callOf(request, set), params.uploadId), {
      access: "writer",
      parse: "none",
      params: UploadParams,
      ...documented({
        tag: "Files",
        summary: "PATCH, HEAD or DELETE of a resumable upload, for clients that can't send these",
        description: "The method is named by the header X-HTTP-Method-Override.",
        access: "writer",
        status: 204,
        otherResponses: { 200: "In place of HEAD" },
        headers: { ...BYTES_HEADERS, "X-HTTP-Method-Override": "PATCH, HEAD or DELETE" },
        requestBody: OffsetBytes,
        errors: [...BYTES_ERRORS, "method_not_allowed"],
      }),
    })
    .delete(`${HOME}/:uploadId`, ({ params, request, set }) => calls.end(callOf(request, set), params.uploadId), {
      access: "writer",
      params: UploadParams,
      ...documented({
        tag: "Files",
        summary: "End a resumable upload",
        description: "Its bytes go, and what was held for it is free. The file of one that is complete stays.",
        access: "writer",
        status: 204,
        headers: TUS_HEADERS,
        errors: ["not_found", "precondition_failed", "upload_expired"],
      }),
    });
}

/** The file that an upload became, where it is still there for this user. */
function findFile(permissions: Permissions, user: User, fileId: string): FileNode | undefined {
  try {
    return permissions.file(user, fileId, "read").node;
  } catch (error) {
    if (error instanceof AppError) return undefined; // deleted meanwhile, or not shared any more
    throw error;
  }
}
