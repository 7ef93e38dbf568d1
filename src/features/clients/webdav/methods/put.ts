import { AppError } from "../../../../errors.ts";
import { uploaderOf } from "../../../accounts/auth/guard.ts";
import { receiveBody } from "../../../library/files/incoming.ts";
import type { FileNode } from "../../../../tree/model/types.ts";
import { say } from "../../../../translations/say.ts";
import { expectedChecksum } from "../../checksums.ts";
import { WebDavError } from "../../errors.ts";
import { Conditions } from "../conditions.ts";
import { addressOf, type DavRequest, noteTarget, settingsUrlOf } from "../dav-request.ts";
import { storableDate } from "../properties/dates.ts";
import type { WebDavServices } from "../services.ts";

/** PUT: a new file, or the next version of the file at this address. */
export async function put(services: WebDavServices, { request, principal }: DavRequest): Promise<Response> {
  const { files, contentWriter } = services;
  if (request.headers.has("content-range"))
    throw new WebDavError(400, say`A part of a file can't be replaced. Send the whole file.`);
  // Clients of before 2016 send the chunks of a file as files in its folder, which would stay there.
  if (request.headers.has("oc-chunked"))
    throw new WebDavError(501, say`This program sends large files in an outdated way. Update the program.`);
  const address = addressOf(request);
  const conditions = new Conditions({ request, principal }, services);
  const target = { principal, address, conditions, settingsUrl: settingsUrlOf(request) };
  const facts = {
    declaredType: request.headers.get("content-type") ?? undefined,
    fileModifiedAt: readMtime(request.headers.get("x-oc-mtime")),
  };
  const checksum = expectedChecksum(request.headers.get("oc-checksum"));
  const checked = contentWriter.checkTarget(target);
  const { owner } = checked;
  const uploader = uploaderOf(request);
  const onBytes = checksum?.isComputed === true ? (buffer: Uint8Array) => checksum.update(buffer) : undefined;
  const sender = { user: uploader.user, possibleOwners: [owner], key: null, onBytes };
  const { file, isNew } = await receiveBody(files, request, sender, (pendingUpload) => {
    checksum?.verify(pendingUpload.incoming.digest());
    return contentWriter.finish(target, uploader, pendingUpload, facts, checked);
  });
  noteTarget({ request, principal }, owner, file);
  return storedResponse(services, file, isNew, facts.fileModifiedAt !== undefined);
}

/** The response to stored content, with the headers that the desktop clients require. */
export function storedResponse(
  { clientIdOf }: Pick<WebDavServices, "clientIdOf">,
  file: FileNode,
  isNew: boolean,
  hasMtime: boolean,
): Response {
  const etag = `"${file.digest}"`;
  return new Response(null, {
    status: isNew ? 201 : 204,
    headers: {
      ETag: etag,
      "OC-ETag": etag,
      "OC-FileId": clientIdOf(file.id),
      ...(hasMtime && { "X-OC-Mtime": "accepted" }),
    },
  });
}

/**
 * The time in X-OC-Mtime, as ISO 8601: seconds since 1970, also with decimals.
 * @throws AppError invalid_field
 */
export function readMtime(header: string | null): string | undefined {
  if (header === null || header.trim() === "") return undefined;
  const seconds = /^\s*-?\d{1,12}(\.\d{1,9})?\s*$/.test(header) ? Number(header) : Number.NaN;
  const date = storableDate(seconds * 1000);
  if (date !== undefined) return date;
  const message = say`X-OC-Mtime must be a number of seconds since 1970, of a date in the years 1 to 9999.`;
  throw new AppError("invalid_field", message, { field: "X-OC-Mtime" });
}
