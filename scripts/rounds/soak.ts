/*
 * The program of scripts/rounds/soak. It compares memory after a tenth of the work, when all caches are filled, with memory
 * at the end, each time after the server was idle for a while. It also prints measurements in between.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Account } from "../../test/support/client.ts";
import { dispose, startServer, type TestServer } from "../../test/support/server.ts";

const WORKERS = 8;
const ACCOUNTS = 4;
/** The server is idle after this many checks with hardly any processor time. One is not enough: a copy may be running. */
const IDLE_CHECKS = 5;
const IDLE_CHECK_MS = 5_000;
const IDLE_SHARE_MAX = 0.05;
const IDLE_WAIT_MS_MAX = 180_000;
/** The unit of processor time in /proc, the same on all Linux machines. */
const TICK_MS = 10;
const MEASURED_SHARES = [0.1, 0.25, 0.5, 0.75, 1] as const;
/** The allowed growth, which depends on the allocator and the garbage collector. */
const GROWTH_BYTES_MAX = 24 * 1024 * 1024;
const DESCRIPTORS_GROWTH_MAX = 10;
const LOG_BYTES_MAX = 64 * 1024 * 1024;
const PROGRESS_MS = 10_000;

interface Measurement {
  readonly requests: number;
  readonly rssBytes: number;
  readonly descriptors: number;
  readonly logBytes: number;
}

/** Uploads a file, then lists, changes, downloads, finds, and deletes it. @returns the number of requests */
async function useFile({ client }: Account, number: number): Promise<number> {
  const folder = `/soak-${number % 20}`;
  const uploaded = await client.upload(`content ${number} ${"x".repeat(number % 5000)}`, {
    name: `file ${number}.txt`,
    fields: { folder, tags: `t${number % 50}` },
  });
  const id = uploaded.string("data.id");
  await client.get(`/api/files?folder=${encodeURIComponent(folder)}&limit=20`);
  await client.get(`/api/files/${id}`);
  await client.request("PATCH", `/api/files/${id}`, { json: { description: `day ${number}` } });
  await client.get(`/api/files/${id}/download`);
  await client.request("GET", `/api/files/${id}/download`, { headers: { range: "bytes=0-9" } });
  await client.get(`/api/files?search=file+${number}`);
  await client.get("/api/users/me");
  await client.get("/api/nothing-here");
  await client.request("DELETE", `/api/files/${id}`);
  return 10;
}

/** Processor time of all threads so far. */
function usedMs({ pid }: TestServer): number {
  const [, fields = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const [user, system] = fields.split(" ").slice(11, 13);
  return (Number(user) + Number(system)) * TICK_MS;
}

/** Waits until the server is idle and has released memory. */
async function untilIdle(server: TestServer): Promise<void> {
  const endMs = performance.now() + IDLE_WAIT_MS_MAX;
  for (let quiet = 0; quiet < IDLE_CHECKS && performance.now() < endMs; ) {
    const before = usedMs(server);
    // oxlint-disable-next-line no-await-in-loop -- one check after the other
    await Bun.sleep(IDLE_CHECK_MS);
    quiet = usedMs(server) - before < IDLE_CHECK_MS * IDLE_SHARE_MAX ? quiet + 1 : 0;
  }
}

async function measure(server: TestServer, requests: number): Promise<Measurement> {
  await untilIdle(server);
  const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
  return {
    requests,
    rssBytes: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) * 1024,
    descriptors: readdirSync(`/proc/${server.pid}/fd`).length,
    logBytes: statSync(join(server.dataDir, "larder.db-wal"), { throwIfNoEntry: false })?.size ?? 0,
  };
}

function print({ requests, rssBytes, descriptors, logBytes }: Measurement): void {
  const megabytes = (bytes: number) => (bytes / 1048576).toFixed(1).padStart(7);
  console.log(
    `${String(requests).padStart(8)} requests: ${megabytes(rssBytes)} MiB resident, ${descriptors} open files, ` +
      `${megabytes(logBytes)} MiB of log`,
  );
}

/** Sends requests until this many are done, or until the end time. */
async function work(server: TestServer, accounts: readonly Account[], from: number, until: number, endMs: number) {
  let requests = from;
  let number = from;
  let printedMs = performance.now();
  const worker = async (own: Account) => {
    while (requests < until && performance.now() < endMs) {
      // oxlint-disable-next-line no-await-in-loop -- each worker sends one request after the other
      const done = await useFile(own, number++);
      requests += done;
      // The test client stores each response, which would grow here.
      server.responses.length = 0;
      if (performance.now() - printedMs > PROGRESS_MS && process.stderr.isTTY) {
        printedMs = performance.now();
        console.error(`${requests} requests`);
      }
    }
  };
  await Promise.all(
    Array.from({ length: WORKERS }, (_, index) => accounts[index % accounts.length]).flatMap((one) =>
      one === undefined ? [] : [worker(one)],
    ),
  );
  return requests;
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { requests: { type: "string" }, minutes: { type: "string" } } });
  const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
  const requestsMax = minutes === undefined ? Number(values.requests ?? 100_000) : Number.POSITIVE_INFINITY;
  const wholeMs = minutes === undefined ? Number.POSITIVE_INFINITY : minutes * 60_000;
  if (!(requestsMax > 0) || !(wholeMs > 0)) throw new Error("Specify a number: --requests N or --minutes M");
  const server = await startServer();
  try {
    const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => server.signUp()));
    print(await measure(server, 0));
    const startMs = performance.now();
    let idleMs = 0;
    let done = 0;
    const measurements: Measurement[] = [];
    for (const share of MEASURED_SHARES) {
      // oxlint-disable-next-line no-await-in-loop -- one share of the work after the other
      done = await work(server, accounts, done, requestsMax * share, startMs + idleMs + wholeMs * share);
      const fromMs = performance.now();
      // oxlint-disable-next-line no-await-in-loop -- as above
      const now = await measure(server, done);
      idleMs += performance.now() - fromMs;
      measurements.push(now);
      print(now);
    }
    const [early, late] = [measurements[0], measurements.at(-1)];
    if (early === undefined || late === undefined) throw new Error("There is no measurement.");
    const problems = [
      late.rssBytes - early.rssBytes > GROWTH_BYTES_MAX && "its memory has grown",
      late.descriptors - early.descriptors > DESCRIPTORS_GROWTH_MAX && "its open files have grown",
      late.logBytes > LOG_BYTES_MAX && "the write-ahead log of the database is too long",
    ].filter((one) => one !== false);
    for (const problem of problems) console.error(`FAILED: ${problem}`);
    return problems.length === 0 ? 0 : 1;
  } finally {
    await dispose(server);
  }
}

process.exitCode = await main();
