/** What each method of WebDAV reads from its request. */
import { AppError } from "../../../errors.ts";
import { noteAudit } from "../../../http/audit-note.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import type { TreeNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import type { AppPasswordPrincipal } from "../../accounts/auth/principal.ts";
import type { User } from "../../accounts/users/types.ts";
import type { ResponseHeaders } from "../../accounts/routing/declaration.ts";
import { WebDavError } from "../errors.ts";
import { type Address, pathOfNames, readAddress } from "./address.ts";

/** A request with its sender, as the methods receive it. */
export interface DavRequest {
  readonly request: Request;
  readonly set: { headers: ResponseHeaders };
  readonly principal: AppPasswordPrincipal;
}

/** The address of a request. @throws AppError not_found | invalid_path */
export function addressOf(request: Request): Address {
  const address = readAddress(requestContextOf(request).path);
  if (address === undefined) throw new AppError("not_found", say`There is no file or folder at this address.`);
  return address;
}

/**
 * The address in the header Destination (RFC 4918, section 10.3).
 * @throws WebDavError 400 without it, 502 for another server or another tree
 */
export function destinationOf(request: Request): Address {
  const header = request.headers.get("destination");
  const target = header === null || header === "" ? undefined : readTarget(header, request);
  if (target === undefined) throw new WebDavError(400, say`The header Destination is missing or not a valid address.`);
  if (!target.isHere) throw new WebDavError(502, say`Items can't be moved or copied to another server.`);
  const address = readAddress(target.path);
  if (address === undefined) throw new WebDavError(502, say`The destination is outside of your files.`);
  return address;
}

/**
 * The address that an absolute URL or a path in a header names; undefined if it is no address of this server.
 * @throws AppError invalid_path
 */
export function addressIn(text: string, request: Request): Address | undefined {
  const target = readTarget(text, request);
  return target?.isHere === true ? readAddress(target.path) : undefined;
}

/** The base path of the server, without a slash at the end; empty without one. */
export function basePathOf(request: Request): string {
  return new URL(requestContextOf(request).baseUrl).pathname.replace(/\/$/, "");
}

/**
 * The percent-encoded path of an item for responses: with the base path, and a slash at the end of a folder. The root is
 * as the client wrote it, so the characters that are special in XML are encoded too.
 */
export function hrefOf(
  request: Request,
  { root, writtenNames }: Pick<Address, "root" | "writtenNames">,
  isFolder: boolean,
): string {
  const base = basePathOf(request) + root;
  const path = pathOfNames(base.replaceAll(/[<>&"]/g, encodeURIComponent), writtenNames);
  return isFolder && !path.endsWith("/") ? `${path}/` : path;
}

/** The path below the base path, and whether it is on this server. */
function readTarget(text: string, request: Request): { readonly path: string; readonly isHere: boolean } | undefined {
  const { baseUrl, requestOrigin } = requestContextOf(request);
  const base = new URL(baseUrl);
  const target = parseTarget(text, base);
  if (target === undefined) return undefined;
  const hosts = [base.host, requestOrigin === undefined ? base.host : new URL(requestOrigin).host];
  const basePath = basePathOf(request);
  const path = target.path.startsWith(`${basePath}/`) ? target.path.slice(basePath.length) : target.path;
  return { path, isHere: hosts.includes(target.host) };
}

/** The path is taken as written: a URL parser would resolve dot segments, and hide them from the check. */
function parseTarget(text: string, base: URL): { readonly host: string; readonly path: string } | undefined {
  const match = /^(?:https?:\/\/([^/?#]+))?(\/[^?#]*)$/i.exec(text);
  const [, authority, path] = match ?? [];
  if (path === undefined) return undefined;
  const host = authority === undefined ? base.host : URL.parse(`${base.protocol}//${authority}`)?.host;
  return host === undefined ? undefined : { host, path };
}

/** Whether a request may replace an item (RFC 4918, section 10.6). @throws WebDavError 400 */
export function overwritesOf(request: Request): boolean {
  const header = request.headers.get("overwrite")?.trim().toUpperCase() ?? "T";
  if (header === "T") return true;
  if (header === "F") return false;
  throw new WebDavError(400, say`The header Overwrite must be T or F.`);
}

/** Names the item that a request changed or read in the audit log: its id, never its name. */
export function noteTarget(
  { request, principal }: Pick<DavRequest, "request" | "principal">,
  owner: User,
  { kind: type, publicId: id }: Pick<TreeNode, "kind" | "publicId">,
): void {
  noteAudit(request, { target: { type, id }, ...(owner.id !== principal.user.id && { subjectId: owner.publicId }) });
}

/** The page on which people see their devices and approve many changes at once. */
export function settingsUrlOf(request: Request): string {
  return `${requestContextOf(request).baseUrl}/settings/devices`;
}

/** @throws WebDavError 415 if the request has a body, which no client sends with this method */
export function rejectBody(request: Request): void {
  const length = request.headers.get("content-length");
  if ((length === null || length === "0") && !request.headers.has("transfer-encoding")) return;
  throw new WebDavError(415, say`This request can't have a body.`);
}
