/** What each method of WebDAV reads from its request. */
import { AppError } from "../../../errors.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import type { AppPasswordPrincipal } from "../../accounts/auth/principal.ts";
import type { ResponseHeaders } from "../../accounts/routing/declaration.ts";
import { WebDavError } from "../errors.ts";
import { type Address, readAddress } from "./address.ts";

/** A request with its sender, as the methods receive it. */
export interface Exchange {
  readonly request: Request;
  readonly set: { headers: ResponseHeaders };
  readonly principal: AppPasswordPrincipal;
}

/** The address of a request. @throws AppError not_found | invalid_path */
export function addressOf(request: Request): Address {
  const address = readAddress(requestContextOf(request).path);
  if (address === undefined) throw new AppError("not_found", "There is no file or folder at this address.");
  return address;
}

/**
 * The address in the header Destination (RFC 4918, section 10.3).
 * @throws WebDavError 400 without it, 502 for another server or another tree
 */
export function destinationOf(request: Request): Address {
  const header = request.headers.get("destination");
  const { baseUrl, requestOrigin } = requestContextOf(request);
  const base = new URL(baseUrl);
  const target = header === null || header === "" ? undefined : parseDestination(header, base);
  if (target === undefined) throw new WebDavError(400, "The header Destination is missing or not a valid address.");
  const hosts = [base.host, requestOrigin === undefined ? base.host : new URL(requestOrigin).host];
  if (!hosts.includes(target.host)) throw new WebDavError(502, "Items can't be moved or copied to another server.");
  const basePath = base.pathname === "/" ? "" : base.pathname.replace(/\/$/, "");
  const path = target.path.startsWith(`${basePath}/`) ? target.path.slice(basePath.length) : target.path;
  const address = readAddress(path);
  if (address === undefined) throw new WebDavError(502, "The destination is outside of your files.");
  return address;
}

/** The path is taken as written: a URL parser would resolve dot segments, and hide them from the check. */
function parseDestination(header: string, base: URL): { readonly host: string; readonly path: string } | undefined {
  const match = /^(?:https?:\/\/([^/?#]+))?(\/[^?#]*)$/i.exec(header);
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
  throw new WebDavError(400, "The header Overwrite must be T or F.");
}

/** The page on which people see their devices and approve many changes at once. */
export function settingsUrlOf(request: Request): string {
  return `${requestContextOf(request).baseUrl}/settings/devices`;
}

/** @throws WebDavError 415 if the request has a body, which no client sends with this method */
export function rejectBody(request: Request): void {
  const length = request.headers.get("content-length");
  if ((length === null || length === "0") && !request.headers.has("transfer-encoding")) return;
  throw new WebDavError(415, "This request can't have a body.");
}
