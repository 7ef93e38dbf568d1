import { AppError, invalidField } from "../../../errors.ts";
import { matchesIfMatch } from "../../../http/conditional.ts";
import { ok, paginate } from "../../../http/envelope.ts";
import { noteAudit } from "../../../http/audit-note.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { IdParams, type Query, queryOf } from "../../../http/fields.ts";
import type { Clock } from "../../../lib/clock.ts";
import { normalizeName, normalizePath } from "../../../lib/path.ts";
import { type authGuard, requireScope } from "../../accounts/auth/guard.ts";
import type { FavoriteService } from "../favorites/service.ts";
import type { ShareMarks } from "../marks/share-marks.ts";
import type { Permissions } from "../permissions/permissions.ts";
import type { MediaInfoService } from "../../media/metadata/service.ts";
import type { AccessCounters } from "../../accounts/plans/access-counters.ts";
import { CHANGE_FILES, READ_FILES } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import type { PublicLinks } from "./public-links.ts";
import type { LivePairs } from "../photos/live-pairs.ts";
import { checkTags } from "../../../tree/model/labels.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileChanges, FileNode, Precondition } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";
import { readListing } from "./listing.ts";
import { UpdateBody } from "./model.ts";
import {
  type MotionFields,
  type PresentContext,
  presentContextOf,
  presentDeleted,
  presentInfo,
  presentItem,
  presentUpdated,
} from "./present.ts";
import type { FileService } from "./service.ts";

/** Dependencies of the file routes. */
export interface FileRoutesOptions {
  readonly files: FileService;
  readonly permissions: Permissions;
  readonly tree: TreeReader;
  readonly links: PublicLinks;
  readonly access: AccessCounters;
  readonly guard: ReturnType<typeof authGuard>;
  readonly clock: Clock;
  readonly hasThumbnail: (file: FileNode) => boolean;
  /** Finds the nodes that the caller marked. */
  readonly favorites: Pick<FavoriteService, "among">;
  /** Finds the nodes that the caller shares. */
  readonly shareMarks: Pick<ShareMarks, "among">;
  readonly mediaInfo: Pick<MediaInfoService, "describe">;
  readonly livePairs: Pick<LivePairs, "findVideo">;
  /** The history of the tree, for queries with a time. */
  readonly past: {
    list(user: User, query: Query, context: PresentContext): Promise<object>;
    /** A file at that time, and the fields that its current record does not have. */
    find(user: User, fileId: string, query: Query, context: PresentContext): { file: FileNode; fields: object };
  };
}

/**
 * GET /api/files and /api/files/{id}. Uploads and downloads are in `content-routes.ts`, bulk moves and copies in
 * `bulk-routes.ts`, folders in `folders/`.
 */
export function fileRoutes(options: FileRoutesOptions) {
  const { files, permissions, tree, links, guard, clock, hasThumbnail, favorites, shareMarks, past } = options;
  const contextOf = (request: Request) => presentContextOf(request, hasThumbnail);

  return new Router({ prefix: "/api/files", guard })
    .get(
      "/",
      { access: "reader", scope: "files:read", rate: "listing", audit: "unaudited", docs: docs.list },
      async ({ principal, request }) => {
        const [query, { user }] = [queryOf(request), principal];
        if (query["at"] !== undefined) return ok(await past.list(user, query, contextOf(request)));
        const { folder, page, limit, total, nodes } = await readListing({ tree, permissions }, user, query);
        const marks = [favorites.among(user, nodes), shareMarks.among(user, nodes)] as const;
        const context = presentContextOf(request, hasThumbnail, ...marks, tree.folderSizes(nodes));
        return ok({
          files: nodes.map((node) => presentItem(node, context)),
          pagination: paginate(page, limit, total),
          currentFolder: { path: folder.path, name: folder.name, parent: folder.folder },
        });
      },
    )
    .get("/:id", { ...READ_FILES, docs: docs.get, params: IdParams }, ({ principal, params, request }) => {
      const present = infoPresenter(options, request, principal.user);
      const query = queryOf(request);
      if (query["at"] !== undefined) {
        const { file, fields } = past.find(principal.user, params.id, query, contextOf(request));
        return ok({ ...present(file, principal.user, NO_MOTION), ...fields });
      }
      const { node, owner } = files.open(principal.user, params.id);
      const motion = findMotion(options, principal.user, node);
      const isFavorite = favorites.among(principal.user, [node]).has(node.id);
      return ok(Object.assign(present(node, owner, motion), { isFavorite }));
    })
    .put(
      "/:id",
      {
        ...CHANGE_FILES,
        audit: { action: "file.change", target: "file", targetParam: "id", files: "all" },
        docs: docs.update,
        params: IdParams,
        body: UpdateBody,
      },
      async ({ principal, params, body, request }) => {
        const changes = readChanges(body);
        if (changes.isPublic === true) requireScope(principal, "shares");
        const file = await files.update(principal.user, params.id, changes, preconditionOf(request));
        if (changes.isPublic !== undefined) notePublic(request, changes.isPublic, file.publicId);
        const shareToken = file.isPublic ? links.findToken(file.id) : undefined;
        return ok(presentUpdated(file, shareToken, requestContextOf(request).baseUrl));
      },
    )
    .delete(
      "/:id",
      {
        ...CHANGE_FILES,
        audit: { action: "file.delete", target: "file", targetParam: "id", files: "changes" },
        docs: docs.remove,
        params: IdParams,
      },
      async ({ principal, params, request }) => {
        const { node: file, owner } = await files.delete(principal.user, params.id);
        noteAudit(request, { subjectId: owner.publicId });
        return ok(presentDeleted(file, clock), "The file was deleted permanently.");
      },
    );
}

/** Presents the full record of a file for a user. */
function infoPresenter(options: FileRoutesOptions, request: Request, user: User) {
  const { links, access, mediaInfo, hasThumbnail } = options;
  return (file: FileNode, owner: User, motion: MotionFields) => {
    const { media, place } = mediaInfo.describe(file, owner.id === user.id);
    // Named one by one, as copying objects is slow, and sync programs ask for many files.
    return presentInfo(file, {
      baseUrl: requestContextOf(request).baseUrl,
      hasThumbnail,
      motion,
      owner,
      shareToken: file.isPublic ? links.findToken(file.id) : undefined,
      access: access.read(file.id, file.publicId),
      media,
      place,
    });
  };
}

const NO_MOTION: MotionFields = { motion: null, motionFileId: null };

/** The video of a Live Photo. One in a file of its own counts only if the user can open that file. */
function findMotion({ permissions, livePairs }: FileRoutesOptions, user: User, node: FileNode): MotionFields {
  if (!node.mediaType.startsWith("image/")) return NO_MOTION;
  const video = livePairs.findVideo(node);
  if (video === undefined) return NO_MOTION;
  if (!("fileId" in video)) return { motion: "embedded", motionFileId: null };
  return permissions.canRead(user, video.fileId) ? { motion: "pair", motionFileId: video.fileId } : NO_MOTION;
}

/** The If-Match of a request, checked against the file inside the transaction (RFC 9110 §13.1.1). */
export function preconditionOf(request: Request): Precondition | undefined {
  const header = request.headers.get("if-match");
  if (header === null) return undefined;
  return (current) => {
    if (matchesIfMatch(header, `"${current.digest}"`)) return;
    throw new AppError(
      "precondition_failed",
      say`The file changed after you read it. Fetch it again, then repeat your change.`,
      {
        etag: `"${current.digest}"`,
      },
    );
  };
}

function readChanges(body: typeof UpdateBody.static): FileChanges {
  const { name, folder, description, tags, isPublic, metadata } = body;
  const all = [name, folder, description, tags, isPublic, metadata];
  if (all.every((value) => value === undefined)) {
    throw invalidField(
      "body",
      say`The request contains no changes. Send name, folder, description, tags, isPublic or metadata.`,
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

/** Audits making a file public or private like creating or revoking its link. */
export function notePublic(request: Request, isPublic: boolean, id: string): void {
  noteAudit(request, { action: isPublic ? "share.create" : "share.revoke", target: { type: "file", id } });
}
