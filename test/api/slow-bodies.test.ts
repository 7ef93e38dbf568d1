// Requests whose body arrives a byte at a time or not at all: their effect on others, and how they end.
import { expect, test } from "bun:test";
import type { ApiResponse, Client } from "../support/client.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { registerDevice } from "../support/mobile.ts";
import { boundary, formType } from "../support/multipart.ts";
import { ApiDocument } from "../support/openapi.ts";
import { RawConnection } from "../support/raw-http.ts";
import { type TestServer, withServer } from "../support/server.ts";
import { createTus } from "../support/tus.ts";

interface SlowRequest {
  method: string;
  path: string;
  type?: string;
  token?: string;
  /** The client's address, as a proxy would forward it. */
  from?: string;
  headers?: Record<string, string>;
  /** The part of the body that is sent. */
  begin?: string;
}

const jsonType = "application/json";
const urlencoded = "application/x-www-form-urlencoded";
const partOfForm = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="slow.txt"\r\n\r\nabc`;

/** Sends the head of a request with a body of 9,000 bytes, and only the beginning of the body. */
async function sendSlowly(server: TestServer, request: SlowRequest): Promise<RawConnection> {
  const { method, path, type = urlencoded, token, from, headers = {}, begin = "a" } = request;
  const connection = await RawConnection.open(server.port);
  const lines = [`${method} ${path} HTTP/1.1`, "Host: larder.test", `Content-Type: ${type}`, "Content-Length: 9000"];
  if (token !== undefined) lines.push(`Authorization: Bearer ${token}`);
  if (from !== undefined) lines.push(`X-Forwarded-For: ${from}`);
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  await connection.write(`${lines.join("\r\n")}\r\n\r\n${begin}`);
  return connection;
}

/** Collects the responses on these connections in order of arrival. */
function collect(connections: RawConnection[]): ApiResponse[] {
  const responses: ApiResponse[] = [];
  for (const connection of connections) {
    connection.response("POST").then(
      (response) => void responses.push(response),
      () => {},
    );
  }
  return responses;
}

async function createDropBox(client: Client): Promise<string> {
  const folder = await client.folderId("box");
  const created = await client.post(`/api/files/folders/${folder}/shares`, { permissions: "upload" });
  return created.string("data.token");
}

test.concurrent("slow bodies of one address never block the requests of others, and time out", async () => {
  // 4,200 connections that sent a byte every few seconds to /invite once caused 503 for everybody, without end.
  const env = { LARDER_MAX_REQUESTS: "16", LARDER_MAX_SLOW_BODIES: "4", LARDER_TRUSTED_PROXIES: "127.0.0.1" };
  await withServer({ env }, async (server) => {
    const { client } = await server.signUp();
    const box = await createDropBox(client);
    const uploads: string[] = [];
    for (let at = 0; at < 4; at++) {
      uploads.push(await createTus(server.visitor, 9_000, {}, { home: `/api/public/${box}/tus` }));
    }
    const patch = { "Tus-Resumable": "1.0.0", "Upload-Offset": "0" };
    const kinds: SlowRequest[] = [
      { method: "POST", path: "/invite" },
      { method: "POST", path: "/setup" },
      { method: "POST", path: "/reset-password" },
      { method: "POST", path: `/s/${box}/unlock` },
      { method: "POST", path: "/api/auth/signin", type: jsonType, begin: "{" },
      { method: "POST", path: "/api/auth/signup", type: jsonType, begin: "{" },
      { method: "POST", path: `/api/public/${box}/unlock`, type: jsonType, begin: "{" },
      { method: "POST", path: `/api/public/${box}/upload`, type: formType, begin: `--${boundary}` },
      { method: "POST", path: `/api/public/${box}/upload`, type: formType, begin: partOfForm },
    ];
    const requests = uploads.flatMap((path): SlowRequest[] => [
      ...kinds,
      { method: "PATCH", path, type: "application/offset+octet-stream", headers: patch },
    ]);
    const beganAt = Math.floor(Date.now() / 1000);
    // One home network, with another of its many addresses for each request.
    const slow = await Promise.all(
      requests.map((request, at) => sendSlowly(server, { ...request, from: `2001:db8:1:2::${(at + 1).toString(16)}` })),
    );
    const responses = collect(slow);
    const others = { "x-forwarded-for": "198.51.100.7" };
    const probe = async () => expectStatus(await server.visitor.get("/api/auth/methods", others), 200);
    await probe();
    await eventually("all but four are rejected", async () => {
      await probe();
      return responses.length >= 36;
    });
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([429]));
    for (const response of responses) {
      expect(response.header("retry-after")).toBe("15");
      expect(response.header("connection")).toBe("close");
    }
    // Their own windows are not full. The headers describe the limit that rejected them, so that Retry-After is Reset −
    // now.
    const ofApi = responses.filter(({ headers }) => headers.has("x-ratelimit-resource"));
    expect(ofApi.length).toBeGreaterThanOrEqual(20);
    const respondedAt = Math.ceil(Date.now() / 1000);
    for (const response of ofApi) {
      expect(response.header("x-ratelimit-limit")).toBe("4");
      expect(response.header("x-ratelimit-remaining")).toBe("0");
      expect(response.header("x-ratelimit-window")).toBe("15");
      const resetAt = Number(response.header("x-ratelimit-reset"));
      expect(resetAt - 15).toBeGreaterThanOrEqual(beganAt);
      expect(resetAt - 15).toBeLessThanOrEqual(respondedAt);
    }
    const rejected = responses.find((response) => response.text.startsWith("{")) ?? expect.unreachable();
    expect(rejected.at("error.details")).toMatchObject({ reason: "rate_limited", resource: "bodies", limit: 4 });
    // The same address is still served if its bodies arrive at once.
    const quick = await server.visitor.post(
      "/api/auth/signin",
      { email: "nobody@example.com", password: "wrong password" },
      { "x-forwarded-for": "2001:db8:1:2::ffff" },
    );
    expectError(quick, 401, "bad_credentials");
    await eventually("the four time out", () => responses.length === 40);
    expect(responses.slice(36).map(({ status }) => status)).toEqual([408, 408, 408, 408]);
    await Promise.all(slow.map(({ closed }) => closed));
    await probe();
  });
});

test.concurrent("every route that reads a body respects the limit", async () => {
  const env = { LARDER_MAX_SLOW_BODIES: "1" };
  await withServer({ env }, async (server) => {
    const admin = await server.addUser(["--admin"]);
    const phone = await registerDevice(server, admin);
    const first = await sendSlowly(server, { method: "POST", path: "/invite" });
    const document = await ApiDocument.load();
    const requestsOf = (takesBody: boolean): SlowRequest[] =>
      document.operations
        .filter((one) => one.method !== "GET" && one.template.startsWith("/api/") && one.takesBody === takesBody)
        .flatMap(({ method, template }) => {
          const path = template.replaceAll(/\{[^}]+\}/g, "unknown");
          const token = template.startsWith("/api/mobile/") ? phone.tokens.accessToken : admin.token;
          return [jsonType, formType].map((type) => ({ method, path, type, token }));
        });
    const pages = [
      "/setup",
      "/invite",
      "/reset-password",
      "/welcome",
      "/s/x/unlock",
      "/s/x/upload",
      "/s/x/archive",
      "/nowhere",
    ];
    const withoutResponse: string[] = [];
    /** Sends the requests. Returns how many got each status. */
    const sendAll = async (requests: SlowRequest[]): Promise<Map<number, number>> => {
      const seen = new Map<number, number>();
      await Promise.all(
        requests.map(async (request) => {
          const connection = await sendSlowly(server, request);
          // A route that reads no body responds at once. One that does is rejected after a second.
          const response = await connection.response(request.method, 10_000).catch(() => undefined);
          if (response === undefined) withoutResponse.push(`${request.method} ${request.path} ${request.type}`);
          else seen.set(response.status, (seen.get(response.status) ?? 0) + 1);
          connection.cut();
        }),
      );
      return seen;
    };
    const seen = await sendAll([...requestsOf(true), ...pages.map((path) => ({ method: "POST", path }))]);
    // Last, because some of them end the session, after which the others would be 401.
    await sendAll(requestsOf(false));
    expect(withoutResponse).toEqual([]);
    expect(seen.get(429)).toBeGreaterThan(50);
    first.cut();
  });
});

test.concurrent("an upload of an account may be as slow as its connection", async () => {
  await withServer({ env: { LARDER_MAX_SLOW_BODIES: "1" } }, async (server) => {
    const { client, token } = await server.signUp();
    const rest = `\r\n--${boundary}--\r\n`;
    const uploads = await Promise.all(
      Array.from({ length: 3 }, () =>
        sendSlowly(server, {
          method: "POST",
          path: "/api/files/upload",
          type: formType,
          token,
          begin: partOfForm,
        }),
      ),
    );
    await eventually("the rejection of a second slow form", async () => {
      const slow = await Promise.all([1, 2].map(() => sendSlowly(server, { method: "POST", path: "/invite" })));
      const response = await Promise.race(slow.map((connection) => connection.response()));
      for (const connection of slow) connection.cut();
      return response.status === 429;
    });
    const left = 9_000 - partOfForm.length - rest.length;
    for (const connection of uploads) {
      await connection.write("x".repeat(left) + rest);
      expectStatus(await connection.response(), 201);
      connection.cut();
    }
    expect(await client.names()).toHaveLength(3);
  });
});
