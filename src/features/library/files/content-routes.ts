import { type Digest, toChecksum } from "../../../blobs/digest.ts";
import { ok } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { IdParams, queryOf } from "../../../http/fields.ts";
import { type authGuard, requireScope, uploaderOf } from "../../accounts/auth/guard.ts";
import type { Principal } from "../../accounts/auth/principal.ts";
import { keyedRequest } from "../idempotency/service.ts";
import type { Permissions } from "../permissions/permissions.ts";
import type { RateGate } from "../../accounts/rate-limits/guard.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import type { ContentRequest, ContentSender } from "./content-sender.ts";
import { receiveBody, receiveForm } from "./incoming.ts";
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

/** Uploads and downloads: POST /api/files/upload, /api/files/{id}/content, download and checksum. */
export function fileContentRoutes(options: FileContentRoutesOptions) {
  const { files, permissions, sender, rateGate, guard, hasThumbnail, allowLong } = options;
  const contextOf = (request: Request) => ({ baseUrl: requestContextOf(request).baseUrl, hasThumbnail });

  const send = (principal: Principal, fileId: string, request: Request, set: ContentRequest["set"]) =>
    sender.send(files.open(principal.user, fileId).node, {
      request,
      set,
      query: queryOf(request),
      callerKey: `u:${principal.user.id}`,
      countWhole: () => rateGate.countWholeDownload(request, set.headers),
    });

  return new Router({ name: "file-content-routes", prefix: "/api/files", guard })
    .post(
      "/upload",
      {
        access: "writer",
        scope: "files:write",
        rate: "uploads",
        audit: { action: "file.upload", target: "file", files: "all" },
        docs: docs.upload,
        parse: "none",
      },
      async ({ principal, request, set }) => {
        const uploader = uploaderOf(request);
        const { user } = uploader;
        const key = request.headers.get("idempotency-key");
        // The share to upload into, if any, is in a field that may come last.
        const hosts = [user, ...permissions.hosts(user)];
        return receiveForm(files, request, { user, hosts, key, kind: "file" }, async (pendingUpload, form) => {
          const fields = readUploadFields(form.fields);
          if (fields.isPublic) requireScope(principal, "shares");
          const share = form.fields.get("share")?.at(-1) || undefined;
          const keyed = (digest: Digest) =>
            keyedRequest(user.id, key, ["upload", digest, form.file.fileName, [...form.fields]]);
          const { file } = await files.finishUpload(uploader, pendingUpload, form.file, fields, keyed, { share });
          if (fields.isPublic) notePublic(request, true, file.publicId);
          set.status = 201;
          return ok(presentUploaded(file, contextOf(request)));
        });
      },
    )
    .put(
      "/:id/content",
      {
        access: "writer",
        scope: "files:write",
        rate: "uploads",
        audit: { action: "file.replace", target: "file", targetParam: "id", files: "all" },
        docs: docs.replaceContent,
        params: IdParams,
        parse: "none",
      },
      async ({ params, request }) => {
        const uploader = uploaderOf(request);
        const { user } = uploader;
        const { owner } = files.open(user, params.id, "write");
        const declaredType = request.headers.get("content-type") ?? undefined;
        const key = request.headers.get("idempotency-key");
        return receiveBody(files, request, { user, hosts: [owner], key }, async (pendingUpload) => {
          const file = await files.finishReplacement(
            uploader,
            pendingUpload,
            { fileId: params.id, declaredType, precondition: preconditionOf(request) },
            (digest) => keyedRequest(user.id, key, ["content", params.id, digest, declaredType]),
          );
          return ok(presentUploaded(file, contextOf(request)));
        });
      },
    )
    .get(
      "/:id/download",
      {
        access: "reader",
        scope: "files:read",
        rate: { category: "downloads", thumbnails: "general" },
        audit: { action: "file.download", target: "file", targetParam: "id", files: "all" },
        docs: docs.download,
        params: IdParams,
      },
      ({ principal, params, request, set }) => send(principal, params.id, request, set),
    )
    .get(
      "/:id/checksum",
      {
        access: "reader",
        scope: "files:read",
        rate: "operations",
        audit: "unaudited",
        docs: docs.checkContent,
        params: IdParams,
      },
      async ({ principal, params, request }) => {
        allowLong(request);
        const { stored, actual, ok: isOk } = await files.checkContent(files.open(principal.user, params.id).node);
        return ok({ stored: toChecksum(stored), actual: actual && toChecksum(actual), ok: isOk });
      },
    );
}
