// Responses of any length, read as streams, from addresses that are checked as all others are.
import { afterAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import { CidrList } from "../../../src/lib/cidr.ts";
import { OutboundConnections } from "../../../src/net/outbound-connection.ts";
import { OutboundError } from "../../../src/net/outbound-error.ts";
import { Outbound, type OutboundStreamRequest } from "../../../src/net/outbound.ts";

const HERE = CidrList.parse(["127.0.0.1"]);
const GET: OutboundStreamRequest = { method: "GET", headers: {} };
const OK = "HTTP/1.1 200 OK\r\n";

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

/** A server that does what the test says once a request has begun. @returns its address */
async function listen(act: (socket: Socket, request: string) => void): Promise<string> {
  const server = createServer((socket) => {
    // Clients disconnect in the middle here.
    socket.on("error", () => {});
    socket.once("data", (request) => act(socket, request.toString()));
  }).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server doesn't listen");
  return `http://127.0.0.1:${address.port}/`;
}

function outbound(silenceMs = 30_000, allow = HERE): Outbound {
  return new Outbound({ allow, silenceMs });
}

async function failureOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof OutboundError) return error.failure;
    throw error;
  }
  throw new Error("it did not fail");
}

/** The whole body. */
async function read(body: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(body).arrayBuffer());
}

/** Reads a body to its end or failure, without collecting it. */
async function drain(body: ReadableStream<Uint8Array>): Promise<number> {
  let sizeBytes = 0;
  for await (const part of body) sizeBytes += part.byteLength;
  return sizeBytes;
}

describe("a request", () => {
  test("has the method, the headers, and the body of the caller", async () => {
    const seen = Promise.withResolvers<string>();
    const url = await listen((socket, request) => {
      seen.resolve(request);
      socket.end("HTTP/1.1 207 Multi-Status\r\nETag: x\r\nContent-Length: 2\r\n\r\nhi");
    });
    const request = { method: "PROPFIND", headers: { Depth: "1" }, body: Buffer.from("<x/>") } as const;
    const response = await outbound().open(`${url}a%20b?c=d`, request);
    expect([response.status, response.header("etag")]).toEqual([207, "x"]);
    expect(Buffer.from(await read(response.body)).toString()).toBe("hi");
    expect(await seen.promise).toMatch(/^PROPFIND \/a%20b\?c=d HTTP\/1\.1\r\n/);
    expect(await seen.promise).toMatch(/\r\nDepth: 1\r\n/i);
  });

  test("goes to no private address, and not by plain http", async () => {
    let requests = 0;
    const url = await listen(() => requests++);
    const nowhere = CidrList.parse([]);
    expect(await failureOf(outbound(undefined, nowhere).open(url, GET))).toBe("forbidden");
    expect(await failureOf(outbound(undefined, nowhere).open(url.replace("http", "https"), GET))).toBe("forbidden");
    const inside = new Outbound({ allow: nowhere, resolve: async () => ["127.0.0.1", "169.254.169.254"] });
    expect(await failureOf(inside.open("https://inside.test/", GET))).toBe("forbidden");
    expect(await failureOf(outbound().open("https://user:password@example.org/", GET))).toBe("forbidden");
    expect(requests).toBe(0);
  });

  test("follows no redirect", async () => {
    let requests = 0;
    const url = await listen((socket) => {
      requests++;
      socket.end("HTTP/1.1 302 Found\r\nLocation: /caught\r\nContent-Length: 0\r\n\r\n");
    });
    const response = await outbound().open(url, GET);
    expect(await drain(response.body)).toBe(0);
    expect([response.status, response.header("location"), requests]).toEqual([302, "/caught", 1]);
  });

  test("marks failures of private targets", async () => {
    const url = await listen((socket) => socket.destroy());
    const error: unknown = await outbound()
      .open(url, GET)
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ failure: "unreachable", isPrivate: true });
  });
});

describe("a body", () => {
  test("may be long, and is read only as fast as the caller reads", async () => {
    const part = Buffer.alloc(1024 * 1024);
    const parts = 200;
    let sentBytes = 0;
    const stalled = Promise.withResolvers<void>();
    const url = await listen((socket) => {
      socket.write(`${OK}Content-Length: ${parts * part.byteLength}\r\n\r\n`);
      const send = () => {
        while (sentBytes < parts * part.byteLength) {
          sentBytes += part.byteLength;
          if (!socket.write(part)) return stalled.resolve();
        }
      };
      socket.on("drain", send);
      send();
    });
    const { body } = await outbound().open(url, GET);
    const reader = body.getReader();
    const first = await reader.read();
    await stalled.promise;
    // What the sockets hold, at most.
    expect(sentBytes).toBeLessThan((parts / 2) * part.byteLength);
    reader.releaseLock();
    expect((first.value?.byteLength ?? 0) + (await drain(body))).toBe(parts * part.byteLength);
  });

  test.each([
    ["with a length", "Content-Length: 100\r\n\r\nabc"],
    ["in chunks", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"],
  ])("%s that is cut off is an error", async (_, rest) => {
    const url = await listen((socket) => socket.end(OK + rest));
    const { body } = await outbound().open(url, GET);
    expect(await failureOf(drain(body))).toBe("unreachable");
  });

  test("that breaks before the caller reads it ends nothing but the stream", async () => {
    const closed = Promise.withResolvers<void>();
    const url = await listen((socket) => {
      socket.on("close", () => closed.resolve());
      socket.write(`${OK}Content-Length: 100\r\n\r\nabc`, () => socket.destroy());
    });
    const { body } = await outbound().open(url, GET);
    await closed.promise;
    await new Promise(setImmediate);
    expect(await failureOf(drain(body))).toBe("unreachable");
  });

  test("that is canceled closes the connection", async () => {
    const closed = Promise.withResolvers<void>();
    const url = await listen((socket) => {
      socket.on("close", () => closed.resolve());
      socket.write(`${OK}Content-Length: 100\r\n\r\nabc`);
    });
    const { body } = await outbound().open(url, GET);
    await body.cancel();
    await closed.promise;
    expect(body.locked).toBe(false);
  });

  test("ends when the caller aborts the request", async () => {
    const url = await listen((socket) => socket.write(`${OK}Content-Length: 100\r\n\r\nabc`));
    const giveUp = new AbortController();
    const { body } = await outbound().open(url, { ...GET, signal: giveUp.signal });
    const reader = body.getReader();
    expect((await reader.read()).value?.byteLength).toBe(3);
    giveUp.abort();
    expect(await failureOf(reader.read())).toBe("aborted");
    expect(await failureOf(outbound().open(url, { ...GET, signal: giveUp.signal }))).toBe("aborted");
  });
});

describe("connections", () => {
  /** A server that counts its connections. */
  async function countingServer(host: string, port = 0) {
    let opened = 0;
    const counting = createHttpServer((_request, response) => response.end(host)).listen(port, host);
    counting.on("connection", () => opened++);
    servers.push(counting);
    await once(counting, "listening");
    const address = counting.address();
    if (address === null || typeof address === "string") throw new Error("the server doesn't listen");
    return { port: address.port, opened: () => opened };
  }

  test("are reused if the caller keeps them", async () => {
    const { port, opened } = await countingServer("127.0.0.1");
    const connections = new OutboundConnections();
    const request = { ...GET, connections };
    for (let at = 0; at < 5; at++) {
      await drain((await outbound().open(`http://127.0.0.1:${port}/`, request)).body);
    }
    expect(opened()).toBe(1);
    connections.close();
    await drain((await outbound().open(`http://127.0.0.1:${port}/`, request)).body);
    await drain((await outbound().open(`http://127.0.0.1:${port}/`, GET)).body);
    expect(opened()).toBe(3);
    connections.close();
  });

  test("are never reused for another address of the same name", async () => {
    const { port } = await countingServer("127.0.0.1");
    await countingServer("127.0.0.2", port);
    const addresses = ["127.0.0.1", "127.0.0.2", "10.0.0.1"];
    const moving = new Outbound({
      allow: CidrList.parse(["127.0.0.0/8"]),
      resolve: async () => addresses.splice(0, 1),
    });
    const connections = new OutboundConnections();
    const open = async () => moving.open(`http://moving.test:${port}/`, { ...GET, connections });
    expect(Buffer.from(await read((await open()).body)).toString()).toBe("127.0.0.1");
    expect(Buffer.from(await read((await open()).body)).toString()).toBe("127.0.0.2");
    expect(await failureOf(open())).toBe("forbidden");
    connections.close();
  });
});

describe("silence", () => {
  test("before the response and in its body is limited", async () => {
    const silent = await listen(() => {});
    expect(await failureOf(outbound(50).open(silent, GET))).toBe("timeout");
    const stopping = await listen((socket) => socket.write(`${OK}Content-Length: 100\r\n\r\nabc`));
    const { body } = await outbound(500).open(stopping, GET);
    expect(await failureOf(drain(body))).toBe("timeout");
    const unnamed = new Outbound({ allow: HERE, resolve: () => new Promise(() => {}), silenceMs: 50 });
    expect(await failureOf(unnamed.open("https://push.test/", GET))).toBe("timeout");
  });

  test("does not include the time that the caller needs", async () => {
    const proceed = Promise.withResolvers<void>();
    const url = await listen((socket) => {
      socket.write(`${OK}Content-Length: 6\r\n\r\nabc`);
      void proceed.promise.then(() => socket.end("def"));
    });
    const { body } = await outbound(2_000).open(url, GET);
    const reader = body.getReader();
    expect((await reader.read()).value?.byteLength).toBe(3);
    // Longer than the limit: a request that began later is given up in between.
    const silent = await listen(() => {});
    expect(await failureOf(outbound(2_000).open(silent, GET))).toBe("timeout");
    proceed.resolve();
    expect((await reader.read()).value?.byteLength).toBe(3);
    expect((await reader.read()).done).toBe(true);
  });
});
