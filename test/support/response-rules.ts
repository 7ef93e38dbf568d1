// What holds for every answer whatever it answers, checked over all that a file's tests received.
import { expect, test } from "bun:test";
import type { RecordedResponse } from "./client.ts";
import { ApiDocument, asObject } from "./openapi.ts";
import type { TestServer } from "./server.ts";

/** Codes that may go with a status (contract section 1). */
const codesOf: Record<number, string[]> = {
  400: ["VALIDATION_ERROR"],
  401: ["AUTHENTICATION_FAILED"],
  403: ["INSUFFICIENT_PERMISSIONS"],
  404: ["RESOURCE_NOT_FOUND"],
  405: ["VALIDATION_ERROR"],
  408: ["VALIDATION_ERROR"],
  409: ["VALIDATION_ERROR"],
  410: ["RESOURCE_NOT_FOUND"],
  412: ["VALIDATION_ERROR"],
  413: ["VALIDATION_ERROR"],
  415: ["VALIDATION_ERROR"],
  416: ["VALIDATION_ERROR"],
  460: ["VALIDATION_ERROR"],
  429: ["RATE_LIMIT_EXCEEDED"],
  500: ["INTERNAL_ERROR", "DATABASE_ERROR", "STORAGE_ERROR"],
  503: ["SERVICE_UNAVAILABLE"],
  507: ["STORAGE_ERROR"],
};

const rateLimitHeaders = [
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "x-ratelimit-window",
  "x-ratelimit-resource",
];

/** Headers of a limit must be whole numbers; the resource is one of the categories. */
const categories = new Set([
  "signin",
  "signup",
  "refresh",
  "uploads",
  "downloads",
  "listing",
  "operations",
  "profile",
  "usage",
  "sync",
  "general",
]);

/** Every law that an answer breaks, in words. */
export function findBrokenRules(response: RecordedResponse): string[] {
  const broken: string[] = [];
  const { status, headers } = response;
  const law = (holds: boolean, text: string) => {
    if (!holds) broken.push(`${response.method} ${response.path} ${status}: ${text}`);
  };
  law((headers.get("x-request-id") ?? "") !== "", "no X-Request-Id");
  const isApi = response.path.startsWith("/api/");
  const saysWhen = status === 429 || (status === 503 && !isApi);
  law(
    saysWhen ? /^[1-9]\d*$/.test(headers.get("retry-after") ?? "") : !headers.has("retry-after"),
    "Retry-After, which goes with 429, and with 503 outside /api",
  );
  law(![...headers.keys()].some((name) => name.startsWith("access-control-")), "a CORS header nobody asked for");
  if (isApi) {
    for (const name of rateLimitHeaders) law(headers.has(name), `no ${name}`);
    for (const name of rateLimitHeaders.slice(0, 4))
      law(/^\d+$/.test(headers.get(name) ?? "0"), `${name} is ${headers.get(name)}`);
    const resource = headers.get("x-ratelimit-resource");
    law(resource === null || categories.has(resource), `unknown resource ${resource}`);
    if (status >= 400 && response.method !== "HEAD") law(response.json !== undefined, "no JSON body on a refusal");
  }
  if (response.json === undefined || !isApi) return broken;
  // Of answers about shares the texts say both: JSON is no-store, shares are private and no-cache.
  const cacheControl = headers.get("cache-control") ?? "";
  const isShare = response.path.startsWith("/api/public/");
  law(
    /\bno-store\b/.test(cacheControl) || (isShare && cacheControl === "private, no-cache"),
    `Cache-Control is ${cacheControl}`,
  );
  const body = asObject(response.json);
  if (status < 400) {
    law(body?.["success"] === true, "success is not true");
    law(body?.["data"] === undefined || asObject(body["data"]) !== undefined, "data is no object");
    return broken;
  }
  const error = asObject(body?.["error"]);
  const code = error?.["code"];
  law(body?.["success"] === false, "success is not false");
  law(typeof code === "string" && (codesOf[status]?.includes(code) ?? false), `code ${String(code)}`);
  law(typeof error?.["message"] === "string" && error["message"] !== "", "no message");
  const details = asObject(error?.["details"]);
  const reason = details?.["reason"];
  law(typeof reason === "string" && /^[a-z][a-z_]*$/.test(reason), `reason ${String(reason)}`);
  if (status === 503) law(Number.isInteger(details?.["retryAfter"]), "no details.retryAfter");
  if (status === 500) law(typeof details?.["requestId"] === "string", "no details.requestId");
  law(
    !/node_modules|\bat .+:\d+:\d+|\.ts\b|SELECT |INSERT |UPDATE .+ SET|\/blobs\//.test(String(error?.["message"])),
    "internals",
  );
  return broken;
}

/**
 * Declares the tests that look back on all answers of a file. Call it last in the file.
 *
 * @param options.mayFail statuses from 500 that the file provokes on purpose
 */
export function testAllResponses(server: () => TestServer, options: { mayFail?: number[] } = {}): void {
  test("every answer of this file keeps the rules for all answers", () => {
    const responses = server().responses;
    const allowed = new Set([503, ...(options.mayFail ?? [])]);
    const broken = responses.flatMap(findBrokenRules);
    for (const response of responses)
      if (response.status >= 500 && !allowed.has(response.status))
        broken.push(`${response.method} ${response.path}: ${response.status} ${JSON.stringify(response.json)}`);
    expect([...new Set(broken)].slice(0, 20)).toEqual([]);
  });

  test("every answer of this file is as the OpenAPI document says", async () => {
    const document = await ApiDocument.load();
    const complaints = server().responses.map((response) => document.findMismatch(response));
    const byOperation = new Map<string, string>();
    for (const findMismatch of complaints)
      if (findMismatch !== undefined) byOperation.set(findMismatch.split(": ")[0] ?? findMismatch, findMismatch);
    expect([...byOperation.values()].slice(0, 20)).toEqual([]);
  });
}
