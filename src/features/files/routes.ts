import { Elysia } from "elysia";
import { type Digest, toChecksum } from "../../blobs/digest.ts";
import { AppError, invalidField } from "../../errors.ts";
import { matchesIfMatch } from "../../http/conditional.ts";
import { documented, ref } from "../../http/documented.ts";
import { ok, paginate } from "../../http/envelope.ts";
import { errorItem } from "../../http/error-response.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { IdParams, readQuery } from "../../http/fields.ts";
import { DEFAULT_FORM_LIMITS, readMultipart } from "../../http/read-multipart.ts";
import { declaredBytes, forEachPiece } from "../../http/request-body.ts";
import { type Clock, toTimestamp } from "../../lib/clock.ts";
import { normalizeName, normalizePath } from "../../lib/path.ts";
import { type authGuard, takesJson } from "../auth/guard.ts";
import type { Principal } from "../auth/principal.ts";
import { keyedRequest } from "../idempotency/service.ts";
import type { Permissions } from "../permissions/permissions.ts";
import type { AccessCounters } from "../plans/access-counters.ts";
import type { RateGate } from "../rate-limits/guard.ts";
import type { PublicLinks } from "../shares/public-links.ts";
import { checkTags } from "../tree/labels.ts";
import type { TreeReader } from "../tree/reader.ts";
import type { FileChanges, FileNode, Precondition, TreeNode } from "../tree/types.ts";
import type { ContentRequest, ContentSender } from "./content-sender.ts";
import { readListing } from "./listing.ts";
import {
  ContentCheckRecord,
  CopiedRecord,
  CopyBody,
  ListingRecord,
  MoveBody,
  MovedRecord,
  RawRequest,
  UpdateBody,
  UploadRequest,
} from "./model.ts";
import { presentInfo, presentItem, presentUpdated, presentUploaded } from "./present.ts";
import type { BulkOutcome, Destination, FileService } from "./service.ts";
import { readUploadFields } from "./upload-form.ts";

/** What the file routes work with. */
export interface FileRoutesOptions {
  readonly files: FileService;
  readonly permissions: Permissions;
  readonly tree: TreeReader;
  readonly links: PublicLinks;
  readonly access: AccessCounters;
  readonly sender: ContentSender;
  readonly rateGate: RateGate;
  readonly guard: ReturnType<typeof authGuard>;
  readonly clock: Clock;
  readonly hasThumbnail: (file: FileNode) => boolean;
  /** Lets a request take as long as it needs: the server's idle time-out is for silent clients. */
  readonly allowLong: (request: Request) => void;
}

const QUERY_OF_LISTING = {
  folder: { type: "string", default: "/", description: "Folder path; with share one below it" },
  share: {
    type: "string",
    description: "Id of a share that was made for you: lists what it opens. Of a single file that file, unfiltered",
  },
  page: { type: "integer", minimum: 1, default: 1 },
  limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
  sort: { type: "string", enum: ["name", "size", "createdAt", "modifiedAt"], default: "name" },
  order: { type: "string", enum: ["asc", "desc"], default: "asc" },
  search: { type: "string", description: "Part of a file or folder name, case-insensitive" },
  type: { type: "string", enum: ["file", "folder"] },
  tags: { type: "string", description: "Comma-separated; all of them, or any with tagMode=any" },
  tagMode: { type: "string", enum: ["all", "any"], default: "all" },
  mimeType: { type: "string", description: "A media type, or a family such as image/*" },
  recursive: { type: "boolean", description: "Everything below the folder; the default with search or tags" },
};

const SHARED_PATHS = "In what others share with you, paths begin at the share: a shared folder is /.";

/** /api/files and /api/files/{id}… (api.md, Files; contract §4); folders have routes of their own. */
export function fileRoutes(options: FileRoutesOptions) {
  const { files, permissions, tree, links, access, sender, rateGate, guard, clock, hasThumbnail, allowLong } = options;
  const contextOf = (request: Request) => ({ baseUrl: exchangeOf(request).baseUrl, hasThumbnail });

  const send = (principal: Principal, fileId: string, request: Request, set: ContentRequest["set"]) =>
    sender.send(files.open(principal.user, fileId).node, {
      request,
      set,
      query: readQuery(exchangeOf(request).query),
      callerKey: `u:${principal.user.id}`,
      countWhole: () => rateGate.countWholeDownload(request, set.headers),
    });

  return (
    new Elysia({ name: "file-routes", prefix: "/api/files" })
      .use(guard)
      .get(
        "/",
        async ({ principal, request }) => {
          const query = readQuery(exchangeOf(request).query);
          const listing = await readListing({ tree, permissions }, principal.user, query);
          const { folder, page, limit, total, nodes } = listing;
          const context = contextOf(request);
          return ok({
            files: nodes.map((node) => presentItem(node, context)),
            pagination: paginate(page, limit, total),
            currentFolder: { path: folder.path, name: folder.name, parent: folder.folder },
          });
        },
        {
          access: "reader",
          ...documented({
            tag: "Files",
            summary: "List a folder, or search below it",
            access: "reader",
            query: QUERY_OF_LISTING,
            data: ListingRecord,
            description: `${SHARED_PATHS} Give share to list them.`,
            errors: ["invalid_field", "invalid_path", "not_found"],
          }),
        },
      )
      .post(
        "/upload",
        async ({ principal, request, set }) => {
          const { user } = principal;
          const key = request.headers.get("idempotency-key");
          // Below which share it goes, if any, is told by a field that may come last.
          const hosts = [user, ...permissions.hosts(user)];
          const arrival = files.beginArrival(user, declaredBytes(request), { isForm: true, key, hosts });
          try {
            const form = await readMultipart(request.headers.get("content-type"), request.body, DEFAULT_FORM_LIMITS, {
              beginFile: () => arrival.incoming,
            });
            const fields = readUploadFields(form.fields);
            const share = form.fields.get("share")?.at(-1) || undefined;
            const keyed = (digest: Digest) =>
              keyedRequest(user.id, key, ["upload", digest, form.file.fileName, [...form.fields]]);
            const { file } = await files.finishUpload(user, arrival, form.file, fields, keyed, { share });
            set.status = 201;
            return ok(presentUploaded(file, contextOf(request)));
          } finally {
            arrival.discard();
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
              "not_a_folder",
              "not_found",
              "share_permission",
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
      .post(
        "/move",
        async ({ principal, body, request }) => {
          const outcomes = await files.move(principal.user, body.fileIds, readDestination(body));
          const { done, failed } = presentOutcomes(outcomes, (node) => presentItem(node, contextOf(request)));
          return ok({ moved: done, failed });
        },
        {
          ...takesJson("writer", MoveBody),
          ...documented({
            takesJson: true,
            tag: "Files",
            summary: "Move files and folders",
            description:
              "Each by itself; the call fails where every item failed. Inside one account: between accounts copy, then delete.",
            access: "writer",
            data: MovedRecord,
            errors: ["invalid_path", "invalid_request", "not_a_folder", "not_found", "name_taken", "share_permission"],
          }),
        },
      )
      .post(
        "/copy",
        async ({ principal, body, request, set }) => {
          const { user } = principal;
          const destination = readDestination(body);
          const { onConflict = "rename", preserveMetadata = true } = body;
          const key = request.headers.get("idempotency-key");
          const outcomes = await files.copy(
            user,
            body.fileIds,
            destination,
            { onConflict, preserveMetadata },
            keyedRequest(user.id, key, [
              "copy",
              body.fileIds,
              destination.path,
              onConflict,
              preserveMetadata,
              ...(destination.share === undefined ? [] : [destination.share]),
            ]),
          );
          const { done, failed } = presentOutcomes(outcomes, (node, sourceId) => ({
            sourceId,
            ...presentItem(node, contextOf(request)),
          }));
          set.status = 201;
          return ok({ copied: done, failed });
        },
        {
          ...takesJson("writer", CopyBody),
          ...documented({
            takesJson: true,
            tag: "Files",
            summary: "Copy files and folders",
            description:
              "Content is shared, no byte is written. A copy is never public. Of what others share with you it makes " +
              "files of your own, which count for you.",
            access: "writer",
            status: 201,
            headers: { "Idempotency-Key": "The same key within 24 hours gets the first answer again" },
            data: CopiedRecord,
            errors: [
              "invalid_path",
              "not_a_folder",
              "not_found",
              "name_taken",
              "quota_exceeded",
              "idempotency_key",
              "share_permission",
            ],
          }),
        },
      )
      .get(
        "/:id",
        ({ principal, params, request }) => {
          const { node: file, owner } = files.open(principal.user, params.id);
          return ok(
            presentInfo(file, {
              ...contextOf(request),
              owner,
              shareToken: file.isPublic ? links.findToken(file.id) : undefined,
              access: access.read(file.id, file.publicId),
            }),
          );
        },
        {
          access: "reader",
          params: IdParams,
          ...documented({
            tag: "Files",
            summary: "All about a file",
            access: "reader",
            description: `${SHARED_PATHS} Whether it is public is told to its owner alone.`,
            data: ref("FileInfo"),
            errors: ["not_found", "invalid_field"],
          }),
        },
      )
      .put(
        "/:id",
        async ({ principal, params, body, request }) => {
          const changes = readChanges(body);
          const file = await files.update(principal.user, params.id, changes, preconditionOf(request));
          const shareToken = file.isPublic ? links.findToken(file.id) : undefined;
          return ok(presentUpdated(file, shareToken, exchangeOf(request).baseUrl));
        },
        {
          ...takesJson("writer", UpdateBody),
          params: IdParams,
          ...documented({
            takesJson: true,
            tag: "Files",
            summary: "Rename, move, describe, label or publish a file",
            access: "writer",
            description: `${SHARED_PATHS} What was itself shared keeps its name and place, and only its owner publishes it.`,
            headers: { "If-Match": "Only if the content has this ETag" },
            data: ref("UpdatedFile"),
            errors: [
              "invalid_path",
              "not_a_folder",
              "not_found",
              "name_taken",
              "precondition_failed",
              "share_permission",
            ],
          }),
        },
      )
      .delete(
        "/:id",
        async ({ principal, params }) => {
          const file = await files.delete(principal.user, params.id);
          return ok(
            { id: file.publicId, name: file.name, deletedAt: toTimestamp(clock.nowMs()) },
            "File permanently deleted.",
          );
        },
        {
          access: "writer",
          params: IdParams,
          ...documented({
            tag: "Files",
            summary: "Delete a file for good",
            access: "writer",
            data: ref("DeletedNode"),
            errors: ["not_found", "invalid_field", "share_permission"],
          }),
        },
      )
      .put(
        "/:id/content",
        async ({ principal, params, request }) => {
          const { user } = principal;
          const { owner } = files.open(user, params.id, "write");
          const declaredType = request.headers.get("content-type") ?? undefined;
          const key = request.headers.get("idempotency-key");
          const arrival = files.beginArrival(user, declaredBytes(request), { isForm: false, key, hosts: [owner] });
          try {
            await forEachPiece(request.body, (piece) => arrival.incoming.write(piece));
            const file = await files.finishReplacement(
              user,
              arrival,
              { fileId: params.id, declaredType, precondition: preconditionOf(request) },
              (digest) => keyedRequest(user.id, key, ["content", params.id, digest, declaredType]),
            );
            return ok(presentUploaded(file, contextOf(request)));
          } finally {
            arrival.discard();
          }
        },
        {
          access: "writer",
          parse: "none",
          params: IdParams,
          ...documented({
            tag: "Files",
            summary: "Store a new version of a file's content",
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
          access: "reader",
          query: {
            inline: { type: "boolean", description: "Show in place: pictures, sound, film, PDF and plain text only" },
            thumbnail: {
              type: "string",
              enum: ["true", "false", "1", "0", "small", "medium", "large", ""],
              description: "WebP of at most 128, 512 (true) or 1600 pixels; the file itself where none can be made",
            },
          },
          headers: { Range: "RFC 9110 §14, single or multiple" },
          content: { "application/octet-stream": "The content" },
          alsoAnswers: { 206: "The ranges asked for", 304: "The client has it already" },
          errors: [
            "not_found",
            "invalid_field",
            "precondition_failed",
            "range_not_satisfiable",
            "content_missing",
            "content_damaged",
            "thumbnail_pending",
          ],
        }),
      })
      // Of its own: made from the GET by the framework, it would read the whole content to measure it.
      .head("/:id/download", ({ principal, params, request, set }) => send(principal, params.id, request, set), {
        access: "reader",
        params: IdParams,
        detail: { hide: true },
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
            access: "reader",
            data: ContentCheckRecord,
            errors: ["not_found", "invalid_field", "storage_error"],
          }),
        },
      )
  );
}

/** If-Match of a request, to be held against the file inside the deed (RFC 9110 §13.1.1). */
export function preconditionOf(request: Request): Precondition | undefined {
  const header = request.headers.get("if-match");
  if (header === null) return undefined;
  return (current) => {
    if (matchesIfMatch(header, `"${current.digest}"`)) return;
    throw new AppError("precondition_failed", "The file has changed since. Fetch it again, then decide.", {
      etag: `"${current.digest}"`,
    });
  };
}

function readDestination(body: { destinationFolder: string; share?: string }): Destination {
  return { path: normalizePath(body.destinationFolder, "destinationFolder"), share: body.share };
}

function readChanges(body: typeof UpdateBody.static): FileChanges {
  const { name, folder, description, tags, isPublic, metadata } = body;
  const all = [name, folder, description, tags, isPublic, metadata];
  if (all.every((value) => value === undefined)) {
    throw invalidField(
      "body",
      "There is nothing to change. Give name, folder, description, tags, isPublic or metadata.",
    );
  }
  const hasMetadata = metadata !== undefined || description !== undefined;
  return {
    name: name === undefined ? undefined : normalizeName(name),
    folderPath: folder === undefined ? undefined : normalizePath(folder),
    tags: tags === undefined ? undefined : checkTags(tags),
    isPublic,
    metadata: hasMetadata ? { ...metadata, ...(description !== undefined && { description }) } : undefined,
  };
}

/**
 * The two lists of a bulk answer (contract §1).
 * @throws the first item's error where every item failed
 */
function presentOutcomes<T>(outcomes: readonly BulkOutcome<TreeNode>[], present: (node: TreeNode, id: string) => T) {
  const done: T[] = [];
  const failed: { id: string; error: ReturnType<typeof errorItem> }[] = [];
  let firstError: AppError | undefined;
  for (const outcome of outcomes) {
    if ("done" in outcome) done.push(present(outcome.done, outcome.id));
    else {
      firstError ??= outcome.error;
      failed.push({ id: outcome.id, error: errorItem(outcome.error) });
    }
  }
  if (done.length === 0 && firstError !== undefined) throw firstError;
  return { done, failed };
}
