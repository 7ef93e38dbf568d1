import { say } from "../../../../translations/say.ts";
import { WebDavError } from "../../errors.ts";
import { addressOf, type DavRequest, hrefOf } from "../dav-request.ts";
import { multistatusResponse, streamText } from "../multistatus.ts";
import { PropertyPlan } from "../properties/property-plan.ts";
import type { WebDavServices } from "../services.ts";
import { readXml } from "../xml-requests.ts";

/** PROPFIND: the properties of an item, and with Depth 1 those of a folder's members (RFC 4918, section 9.1). */
export async function propfind(services: WebDavServices, { request, principal }: DavRequest): Promise<Response> {
  const isDeep = readDepth(request.headers.get("depth"));
  const address = addressOf(request);
  const plan = PropertyPlan.read(await readXml(request));
  const slices = services.listings.write({ principal, address, href: hrefOf(request, address, false), isDeep, plan });
  const first = await slices.next();
  const second = first.done === true ? first : await slices.next();
  const begin = first.value ?? "";
  if (second.done === true) return multistatusResponse(begin);
  services.allowLong(request);
  return multistatusResponse(streamText(begin + second.value, slices));
}

/**
 * Whether to list the members. Without the header too: RFC 4918 would list the whole tree then, which no server does.
 * @throws WebDavError 403 for infinity, 400 for other values
 */
function readDepth(header: string | null): boolean {
  const depth = header?.trim().toLowerCase() ?? "1";
  if (depth === "0") return false;
  if (depth === "1") return true;
  if (depth !== "infinity") throw new WebDavError(400, say`The header Depth must be 0 or 1.`);
  throw new WebDavError(403, say`List one folder at a time, with the header Depth: 1.`, "propfind-finite-depth");
}
