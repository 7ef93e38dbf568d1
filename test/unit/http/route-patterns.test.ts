import { expect, test } from "bun:test";
import { RoutePatterns } from "../../../src/http/route-patterns.ts";

const patterns = new RoutePatterns(
  [
    "/",
    "/api/files",
    "/api/files/upload",
    "/api/files/:id",
    "/api/files/:id/versions/:version",
    "/assets/*",
    "/s/:token",
  ],
  (pattern) => pattern,
);

test("a path leads to the pattern of its route", () => {
  const found = Object.fromEntries(
    [
      "/",
      "/api/files",
      "/api/files/",
      "/api/files/upload",
      "/api/files/f_1",
      "/api/files/f_1/versions/v%2F2",
      "/s/secret",
    ].map((path) => [path, patterns.find(path)]),
  );
  expect(found).toEqual({
    "/": "/",
    "/api/files": "/api/files",
    "/api/files/": "/api/files",
    "/api/files/upload": "/api/files/upload",
    "/api/files/f_1": "/api/files/{id}",
    "/api/files/f_1/versions/v%2F2": "/api/files/{id}/versions/{version}",
    "/s/secret": "/s/{token}",
  });
});

test("what follows a star belongs to its route", () => {
  expect(patterns.find("/assets/a/b.js")).toBe("/assets/*");
});

test("a path without a route has no pattern", () => {
  for (const path of ["/api", "/api/files/f/versions", "/nothing", "/s/a/b"]) {
    expect({ path, found: patterns.find(path) }).toEqual({ path, found: undefined });
  }
});
