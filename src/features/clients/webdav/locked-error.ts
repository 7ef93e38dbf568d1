/** Adds the path of the locked item to errors, as RFC 4918, section 16, requires. */
import { AppError } from "../../../errors.ts";
import { joinPath, ROOT_PATH, segmentsOf } from "../../../lib/path.ts";
import type { TreeNode } from "../../../tree/model/types.ts";
import { WebDavError } from "../errors.ts";
import { addressIn, addressOf, type DavRequest, hrefOf } from "./dav-request.ts";
import type { WebDavServices } from "./services.ts";

/** Runs a method. An error that a lock caused names the path of the locked item. */
export async function explainLocked(
  services: WebDavServices,
  davRequest: DavRequest,
  run: (services: WebDavServices, davRequest: DavRequest) => Response | Promise<Response>,
): Promise<Response> {
  try {
    return await run(services, davRequest);
  } catch (error) {
    if (!(error instanceof AppError) || error instanceof WebDavError || error.reason !== "locked") throw error;
    throw new WebDavError(423, error.text, "lock-token-submitted", findHref(services, davRequest, error.details));
  }
}

/** The names that lead from a folder to an item in it, at any depth; undefined if it is not in it. */
export function namesBelow(folder: TreeNode, node: TreeNode): string[] | undefined {
  const [top, path] = [pathOf(folder), pathOf(node)];
  const isBelow =
    folder.accountId === node.accountId && (path === top || path.startsWith(top === ROOT_PATH ? top : `${top}/`));
  return isBelow ? segmentsOf(path).slice(segmentsOf(top).length) : undefined;
}

/** The locked item is at an address of the request, above one, or below one. */
function findHref(
  { tree, clientTree }: WebDavServices,
  { request, principal }: DavRequest,
  { nodeId }: AppError["details"],
): string | undefined {
  const node = typeof nodeId === "string" ? tree.findAnywhere(nodeId) : undefined;
  const destination = request.headers.get("destination");
  const addresses = [addressOf(request), destination === null ? undefined : addressIn(destination, request)];
  for (const address of addresses) {
    if (node === undefined || address === undefined) continue;
    for (let length = address.names.length; length >= 0; length--) {
      const names = address.names.slice(0, length);
      const resource = clientTree.find(principal, { user: address.user, names });
      const below = resource.kind === "item" ? namesBelow(resource.node, node) : undefined;
      if (below === undefined) continue;
      const writtenNames = [...address.writtenNames.slice(0, length), ...below];
      return hrefOf(request, { root: address.root, writtenNames }, node.kind === "folder");
    }
  }
  return undefined;
}

function pathOf(node: TreeNode): string {
  return node.kind === "folder" ? node.path : joinPath(node.folder, node.name);
}
