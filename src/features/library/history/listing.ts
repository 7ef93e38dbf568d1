/** GET /api/files and /api/files/{id} with `at`: the query string and the records of the history. */
import { invalidField } from "../../../errors.ts";
import { isInstant } from "../../../lib/instant.ts";
import { paginate } from "../../../http/envelope.ts";
import { type Query, readChoice, readInteger } from "../../../http/fields.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import { normalizePath } from "../../../lib/path.ts";
import { type PresentContext, presentFileItem, presentFolder } from "../files/present.ts";
import type { PastNode } from "../../../tree/queries/past.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { PastSortField } from "../../../tree/queries/past-sql.ts";
import { say } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";
import type { HistoryService } from "./service.ts";

const SORTS = ["name", "natural", "size", "createdAt", "modifiedAt"] as const satisfies readonly PastSortField[];
const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 100;
const PAGE_MAX = Math.floor(Number.MAX_SAFE_INTEGER / 1000);
/** Filters over more than one folder, or over data without a history. */
const NOT_WITH_AT = ["search", "tags", "tagMode", "mimeType", "recursive", "share"];

/** Parses a time of the query or a body, in milliseconds. @throws AppError invalid_field */
export function readTime(text: string | undefined): number {
  if (text === undefined || !isInstant(text)) {
    const message = say`The time must be an ISO 8601 time with an offset, such as 2026-01-02T03:04:05.678Z.`;
    throw invalidField("at", message);
  }
  return Date.parse(text);
}

/** The time in a query, in milliseconds. The plus sign of its offset may be decoded as a space. */
function readQueryTime(query: Query): number {
  return readTime(query["at"]?.replace(/ (?=\d{2}:\d{2}$)/, "+"));
}

/**
 * The page of a folder at a moment, like GET /api/files.
 * @throws AppError invalid_field | invalid_path | not_found
 */
export async function listPast(history: HistoryService, user: User, query: Query, context: PresentContext) {
  const atMs = readQueryTime(query);
  const field = NOT_WITH_AT.find((name) => query[name] !== undefined);
  if (field !== undefined) {
    throw invalidField(
      field,
      say`You can't combine ${field} with at. Past states can only be listed one folder at a time.`,
    );
  }
  const path = normalizePath(query["folder"] || "/");
  const page = readInteger(query, "page", { min: 1, max: PAGE_MAX, default: 1 });
  const limit = readInteger(query, "limit", { min: 1, max: LIMIT_MAX, default: LIMIT_DEFAULT });
  const { folder, nodes, total } = await history.list(user, path, atMs, {
    kind: readChoice(query["type"], "type", ["file", "folder"]),
    sort: readChoice(query["sort"], "sort", SORTS) ?? "name",
    order: readChoice(query["order"], "order", ["asc", "desc"]) ?? "asc",
    offset: (page - 1) * limit,
    limit,
  });
  return {
    files: nodes.map((past) => presentPastItem(past, context)),
    pagination: paginate(page, limit, total),
    currentFolder: { path: folder.path, name: folder.name, parent: folder.folder },
    at: toTimestamp(atMs),
  };
}

/**
 * A file at the time of the query, and the fields that its current record does not have.
 * @throws AppError invalid_field | not_found
 */
export function findPast(history: HistoryService, user: User, fileId: string, query: Query, context: PresentContext) {
  const { file, ...past } = history.file(user, fileId, readQueryTime(query));
  const { url, ...fields } = pastFields(file, past, context);
  return { file, fields: { ...fields, url, downloadUrl: url } };
}

/** The additional fields of a record of the history. Its URLs point to the version of that time. */
function pastFields(file: FileNode, past: Omit<PastNode, "node">, { baseUrl }: PresentContext) {
  const url = `${baseUrl}/api/files/${file.publicId}/versions/${file.version}/download`;
  return {
    url,
    thumbnailUrl: `${url}?thumbnail=true`,
    contentAvailable: past.isContentAvailable,
    isDeleted: past.isDeleted,
  };
}

function presentPastItem({ node, ...past }: PastNode, context: PresentContext) {
  if (node.kind === "folder") return { ...presentFolder(node), isDeleted: past.isDeleted };
  return { ...presentFileItem(node, context), ...pastFields(node, past, context) };
}
