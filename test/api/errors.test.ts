import { beforeAll, describe, expect, test } from "bun:test";
import { type Account, type Client, randomContent } from "../support/client.ts";
import { expectClientError, expectError, expectStatus } from "../support/expect.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { rawRequest, sendRaw } from "../support/raw-http.ts";
import { sharedServer } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });
const id = "file_00000000000000000000";

let account: Account;

beforeAll(async () => {
  account = await server().signUp();
});

/** Endpoints with a JSON body. */
const jsonEndpoints: [string, string][] = [
  ["POST", "/api/auth/signup"],
  ["POST", "/api/auth/signin"],
  ["PUT", "/api/files/{file}"],
  ["POST", "/api/files/folders"],
  ["PUT", "/api/files/folders/{folder}"],
  ["POST", "/api/files/move"],
  ["POST", "/api/files/copy"],
  ["PUT", "/api/users/profile"],
  ["PUT", "/api/users/settings"],
];

/** The methods of each path. */
const allowedMethods: Record<string, string[]> = {
  "/api/auth/signup": ["POST"],
  "/api/auth/signin": ["POST"],
  "/api/auth/signout": ["POST"],
  "/api/auth/refresh": ["POST"],
  "/api/auth/session": ["GET"],
  "/api/files": ["GET"],
  // These three also match /api/files/{id}.
  "/api/files/upload": ["POST", "GET", "PUT", "DELETE"],
  [`/api/files/${id}/download`]: ["GET"],
  [`/api/files/${id}/checksum`]: ["GET"],
  "/api/files/move": ["POST", "GET", "PUT", "DELETE"],
  "/api/files/copy": ["POST", "GET", "PUT", "DELETE"],
  "/api/users/profile": ["GET", "PUT", "DELETE"],
  "/api/users/usage": ["GET"],
  "/api/users/usage/rate-limits": ["GET"],
  "/api/users/settings": ["GET", "PUT"],
  "/api/users/sessions": ["GET"],
};

describe("an unknown path", () => {
  test.each([
    "/api",
    "/api/",
    "/api/nothing",
    "/api/files/x/y/z",
    "/api/auth",
    "/api/users",
    "/api//files",
    "/api/files//",
    "//api/files",
    "/nothing",
    "/",
  ])("%s is not a 5xx, and is 404 below /api", async (path) => {
    const { client } = account;
    const response = await client.get(path);
    expect(response.status).toBeLessThan(500);
    if (/^\/api\/(nothing|files\/x)/.test(path)) expectError(response, 404);
  });

  test("with an empty segment is 404 for every method", async () => {
    // The search for other methods once dropped empty segments and returned 405 for unknown paths.
    const { client } = account;
    for (const path of ["/api//files", "/api/files//upload", "/api/auth//session"])
      for (const method of ["GET", "POST", "DELETE"]) expectError(await client.request(method, path), 404);
  });

  test("is 404 for every method", async () => {
    const { client } = account;
    for (const method of ["GET", "POST", "PUT", "DELETE", "PATCH"])
      expectError(await client.request(method, "/api/nothing/here"), 404);
    expectStatus(await client.head("/api/nothing/here"), 404);
  });
});

describe("a wrong method", () => {
  test.each(Object.entries(allowedMethods))("on %s is 405 with Allow", async (path, allowed) => {
    const { client } = account;
    for (const method of ["GET", "POST", "PUT", "DELETE", "PATCH"]) {
      if (allowed.includes(method)) continue;
      const response = await client.request(method, path, method === "GET" ? {} : { json: {} });
      expect({ method, status: response.status, reason: response.at("error.details.reason") }).toEqual({
        method,
        status: 405,
        reason: "method_not_allowed",
      });
      const allow = response.header("allow").split(/,\s*/);
      expect(allow).toContain(allowed[0] ?? "");
      expect(allow).not.toContain(method);
    }
  });

  test("needs no token", async () => {
    const response = await server().visitor.request("DELETE", "/api/auth/signin");
    expectError(response, 405, "method_not_allowed");
    expect(response.header("allow")).toContain("POST");
  });

  test.each(["PROPFIND", "FOO", "TRACE", "get"])("%s is rejected as unknown", async (method) => {
    const { token } = account;
    const lines = [`${method} /api/files HTTP/1.1`, "Host: larder.test", `Authorization: Bearer ${token}`];
    const response = await sendRaw(server().port, rawRequest(lines));
    if (response !== undefined) expect([400, 404, 405, 501]).toContain(response.status);
    expectStatus(await server().visitor.get("/health/live"), 200);
  });
});

describe.each(jsonEndpoints)("%s %s", (method, template) => {
  let client: Client;
  let path = template;

  /** Signs up a user, and sets `path` with the ids of one of their files and folders. */
  beforeAll(async () => {
    ({ client } = await server().signUp());
    path = template.replace("{file}", await client.storedId("x")).replace("{folder}", await client.folderId("folder"));
  });

  const send = async (body: string | Uint8Array<ArrayBuffer>, type = "application/json") =>
    client.request(method, path, { body, headers: type === "" ? {} : { "content-type": type } });

  test("accepts only application/json", async () => {
    for (const type of [
      "text/plain",
      "application/xml",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
    ])
      expectError(await send("{}", type), 415, "unsupported_media_type");
    const withCharset = await send('{"unknown":1}', "application/json; charset=utf-8");
    expect(withCharset.status).not.toBe(415);
  });

  test("rejects invalid JSON", async () => {
    for (const body of ["{", "{'a':1}", "[1,", "nonsense", '{"a":}', "\u0000", '{"a":1}}', "NaN", '{"a":01}'])
      expectError(await send(body), 400, "invalid_json");
    const notUtf8 = new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]);
    expectClientError(await send(notUtf8));
  });

  test("rejects JSON that is not an object, and a missing body", async () => {
    for (const body of ["[]", "7", '"text"', "null", "true"]) expectError(await send(body), 400);
    expectError(await send(""), 400);
    expectError(await client.request(method, path), 400);
  });

  test("rejects more than 1 MiB with body_too_large, with and without Content-Length", async () => {
    const huge = `{"name":"${"x".repeat(1_048_576)}"}`;
    expectError(await send(huge), 413, "body_too_large");
    const chunks = Array.from({ length: 40 }, () => randomContent(65_536).fill(0x20));
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        const chunk = chunks.pop();
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
    });
    const chunked = await client.request(method, path, {
      body: stream,
      headers: { "content-type": "application/json" },
    });
    expectError(chunked, 413, "body_too_large");
  });

  test("survives JSON a hundred thousand levels deep", async () => {
    const deep = `{"name":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    // Unknown fields are ignored at any depth.
    expect((await send(deep)).status).toBeLessThan(500);
    const objects = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
    expect((await send(objects)).status).toBeLessThan(500);
    expectClientError(await send("[".repeat(500_000)));
    expectStatus(await client.get("/api/auth/session"), 200);
  });

  test("accepts bodies near 1 MiB with many keys", async () => {
    const keys = Array.from({ length: 60_000 }, (_, index) => `"k${index}":1`).join(",");
    const response = await send(`{${keys}}`);
    expect(response.status).toBeLessThan(500);
  });
});

describe("a request id", () => {
  test("is unique to each response", async () => {
    const ids = new Set<string>();
    for (const path of ["/api/files", "/api/nothing", "/health/live", "/openapi.json", "/s/nothing"])
      ids.add((await server().visitor.get(path)).header("x-request-id"));
    expect(ids.size).toBe(5);
  });

  test("is never taken from the client", async () => {
    const response = await server().visitor.get("/api/files", { "x-request-id": "chosen-by-client" });
    expect(response.header("x-request-id")).not.toBe("chosen-by-client");
  });
});

describe("messages", () => {
  test("contain no path, no SQL and no stack", async () => {
    const { client } = account;
    const responses = [
      await client.get("/api/files/%00"),
      await client.get("/api/files?sort='"),
      await client.post("/api/files/move", { fileIds: [{}], destinationFolder: [] }),
      await client.put(`/api/files/${id}`, { name: { toString: 1 } }),
    ];
    for (const response of responses) {
      expectClientError(response);
      expect(response.text).not.toContain(server().dataDir);
      expect(response.text).not.toMatch(/SELECT|sqlite|node_modules|\.ts:\d/i);
    }
  });

  test("name the limit and the size sent", async () => {
    const { client } = account;
    const response = await client.get("/api/files?limit=101");
    expectError(response, 400, "invalid_field", "limit");
    expect(response.string("error.message")).toContain("100");
  });
});

describe("invalid percent-encoding", () => {
  test.each(["%", "%zz", "%E0%A4", "%ff%fe", "%c0%af", "%00", "%u0041", "%E2%82"])(
    "%s in a path is 4xx",
    async (part) => {
      const { client } = account;
      for (const path of [
        `/api/files/${part}`,
        `/api/files/${part}/download`,
        `/api/files/folders/${part}`,
        `/api/public/${part}`,
      ])
        expectClientError(await client.get(path));
      expect((await client.get(`/s/${part}`)).status).toBeLessThan(500);
    },
  );

  test.each(["%", "%zz", "%E0%A4", "%ff"])("%s in a query is never a 5xx", async (part) => {
    const { client } = account;
    for (const name of ["folder", "search", "tags", "sort", "page", "type", "mimeType"])
      expect((await client.get(`/api/files?${name}=${part}`)).status).toBeLessThan(500);
  });
});

testAllResponses(server);
