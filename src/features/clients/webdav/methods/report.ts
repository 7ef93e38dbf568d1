import { say } from "../../../../translations/say.ts";
import { notThere, WebDavError } from "../../errors.ts";
import { isFolderItem } from "../client-tree.ts";
import { addressOf, type DavRequest, hrefOf } from "../dav-request.ts";
import { multistatusResponse, streamText } from "../multistatus.ts";
import { isFavoriteMark } from "../properties/live-properties.ts";
import { PropertyPlan } from "../properties/property-plan.ts";
import type { WebDavServices } from "../services.ts";
import type { XmlElement } from "../xml.ts";
import { readXml } from "../xml-requests.ts";

const OWNCLOUD = "http://owncloud.org/ns";
/** Favorites that are read at a time, in a millisecond or two. */
const SLICE = 100;

/**
 * REPORT with `oc:filter-files`: the favorites in a folder and in all folders below it, as the apps of Nextcloud request
 * them. Other reports are rejected.
 */
export async function report(services: WebDavServices, { request, principal }: DavRequest): Promise<Response> {
  const address = addressOf(request);
  const body = await readXml(request);
  if (body === undefined || !asksForFavorites(body)) {
    // RFC 3253, section 3.6
    throw new WebDavError(403, say`This server can report only favorites.`, "supported-report");
  }
  const plan = PropertyPlan.ofReport(body);
  await services.etags.refresh(principal.user);
  const folder = services.clientTree.find(principal, address);
  if (folder.kind === "free" || folder.kind === "missing_parent") throw notThere();
  if (folder.kind === "item" && !isFolderItem(folder)) {
    throw new WebDavError(403, say`Favorites can be listed in a folder only.`, "supported-report");
  }
  const { root, names, writtenNames } = address;
  const found = services.favoriteItems.below(principal, names, SLICE);
  const hrefOfNames = (below: readonly string[], isFolder: boolean) =>
    hrefOf(request, { root, writtenNames: [...writtenNames, ...below.slice(names.length)] }, isFolder);
  const slices = services.listings.writeFound({ principal, plan }, found, hrefOfNames);
  services.allowLong(request);
  const first = await slices.next();
  return multistatusResponse(first.done === true ? "" : streamText(first.value, slices));
}

/** Whether the only rule of a report is that of favorites. */
function asksForFavorites({ namespace, name, children }: XmlElement): boolean {
  if (namespace !== OWNCLOUD || name !== "filter-files") return false;
  const rules = children
    .filter((child) => child.namespace === OWNCLOUD && child.name === "filter-rules")
    .flatMap((child) => child.children);
  return rules.length > 0 && rules.every((rule) => isFavoriteMark(rule) && ["1", "true"].includes(rule.text.trim()));
}
