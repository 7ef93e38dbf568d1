import { Elysia } from "elysia";
import { type Digest, parseChecksum } from "../../../blobs/digest.ts";
import { AppError, invalidField, notFound } from "../../../errors.ts";
import { documented, ref } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { readBoolean, readQuery, readInstant } from "../../../http/fields.ts";
import { DEFAULT_FORM_LIMITS, readMultipart } from "../../../http/read-multipart.ts";
import { declaredBytes, freeing, readBody } from "../../../http/request-body.ts";
import { type authGuard, demand, deviceOf, identityOf, takesJson, uploaderOf } from "../../accounts/auth/guard.ts";
import type { Uploader } from "../../accounts/auth/principal.ts";
import { RawRequest } from "../../library/files/model.ts";
import { presentUploaded } from "../../library/files/present.ts";
import type { FileService } from "../../library/files/service.ts";
import { readUploadFields } from "../../library/files/upload-form.ts";
import { keyedRequest } from "../../library/idempotency/service.ts";
import type { RateGate } from "../../accounts/rate-limits/guard.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { User } from "../../accounts/users/types.ts";
import { checkRetries } from "./begin.ts";
import { readLocation } from "../../media/metadata/exif.ts";
import { checkChunkSize } from "./chunk-plan.ts";
import { readContentDigest } from "./content-digest.ts";
import {
  ChunkRecord,
  CompleteBody,
  DeviceUploadRequest,
  InitBody,
  ProgressBody,
  ProgressRecord,
  SessionRecord,
} from "./model.ts";
import { presentProgress, presentSession } from "./present.ts";
import type { UploadService } from "./service.ts";
import type { TakeBytes } from "./receive.ts";
import type { UploadScope } from "./signatures.ts";
import type { Upload } from "./types.ts";

/** What the upload routes work with. */
export interface UploadRoutesOptions {
  readonly uploads: UploadService;
  readonly files: FileService;
  readonly rateGate: RateGate;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: (file: FileNode) => boolean;
  /** Lets a request take as long as it needs. */
  readonly allowLong: (request: Request) => void;
}

const CHUNK_ERRORS = [
  "missing_token",
  "invalid_token",
  "expired_token",
  "revoked_token",
  "role",
  "not_found",
  "invalid_field",
  "chunk_size",
  "checksum_mismatch",
  "upload_state",
  "upload_expired",
  "storage_error",
  "store_missing",
  "disk_full",
] as const;

/** /api/mobile/upload… (api.md, Mobile endpoints; contract §7): files in chunks. */
export function uploadRoutes(options: UploadRoutesOptions) {
  const { uploads, files, rateGate, guard, hasThumbnail, allowLong } = options;
  const init = takesJson("deviceWriter", InitBody);

  const receive = async (request: Request, uploadId: string, scope: UploadScope) => {
    const { upload, confirm } = openUpload(uploads, request, uploadId, scope);
    const chunk = {
      scope,
      declaredBytes: declaredBytes(request),
      digest: readContentDigest(request.headers.get("content-digest")),
      read: (take: TakeBytes) => readBody(request, "file", freeing(take)),
      confirm,
    };
    const { completedChunks, bytesUploaded } = await uploads.receive(upload, chunk).catch((error: unknown) => {
      // The removal of a device ends its uploads, too: the sender learns the reason, not the consequence.
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
  };

  return new Elysia({ name: "upload-routes", prefix: "/api/mobile/upload" })
    .use(guard)
    .post(
      "/",
      async ({ principal, request, set }) => {
        const uploader = uploaderOf(request);
        const { user } = uploader;
        const key = request.headers.get("idempotency-key");
        const pendingUpload = files.beginUpload(user, declaredBytes(request), { isForm: true, key });
        try {
          const form = await readMultipart(request.headers.get("content-type"), request.body, DEFAULT_FORM_LIMITS, {
            beginFile: () => pendingUpload.incoming,
            pace: requestContextOf(request).paceOf("small"),
            fileKind: "file",
          });
          const fields = readUploadFields(form.fields);
          const last = (name: string) => form.fields.get(name)?.at(-1);
          const hooks = uploads.hooksFor({
            accountId: user.id,
            deviceId: deviceOf(principal).id,
            capture: { location: checkLocation(last("location"), "location"), capturedAt: fields.capturedAt },
            isAutomatic: readBoolean(last("automatic"), "automatic") ?? false,
          });
          const keyed = (digest: Digest) =>
            keyedRequest(user.id, key, ["mobile upload", digest, form.file.fileName, [...form.fields]]);
          const { file, isNew } = await files.finishUpload(uploader, pendingUpload, form.file, fields, keyed, hooks);
          set.status = isNew ? 201 : 200;
          return ok(presentUploaded(file, { baseUrl: requestContextOf(request).baseUrl, hasThumbnail }));
        } finally {
          pendingUpload.discard();
        }
      },
      {
        access: "deviceWriter",
        parse: "none",
        ...documented({
          tag: "Mobile",
          summary: "Upload a file in one request",
          description:
            "As files/upload, in the device's name. Time and place are read from a photo where none are given. Nothing is " +
            "doubled: what an automatic backup sends is answered with the file that has it, and so is any upload that " +
            "would be a renamed copy beside a file of its very name and bytes.",
          access: "deviceWriter",
          status: 201,
          otherResponses: { 200: "Nothing was made: this is the file that is there already" },
          requestBody: DeviceUploadRequest,
          headers: { "Idempotency-Key": "The same key within 24 hours gets the first answer again" },
          data: ref("UploadedFile"),
          errors: [
            "invalid_multipart",
            "invalid_field",
            "invalid_path",
            "path_too_long",
            "not_a_folder",
            "email_unconfirmed",
            "checksum_mismatch",
            "name_taken",
            "idempotency_key",
            "deleted_by_you",
            "unsupported_media_type",
            "file_too_large",
            "quota_exceeded",
            "body_too_large",
            "storage_error",
            "store_missing",
            "disk_full",
          ],
        }),
      },
    )
    .post(
      "/init",
      async ({ body, principal, request, set }) => {
        const given = body.uploadOptions ?? {};
        const count = (wanted: number) => rateGate.countPlanned(request, set.headers, wanted);
        const sender = { user: principal.user, device: deviceOf(principal) };
        const session = await uploads.begin(
          sender,
          body.files,
          readOptions(given, () => count(0)),
          count,
        );
        return ok(
          await presentSession(session, requestContextOf(request).baseUrl, (upload, scope) =>
            uploads.sign(upload, scope),
          ),
        );
      },
      {
        access: "deviceWriter",
        body: InitBody,
        parse: async ({ request, set }) => {
          try {
            return await init.parse({ request });
          } catch (error) {
            // What plans nothing counts as any other request.
            rateGate.countPlanned(request, set.headers, 0);
            throw error;
          }
        },
        ...documented({
          tag: "Mobile",
          summary: "Begin sending files in chunks",
          description:
            "Each file is planned by itself: one that can't be gets an error in place of its plan. " +
            "Quota is held for what is planned until it is completed, cancelled or expired. A file with a checksum that the " +
            "device is sending already, by the same localId, name, folder, size and fileId, goes on in this session with " +
            "its uploadId and completedChunks; with another chunkSize it takes the place of the earlier one.",
          access: "deviceWriter",
          takesJson: true,
          data: SessionRecord,
          errors: [
            "invalid_path",
            "path_too_long",
            "chunk_size",
            "not_found",
            "file_too_large",
            "quota_exceeded",
            "deleted_by_you",
            "confirmation_required",
            "store_missing",
            "disk_full",
          ],
        }),
      },
    )
    .post(
      "/progress",
      async ({ body, principal }) => {
        const upload = uploads.get(principal.user, body.uploadId);
        const current = body.status === undefined ? upload : await uploads.claim(upload, body.status);
        return ok(presentProgress(uploads.progress(current)));
      },
      {
        ...takesJson("deviceWriter", ProgressBody),
        ...documented({
          tag: "Mobile",
          summary: "Tell how an upload goes, and hear how it really is",
          description: "What the client says of chunks and bytes marks nothing: a chunk counts when the server has it.",
          access: "deviceWriter",
          takesJson: true,
          data: ProgressRecord,
          errors: ["not_found", "upload_state"],
        }),
      },
    )
    .post(
      "/complete",
      async ({ body, principal, request }) => {
        const upload = uploads.get(principal.user, body.uploadId);
        const { location, capturedAt } = body.metadata ?? {};
        const completion = {
          digest: body.checksum === undefined ? undefined : parseChecksum(body.checksum),
          capture: {
            location: checkLocation(location, "metadata.location"),
            capturedAt: readInstant(capturedAt, "metadata.capturedAt"),
          },
        };
        allowLong(request);
        const file = await uploads.complete(uploaderOf(request), upload, completion);
        return ok(presentUploaded(file, { baseUrl: requestContextOf(request).baseUrl, hasThumbnail }));
      },
      {
        ...takesJson("deviceWriter", CompleteBody),
        ...documented({
          tag: "Mobile",
          summary: "Make a file of what was sent",
          description:
            "Called again it gives the same file. Time and place are read from a photo where none are given. Nothing is " +
            "doubled: what an automatic backup sends is answered with the file that has it, and so is any upload that " +
            "would be a renamed copy beside a file of its very name and bytes.",
          access: "deviceWriter",
          takesJson: true,
          data: ref("UploadedFile"),
          errors: [
            "not_found",
            "checksum_mismatch",
            "upload_state",
            "upload_expired",
            "version_conflict",
            "deleted_by_you",
            "name_taken",
            "not_a_folder",
            "invalid_path",
            "path_too_long",
            "quota_exceeded",
            "storage_error",
            "store_missing",
            "disk_full",
          ],
        }),
      },
    )
    .get(
      "/:uploadId",
      ({ principal, params }) => ok(presentProgress(uploads.progress(uploads.get(principal.user, params.uploadId)))),
      {
        access: "device",
        ...documented({
          tag: "Mobile",
          summary: "How far an upload is",
          description: "Lists the chunks that are on disk and those that are missing.",
          access: "device",
          data: ProgressRecord,
          errors: ["not_found"],
        }),
      },
    )
    .delete(
      "/:uploadId",
      async ({ principal, params }) => {
        const upload = await uploads.cancel(uploads.get(principal.user, params.uploadId));
        return ok(presentProgress(uploads.progress(upload)), "The upload has ended.");
      },
      {
        access: "deviceWriter",
        ...documented({
          tag: "Mobile",
          summary: "Cancel an upload",
          description: "Frees what it holds. One that was cancelled or has expired stays as it is.",
          access: "deviceWriter",
          data: ProgressRecord,
          errors: ["not_found", "upload_state"],
        }),
      },
    )
    .put(
      "/:uploadId/chunks/:index",
      ({ request, params }) => receive(request, params.uploadId, readIndex(params.index)),
      {
        access: "public",
        parse: "none",
        ...documented({
          tag: "Mobile",
          summary: "Send one chunk",
          description:
            "Open to a device's token, or to the signature in the address. Durable when answered; repeatable.",
          access: "public",
          query: { sig: { type: "string", description: "As given by upload/init" } },
          headers: { "Content-Digest": "sha-256=:<base64>: of the chunk (RFC 9530), verified" },
          requestBody: RawRequest,
          data: ChunkRecord,
          errors: CHUNK_ERRORS,
        }),
      },
    )
    .put("/:uploadId/content", ({ request, params }) => receive(request, params.uploadId, "whole"), {
      access: "public",
      parse: "none",
      ...documented({
        tag: "Mobile",
        summary: "Send a whole planned file at once",
        description: "As its chunks one after the other: what is whole of a broken transfer is kept.",
        access: "public",
        query: { sig: { type: "string", description: "As given by upload/init" } },
        headers: { "Content-Digest": "sha-256=:<base64>: of the file (RFC 9530), verified" },
        requestBody: RawRequest,
        data: ChunkRecord,
        errors: CHUNK_ERRORS,
      }),
    });
}

/** Whose request a signed address is, for counting; its path as sent. */
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
  // A token that has run out does no harm where the signature holds: it is the address that was given out (D19).
  if (principal?.device === undefined && signature !== undefined) {
    const open = () => uploads.openSigned(uploadId, scope, signature);
    return { upload: open().upload, confirm: () => void open() };
  }
  const upload = uploads.get(demand("deviceWriter", request).user, uploadId);
  return { upload, confirm: uploaderOf(request).confirm };
}

function signatureOf(query: string): string | undefined {
  return query === "" ? undefined : readQuery(query)["sig"];
}

function readIndex(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw notFound("This chunk");
  return Number(text);
}

function checkLocation(text: string | undefined, field: string): string | undefined {
  if (text === undefined || text === "") return undefined;
  const location = readLocation(text);
  if (location !== undefined) return location;
  throw invalidField(field, `${field} must be latitude and longitude in degrees, such as 48.2082,16.3738.`);
}

/** @param onRejection called before an option is refused @throws AppError chunk_size | invalid_field */
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
