/*
 * The program of scripts/rounds/crowds. The crowd and the person have different addresses below 127.0.0.0/8, so that the
 * server limits them separately.
 */
import { connect, type Socket } from "node:net";
import { type TestServer, withServer } from "../../test/support/server.ts";

const PERSON = "127.0.0.3";
const CROWD = "127.0.0.2";
const WRONG_SIGN_INS = 200;
const RIGHT_SIGN_INS = 20;
const SIGN_IN_MS_MAX = 2_000;
const SLOW_BODIES = 4_300;
const DRIP_MS = 5_000;
const SLOW_MS = 35_000;
/** The wait after a rejected request. */
const REST_MS = 200;

/** Sends a request. @returns the status of the response; 0 if the connection ended without one */
function request({ port }: TestServer, from: string, method: string, path: string, json?: object): Promise<number> {
  const body = json === undefined ? "" : JSON.stringify(json);
  const head = `${method} ${path} HTTP/1.1\r\nHost: larder.test\r\nConnection: close\r\nContent-Type: application/json`;
  return new Promise((resolve) => {
    let text = "";
    const socket = connect({ port, host: "127.0.0.1", localAddress: from }, () => {
      socket.write(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    });
    socket.on("data", (bytes) => (text += bytes.toString()));
    // 'close' follows a reset.
    socket.on("error", () => {});
    socket.on("close", () => resolve(statusIn(text)));
  });
}

function statusIn(text: string): number {
  return Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);
}

/** Counts responses by status. */
class Statuses {
  readonly counts: Record<number, number> = {};

  add(status: number): void {
    this.counts[status] = (this.counts[status] ?? 0) + 1;
  }
}

function median(times: number[]): number {
  return Math.round(times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0);
}

/** Signs in during the wrong sign-ins of the crowd. @returns whether it was fast enough */
async function duringSignIns(preset: string): Promise<boolean> {
  return withServer({ env: { LARDER_RATE_LIMITS: "", LARDER_PRESET: preset } }, async (server) => {
    const { email, password } = await server.addUser(["--plan", "enterprise"]);
    const wrong = new Statuses();
    const end = new AbortController();
    const crowd = Array.from({ length: WRONG_SIGN_INS }, async (_, at) => {
      for (let turn = 0; !end.signal.aborted; turn++) {
        const guess = { email: `${at}.${turn}@example.org`, password: "wrong password" };
        const status = await request(server, CROWD, "POST", "/api/auth/signin", guess);
        wrong.add(status);
        if (status !== 401) await Bun.sleep(REST_MS);
      }
    });
    const right = new Statuses();
    const times: number[] = [];
    for (let i = 0; i < RIGHT_SIGN_INS; i++) {
      const startMs = performance.now();
      right.add(await request(server, PERSON, "POST", "/api/auth/signin", { email, password }));
      times.push(performance.now() - startMs);
    }
    end.abort();
    await Promise.all(crowd);
    const medianMs = median(times);
    const longestMs = Math.round(Math.max(...times));
    console.info("sign-ins", { preset, right: right.counts, medianMs, longestMs, wrong: wrong.counts });
    return medianMs <= SIGN_IN_MS_MAX && right.counts[200] === RIGHT_SIGN_INS;
  });
}

/** Sends requests during the slow bodies of the crowd. @returns whether all of them succeeded */
async function duringSlowBodies(path: string, type: string): Promise<boolean> {
  return withServer({ env: { LARDER_RATE_LIMITS: "" } }, async (server) => {
    const sockets = new Set<Socket>();
    const crowd = new Statuses();
    let hasEnded = false;
    const openOne = (): void => {
      if (hasEnded) return;
      let text = "";
      const socket = connect({ port: server.port, host: "127.0.0.1", localAddress: CROWD }, () => {
        const head = `POST ${path} HTTP/1.1\r\nHost: larder.test\r\nContent-Type: ${type}\r\nContent-Length: 9000`;
        socket.write(`${head}\r\n\r\n`);
      });
      sockets.add(socket);
      socket.on("data", (bytes) => (text += bytes.toString()));
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        crowd.add(statusIn(text));
        setTimeout(openOne, REST_MS);
      });
    };
    for (let i = 0; i < SLOW_BODIES; i++) openOne();
    const dripping = setInterval(() => {
      for (const socket of sockets) socket.write("a");
    }, DRIP_MS);
    const person = new Statuses();
    const times: number[] = [];
    const endMs = performance.now() + SLOW_MS;
    while (performance.now() < endMs) {
      const startMs = performance.now();
      person.add(await request(server, PERSON, "GET", "/api/auth/methods"));
      times.push(performance.now() - startMs);
      await Bun.sleep(REST_MS);
    }
    hasEnded = true;
    clearInterval(dripping);
    for (const socket of sockets) socket.destroy();
    console.info("slow bodies", { path, person: person.counts, medianMs: median(times), crowd: crowd.counts });
    return person.counts[200] === times.length;
  });
}

const results = [
  await duringSignIns("spec"),
  await duringSignIns("household"),
  await duringSlowBodies("/invite", "application/x-www-form-urlencoded"),
  await duringSlowBodies("/api/auth/signin", "application/json"),
];
process.exit(results.every((isOk) => isOk) ? 0 : 1);
