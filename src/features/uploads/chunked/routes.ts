import { parseChecksum } from "../../../blobs/digest.ts";
import { AppError, invalidField, notFound } from "../../../errors.ts";
import { ok } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { readBoolean, readQuery, readInstant } from "../../../http/fields.ts";
import { type authGuard, deviceOf, identityOf, requirePrincipal, uploaderOf } from "../../accounts/auth/guard.ts";
import type { Uploader } from "../../accounts/auth/principal.ts";
import { incomingBytes, receiveForm } from "../../library/files/incoming.ts";
import { presentContextOf, presentUploaded } from "../../library/files/present.ts";
import type { FileService } from "../../library/files/service.ts";
import { readUploadFields } from "../../library/files/upload-form.ts";
import { keyedRequest } from "../../library/idempotency/service.ts";
import type { RateGate } from "../../accounts/rate-limits/guard.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { checkRetries } from "./begin.ts";
import { readLocation } from "../../media/metadata/exif.ts";
import { checkChunkSize } from "./chunk-plan.ts";
import { readContentDigest } from "./content-digest.ts";
import { CompleteBody, InitBody, ProgressBody } from "./model.ts";
import { presentProgress, presentSession } from "./present.ts";
import type { UploadService } from "./service.ts";
import type { UploadScope } from "./signatures.ts";
import type { Upload } from "./types.ts";

/** Dependencies of the upload routes. */
export interface UploadRoutesOptions {
  readonly uploads: UploadService;
  readonly files: FileService;
  readonly rateGate: RateGate;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: (file: FileNode) => boolean;
  /** Lets a request take as long as it needs. */
  readonly allowLong: (request: Request) => void;
}

const PREFIX = "/api/mobile/upload";
/** The declaration of a route by which a device uploads, without `audit` and `docs`. */
const DEVICE_UPLOAD = { access: "deviceWriter", scope: "device", rate: "general" } as const;
const AUDITED_UPLOAD = { action: "file.upload", target: "file", files: "all" } as const;
/** The sender is checked by the handler: by the token of a device, or by the signature in the address. */
const SIGNED = { access: "public", rate: "general", audit: "unaudited", parse: "none" } as const;

/** POST /api/mobile/upload and …/init: whole files, and the start of upload sessions. */
export function uploadRoutes({ uploads, files, rateGate, guard, hasThumbnail }: UploadRoutesOptions) {
  return new Router({ prefix: PREFIX, guard })
    .post(
      "/",
      { ...DEVICE_UPLOAD, rate: "uploads", audit: AUDITED_UPLOAD, docs: docs.upload, parse: "none" },
      async ({ principal, request, set }) => {
        const uploader = uploaderOf(request);
        const { user } = uploader;
        const key = request.headers.get("idempotency-key");
        return receiveForm(files, request, { user, key, kind: "file" }, async (pendingUpload, form) => {
          const fields = readUploadFields(form.fields);
          const last = (name: string) => form.fields.get(name)?.at(-1);
          const hooks = uploads.hooksFor({
            accountId: user.id,
            deviceId: deviceOf(principal).id,
            exif: { location: checkLocation(last("location"), "location"), capturedAt: fields.capturedAt },
            isAutomatic: readBoolean(last("automatic"), "automatic") ?? false,
          });
          const { file, isNew } = await files.finishUpload(uploader, pendingUpload, form.file, fields, {
            ...hooks,
            keyed: (digest) =>
              keyedRequest(user.id, key, ["mobile upload", digest, form.file.fileName, [...form.fields]]),
          });
          set.status = isNew ? 201 : 200;
          return ok(presentUploaded(file, presentContextOf(request, hasThumbnail)));
        });
      },
    )
    .post(
      "/init",
      {
        ...DEVICE_UPLOAD,
        rate: { category: "uploads", countedBy: "handler" },
        audit: "unaudited",
        docs: docs.begin,
        body: InitBody,
        // A call that plans nothing counts like any other request.
        onRejected: (request: Request, headers: Record<string, string | number>) =>
          rateGate.countPlanned(request, headers, 0),
      },
      async ({ body, principal, request, set }) => {
        const count = (requested: number) => rateGate.countPlanned(request, set.headers, requested);
        const sender = { user: principal.user, device: deviceOf(principal) };
        const options = readOptions(body.uploadOptions ?? {}, () => count(0));
        const session = await uploads.begin(sender, body.files, options, count);
        return ok(await presentSession(session, request, (upload, scope) => uploads.sign(upload, scope)));
      },
    );
}

/** /api/mobile/upload: the progress, the completion and the cancellation of an upload in chunks. */
export function uploadStateRoutes({ uploads, guard, hasThumbnail, allowLong }: UploadRoutesOptions) {
  return new Router({ prefix: PREFIX, guard })
    .post(
      "/progress",
      { ...DEVICE_UPLOAD, audit: "unaudited", docs: docs.reportProgress, body: ProgressBody },
      async ({ body, principal }) => {
        const upload = uploads.get(principal.user, body.uploadId);
        const current = body.status === undefined ? upload : await uploads.setStatus(upload, body.status);
        return ok(presentProgress(uploads.progress(current)));
      },
    )
    .post(
      "/complete",
      { ...DEVICE_UPLOAD, audit: AUDITED_UPLOAD, docs: docs.complete, body: CompleteBody },
      async ({ body, principal, request }) => {
        const upload = uploads.get(principal.user, body.uploadId);
        const { location, capturedAt } = body.metadata ?? {};
        const completion = {
          digest: body.checksum === undefined ? undefined : parseChecksum(body.checksum),
          exif: {
            location: checkLocation(location, "metadata.location"),
            capturedAt: readInstant(capturedAt, "metadata.capturedAt"),
          },
        };
        allowLong(request);
        const file = await uploads.complete(uploaderOf(request), upload, completion);
        return ok(presentUploaded(file, presentContextOf(request, hasThumbnail)));
      },
    )
    .get(
      "/:uploadId",
      { ...DEVICE_UPLOAD, access: "device", audit: "unaudited", docs: docs.progress, acknowledges: true },
      ({ principal, params }) =>
        ok(presentProgress(uploads.progress(uploads.get(principal.user, params["uploadId"] ?? "")))),
    )
    .delete(
      "/:uploadId",
      { ...DEVICE_UPLOAD, audit: "unaudited", docs: docs.cancel },
      async ({ principal, params }) => {
        const upload = await uploads.cancel(uploads.get(principal.user, params["uploadId"] ?? ""));
        return ok(presentProgress(uploads.progress(upload)), "The upload was canceled.");
      },
    );
}

/** PUT /api/mobile/upload/{uploadId}/chunks/{index} and …/content: the bytes. */
export function chunkRoutes({ uploads, guard }: UploadRoutesOptions) {
  return new Router({ prefix: PREFIX, guard })
    .put("/:uploadId/chunks/:index", { ...SIGNED, docs: docs.sendChunk }, ({ request, params }) =>
      receiveChunk(uploads, request, params["uploadId"] ?? "", readIndex(params["index"] ?? "")),
    )
    .put("/:uploadId/content", { ...SIGNED, docs: docs.sendWhole }, ({ request, params }) =>
      receiveChunk(uploads, request, params["uploadId"] ?? "", "whole"),
    );
}

async function receiveChunk(uploads: UploadService, request: Request, uploadId: string, scope: UploadScope) {
  const { upload, confirm } = openUpload(uploads, request, uploadId, scope);
  const chunk = {
    scope,
    ...incomingBytes(request, "file"),
    digest: readContentDigest(request.headers.get("content-digest")),
    confirm,
  };
  const { completedChunks, bytesUploaded } = await uploads.receive(upload, chunk).catch((error: unknown) => {
    // Removing a device cancels its uploads, too. The error then reports the removal rather than the cancellation.
    if (error instanceof AppError && error.reason === "upload_state") confirm();
    throw error;
  });
  return ok({
    uploadId: upload.publicId,
    index: scope === "whole" ? null : scope,
    completedChunks,
    bytesUploaded,
    totalChunks: upload.totalChunks,
  });
}

/** The owner of a signed address, for the rate limits. @param path as sent */
export function ownerOfSigned(uploads: UploadService, path: string, query: string): User | undefined {
  const [, uploadId, rest = ""] = /^\/api\/mobile\/upload\/([^/]+)\/(chunks\/\d{1,9}|content)\/?$/.exec(path) ?? [];
  const signature = signatureOf(query);
  if (uploadId === undefined || signature === undefined) return undefined;
  const scope = rest === "content" ? "whole" : Number(rest.slice("chunks/".length));
  return uploads.findSigned(uploadId, scope, signature)?.user;
}

/** The upload that a chunk is for, opened by a device's token or by the signature in the address. */
function openUpload(
  uploads: UploadService,
  request: Request,
  uploadId: string,
  scope: UploadScope,
): { upload: Upload; confirm: Uploader["confirm"] } {
  const { principal } = identityOf(request);
  const signature = signatureOf(requestContextOf(request).query);
  // A valid signature gives access even with an expired token.
  if (principal?.device === undefined && signature !== undefined) {
    const open = () => uploads.openSigned(uploadId, scope, signature);
    return { upload: open().upload, confirm: () => void open() };
  }
  const upload = uploads.get(requirePrincipal({ access: "deviceWriter", scope: "device" }, request).user, uploadId);
  return { upload, confirm: uploaderOf(request).confirm };
}

function signatureOf(query: string): string | undefined {
  return query === "" ? undefined : readQuery(query)["sig"];
}

function readIndex(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw notFound(say`This chunk was not found.`);
  return Number(text);
}

function checkLocation(text: string | undefined, field: string): string | undefined {
  if (text === undefined || text === "") return undefined;
  const location = readLocation(text);
  if (location !== undefined) return location;
  throw invalidField(field, say`${field} must be a latitude and longitude in degrees, such as 48.2082,16.3738.`);
}

/** @param onRejection called before an option is rejected @throws AppError chunk_size | invalid_field */
function readOptions(given: NonNullable<typeof InitBody.static.uploadOptions>, onRejection: () => unknown) {
  try {
    return {
      wifiOnly: given.wifiOnly ?? false,
      chunkSizeBytes: checkChunkSize(given.chunkSize),
      maxRetries: checkRetries(given.maxRetries),
      isAutomatic: given.automatic ?? false,
    };
  } catch (error) {
    onRejection();
    throw error;
  }
}
