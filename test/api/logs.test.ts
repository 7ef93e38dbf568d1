// The log of requests: its form, its content, and that no endpoint writes a secret to it.
import { describe, expect, test } from "bun:test";
import { Client } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { ApiDocument } from "../support/openapi.ts";
import { sampleOperations, sampleOptions, samplePath } from "../support/sample-requests.ts";
import { formType } from "../support/multipart.ts";
import { RawConnection } from "../support/raw-http.ts";
import { sharedServer, type TestServer, withServer } from "../support/server.ts";

const loud = { LARDER_LOG: "json", LARDER_LOG_LEVEL: "debug", LARDER_LOG_REQUESTS: "all" };
const server = sharedServer({ env: loud });

/** Parses the lines of a server that logs JSON. */
function parseLogLines(from: TestServer): Record<string, unknown>[] {
  return from.log.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
}

function listRequestLines(from: TestServer): Record<string, unknown>[] {
  return parseLogLines(from).filter(({ message }) => message === "request");
}

describe("the form", () => {
  test("is JSON without a terminal, and pretty if configured", async () => {
    await withServer({ env: { LARDER_LOG: "" } }, async (plain) => {
      const written = plain.log.split("\n").filter((line) => line.includes("Created the database."));
      expect(written.map((line) => JSON.parse(line).level)).toEqual(["info"]);
      await plain.restart({ env: { LARDER_LOG: "pretty", LARDER_LOG_LEVEL: "debug" } });
      await plain.visitor.get("/health/live");
      await plain.stop();
      expect(plain.log).toMatch(/^\S+Z info {2}Stopping\. requestsUnderWay=\d+$/m);
    });
  });
});

describe("with LARDER_LOG=json, each line of the server", () => {
  test("is a JSON object, also on standard output, including the address and the setup link", async () => {
    await withServer({ env: { LARDER_LOG: "json" } }, async (own) => {
      await own.stop();
      const lines = own.log.split("\n").filter((line) => line !== "");
      const messages = lines.map((line) => String((JSON.parse(line) as { message: unknown }).message));
      expect(messages.some((message) => message.includes(`listening on ${own.url}`))).toBe(true);
      expect(messages.some((message) => message.includes("/setup?token="))).toBe(true);
    });
  });

  test("contains the reason of a failed start", async () => {
    const env = { ...loud, LARDER_DATA: server().dataDir };
    const { code, stdout, stderr } = await server().larder(["serve", "--port", "0"], { env });
    expect([code, stdout]).toEqual([2, ""]);
    const lines = stderr.split("\n").filter((line) => line !== "");
    expect(lines.map((line) => (JSON.parse(line) as { level: unknown }).level)).toEqual(["error"]);
  });
});

describe("an upload whose client disconnects", () => {
  const partialRequest = (method: string, path: string, headers: string) =>
    `${method} ${path} HTTP/1.1\r\nHost: larder.test\r\n${headers}Content-Length: 100\r\n\r\n0123456789`;
  const breakOff = async (method: string, path: string, headers: string, isSeen: (path: string) => boolean) => {
    const before = (await server().visitor.get("/metrics")).text;
    const connection = await RawConnection.open(server().port);
    await connection.write(partialRequest(method, path, headers));
    // By now the server has read the sent bytes.
    for (let n = 0; n < 2; n++) expectStatus(await server().visitor.get("/health/live"), 200);
    connection.cut();
    const find = () =>
      listRequestLines(server()).find((line) => line["status"] === 499 && isSeen(String(line["path"])));
    await eventually("the log has the request", () => find() !== undefined);
    const after = (await server().visitor.get("/metrics")).text;
    const failures = (text: string) => text.split("\n").filter((line) => line.includes('status="5xx"'));
    expect(failures(after)).toEqual(failures(before));
    return find();
  };

  test("is counted as 499 with the received bytes, and is not an error", async () => {
    const { client, token } = await server().signUp();
    const id = await client.storedId("before");
    const authorization = `Authorization: Bearer ${token}\r\n`;
    const put = await breakOff("PUT", `/api/files/${id}/content`, authorization, (path) => path.endsWith("/content"));
    expect(put).toMatchObject({ level: "info", method: "PUT", status: 499, receivedBytes: 10 });
    const type = `Content-Type: ${formType}\r\n`;
    const post = await breakOff("POST", "/api/files/upload", authorization + type, (path) => path.endsWith("/upload"));
    expect(post).toMatchObject({ level: "info", method: "POST", status: 499, receivedBytes: 10 });
    expect(parseLogLines(server()).filter(({ level }) => level === "error" || level === "warn")).toEqual([]);
  });
});

describe("requests", () => {
  test("are one line each if all are configured, with the id of the response", async () => {
    const apiResponse = await server().visitor.get("/api/files?token=hidden");
    expectStatus(apiResponse, 401);
    const find = () =>
      listRequestLines(server()).find(({ requestId }) => requestId === apiResponse.header("x-request-id"));
    await eventually("the log has the request", () => find() !== undefined);
    const line = find();
    expect(line).toMatchObject({ level: "info", method: "GET", path: "/api/files", status: 401, client: "127.0.0.1" });
    expect(Object.keys(line ?? {}).sort()).toEqual([
      "client",
      "level",
      "message",
      "method",
      "ms",
      "path",
      "requestId",
      "status",
      "time",
    ]);
  });

  test("are not logged by default if they succeed", async () => {
    await withServer({ env: { LARDER_LOG: "json" } }, async (quiet) => {
      const { client } = await quiet.signUp();
      await client.storedId("x");
      expectStatus(await client.get("/api/nothing"), 404);
      await quiet.stop();
      expect(parseLogLines(quiet).filter(({ requestId }) => requestId !== undefined)).toEqual([]);
    });
  });
});

/** Names of secret fields in bodies, queries and paths. */
const SECRET =
  /password|token|secret|code|signature|^key$|grant|state|credential|p256dh|^auth$|keys|response|challenge|otp/i;

test("no endpoint writes a secret to the log, for any client", async () => {
  const { client, token, password } = await server().signUp({ password: "a very secret password 7" });
  const id = await client.storedId("x", { fields: { isPublic: "true" } });
  const share = (await client.get(`/api/files/${id}`)).string("data.shareLink").split("/").at(-1) ?? "";
  const document = await ApiDocument.load();
  const marker = "hUsHhUsH";
  const valueOf = (name: string) => {
    if (/email/i.test(name)) return `${name}@example.org`.toLowerCase();
    return SECRET.test(name) ? `${marker}${name}0123456789abcdef` : undefined;
  };
  const stranger = new Client(server(), `${marker}bearer`);
  const headers = {
    "x-api-key": `${marker}key`,
    "x-share-grant": `${marker}grant`,
    cookie: `larder_session=${marker}cookie; session=${marker}cookie`,
  };
  const operations = sampleOperations(document);
  // Operations that end the session come last, so that the others have a valid session.
  const endsSession = ({ name }: { name: string }) => /signout|DELETE \/api\/(users|auth)|password/.test(name);
  const ordered = [...operations.filter((one) => !endsSession(one)), ...operations.filter(endsSession)];
  for (const operation of ordered) {
    const path = samplePath(operation, valueOf);
    const options = sampleOptions(operation, valueOf);
    for (const asker of [stranger, client]) {
      await asker.request(operation.method, path, { ...options, ...(asker === stranger && { headers }) });
    }
    if (operation.template.includes("{token}")) {
      await server().visitor.request(operation.method, operation.template.replace("{token}", share), options);
    }
  }
  for (const page of ["/s/", "/invite?token=", "/welcome?token=", "/reset?token=", "/setup?token=", "/api/public/"]) {
    await stranger.get(`${page}${marker}page`);
  }
  await server().visitor.get(`/s/${share}`);
  await server().visitor.get(`/s/${share}/download`);
  // A badly copied link, which was once logged entirely.
  for (const bad of [`/s//${share}`, `//s/${share}`, `/S/${share}`, `/files/s/${share}`, `/${share}`]) {
    await server().visitor.get(bad);
  }
  await server().visitor.get(`/s/${share}/nothing`);
  const flow = await server().visitor.request("POST", "/index.php/login/v2");
  const [flowToken = "", pollToken] = [flow.string("login").split("/").at(-1), flow.string("poll.token")];
  await server().visitor.get(`/connect/${flowToken}`);
  await client.get(`/api/users/login-flows/${flowToken}`);
  await server().visitor.request("POST", `/index.php/login/v2/poll?token=${pollToken}`);
  await server().stop();
  const requestLines = listRequestLines(server());
  expect(requestLines.length).toBeGreaterThan(operations.length);
  for (const secret of [marker, token, token.split(".")[2] ?? token, password, share, flowToken, pollToken]) {
    const found = parseLogLines(server()).filter((line) => JSON.stringify(line).includes(secret));
    expect({ secret, found }).toEqual({ secret, found: [] });
  }
});
