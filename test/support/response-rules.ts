// Rules for all responses, checked on every response that the tests of a file received.
import { expect, test } from "bun:test";
import type { RecordedResponse } from "./client.ts";
import { ApiDocument, asObject } from "./openapi.ts";
import type { TestServer } from "./server.ts";

/** The error codes that each status allows. */
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

/** The values that X-RateLimit-Resource may have. */
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
  "dav",
  "general",
]);

/** Addresses whose errors are XML. */
const WEBDAV_PATH = /^\/(?:dav|remote\.php\/(?:webdav|dav\/(?:files|uploads)))\//;

/** Describes each rule that a response breaks. */
export function findBrokenRules(response: RecordedResponse): string[] {
  const broken: string[] = [];
  const { status, headers } = response;
  const rule = (holds: boolean, text: string) => {
    if (!holds) broken.push(`${response.method} ${response.path} ${status}: ${text}`);
  };
  rule((headers.get("x-request-id") ?? "") !== "", "no X-Request-Id");
  const isApi = response.path.startsWith("/api/");
  const mustRetryLater = status === 429 || (status === 503 && !isApi);
  rule(
    mustRetryLater ? /^[1-9]\d*$/.test(headers.get("retry-after") ?? "") : !headers.has("retry-after"),
    "Retry-After belongs to 429, and to 503 outside /api, and to nothing else",
  );
  rule(![...headers.keys()].some((name) => name.startsWith("access-control-")), "a CORS header");
  if (isApi) {
    for (const name of rateLimitHeaders) rule(headers.has(name), `no ${name}`);
    for (const name of rateLimitHeaders.slice(0, 4))
      rule(/^\d+$/.test(headers.get(name) ?? "0"), `${name} is ${headers.get(name)}`);
    const resource = headers.get("x-ratelimit-resource");
    rule(resource === null || categories.has(resource), `unknown resource ${resource}`);
    if (status >= 400 && response.method !== "HEAD") rule(response.json !== undefined, "an error without a JSON body");
  }
  if (status >= 400 && response.method !== "HEAD" && WEBDAV_PATH.test(response.path)) {
    const type = headers.get("content-type");
    rule(type === "application/xml; charset=utf-8", `Content-Type is ${type}`);
    rule(
      /<d:error .+<s:exception>.+<s:message>.+<\/d:error>$/s.test(response.errorText ?? ""),
      "an error without its XML",
    );
  }
  if (response.json === undefined || !isApi) return broken;
  // Responses about links may be either no-store, as JSON is, or private and no-cache, as links are.
  const cacheControl = headers.get("cache-control") ?? "";
  const isShare = response.path.startsWith("/api/public/");
  rule(
    /\bno-store\b/.test(cacheControl) || (isShare && cacheControl === "private, no-cache"),
    `Cache-Control is ${cacheControl}`,
  );
  const body = asObject(response.json);
  if (status < 400) {
    rule(body?.["success"] === true, "success is not true");
    rule(body?.["data"] === undefined || asObject(body["data"]) !== undefined, "data is not an object");
    return broken;
  }
  const error = asObject(body?.["error"]);
  const code = error?.["code"];
  rule(body?.["success"] === false, "success is not false");
  rule(typeof code === "string" && (codesOf[status]?.includes(code) ?? false), `code ${String(code)}`);
  rule(typeof error?.["message"] === "string" && error["message"] !== "", "no message");
  const details = asObject(error?.["details"]);
  const reason = details?.["reason"];
  rule(typeof reason === "string" && /^[a-z][a-z_]*$/.test(reason), `reason ${String(reason)}`);
  if (status === 503) rule(Number.isInteger(details?.["retryAfter"]), "no details.retryAfter");
  if (status === 500) rule(typeof details?.["requestId"] === "string", "no details.requestId");
  rule(
    !/node_modules|\bat .+:\d+:\d+|\.ts\b|SELECT |INSERT |UPDATE .+ SET|\/blobs\//.test(String(error?.["message"])),
    "the message shows internals",
  );
  return broken;
}

/**
 * Declares the tests that check all responses of a file. Call it last in the file.
 *
 * @param options.mayFail statuses from 500 up that the file causes on purpose
 */
export function testAllResponses(server: () => TestServer, options: { mayFail?: number[] } = {}): void {
  test("every response in this file follows the rules for all responses", () => {
    const responses = server().responses;
    const allowed = new Set([503, ...(options.mayFail ?? [])]);
    const broken = responses.flatMap(findBrokenRules);
    for (const response of responses)
      if (response.status >= 500 && !allowed.has(response.status))
        broken.push(`${response.method} ${response.path}: ${response.status} ${JSON.stringify(response.json)}`);
    expect([...new Set(broken)].slice(0, 20)).toEqual([]);
  });

  test("every response in this file matches the OpenAPI document", async () => {
    const document = await ApiDocument.load();
    const mismatches = server().responses.map((response) => document.findMismatch(response));
    const byOperation = new Map<string, string>();
    for (const mismatch of mismatches)
      if (mismatch !== undefined) byOperation.set(mismatch.split(": ")[0] ?? mismatch, mismatch);
    expect([...byOperation.values()].slice(0, 20)).toEqual([]);
  });
}
