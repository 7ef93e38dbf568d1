import { AppError, notFound } from "../../../errors.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { say } from "../../../translations/say.ts";
import type { AppPasswordService } from "../../accounts/app-passwords/service.ts";
import { type authGuard, uploaderOf } from "../../accounts/auth/guard.ts";
import { type AppPasswordPrincipal, checkAppPasswordWrites } from "../../accounts/auth/principal.ts";
import { CLIENT_ROUTE } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import { incomingBytes } from "../../library/files/incoming.ts";
import { expectedChecksum } from "../checksums.ts";
import { WebDavError } from "../errors.ts";
import { Conditions } from "../webdav/conditions.ts";
import {
  basePathOf,
  destinationOf,
  noteTarget,
  overwritesOf,
  rejectBody,
  settingsUrlOf,
} from "../webdav/dav-request.ts";
import { readMtime, storedResponse } from "../webdav/methods/put.ts";
import type { WebDavServices } from "../webdav/services.ts";
import { readXml } from "../webdav/xml-requests.ts";
import { chunkListing } from "./listing.ts";
import type { ClientUploadService } from "./service.ts";

/** Dependencies of {@link chunkedUploadRoutes}. */
export interface ChunkedUploadRoutesOptions {
  readonly clientUploads: ClientUploadService;
  readonly appPasswords: AppPasswordService;
  readonly webDav: WebDavServices;
  readonly guard: ReturnType<typeof authGuard>;
}

/** The name of the complete file, which clients move to its place. */
const COMPLETE_FILE = ".file";
const UPLOAD = "/remote.php/dav/uploads/:user/:transfer";
const CHUNK = `${UPLOAD}/:chunk`;

const PART = { ...CLIENT_ROUTE, audit: "unaudited", parse: "none" } as const;
const COMPLETION = { ...PART, audit: { action: "file.upload", files: "all" } } as const;

/** The framework passes null for a parameter that is not valid percent-encoding. */
type Params = Readonly<Record<string, string | null | undefined>>;

/** No client uses these in the name of an upload, and a slash would separate two names. */
const FORBIDDEN_CHARACTER = /[\p{Cc}/]/u;

/** Uploads in chunks, as the ownCloud and Nextcloud clients send large files (chunking "NG", version 1). */
export function chunkedUploadRoutes({
  clientUploads,
  appPasswords,
  webDav,
  guard,
}: ChunkedUploadRoutesOptions): Router {
  /** The name of an upload, for an app password that may change files. @throws AppError not_found | role | scope */
  const writable = (principal: AppPasswordPrincipal, params: Params): string => {
    checkAppPasswordWrites(principal);
    return transferOf(appPasswords, principal, params);
  };
  return new Router({ guard })
    .on("MKCOL", UPLOAD, PART, async ({ request, principal, params }) => {
      rejectBody(request);
      const totalBytes = readLength(request.headers.get("oc-total-length"));
      await clientUploads.begin(principal.user, writable(principal, params), totalBytes);
      return new Response(null, { status: 201 });
    })
    .on("PROPFIND", UPLOAD, PART, async ({ request, principal, params }) => {
      await readXml(request);
      const chunks = clientUploads.list(principal.user, transferOf(appPasswords, principal, params));
      const isAlone = request.headers.get("depth") === "0";
      return chunkListing(hrefOf(request), isAlone ? [] : chunks);
    })
    .on("DELETE", UPLOAD, PART, async ({ principal, params }) => {
      await clientUploads.cancel(principal.user, writable(principal, params));
      return new Response(null, { status: 204 });
    })
    .on("PUT", CHUNK, PART, async ({ request, principal, params }) => {
      const transfer = writable(principal, params);
      const bytes = incomingBytes(request, "file");
      const isNew = await clientUploads.receive(uploaderOf(request), transfer, nameIn(params, "chunk"), bytes);
      return new Response(null, { status: isNew ? 201 : 204 });
    })
    .on("DELETE", CHUNK, PART, async ({ principal, params }) => {
      await clientUploads.removeChunk(principal.user, writable(principal, params), nameIn(params, "chunk"));
      return new Response(null, { status: 204 });
    })
    .on("MOVE", CHUNK, COMPLETION, async ({ request, principal, params }) => {
      const transfer = writable(principal, params);
      if (params["chunk"] !== COMPLETE_FILE)
        throw new WebDavError(403, say`Only ${COMPLETE_FILE}, which stands for the complete file, can be moved.`);
      // The chunks may have to be copied, and their checksum computed.
      webDav.allowLong(request);
      return finish(clientUploads, webDav, { request, principal, transfer });
    });
}

/** Makes the file at the destination of the chunks. */
async function finish(
  clientUploads: ClientUploadService,
  webDav: WebDavServices,
  { request, principal, transfer }: { request: Request; principal: AppPasswordPrincipal; transfer: string },
): Promise<Response> {
  const { headers } = request;
  const target = {
    principal,
    address: destinationOf(request),
    conditions: new Conditions({ request, principal }, webDav),
    settingsUrl: settingsUrlOf(request),
  };
  const fileModifiedAt = readMtime(headers.get("x-oc-mtime"));
  const expected = {
    totalBytes: readLength(headers.get("oc-total-length")),
    checksum: expectedChecksum(headers.get("oc-checksum")),
  };
  const facts = { declaredType: undefined, fileModifiedAt };
  const mayReplace = overwritesOf(request);
  const { replaced, owner } = webDav.contentWriter.checkTarget(target);
  if (replaced !== undefined && !mayReplace) {
    throw new AppError(
      "precondition_failed",
      say`There is already a file at the destination. Choose another name, or allow the program to replace it.`,
    );
  }
  const { file, isNew } = await clientUploads.finish(principal.user, transfer, expected, (pendingUpload, hooks) =>
    webDav.contentWriter.finish(target, uploaderOf(request), pendingUpload, { ...facts, hooks }),
  );
  noteTarget({ request, principal }, owner, file);
  return storedResponse(webDav, file, isNew, fileModifiedAt !== undefined);
}

/**
 * The name of an upload. An app password for one folder has names of its own: it must not read, by completing it, what
 * another program is sending.
 * @throws AppError not_found for the uploads of another account; invalid_path for a name that no client uses
 */
function transferOf(
  appPasswords: Pick<AppPasswordService, "namesAccount">,
  { user, appPassword: { folderId } }: AppPasswordPrincipal,
  params: Params,
): string {
  const transfer = nameIn(params, "transfer");
  if (!appPasswords.namesAccount(user, nameIn(params, "user"))) throw notFound(say`This upload was not found.`);
  if (FORBIDDEN_CHARACTER.test(transfer)) {
    throw new AppError("invalid_path", say`The name of an upload can't contain slashes or control characters.`);
  }
  return folderId === null ? transfer : `${folderId}/${transfer}`;
}

/** A name in the address, decoded. @throws AppError invalid_path if it can't be decoded */
function nameIn(params: Params, key: "user" | "transfer" | "chunk"): string {
  const name = params[key];
  if (typeof name === "string") return name;
  throw new AppError("invalid_path", say`The address contains a % that is not valid percent-encoding.`);
}

/** @throws AppError invalid_field */
function readLength(header: string | null): number | undefined {
  if (header === null) return undefined;
  const bytes = /^\s*\d{1,16}\s*$/.test(header) ? Number(header) : Number.NaN;
  if (Number.isSafeInteger(bytes)) return bytes;
  throw new AppError("invalid_field", say`OC-Total-Length must be a number of bytes.`, { field: "OC-Total-Length" });
}

/** The path of a request as the client sees it, with a slash at the end. */
function hrefOf(request: Request): string {
  const { path } = requestContextOf(request);
  return `${basePathOf(request)}${path.replace(/\/$/, "")}/`;
}
