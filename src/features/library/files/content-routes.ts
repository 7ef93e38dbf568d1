import { Elysia } from "elysia";
import { type Digest, toChecksum } from "../../../blobs/digest.ts";
import { documented, ref } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { IdParams, readQuery } from "../../../http/fields.ts";
import { DEFAULT_FORM_LIMITS, readMultipart } from "../../../http/read-multipart.ts";
import { declaredBytes, readBody } from "../../../http/request-body.ts";
import { type authGuard, requireScope, uploaderOf } from "../../accounts/auth/guard.ts";
import type { Principal } from "../../accounts/auth/principal.ts";
import { keyedRequest } from "../idempotency/service.ts";
import type { Permissions } from "../permissions/permissions.ts";
import type { RateGate } from "../../accounts/rate-limits/guard.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { ContentRequest, ContentSender } from "./content-sender.ts";
import { ContentCheckRecord, DOWNLOAD_DOCUMENTATION, RawRequest, UploadRequest } from "./model.ts";
import { presentUploaded } from "./present.ts";
import { notePublic, preconditionOf } from "./routes.ts";
import type { FileService } from "./service.ts";
import { readUploadFields } from "./upload-form.ts";

/** What the routes that carry bytes work with. */
export interface FileContentRoutesOptions {
  readonly files: FileService;
  readonly permissions: Permissions;
  readonly sender: ContentSender;
  readonly rateGate: RateGate;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: (file: FileNode) => boolean;
  /** Lets a request take as long as it needs: the server's idle time-out is for silent clients. */
  readonly allowLong: (request: Request) => void;
}

/** Uploads and downloads: POST /api/files/upload, /api/files/{id}/content, download and checksum (api.md, Files; contract §4). */
export function fileContentRoutes(options: FileContentRoutesOptions) {
  const { files, permissions, sender, rateGate, guard, hasThumbnail, allowLong } = options;
  const contextOf = (request: Request) => ({ baseUrl: requestContextOf(request).baseUrl, hasThumbnail });

  const send = (principal: Principal, fileId: string, request: Request, set: ContentRequest["set"]) =>
    sender.send(files.open(principal.user, fileId).node, {
      request,
      set,
      query: readQuery(requestContextOf(request).query),
      callerKey: `u:${principal.user.id}`,
      countWhole: () => rateGate.countWholeDownload(request, set.headers),
    });

  return new Elysia({ name: "file-content-routes", prefix: "/api/files" })
    .use(guard)
    .post(
      "/upload",
      async ({ principal, request, set }) => {
        const uploader = uploaderOf(request);
        const { user } = uploader;
        const key = request.headers.get("idempotency-key");
        // Below which share it goes, if any, is told by a field that may come last.
        const hosts = [user, ...permissions.hosts(user)];
        const pendingUpload = files.beginUpload(user, declaredBytes(request), { isForm: true, key, hosts });
        try {
          const form = await readMultipart(request.headers.get("content-type"), request.body, DEFAULT_FORM_LIMITS, {
            beginFile: () => pendingUpload.incoming,
            pace: requestContextOf(request).paceOf("small"),
            fileKind: "file",
          });
          const fields = readUploadFields(form.fields);
          if (fields.isPublic) requireScope(principal, "shares");
          const share = form.fields.get("share")?.at(-1) || undefined;
          const keyed = (digest: Digest) =>
            keyedRequest(user.id, key, ["upload", digest, form.file.fileName, [...form.fields]]);
          const { file } = await files.finishUpload(uploader, pendingUpload, form.file, fields, keyed, { share });
          if (fields.isPublic) notePublic(request, true, file.publicId);
          set.status = 201;
          return ok(presentUploaded(file, contextOf(request)));
        } finally {
          pendingUpload.discard();
        }
      },
      {
        access: "writer",
        parse: "none",
        ...documented({
          tag: "Files",
          summary: "Upload a file",
          description:
            "Fields may come in any order. The answer is sent when content and record are on disk. With share it goes " +
            "below a folder that somebody shares with you for writing, and counts for them.",
          access: "writer",
          status: 201,
          requestBody: UploadRequest,
          headers: { "Idempotency-Key": "The same key within 24 hours gets the first answer again" },
          data: ref("UploadedFile"),
          errors: [
            "invalid_multipart",
            "invalid_field",
            "invalid_path",
            "path_too_long",
            "not_a_folder",
            "not_found",
            "share_permission",
            "email_unconfirmed",
            "checksum_mismatch",
            "name_taken",
            "idempotency_key",
            "file_too_large",
            "quota_exceeded",
            "unsupported_media_type",
            "storage_error",
            "store_missing",
            "disk_full",
          ],
        }),
      },
    )
    .put(
      "/:id/content",
      async ({ params, request }) => {
        const uploader = uploaderOf(request);
        const { user } = uploader;
        const { owner } = files.open(user, params.id, "write");
        const declaredType = request.headers.get("content-type") ?? undefined;
        const key = request.headers.get("idempotency-key");
        const pendingUpload = files.beginUpload(user, declaredBytes(request), { isForm: false, key, hosts: [owner] });
        try {
          await readBody(request, "file", (piece) => pendingUpload.incoming.write(piece));
          const file = await files.finishReplacement(
            uploader,
            pendingUpload,
            { fileId: params.id, declaredType, precondition: preconditionOf(request) },
            (digest) => keyedRequest(user.id, key, ["content", params.id, digest, declaredType]),
          );
          return ok(presentUploaded(file, contextOf(request)));
        } finally {
          pendingUpload.discard();
        }
      },
      {
        access: "writer",
        parse: "none",
        params: IdParams,
        ...documented({
          tag: "Files",
          summary: "Store a new version of a file's content",
          description: "The body is the content. The previous content becomes an earlier version.",
          access: "writer",
          requestBody: RawRequest,
          headers: {
            "If-Match": "Only if the content has this ETag",
            "Idempotency-Key": "The same key within 24 hours gets the first answer again",
          },
          data: ref("UploadedFile"),
          errors: [
            "not_found",
            "invalid_field",
            "share_permission",
            "precondition_failed",
            "idempotency_key",
            "file_too_large",
            "quota_exceeded",
            "storage_error",
            "store_missing",
            "disk_full",
          ],
        }),
      },
    )
    .get("/:id/download", ({ principal, params, request, set }) => send(principal, params.id, request, set), {
      access: "reader",
      params: IdParams,
      ...documented({
        tag: "Files",
        summary: "The content of a file, or its thumbnail",
        description: "Supports ranges and conditional requests (RFC 9110).",
        access: "reader",
        ...DOWNLOAD_DOCUMENTATION,
      }),
    })
    .get(
      "/:id/checksum",
      async ({ principal, params, request }) => {
        allowLong(request);
        const { stored, actual, ok: isOk } = await files.checkContent(files.open(principal.user, params.id).node);
        return ok({ stored: toChecksum(stored), actual: actual && toChecksum(actual), ok: isOk });
      },
      {
        access: "reader",
        params: IdParams,
        ...documented({
          tag: "Files",
          summary: "Read the content again and compare it with its digest",
          description: "Reads the whole file from the disk.",
          access: "reader",
          data: ContentCheckRecord,
          errors: ["not_found", "invalid_field", "storage_error"],
        }),
      },
    );
}
