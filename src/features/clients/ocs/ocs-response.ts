/** The envelope of Nextcloud's and ownCloud's own API (OCS), in JSON or XML. */
import { requestContextOf } from "../../../http/request-context.ts";
import { escapeXml } from "../../../lib/escape-xml.ts";

/** What an OCS response can carry. */
export type OcsData = string | number | boolean | null | readonly OcsData[] | { readonly [name: string]: OcsData };

/** The result of a request, apart from its data. */
interface OcsMeta {
  /** The HTTP status that version 2 uses. */
  readonly status: number;
  readonly message: string;
}

/**
 * An OCS response. Version 1 of the API always has the HTTP status 200, except for 401, and 100 in the body for a
 * success; version 2 has the same status in both.
 */
export function ocsResponse(
  request: Request,
  data: OcsData,
  { status, message }: OcsMeta = { status: 200, message: "OK" },
): Response {
  const isFirstVersion = requestContextOf(request).path.includes("/v1.php/");
  const isOk = status === 200;
  const statuscode = isOk && isFirstVersion ? 100 : status;
  const meta = { status: isOk ? "ok" : "failure", statuscode, message };
  const isJson = wantsJson(request);
  const body = isJson ? JSON.stringify({ ocs: { meta, data } }) : xmlOf(meta, data);
  return new Response(body, {
    status: isFirstVersion ? 200 : status,
    headers: {
      "Content-Type": isJson ? "application/json; charset=utf-8" : "application/xml; charset=utf-8",
      "Cache-Control": "no-store",
    },
  });
}

/** The response for what this server does not have. Clients read it as "the server lacks this app". */
export function ocsNotFound(request: Request): Response {
  return ocsResponse(request, [], { status: 404, message: "Invalid query, please check the syntax." });
}

/** JSON if the query or the header Accept asks for it; XML otherwise. */
function wantsJson(request: Request): boolean {
  const format = new URLSearchParams(requestContextOf(request).query).get("format");
  if (format !== null) return format === "json";
  return /^application\/json\b/i.test(request.headers.get("accept")?.trim() ?? "");
}

function xmlOf(meta: OcsData, data: OcsData): string {
  return `<?xml version="1.0"?>\n<ocs>${element("meta", meta)}${element("data", data)}</ocs>\n`;
}

function element(name: string, data: OcsData): string {
  return `<${name}>${contentOf(data)}</${name}>`;
}

/** Booleans are 1 and nothing, and the entries of lists `element`, as the clients know them from PHP. */
function contentOf(data: OcsData): string {
  if (data === null || data === false) return "";
  if (data === true) return "1";
  if (isList(data)) return data.map((entry) => element("element", entry)).join("");
  if (typeof data !== "object") return escapeXml(String(data));
  return Object.entries(data)
    .map(([name, value]) => element(name, value))
    .join("");
}

function isList(data: OcsData): data is readonly OcsData[] {
  return Array.isArray(data);
}
