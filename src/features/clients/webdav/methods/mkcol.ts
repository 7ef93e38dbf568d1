import { AppError } from "../../../../errors.ts";
import { say } from "../../../../translations/say.ts";
import { missingFolder, sharesOnly, WebDavError } from "../../errors.ts";
import { locationOf, requireWrite } from "../client-tree.ts";
import { Conditions } from "../conditions.ts";
import { addressOf, type DavRequest, noteTarget, rejectBody } from "../dav-request.ts";
import type { WebDavServices } from "../services.ts";

/** MKCOL: a new folder (RFC 4918, section 9.3). */
export async function mkcol(services: WebDavServices, { request, principal }: DavRequest): Promise<Response> {
  const { clientTree, folders, clientIdOf } = services;
  rejectBody(request);
  const address = addressOf(request);
  const resource = clientTree.find(principal, address);
  if (resource.kind === "missing_parent") throw missingFolder();
  if (resource.kind !== "free") throw alreadyThere();
  if (resource.parent.kind === "shares") throw sharesOnly();
  requireWrite(resource.parent);
  const conditions = new Conditions({ request, principal }, services);
  conditions.check(resource);
  const { share, path: parentPath } = locationOf(resource.parent);
  const user = { ...principal.user, lockTokens: conditions.lockTokens };
  const folder = await folders
    .create(user, { parentPath, name: resource.name, description: undefined, share }, undefined)
    .catch((error: unknown) => {
      // Another request was faster.
      throw error instanceof AppError && error.reason === "name_taken" ? alreadyThere() : error;
    });
  noteTarget({ request, principal }, resource.parent.owner, folder);
  return new Response(null, { status: 201, headers: { "OC-FileId": clientIdOf(folder.id) } });
}

function alreadyThere(): WebDavError {
  return new WebDavError(405, say`There is already a file or folder with this name. Choose another name.`);
}
