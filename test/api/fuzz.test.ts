import { expect, test } from "bun:test";
import { toBytes } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { ApiDocument, asObject } from "../support/openapi.ts";
import { seededRandom, seedsToRun } from "../support/random.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });

const texts = [
  "",
  "/",
  "..",
  "/../..",
  "\u0000",
  "%00",
  "x".repeat(5000),
  "\ud800",
  "🎉",
  "' OR 1=1 --",
  '"',
  "\\",
  "\r\nX: y",
  "__proto__",
  "constructor",
  "-1",
  "1e999",
  "NaN",
  "null",
  "true",
  "[]",
  "{}",
  "9999999999999999999999",
  "0x7f",
  "file_00000000000000000000",
  "usr_00000000000000000000",
];

const fields = [
  "email",
  "password",
  "name",
  "folder",
  "path",
  "description",
  "tags",
  "isPublic",
  "metadata",
  "fileIds",
  "destinationFolder",
  "preserveMetadata",
  "onConflict",
  "newPassword",
  "currentPassword",
  "everywhere",
  "cookie",
  "language",
  "timezone",
  "notifications",
  "versioning",
];

const queries = [
  "folder",
  "page",
  "limit",
  "sort",
  "order",
  "search",
  "type",
  "tags",
  "tagMode",
  "mimeType",
  "recursive",
  "inline",
  "thumbnail",
];

const headerNames = [
  "authorization",
  "cookie",
  "range",
  "if-match",
  "if-none-match",
  "if-range",
  "if-modified-since",
  "idempotency-key",
  "content-type",
  "accept",
  "x-forwarded-for",
  "x-request-id",
  "origin",
];

/** Requests for each route and seed; scripts/rounds/seeds uses many seeds. */
const roundCount = 5;

test.each(seedsToRun([1, 2]))(
  "malformed input to every route is never a 5xx, seed %d",
  async (seed) => {
    const random = seededRandom(seed).fraction;
    const pick = <T>(list: readonly T[], otherwise: T): T => list[Math.floor(random() * list.length)] ?? otherwise;
    const value = (depth = 0): unknown => {
      const kind = Math.floor(random() * (depth > 2 ? 5 : 7));
      if (kind < 2) return pick(texts, "");
      if (kind === 2) return pick([0, -1, 1.5, 1e308, 2 ** 53, 2 ** 31, -0], 0);
      if (kind === 3) return pick([null, true, false], null);
      if (kind === 4) return [];
      if (kind === 5) return Array.from({ length: Math.floor(random() * 5) }, () => value(depth + 1));
      return Object.fromEntries(Array.from({ length: 3 }, () => [pick(texts, "k"), value(depth + 1)]));
    };

    const { document } = await ApiDocument.load();
    const routes = Object.entries(asObject(document["paths"]) ?? {}).flatMap(([path, item]) =>
      Object.keys(asObject(item) ?? {}).map((method) => [method.toUpperCase(), path] as const),
    );
    expect(routes.length).toBeGreaterThan(20);

    const failures: string[] = [];
    let { client } = await server().signUp();
    for (const [method, template] of routes) {
      // A new account if a route has ended the session or erased the account.
      if ((await client.get("/api/auth/session")).status !== 200) ({ client } = await server().signUp());
      const file = await client.storedId("content");
      const folder = await client.folderId(`folder of ${method} ${template.replaceAll("/", " ")}`);
      for (let round = 0; round < roundCount; round++) {
        const real = random() < 0.5 ? (template.includes("folders") ? folder : file) : undefined;
        const path = template.replaceAll(
          /\{[^}]+\}/g,
          () => real ?? encodeURIComponent(pick(texts, "x").toWellFormed() || "x"),
        );
        const query = Array.from({ length: Math.floor(random() * 4) }, () => {
          const text = pick(texts, "").toWellFormed();
          return `${pick(queries, "page")}=${encodeURIComponent(text)}`;
        }).join("&");
        const headers: Record<string, string> = {};
        if (random() < 0.4) headers[pick(headerNames, "range")] = pick(texts, "").replaceAll(/[^\x20-\x7e]/g, "?");
        const body =
          method === "GET" || method === "HEAD"
            ? undefined
            : random() < 0.8
              ? JSON.stringify(Object.fromEntries(Array.from({ length: 4 }, () => [pick(fields, "name"), value()])))
              : pick(texts, "").toWellFormed();
        if (body !== undefined && headers["content-type"] === undefined)
          headers["content-type"] = random() < 0.9 ? "application/json" : "multipart/form-data; boundary=x";
        const response = await client.request(method, `${path}?${query}`, {
          headers,
          ...(body === undefined ? {} : { body: toBytes(body) }),
        });
        if (response.status >= 500 && response.status !== 503)
          failures.push(
            `${method} ${path}?${query} ${JSON.stringify(headers)} ${body?.slice(0, 300)}: ${response.status}`,
          );
      }
    }
    expect(failures.slice(0, 5)).toEqual([]);
    expectStatus(await server().visitor.get("/health/live"), 200);
  },
  300_000,
);

testAllResponses(server);
