import { expect, test } from "bun:test";
import { RouteTable } from "../../../src/http/route-table.ts";

const table = new RouteTable(
  [
    "GET /",
    "GET /files/*",
    "GET /api/files/",
    "GET /api/files/:id",
    "PUT /api/files/:id",
    "GET /api/files/:id/download",
    "GET /api/files/trash",
    "POST /api/files/trash",
    "GET /api/files/folders/:id",
    "GET /api/:area/status",
  ].map((route) => {
    const [method = "", path = ""] = route.split(" ");
    return { method, path };
  }),
);

test("the same path is looked up for each method", () => {
  expect(table.find("GET", "/api/files/trash")?.method).toBe("GET");
  expect(table.find("POST", "/api/files/trash")?.method).toBe("POST");
  expect(table.find("PATCH", "/api/files/trash")).toBeUndefined();
  expect(table.find("GET", "/api/files/trash")?.method).toBe("GET");
});

test.each([
  ["GET", "/", "/"],
  ["GET", "/files/a/b", "/files/*"],
  ["GET", "/api/files", "/api/files/"],
  ["GET", "/api/files/", "/api/files/"],
  ["GET", "/api/files/trash", "/api/files/trash"],
  ["GET", "/api/files/trash/", "/api/files/trash"],
  // Nothing is below the fixed part: it is an id.
  ["GET", "/api/files/trash/download", "/api/files/:id/download"],
  ["GET", "/api/files/folders", "/api/files/:id"],
  ["GET", "/api/files/folders/download", "/api/files/folders/:id"],
  ["GET", "/api/files/status", "/api/files/:id"],
  ["GET", "/api/users/status", "/api/:area/status"],
  ["HEAD", "/api/files/1/download", "/api/files/:id/download"],
  ["PUT", "/api/files/1", "/api/files/:id"],
])("%s %s is for %s", (method, path, expected) => {
  expect(table.find(method, path)?.path).toBe(expected);
});

test.each([
  ["POST", "/api/files/1"],
  ["GET", "/api/files//download"],
  ["GET", "/api//files"],
  ["GET", "//api/files"],
  ["GET", "/api/files/1/download//"],
  ["GET", "/api/FILES"],
  ["GET", ""],
  ["BREW", "/api/files"],
])("no route is for %s %s", (method, path) => {
  expect(table.find(method, path)).toBeUndefined();
});

test("lists the methods of a path, HEAD with GET", () => {
  expect(table.methodsOf("/api/files/trash")).toEqual(["GET", "HEAD", "PUT", "POST"]);
  expect(table.methodsOf("/api/nothing/here/at/all")).toEqual([]);
});
