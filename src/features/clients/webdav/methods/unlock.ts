import { AppError } from "../../../../errors.ts";
import { say } from "../../../../translations/say.ts";
import { uploaderOf } from "../../../accounts/auth/guard.ts";
import { notThere, WebDavError } from "../../errors.ts";
import { requireWrite } from "../client-tree.ts";
import { Conditions } from "../conditions.ts";
import { addressOf, type DavRequest } from "../dav-request.ts";
import type { WebDavServices } from "../services.ts";

/** UNLOCK (RFC 4918, section 9.11). */
export async function unlock(services: WebDavServices, davRequest: DavRequest): Promise<Response> {
  const { writer, clientTree, locks } = services;
  const { request, principal } = davRequest;
  const token = /^\s*<([^<>\s]+)>\s*$/.exec(request.headers.get("lock-token") ?? "")?.[1];
  if (token === undefined)
    throw new WebDavError(400, say`UNLOCK needs the header Lock-Token with the token in < and >.`);
  const address = addressOf(request);
  const conditions = new Conditions(davRequest, services);
  const { confirm } = uploaderOf(request);
  await writer.run((tx) => {
    confirm();
    const resource = clientTree.find(principal, address);
    if (resource.kind !== "item") throw notThere();
    requireWrite(resource);
    conditions.check(resource);
    try {
      locks.unlock(tx, principal.user, resource.node, token);
    } catch (error) {
      if (!(error instanceof AppError) || error.reason !== "not_found") throw error;
      throw new WebDavError(409, say`No lock with this token covers this item.`, "lock-token-matches-request-uri");
    }
  });
  return new Response(null, { status: 204 });
}
