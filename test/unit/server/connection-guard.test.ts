import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { silentLog } from "../../../src/lib/log.ts";
import { ConnectionGuard } from "../../../src/server/net/connection-guard.ts";
import { listConnections, steerConnections } from "../../../src/server/net/tcp-connections.ts";

const isLinux = process.platform === "linux";
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** More than socket buffers take, so that a paused client leaves bytes unread. */
const LARGE_BYTES = 4 * 1024 ** 3;
let large: string;
beforeAll(() => {
  large = join(mkdtempSync(join(tmpdir(), "larder-guard-")), "large");
  writeFileSync(large, "");
  truncateSync(large, LARGE_BYTES);
});
afterAll(() => rmSync(dirname(large), { recursive: true }));

/** A server whose handler of /slow never responds, with a guard whose clock the test sets. */
function guarded(descriptorsMax: number) {
  const busy = new Set<Request>();
  const parts = new TransformStream<Uint8Array, Uint8Array>();
  const sender = parts.writable.getWriter();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      if (request.url.endsWith("/large")) return new Response(Bun.file(large));
      if (request.url.endsWith("/parts")) return new Response(parts.readable);
      if (!request.url.endsWith("/slow")) return new Response("answer");
      busy.add(request);
      return new Promise<Response>(() => {});
    },
  });
  closing.push(() => server.stop(true));
  let nowMs = 0;
  const guard = new ConnectionGuard({
    listener: {
      ports: new Set([server.port ?? 0]),
      closeIdle: () => server.closeIdleConnections(),
      busyPeerPorts: () => new Set([...busy].map((request) => server.requestIP(request)?.port ?? 0)),
      get pendingRequests() {
        return server.pendingRequests;
      },
    },
    log: silentLog,
    descriptorsMax,
    now: () => nowMs,
  });
  closing.push(() => guard.stop());
  const send = (text: string) => sender.write(Buffer.from(text));
  return { server, guard, busy, send, pass: (ms: number) => (nowMs += ms) };
}

/** A connection on which `text` was sent; resolves once `isThere`. */
async function open(port: number | undefined, text: string, isThere: () => boolean): Promise<Socket> {
  const socket = connect(port ?? 0, "127.0.0.1");
  socket.on("error", () => {});
  closing.push(() => socket.destroy());
  socket.write(text);
  while (!isThere()) await Bun.sleep(5);
  return socket;
}

function closed(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve(true);
    else socket.on("close", () => resolve(true));
  });
}

describe.skipIf(!isLinux)("when connections run out", () => {
  test("idle ones close at once, partial requests after seconds, requests in progress never", async () => {
    const { server, guard, busy, pass } = guarded(1);
    const responded = Promise.withResolvers<void>();
    const count = () => listConnections(new Set([server.port ?? 0])).length;
    const slow = await open(server.port, "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n", () => busy.size === 1);
    const half = await open(server.port, "GET /slow HT", () => count() === 2);
    const idle = await open(server.port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", () => count() === 3);
    idle.on("data", () => responded.resolve());
    await responded.promise;
    expect(guard.check()).toBe(1);
    expect(await closed(idle)).toBe(true);
    pass(6_000);
    expect(guard.check()).toBe(1);
    half.resume();
    expect(await closed(half)).toBe(true);
    pass(60_000);
    expect(guard.check()).toBe(0);
    expect(slow.destroyed).toBe(false);
  });
});

test.skipIf(!isLinux)(
  "when connections run out, an answer that is made slowly is not cut between two of its parts",
  async () => {
    // Once, an archive that paused before its next file was taken for a connection without a request.
    const { server, guard, send, pass } = guarded(1);
    let got = "";
    const request = "GET /parts HTTP/1.1\r\nHost: a\r\n\r\n";
    const socket = await open(server.port, request, () => server.pendingRequests === 1);
    socket.on("data", (bytes) => (got += bytes.toString()));
    const isIdle = () => listConnections(new Set([server.port ?? 0])).every(({ isSending }) => !isSending);
    for (let part = 0; part < 5; part++) {
      void send(`part ${part}.`);
      while (!got.includes(`part ${part}.`) || !isIdle()) await Bun.sleep(5);
      guard.check();
      pass(4_000);
    }
    expect(guard.check()).toBe(0);
    expect(socket.destroyed).toBe(false);
  },
);

test.skipIf(!isLinux)("no connection is closed while there are enough", async () => {
  const { server, guard, pass } = guarded(100_000);
  const count = () => listConnections(new Set([server.port ?? 0])).length;
  await open(server.port, "GET /slow HT", () => count() === 1);
  expect(guard.check()).toBe(0);
  pass(60_000);
  expect(guard.check()).toBe(0);
});

describe.skipIf(!isLinux)("a reader", () => {
  test.each([
    ["ten minutes", 100_000, 600],
    ["two minutes, when connections run out,", 1, 120],
  ])("that takes nothing for %s is ended; one that reads is not", async (_, descriptorsMax, secondsMax) => {
    const { server, guard, pass } = guarded(descriptorsMax);
    const request = "GET /large HTTP/1.1\r\nHost: a\r\n\r\n";
    const sending = () => listConnections(new Set([server.port ?? 0])).filter(({ isSending }) => isSending);
    const stalled = await open(server.port, request, () => sending().length === 1);
    stalled.pause();
    const reading = await open(server.port, request, () => sending().length === 2);
    reading.pause();
    const takenBy = (socket: Socket) =>
      listConnections(new Set([server.port ?? 0])).find(({ peerPort }) => peerPort === socket.localPort)
        ?.acknowledgedBytes;
    /** Waits until a paused client takes no more bytes: a full window is retried after about 200 ms. */
    const settled = async (socket: Socket) => {
      for (let before = takenBy(socket); ; before = takenBy(socket)) {
        await Bun.sleep(500);
        if (takenBy(socket) === before) return;
      }
    };
    /** Lets the client read enough that the kernel reports the socket as writable to the server. */
    const readOn = async () => {
      const before = takenBy(reading);
      reading.resume();
      while (takenBy(reading) === before && !reading.destroyed) await Bun.sleep(1);
      reading.pause();
    };
    await settled(stalled);
    // If connections run out, then from the first check on.
    guard.check();
    let endedAfter = 0;
    for (let seconds = 31; endedAfter === 0; seconds += 31) {
      pass(31_000);
      if (guard.check() > 0) endedAfter = seconds;
      await readOn();
    }
    // The first check must already recognize such a client.
    expect(endedAfter - 31).toBeGreaterThanOrEqual(secondsMax);
    expect(endedAfter - 31).toBeLessThan(secondsMax + 31);
    stalled.resume();
    expect(await closed(stalled)).toBe(true);
    expect(reading.destroyed).toBe(false);
  });
});

test.skipIf(!isLinux)(
  "of two sockets that share a port, new connections are given to the one that is named",
  async () => {
    const serve = (port: number, name: string) =>
      Bun.serve({ port, hostname: "127.0.0.1", reusePort: true, fetch: () => new Response(name) });
    const first = serve(0, "first");
    const port = first.port ?? 0;
    const second = serve(port, "second");
    closing.push(
      () => first.stop(true),
      () => second.stop(true),
    );
    expect(steerConnections(port, 1)).toBe(true);
    const names = new Set<string>();
    for (let count = 0; count < 20; count++) {
      names.add(await (await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: "close" } })).text());
    }
    expect([...names]).toEqual(["second"]);
  },
);
