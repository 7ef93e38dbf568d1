/*
 * What scripts/rounds/soak calls. Memory is compared between the end of a tenth of the work, when everything that is kept
 * has been loaded, and the end, each after the server has had nothing to do for a while; looks between tell how it went.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Account } from "../../test/support/client.ts";
import { dispose, startServer, type TestServer } from "../../test/support/server.ts";

const WORKERS = 8;
const ACCOUNTS = 4;
/** The server has come to rest when it has hardly used the processor for so many looks in a row: a copy may be under way. */
const REST_LOOKS = 5;
const REST_LOOK_MS = 5_000;
const REST_SHARE_MAX = 0.05;
const REST_MS_MAX = 180_000;
/** In which /proc counts the time of a process; the same on all machines of Linux. */
const TICK_MS = 10;
const LOOKS = [0.1, 0.25, 0.5, 0.75, 1] as const;
/** What may be kept more at the end than after a tenth: the allocator's and the collector's luck. */
const GROWTH_BYTES_MAX = 24 * 1024 * 1024;
const DESCRIPTORS_GROWTH_MAX = 10;
const LOG_BYTES_MAX = 64 * 1024 * 1024;
const PROGRESS_MS = 10_000;

interface Look {
  readonly requests: number;
  readonly rssBytes: number;
  readonly descriptors: number;
  readonly logBytes: number;
}

/** One piece of a day: a file comes, is looked at, changed, fetched in part, shared, found, and deleted. */
async function day({ client }: Account, number: number): Promise<number> {
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

/** Waits until the server has seen that it has nothing to do, and has given back what it can. */
async function settle(server: TestServer): Promise<void> {
  const endMs = performance.now() + REST_MS_MAX;
  for (let quiet = 0; quiet < REST_LOOKS && performance.now() < endMs; ) {
    const before = usedMs(server);
    // oxlint-disable-next-line no-await-in-loop -- one look after the other
    await Bun.sleep(REST_LOOK_MS);
    quiet = usedMs(server) - before < REST_LOOK_MS * REST_SHARE_MAX ? quiet + 1 : 0;
  }
}

async function look(server: TestServer, requests: number): Promise<Look> {
  await settle(server);
  const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
  return {
    requests,
    rssBytes: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) * 1024,
    descriptors: readdirSync(`/proc/${server.pid}/fd`).length,
    logBytes: statSync(join(server.dataDir, "larder.db-wal"), { throwIfNoEntry: false })?.size ?? 0,
  };
}

function tell({ requests, rssBytes, descriptors, logBytes }: Look): void {
  const megabytes = (bytes: number) => (bytes / 1048576).toFixed(1).padStart(7);
  console.log(
    `${String(requests).padStart(8)} requests: ${megabytes(rssBytes)} MiB resident, ${descriptors} open files, ` +
      `${megabytes(logBytes)} MiB of log`,
  );
}

/** Works until there have been so many requests, or until the instant; the first to come. */
async function work(server: TestServer, accounts: readonly Account[], from: number, until: number, endMs: number) {
  let requests = from;
  let number = from;
  let toldMs = performance.now();
  const worker = async (own: Account) => {
    while (requests < until && performance.now() < endMs) {
      // oxlint-disable-next-line no-await-in-loop -- each worker does one thing after the other
      const done = await day(own, number++);
      requests += done;
      // What the clients of the tests keep of each answer would be what grows here.
      server.responses.length = 0;
      if (performance.now() - toldMs > PROGRESS_MS && process.stderr.isTTY) {
        toldMs = performance.now();
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
  const wanted = minutes === undefined ? Number(values.requests ?? 100_000) : Number.POSITIVE_INFINITY;
  const wholeMs = minutes === undefined ? Number.POSITIVE_INFINITY : minutes * 60_000;
  if (!(wanted > 0) || !(wholeMs > 0)) throw new Error("Specify a number: --requests N or --minutes M");
  const server = await startServer();
  try {
    const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => server.signUp()));
    tell(await look(server, 0));
    const startMs = performance.now();
    let restedMs = 0;
    let done = 0;
    const seen: Look[] = [];
    for (const share of LOOKS) {
      // oxlint-disable-next-line no-await-in-loop -- one share of the work after the other
      done = await work(server, accounts, done, wanted * share, startMs + restedMs + wholeMs * share);
      const fromMs = performance.now();
      // oxlint-disable-next-line no-await-in-loop -- as above
      const now = await look(server, done);
      restedMs += performance.now() - fromMs;
      seen.push(now);
      tell(now);
    }
    const [early, late] = [seen[0], seen.at(-1)];
    if (early === undefined || late === undefined) throw new Error("The server was not looked at.");
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
