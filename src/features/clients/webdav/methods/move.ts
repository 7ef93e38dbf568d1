import type { TreeNode } from "../../../../tree/model/types.ts";
import { uploaderOf } from "../../../accounts/auth/guard.ts";
import { WebDavError } from "../../errors.ts";
import type { FolderSize } from "../../../../tree/operations/measure-folder.ts";
import { say } from "../../../../translations/say.ts";
import { Conditions, refreshEtags } from "../conditions.ts";
import {
  addressOf,
  destinationOf,
  type DavRequest,
  noteTarget,
  overwritesOf,
  rejectBody,
  settingsUrlOf,
} from "../dav-request.ts";
import type { WebDavServices } from "../services.ts";
import type { Relocated, Relocation } from "../tree-changes.ts";

/** MOVE: renames or moves a file or folder (RFC 4918, section 9.9). */
export async function move(services: WebDavServices, { request, principal }: DavRequest): Promise<Response> {
  const depth = request.headers.get("depth")?.trim().toLowerCase() ?? "infinity";
  services.allowLong(request);
  const relocation = relocationOf(services, { request, principal });
  await refreshEtags({ request, principal }, services);
  const { source, destination } = services.treeChanges.check(relocation, true);
  if (depth !== "infinity" && source.node.kind === "folder") {
    throw new WebDavError(400, say`A folder can be moved only with everything in it. Leave out the header Depth.`);
  }
  services.locks.requireMovable(source.node, relocation.conditions.lockTokens);
  const replacedSize = await countReplaced(
    services,
    relocation,
    source.node,
    destination.replaced?.node,
    settingsUrlOf(request),
  );
  noteTarget({ request, principal }, source.owner, source.node);
  return relocatedResponse(services, await services.treeChanges.move({ ...relocation, replacedSize }));
}

/** COPY (RFC 4918, section 9.8). */
export async function copy(services: WebDavServices, { request, principal }: DavRequest): Promise<Response> {
  const depth = request.headers.get("depth")?.trim().toLowerCase() ?? "infinity";
  if (depth !== "infinity" && depth !== "0") throw new WebDavError(400, say`The header Depth must be 0 or infinity.`);
  services.allowLong(request);
  const relocation = relocationOf(services, { request, principal });
  await refreshEtags({ request, principal }, services);
  const { source, destination } = services.treeChanges.check(relocation, false);
  // A copy onto a file is not counted: its content stays as a version, and the source stays too.
  const replacedFolder = destination.replaced?.node.kind === "folder" ? destination.replaced.node : undefined;
  const replacedSize = await countReplaced(services, relocation, source.node, replacedFolder, settingsUrlOf(request));
  const copied = await services.treeChanges.copy({ ...relocation, replacedSize }, depth === "0");
  noteTarget({ request, principal }, destination.parent.owner, copied.node);
  return relocatedResponse(services, copied);
}

/**
 * Counts what is replaced, for the guard against mass changes. Locks are checked before: what they prevent is not
 * counted.
 * @returns the totals of a replaced folder
 * @throws AppError locked | confirmation_required
 */
async function countReplaced(
  { tree, changeGuard, locks }: WebDavServices,
  { principal, conditions: { lockTokens } }: Relocation,
  source: TreeNode,
  replaced: TreeNode | undefined,
  settingsUrl: string,
): Promise<FolderSize | undefined> {
  if (replaced === undefined) return undefined;
  const isNextVersion = source.kind === "file" && replaced.kind === "file";
  if (isNextVersion) locks.requireUnlocked(replaced, lockTokens);
  else locks.requireMovable(replaced, lockTokens);
  if (replaced.kind === "file") {
    if (isNextVersion) await changeGuard.countContent(principal, replaced, settingsUrl);
    else await changeGuard.count(principal, { deletions: 1 }, settingsUrl);
    return undefined;
  }
  const measured = await tree.measure(replaced);
  const { files: deletions } = measured.totals;
  if (deletions > 0) await changeGuard.count(principal, { deletions }, settingsUrl);
  return measured;
}

function relocationOf(services: WebDavServices, { request, principal }: Omit<DavRequest, "set">): Relocation {
  rejectBody(request);
  return {
    principal,
    from: addressOf(request),
    to: destinationOf(request),
    conditions: new Conditions({ request, principal }, services),
    confirm: uploaderOf(request).confirm,
    overwrites: overwritesOf(request),
  };
}

function relocatedResponse({ clientIdOf }: WebDavServices, { node, isNew }: Relocated): Response {
  const etag = node.kind === "file" ? `"${node.digest}"` : undefined;
  return new Response(null, {
    status: isNew ? 201 : 204,
    headers: { "OC-FileId": clientIdOf(node.id), ...(etag !== undefined && { ETag: etag, "OC-ETag": etag }) },
  });
}
