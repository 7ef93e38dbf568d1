import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createSocket as createDatagramSocket } from "node:dgram";
import { getServers, setServers } from "node:dns";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createServer as createSocketServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { AppError } from "../../../src/errors.ts";
import { CidrList, isPublicAddress } from "../../../src/lib/cidr.ts";
import { RESPONSE_BYTES_MAX, Outbound, type OutboundRequest } from "../../../src/net/outbound.ts";
import { OutboundError } from "../../../src/net/outbound-error.ts";
import { findUnusedPort, tlsCertificate, tlsKey } from "../../support/push-services.ts";

const HERE = CidrList.parse(["127.0.0.1"]);
const NOWHERE = CidrList.parse([]);
const POST: OutboundRequest = { method: "POST", headers: { "Content-Type": "text/plain" }, body: Buffer.from("hello") };

interface Heard {
  readonly host: string | undefined;
  readonly url: string | undefined;
  readonly body: string;
}

const heard: Heard[] = [];
let tls: Server;
let plain: Server;
let tlsPort = 0;
let plainPort = 0;

beforeAll(async () => {
  const reply = (request: IncomingMessage, response: ServerResponse) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on("end", () => {
      heard.push({ host: request.headers.host, url: request.url, body });
      if (request.url === "/away") response.writeHead(302, { location: `http://127.0.0.1:${plainPort}/caught` });
      else response.setHeader("retry-after", "7");
      response.end("fine");
    });
  };
  tls = createTlsServer({ key: tlsKey, cert: tlsCertificate }, reply).listen(0, "127.0.0.1");
  plain = createServer({}, reply).listen(0, "127.0.0.1");
  await Promise.all([once(tls, "listening"), once(plain, "listening")]);
  tlsPort = portOf(tls);
  plainPort = portOf(plain);
});

afterAll(() => {
  tls.close();
  plain.close();
});

/** An outbound with the DNS entries of the test, and the names it looked up. */
function outbound(names: Record<string, readonly string[]> = {}, allow = HERE, timeoutMs = 10_000) {
  const lookups: string[] = [];
  const resolve = async (hostname: string) => {
    lookups.push(hostname);
    const found = names[hostname];
    if (found === undefined) throw Object.assign(new Error("not found"), { code: "ENOTFOUND" });
    return found;
  };
  return { outbound: new Outbound({ allow, resolve, ca: tlsCertificate, timeoutMs }), lookups };
}

async function rejection(work: Promise<unknown>): Promise<AppError | OutboundError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof AppError || error instanceof OutboundError) return error;
    throw error;
  }
  throw new Error("not refused");
}

async function failureOf(work: Promise<unknown>): Promise<string> {
  const error = await rejection(work);
  return error instanceof OutboundError ? error.failure : error.reason;
}

describe("isPublicAddress", () => {
  test.each([
    ["0.0.0.0"],
    ["0.1.2.3"],
    ["10.1.2.3"],
    ["100.64.0.1"],
    ["100.100.100.200"],
    ["127.0.0.1"],
    ["127.255.255.254"],
    ["169.254.169.254"],
    ["172.16.0.1"],
    ["172.31.255.255"],
    ["192.0.0.192"],
    ["192.0.2.1"],
    ["192.88.99.1"],
    ["192.168.1.1"],
    ["198.18.0.1"],
    ["198.51.100.1"],
    ["203.0.113.1"],
    ["224.0.0.1"],
    ["240.0.0.1"],
    ["255.255.255.255"],
    ["::"],
    ["::1"],
    ["::7f00:1"],
    ["::ffff:127.0.0.1"],
    ["::ffff:7f00:1"],
    ["::ffff:0:7f00:1"],
    ["64:ff9b::7f00:1"],
    ["64:ff9b::808:808"],
    ["64:ff9b:1::1"],
    ["100::1"],
    ["2001::1"],
    ["2001:2::1"],
    ["2001:10::1"],
    ["2001:db8::1"],
    ["2002:7f00:1::"],
    ["3fff::1"],
    ["4000::1"],
    ["5f00::1"],
    ["fc00::1"],
    ["fd00:ec2::254"],
    ["fe80::1"],
    ["fe80::1%eth0"],
    ["fec0::1"],
    ["ff02::1"],
    ["0177.0.0.1"],
    ["2130706433"],
    ["localhost"],
    [""],
  ])("%s is none of the open internet", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each([["8.8.8.8"], ["172.32.0.1"], ["100.128.0.1"], ["::ffff:8.8.8.8"], ["2606:4700::1111"], ["2a00:1450::1"]])(
    "%s is one",
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );
});

describe("a target", () => {
  test.each([
    ["http://example.org/"],
    ["ftp://example.org/"],
    ["file:///etc/passwd"],
    ["javascript:alert(1)"],
    ["/relative"],
    ["https://"],
    ["https://user@example.org/"],
    ["https://user:password@example.org/"],
    ["https://127.0.0.1/"],
    ["https://127.1/"],
    ["https://0x7f.0.0.1/"],
    ["https://0177.0.0.1/"],
    ["https://2130706433/"],
    ["https://0/"],
    ["https://10.0.0.1:8443/"],
    ["https://169.254.169.254/latest/meta-data"],
    ["https://[::1]/"],
    ["https://[::]/"],
    ["https://[::ffff:127.0.0.1]/"],
    ["https://[64:ff9b::a00:1]/"],
    ["https://[fd00::1]/"],
    ["https://[fe80::1]/"],
    ["https://localhost/"],
    ["https://LOCALHOST./"],
    ["https://a.localhost/"],
    ["https://printer.local/"],
    ["https://metadata.google.internal/"],
    ["https://router.home.arpa/"],
    ["https://inside.test/"],
    ["https://١٢٧.٠.٠.١/"],
    [`https://example.org/${"a".repeat(5000)}`],
  ])("%s is refused, and nothing is sent there", async (address) => {
    const { outbound: strict } = outbound({ "inside.test": ["192.168.1.5", "fd00::5"] }, NOWHERE);
    const error = await rejection(strict.checkTarget(address, "pushToken"));
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ reason: "forbidden_target", details: { field: "pushToken" } });
    // A private name without an address is reported at registration only.
    expect(["forbidden", "unreachable"]).toContain(await failureOf(strict.send(address, POST)));
  });

  test.each([
    ["https://example.org/x?y=z"],
    ["https://8.8.8.8/"],
    ["https://unknown.test/"],
    ["https://[2606:4700::1]/"],
  ])("%s is taken", async (address) => {
    const { outbound: strict } = outbound({ "example.org": ["93.184.216.34"] }, NOWHERE);
    expect(await strict.checkTarget(address, "url")).toBeUndefined();
  });

  test("may be private and plain http if the operator lists it", async () => {
    const { outbound: listed } = outbound({ "inside.test": ["127.0.0.1"], "outside.test": ["93.184.216.34"] });
    for (const address of ["http://127.0.0.1:80/", "https://127.0.0.1/", "http://inside.test/", "http://localhost/"]) {
      expect(await listed.checkTarget(address, "url")).toBeUndefined();
    }
    for (const address of ["http://127.0.0.2/", "https://10.0.0.1/", "http://outside.test/", "http://93.184.216.34/"]) {
      expect(await failureOf(listed.checkTarget(address, "url"))).toBe("forbidden_target");
    }
  });

  test("whose name can't be resolved in time is accepted, because each request checks again", async () => {
    const waiting = new Outbound({ allow: NOWHERE, resolve: () => Promise.reject(new Error("no name server")) });
    expect(await waiting.checkTarget("https://later.test/", "url")).toBeUndefined();
  });
});

describe("a request", () => {
  test("goes to the address that was checked, with the name in Host and certificate", async () => {
    const { outbound: sender, lookups } = outbound({ "push.test": ["127.0.0.1"] });
    const reply = await sender.send(`https://push.test:${tlsPort}/a%20b?c=d`, POST);
    expect([reply.status, reply.header("retry-after"), reply.body.toString()]).toEqual([200, "7", "fine"]);
    expect(heard.at(-1)).toEqual({ host: `push.test:${tlsPort}`, url: "/a%20b?c=d", body: "hello" });
    expect(lookups).toEqual(["push.test"]);
  });

  test("is not misled by a name server that gives another address the second time", async () => {
    let lookups = 0;
    const rebinding = new Outbound({
      allow: HERE,
      ca: tlsCertificate,
      resolve: async () => (lookups++ === 0 ? ["127.0.0.1"] : ["127.0.0.9"]),
    });
    expect((await rebinding.send(`https://push.test:${tlsPort}/`, POST)).status).toBe(200);
    expect(lookups).toBe(1);
  });

  test("is rejected if the name now resolves to a private address", async () => {
    const count = heard.length;
    const { outbound: strict } = outbound({ "push.test": ["127.0.0.1", "::1", "169.254.169.254"] }, NOWHERE);
    expect(await failureOf(strict.send(`https://push.test:${tlsPort}/`, POST))).toBe("forbidden");
    expect(heard.length).toBe(count);
  });

  test("uses only the permitted addresses of a name, and the next one if a connection fails", async () => {
    const { outbound: sender } = outbound(
      { "push.test": ["10.255.255.1", "127.0.0.7", "127.0.0.1"] },
      CidrList.parse(["127.0.0.0/8"]),
    );
    expect((await sender.send(`https://push.test:${tlsPort}/`, POST)).status).toBe(200);
  });

  test("trusts no certificate of another name and no self-signed one", async () => {
    const { outbound: sender } = outbound({ "other.test": ["127.0.0.1"] });
    expect(await failureOf(sender.send(`https://other.test:${tlsPort}/`, POST))).toBe("unreachable");
    const usual = new Outbound({ allow: HERE, resolve: async () => ["127.0.0.1"] });
    expect(await failureOf(usual.send(`https://push.test:${tlsPort}/`, POST))).toBe("unreachable");
  });

  test("follows no redirect", async () => {
    const { outbound: sender } = outbound({ "push.test": ["127.0.0.1"] });
    expect((await sender.send(`https://push.test:${tlsPort}/away`, POST)).status).toBe(302);
    expect(heard.some(({ url }) => url === "/caught")).toBe(false);
  });

  test("uses no proxy from the environment", async () => {
    const script = `
      import { Outbound } from ${JSON.stringify(`${import.meta.dir}/../../../src/net/outbound.ts`)};
      import { CidrList } from ${JSON.stringify(`${import.meta.dir}/../../../src/lib/cidr.ts`)};
      const outbound = new Outbound({ allow: CidrList.parse(["127.0.0.1"]) });
      const answer = await outbound.send("http://127.0.0.1:${plainPort}/direct", { method: "POST", headers: {} });
      console.log(answer.status);`;
    const proxy = `http://127.0.0.1:${await findUnusedPort()}`;
    const child = Bun.spawn([process.execPath, "-e", script], {
      env: { ...process.env, HTTP_PROXY: proxy, http_proxy: proxy, HTTPS_PROXY: proxy, https_proxy: proxy },
      stdout: "pipe",
    });
    expect((await new Response(child.stdout).text()).trim()).toBe("200");
  });
});

describe("a response", () => {
  test("without an end is read up to 64 KiB, then the connection is closed", async () => {
    const closed = Promise.withResolvers<void>();
    const url = await listen((socket) => {
      socket.on("close", () => closed.resolve());
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      pour(socket, Buffer.alloc(65_536));
    });
    const { body, status } = await outbound().outbound.send(url, POST);
    expect([status, body.byteLength]).toEqual([200, RESPONSE_BYTES_MAX]);
    await closed.promise;
  });

  test("that is compressed is not decompressed", async () => {
    const packed = gzipSync(Buffer.alloc(50_000_000));
    const url = await listen((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.byteLength}\r\n\r\n`);
      socket.end(packed);
    });
    expect((await outbound().outbound.send(url, POST)).body.byteLength).toBeLessThanOrEqual(RESPONSE_BYTES_MAX);
  });

  test("that is cut off counts as far as it was received", async () => {
    const url = await listen((socket) => socket.end("HTTP/1.1 410 Gone\r\nContent-Length: 100\r\n\r\nabc"));
    expect((await outbound().outbound.send(url, POST)).status).toBe(410);
  });

  test.each([
    ["that is no HTTP is garbage", "This is something else\r\n\r\n", "garbage"],
    ["that is nothing at all is a broken connection", "", "unreachable"],
  ])("%s", async (_, text, failure) => {
    const url = await listen((socket) => socket.end(text));
    expect(await failureOf(outbound().outbound.send(url, POST))).toBe(failure);
  });

  test("with endless headers is rejected", async () => {
    const url = await listen((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      pour(socket, Buffer.from(`X-Filler: ${"a".repeat(10_000)}\r\n`));
    });
    expect(await failureOf(outbound().outbound.send(url, POST))).toBe("garbage");
  });

  test("that does not come is given up after the timeout or by the signal", async () => {
    const silent = await listen(() => {});
    expect(await failureOf(outbound({}, HERE, 50).outbound.send(silent, POST))).toBe("timeout");
    const never = new Outbound({ allow: HERE, resolve: () => new Promise(() => {}), timeoutMs: 50 });
    expect(await failureOf(never.send("https://push.test/", POST))).toBe("timeout");
    const giveUp = new AbortController();
    const url = await listen(() => giveUp.abort());
    expect(await failureOf(outbound().outbound.send(url, { ...POST, signal: giveUp.signal }))).toBe("aborted");
    expect(await failureOf(outbound().outbound.send(url, { ...POST, signal: AbortSignal.abort() }))).toBe("aborted");
  });

  test("that switches the protocol is rejected", async () => {
    const url = await listen((socket) =>
      socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nabc"),
    );
    expect(await failureOf(outbound().outbound.send(url, POST))).toBe("garbage");
  });

  test("that comes too slowly is given up after the timeout", async () => {
    const url = await listen((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      const drip = setInterval(() => socket.write("."), 10);
      socket.on("close", () => clearInterval(drip));
    });
    expect(await failureOf(outbound({}, HERE, 100).outbound.send(url, POST))).toBe("timeout");
  });
});

// A resolver with one thread for each name would leave none for files and passwords: the pool has one for each processor.
test("a name server that does not respond blocks nothing else", async () => {
  const nameServer = createDatagramSocket("udp4");
  const queryArrives = once(nameServer, "message");
  nameServer.bind(0, "127.0.0.1");
  await once(nameServer, "listening");
  const usual = getServers();
  setServers([`127.0.0.1:${nameServer.address().port}`]);
  try {
    const giveUp = new AbortController();
    const byMachine = new Outbound({ allow: HERE });
    const request = { ...POST, signal: giveUp.signal };
    const sent = Array.from({ length: 20 }, (_, name) => byMachine.send(`http://slow-${name}.test/`, request));
    const outcomes = Promise.all(sent.map(failureOf));
    await queryArrives;
    expect(await readFile(import.meta.path, "utf8")).toContain("holds nothing else up");
    giveUp.abort();
    expect(new Set(await outcomes)).toEqual(new Set(["aborted"]));
  } finally {
    setServers(usual);
    nameServer.close();
  }
});

test("an error reveals neither the address nor the content", async () => {
  const error = await rejection(
    outbound().outbound.send(`https://127.0.0.1:${await findUnusedPort()}/secret-topic`, {
      ...POST,
      headers: { Authorization: "secret-key" },
    }),
  );
  expect(error.message).toBe("no connection (ECONNREFUSED)");
  expect(error.cause).toBeUndefined();
});

const listeners: { close(): unknown }[] = [];
afterAll(() => {
  for (const listener of listeners) listener.close();
});

/** A server that does what the test says once a request has begun. @returns its address */
async function listen(act: (socket: Socket) => void): Promise<string> {
  const server = createSocketServer((socket) => {
    // Clients disconnect in the middle here.
    socket.on("error", () => {});
    socket.once("data", () => act(socket));
  }).listen(0, "127.0.0.1");
  listeners.push(server);
  await once(server, "listening");
  return `http://127.0.0.1:${portOf(server)}/`;
}

function pour(socket: Socket, bytes: Buffer): void {
  const write = () => {
    while (socket.writable && socket.write(bytes));
  };
  socket.on("drain", write);
  write();
}

function portOf(server: { address(): ReturnType<Server["address"]> }): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server doesn't listen");
  return address.port;
}
