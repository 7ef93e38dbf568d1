import { say } from "../../../../translations/say.ts";
import { uploaderOf } from "../../../accounts/auth/guard.ts";
import { movedAway, notThere, WebDavError } from "../../errors.ts";
import { isFolderItem, isShareTop, requireWrite } from "../client-tree.ts";
import { Conditions, refreshEtags } from "../conditions.ts";
import { addressOf, type DavRequest, noteTarget, settingsUrlOf } from "../dav-request.ts";
import type { WebDavServices } from "../services.ts";

/** DELETE: moves a file or folder to the trash of its owner. */
export async function remove(services: WebDavServices, { request, principal }: DavRequest): Promise<Response> {
  const { clientTree, trash, tree, changeGuard, locks } = services;
  await refreshEtags({ request, principal }, services);
  const address = addressOf(request);
  const resource = clientTree.find(principal, address);
  if (resource.kind === "shares")
    throw new WebDavError(
      403,
      say`This folder can't be deleted. To remove a share from it, leave the share in the web app.`,
    );
  if (resource.kind !== "item") throw notThere();
  if (resource.isRoot) throw new WebDavError(403, say`The root folder can't be deleted.`);
  requireWrite(resource);
  if (isShareTop(resource))
    throw new WebDavError(403, say`Only the owner can delete a shared item. To stop using it, leave the share.`);
  // RFC 4918, section 9.6.1. For files, the header has no meaning.
  const depth = request.headers.get("depth")?.trim().toLowerCase() ?? "infinity";
  if (depth !== "infinity" && isFolderItem(resource)) {
    throw new WebDavError(400, say`A folder can be deleted only with everything in it. Leave out the header Depth.`);
  }
  noteTarget({ request, principal }, resource.owner, resource.node);
  const conditions = new Conditions({ request, principal }, services);
  conditions.check(resource);
  // What a lock prevents deletes nothing, so it must not count.
  locks.requireMovable(resource.node, conditions.lockTokens);
  const measured = isFolderItem(resource) ? await tree.measure(resource.node) : undefined;
  const deletions = measured?.totals.files ?? 1;
  if (deletions > 0) await changeGuard.count(principal, { deletions }, settingsUrlOf(request));
  const user = { ...principal.user, lockTokens: conditions.lockTokens };
  const { confirm } = uploaderOf(request);
  await trash.putOne(user, resource.node.publicId, measured, () => {
    confirm();
    const now = clientTree.find(principal, address);
    if (now.kind !== "item" || now.node.id !== resource.node.id) throw movedAway();
    requireWrite(now);
    conditions.check(now);
  });
  return new Response(null, { status: 204 });
}
