import type { TreeNode } from "../../../../tree/model/types.ts";
import { WebDavError } from "../../errors.ts";
import { COUNTED_MAX } from "../change-guard.ts";
import { Conditions, settleEtags } from "../conditions.ts";
import {
  addressOf,
  destinationOf,
  type Exchange,
  noteTarget,
  overwritesOf,
  rejectBody,
  settingsUrlOf,
} from "../exchange.ts";
import type { WebDavServices } from "../services.ts";
import type { Relocated, Relocation } from "../tree-changes.ts";

/** MOVE: renames or moves a file or folder (RFC 4918, section 9.9). */
export async function move(services: WebDavServices, { request, principal }: Exchange): Promise<Response> {
  const depth = request.headers.get("depth")?.trim().toLowerCase() ?? "infinity";
  services.allowLong(request);
  const relocation = relocationOf(services, { request, principal });
  await settleEtags({ request, principal }, services);
  const { source, landing } = services.treeChanges.check(relocation, true);
  if (depth !== "infinity" && source.node.kind === "folder") {
    throw new WebDavError(400, "A folder can be moved only with everything in it. Leave out the header Depth.");
  }
  await admitReplaced(services, relocation, source.node, landing.replaced?.node, settingsUrlOf(request));
  noteTarget({ request, principal }, source.owner, source.node);
  return relocatedResponse(services, await services.treeChanges.move(relocation));
}

/** COPY (RFC 4918, section 9.8). */
export async function copy(services: WebDavServices, { request, principal }: Exchange): Promise<Response> {
  const depth = request.headers.get("depth")?.trim().toLowerCase() ?? "infinity";
  if (depth !== "infinity" && depth !== "0") throw new WebDavError(400, "The header Depth must be 0 or infinity.");
  services.allowLong(request);
  const relocation = relocationOf(services, { request, principal });
  await settleEtags({ request, principal }, services);
  const { landing } = services.treeChanges.check(relocation, false);
  const copied = await services.treeChanges.copy(relocation, depth === "0");
  noteTarget({ request, principal }, landing.parent.owner, copied.node);
  return relocatedResponse(services, copied);
}

/**
 * Counts what a move replaces, for the guard against mass changes. Locks are checked before: what they prevent is not
 * counted.
 * @throws AppError locked | confirmation_required
 */
async function admitReplaced(
  { tree, changeGuard, locks }: WebDavServices,
  { principal, conditions: { lockTokens } }: Relocation,
  source: TreeNode,
  replaced: TreeNode | undefined,
  settingsUrl: string,
): Promise<void> {
  if (replaced === undefined) return;
  locks.admitLeaving(source, lockTokens);
  const isNextVersion = source.kind === "file" && replaced.kind === "file";
  if (isNextVersion) locks.admit(replaced, lockTokens);
  else locks.admitLeaving(replaced, lockTokens);
  const { files } = tree.countBelow(replaced, COUNTED_MAX);
  const changes = replaced.kind === "file" ? { replacements: 1 } : { deletions: files };
  if (files > 0) await changeGuard.admit(principal, changes, settingsUrl);
}

function relocationOf(services: WebDavServices, { request, principal }: Omit<Exchange, "set">): Relocation {
  rejectBody(request);
  return {
    principal,
    from: addressOf(request),
    to: destinationOf(request),
    conditions: new Conditions({ request, principal }, services),
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
