import { notThere } from "../../errors.ts";
import type { AppPasswordPrincipal } from "../../../accounts/auth/principal.ts";
import { downloadBy } from "../../../library/files/content-sender.ts";
import type { TreeNode } from "../../../../tree/model/types.ts";
import { escapeXml } from "../../../../lib/escape-xml.ts";
import { isFolderItem, type Item, type SharesFolder } from "../client-tree.ts";
import { clientDateMs } from "../properties/dates.ts";
import { addressOf, type DavRequest, noteTarget } from "../dav-request.ts";
import type { WebDavServices } from "../services.ts";

/** Entries in the page of a folder. Programs list folders with PROPFIND. */
const LISTED_MAX = 1_000;

/** Another program can change a file at any time: a program that edited an outdated copy would undo the change. */
const CACHE_CONTROL = "private, no-cache";

/** GET and HEAD: the content of a file, with ranges and conditions; a plain page for a folder. */
export async function get(services: WebDavServices, { request, set, principal }: DavRequest): Promise<Response> {
  const { clientTree, sender, rateGate, clientIdOf } = services;
  const address = addressOf(request);
  const resource = clientTree.find(principal, address);
  if (resource.kind === "item" && !isFolderItem(resource)) {
    const { node } = resource;
    if (node.kind !== "file") throw notThere();
    noteTarget({ request, principal }, resource.owner, node);
    const download = downloadBy({ principal, request, set }, rateGate);
    const extraHeaders = { "OC-ETag": `"${node.digest}"`, "OC-FileId": clientIdOf(node.id) };
    const options = { ...download, query: {}, extraHeaders, cacheControl: CACHE_CONTROL };
    return sender.send({ ...node, contentAtMs: clientDateMs(node.fileAtMs) }, options);
  }
  if (resource.kind !== "item" && resource.kind !== "shares") throw notThere();
  const title = resource.kind === "shares" ? resource.name : resource.node.name;
  const html = folderPage(title, await namesIn(services, principal, resource));
  return new Response(request.method === "HEAD" ? null : html, {
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
      "Cache-Control": CACHE_CONTROL,
    },
  });
}

function folderPage(title: string, names: readonly string[]): string {
  const items = names.map((name) => `<li>${escapeXml(name)}</li>`).join("\n");
  return `<!doctype html>\n<meta charset="utf-8">\n<title>${escapeXml(title)}</title>\n<ul>\n${items}\n</ul>\n`;
}

function shown({ name, kind }: Pick<TreeNode, "name" | "kind">): string {
  return kind === "folder" ? `${name}/` : name;
}

/** The names of what is in a folder; those of folders with a slash at the end. */
async function namesIn(
  { tree, clientTree }: WebDavServices,
  principal: AppPasswordPrincipal,
  resource: Item | SharesFolder,
): Promise<string[]> {
  if (resource.kind === "shares") {
    return clientTree.mountedShares(principal).map(({ name, node: { kind } }) => shown({ name, kind }));
  }
  if (!isFolderItem(resource)) return [];
  const { node: folder, owner, isRoot } = resource;
  const page = { accountId: owner.id, folder, sort: "name", order: "asc", offset: 0, limit: LISTED_MAX } as const;
  const { nodes, total } = await tree.list(page);
  const sharesName = isRoot ? clientTree.sharesNameOf(principal) : undefined;
  const names = [...(sharesName === undefined ? [] : [`${sharesName}/`]), ...nodes.map(shown)];
  return total > LISTED_MAX ? [...names, `… (${total - LISTED_MAX} more)`] : names;
}
