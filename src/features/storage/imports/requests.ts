/** Reads the bodies of requests for imports. */
import type { Static } from "@sinclair/typebox";
import { invalidField, notFound } from "../../../errors.ts";
import { queryOf, readInteger } from "../../../http/fields.ts";
import { paginate, type Pagination } from "../../../http/envelope.ts";
import { normalizePath, ROOT_PATH } from "../../../lib/path.ts";
import type { Outbound } from "../../../net/outbound.ts";
import { say } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";
import type { Permissions } from "../../library/permissions/permissions.ts";
import type { AdminStartBody, StartBody } from "./model.ts";
import { confinedPath } from "./open-source.ts";
import { LIMIT_DEFAULT, LIMIT_MAX } from "./openapi.ts";
import type { ListPart } from "./service.ts";
import type { NewImport } from "./new-import.ts";
import { SourceError, type SourceKind } from "./source.ts";
import { isArchiveName } from "./sources/takeout/open-archives.ts";

/** Dependencies of {@link readStart}. */
export interface StartRequestOptions {
  readonly permissions: Pick<Permissions, "file">;
  readonly outbound: Pick<Outbound, "checkTarget">;
}

type Start = Static<typeof StartBody>;

/** What an account wants to import. @throws AppError invalid_field | invalid_path | not_found | forbidden_target */
export async function readStart(options: StartRequestOptions, user: User, body: Start): Promise<NewImport> {
  const { kind, folder, restoreDeleted: restoresDeleted = false } = body;
  const target = { folder: targetFolder(kind, folder), restoresDeleted };
  const common = { accountId: user.id, kind, origin: "account" } as const;
  if (kind === "takeout") {
    const { fileIds, names } = readArchives(options, user, body);
    return { ...common, source: describe(names), request: { ...target, fileIds } };
  }
  const { url, username } = await readServer(options, body);
  return { ...common, source: url, request: { ...target, url, ...(username !== undefined && { username }) } };
}

/** What an administrator imports into an account. @throws AppError invalid_field | invalid_path | not_found */
export async function readAdminStart(
  importsFolder: string | null,
  user: User,
  body: Static<typeof AdminStartBody>,
): Promise<NewImport> {
  const { kind, folder, path, restoreDeleted: restoresDeleted = false } = body;
  if (importsFolder === null) throw notFound(say`A folder for imports was not found.`);
  try {
    await confinedPath(importsFolder, path);
  } catch (error) {
    throw error instanceof SourceError ? invalidField("path", error.text) : error;
  }
  const request = { folder: targetFolder(kind, folder), restoresDeleted, paths: [path] };
  return { accountId: user.id, kind, origin: "administrator", source: path, request };
}

/** The part of a list that a request asks for. @throws AppError invalid_field */
export function readPart(request: Request): ListPart & { readonly paginate: (total: number) => Pagination } {
  const query = queryOf(request);
  const page = readInteger(query, "page", { min: 1, max: Number.MAX_SAFE_INTEGER, default: 1 });
  const limit = readInteger(query, "limit", { min: 1, max: LIMIT_MAX, default: LIMIT_DEFAULT });
  const offset = Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER);
  return { limit, offset, paginate: (total) => paginate(page, limit, total) };
}

function targetFolder(kind: SourceKind, folder: string | undefined): string {
  if (folder !== undefined) return normalizePath(folder);
  return kind === "nextcloud" ? ROOT_PATH : "/Photos";
}

function readArchives({ permissions }: StartRequestOptions, user: User, { fileIds = [] }: Start) {
  if (fileIds.length === 0) throw invalidField("fileIds", say`Choose the archives of Google Takeout in your files.`);
  const ids = [...new Set(fileIds)];
  const names = ids.map((id) => permissions.file(user, id, "read").node.name);
  const other = names.find((name) => !isArchiveName(name));
  if (other === undefined) return { fileIds: ids, names };
  throw invalidField("fileIds", say`"${other}" is not an archive of Google Takeout. Choose its .zip or .tgz files.`);
}

async function readServer({ outbound }: StartRequestOptions, { kind, url, username, secret }: Start) {
  if (url === undefined) throw invalidField("url", say`Enter the address of the other system.`);
  await outbound.checkTarget(url, "url");
  // A search can have a secret, which must not be stored, and is not sent anyway.
  const address = url.replace(/[?#].*$/s, "");
  if (secret === undefined) throw invalidField("secret", say`Enter the app password or the API key.`);
  if (kind === "nextcloud" && (username ?? "") === "") throw invalidField("username", say`Enter the user name.`);
  return { url: address, username };
}

function describe([first = "", ...more]: readonly string[]): string {
  return more.length === 0 ? first : `${first} and ${more.length} more`;
}
