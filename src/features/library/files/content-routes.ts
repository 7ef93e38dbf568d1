import { toChecksum } from "../../../blobs/digest.ts";
import { notFound } from "../../../errors.ts";
import { ok } from "../../../http/envelope.ts";
import { IdParams } from "../../../http/fields.ts";
import { type authGuard, requireScope, uploaderOf } from "../../accounts/auth/guard.ts";
import { keyedRequest } from "../idempotency/service.ts";
import type { LivePairs } from "../photos/live-pairs.ts";
import type { Permissions } from "../permissions/permissions.ts";
import type { RateGate } from "../../accounts/rate-limits/guard.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import { READ_FILES } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { type ContentSender, downloadBy } from "./content-sender.ts";
import { receiveBody, receiveForm } from "./incoming.ts";
import { presentContextOf, presentUploaded } from "./present.ts";
import { notePublic, preconditionOf } from "./routes.ts";
import type { FileService } from "./service.ts";
import { readUploadFields } from "./upload-form.ts";

/** Dependencies of the routes that transfer file content. */
export interface FileContentRoutesOptions {
  readonly files: FileService;
  readonly permissions: Permissions;
  readonly sender: ContentSender;
  readonly livePairs: Pick<LivePairs, "findVideo">;
  readonly rateGate: RateGate;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: (file: FileNode) => boolean;
  /** Disables the idle timeout of a request. */
  readonly allowLong: (request: Request) => void;
}

/** POST /api/files/upload and PUT /api/files/{id}/content. */
export function fileUploadRoutes({ files, permissions, guard, hasThumbnail }: FileContentRoutesOptions) {
  const present = (file: FileNode, request: Request) => presentUploaded(file, presentContextOf(request, hasThumbnail));

  return new Router({ prefix: "/api/files", guard })
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
        const possibleOwners = [user, ...permissions.writableOwners(user)];
        return receiveForm(files, request, { user, possibleOwners, key, kind: "file" }, async (pendingUpload, form) => {
          const fields = readUploadFields(form.fields);
          if (fields.isPublic) requireScope(principal, "shares");
          const share = form.fields.get("share")?.at(-1) || undefined;
          const { file } = await files.finishUpload(uploader, pendingUpload, form.file, fields, {
            share,
            keyed: (digest) => keyedRequest(user.id, key, ["upload", digest, form.file.fileName, [...form.fields]]),
          });
          if (fields.isPublic) notePublic(request, true, file.publicId);
          set.status = 201;
          return ok(present(file, request));
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
        return receiveBody(files, request, { user, possibleOwners: [owner], key }, async (pendingUpload) => {
          const file = await files.finishReplacement(
            uploader,
            pendingUpload,
            { fileId: params.id, declaredType, precondition: preconditionOf(request) },
            (digest) => keyedRequest(user.id, key, ["content", params.id, digest, declaredType]),
          );
          return ok(present(file, request));
        });
      },
    );
}

/** GET /api/files/{id}/download, motion and checksum. */
export function fileDownloadRoutes({ files, sender, livePairs, rateGate, guard, allowLong }: FileContentRoutesOptions) {
  return new Router({ prefix: "/api/files", guard })
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
      ({ principal, params, request, set }) => {
        const { node } = files.open(principal.user, params.id);
        return sender.send(node, downloadBy({ principal, request, set }, rateGate));
      },
    )
    .get(
      "/:id/motion",
      {
        access: "reader",
        scope: "files:read",
        rate: "downloads",
        audit: { action: "file.download", target: "file", targetParam: "id", files: "all" },
        docs: docs.motion,
        params: IdParams,
      },
      ({ principal, params, request, set }) => {
        const { node } = files.open(principal.user, params.id);
        const video = livePairs.findVideo(node);
        if (video === undefined) throw notFound(say`The video of this photo was not found.`);
        const download = downloadBy({ principal, request, set }, rateGate);
        if (!("fileId" in video)) return sender.sendPart(node, video, download);
        // Who can open the photo may not be able to open its video: it can be in a folder that is not shared.
        return sender.send(files.open(principal.user, video.fileId).node, {
          ...download,
          query: { ...download.query, thumbnail: undefined },
        });
      },
    )
    .get(
      "/:id/checksum",
      { ...READ_FILES, docs: docs.checkContent, params: IdParams },
      async ({ principal, params, request }) => {
        allowLong(request);
        const { stored, actual, ok: isOk } = await files.checkContent(files.open(principal.user, params.id).node);
        return ok({ stored: toChecksum(stored), actual: actual && toChecksum(actual), ok: isOk });
      },
    );
}
