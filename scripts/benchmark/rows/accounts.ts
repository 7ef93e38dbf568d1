/**
 * What accounts cost: one server with more and more of them, each with an API key and an empty root folder.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { hashToken } from "../../../src/features/accounts/auth/token-hash.ts";
import { newId, newSecretToken } from "../../../src/lib/id.ts";
import { type Bench, measureInTurns, type Row, stopAndRemove } from "../bench.ts";
import { call, textAt } from "../device.ts";
import type { RequestTemplate } from "../job.ts";
import { type Larder, PASSWORD, runOnLarder } from "../larder.ts";
import { load } from "../load.ts";
import { anonymousMib, cpuSeconds, median } from "../measure.ts";
import { copyStatement, openToSeed, seedAccounts } from "../seed-growth.ts";
import { getTemplate } from "../server.ts";
import { formatAmount } from "../table.ts";

const SIZES = [10, 1_000, 10_000];
const PAGE_LIMIT = 100;
const SIGN_INS = 10;
const DURATION_MS = 1000;
const KEY_BITS = 256;
/** Jobs that are due run right after the start; the journal of each account is written too. */
const QUIET_CHECKS = 3;
const QUIET_SHARE_MAX = 0.05;
const CHECK_MS = 1000;
const SETTLE_MS = 10_000;

interface Started {
  larder: Larder;
  accounts: number;
  /** An API key of each account. */
  keys: string[];
}

type Task = (started: Started) => RequestTemplate[];

const list = (query: string) => (larder: Larder) => getTemplate(`/api/admin/users?${query}`, larder.headers);
const TASKS: ReadonlyMap<string, Task> = new Map<string, Task>([
  [
    "sign-in, each of another account",
    ({ accounts }) =>
      Array.from({ length: SIGN_INS }, (_, index) => {
        const number = 1 + Math.floor((index * accounts) / SIGN_INS);
        const head = "POST /api/auth/signin HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n";
        return { head, prefix: JSON.stringify({ email: emailOf(number), password: PASSWORD }) };
      }),
  ],
  [
    "list of the root folder, each of another account",
    ({ keys }) => keys.map((key) => getTemplate("/api/files?limit=20", `Authorization: Bearer ${key}\r\n`)),
  ],
  ["administration: first page of the accounts", ({ larder }) => [list(`limit=${PAGE_LIMIT}`)(larder)]],
  [
    "administration: last page of the accounts",
    ({ larder, accounts }) => [list(`limit=${PAGE_LIMIT}&page=${Math.ceil(accounts / PAGE_LIMIT)}`)(larder)],
  ],
  [
    "administration: first page by used space",
    ({ larder }) => [list(`limit=${PAGE_LIMIT}&sort=used&order=desc`)(larder)],
  ],
  ["administration: search for one account", ({ larder }) => [list(`search=${emailOf(7)}`)(larder)]],
]);

const emailOf = (number: number) => `user-${number}@example.com`;

export const accounts: Row = {
  id: "accounts",
  title: "a server with 10 to 10,000 accounts",
  diskGib: () => 2,
  run: async (bench: Bench) => {
    const started: Started[] = [];
    const lines = new Map<string, string[]>();
    const samples = new Map<string, { cpuMs: number[]; p50Ms: number[] }>();
    try {
      for (const size of SIZES) started.push(await startWith(bench, size, lines));
      const measure = async () => {
        for (const [name, task] of TASKS) {
          for (const server of started) await measureTask(name, task(server), server, samples);
        }
      };
      await measureInTurns(bench, bench.figures, [{ subject: "larder", measure }]);
      for (const { larder } of started) {
        addCell(lines, "anonymous memory after all of this, MiB", formatAmount(anonymousMib(larder.pid)));
      }
    } finally {
      for (const { larder } of started) await stopAndRemove(larder);
    }
    for (const [key, { cpuMs, p50Ms }] of samples) {
      const name = key.slice(0, key.lastIndexOf("/"));
      addCell(lines, name, `${formatAmount(median(cpuMs))} (${formatAmount(median(p50Ms))})`);
    }
    const header = ["CPU ms (p50 ms)", ...SIZES.map((size) => `${size.toLocaleString("en")} accounts`)];
    const rule = header.map((_, column) => (column === 0 ? "---" : "---:"));
    const rows = [...lines].map(([name, cells]) => [name, ...cells]);
    bench.tables.push([header, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n"));
    Object.assign(bench.details, { samples: Object.fromEntries(samples), lines: Object.fromEntries(lines) });
  },
};

function addCell(lines: Map<string, string[]>, name: string, text: string): void {
  lines.set(name, [...(lines.get(name) ?? []), text]);
}

async function measureTask(
  name: string,
  templates: RequestTemplate[],
  { larder, accounts: size }: Started,
  samples: Map<string, { cpuMs: number[]; p50Ms: number[] }>,
): Promise<void> {
  const plan = name.startsWith("sign-in") ? { count: SIGN_INS } : { durationMs: DURATION_MS };
  // The first request with a key in a minute also writes when the key was used.
  if (templates.length === size) await load(larder, { connections: 16, templates, count: size });
  const done = await load(larder, { connections: 1, templates, ...plan });
  const key = `${name}/${size}`;
  const cell = samples.get(key) ?? { cpuMs: [], p50Ms: [] };
  cell.cpuMs.push((done.cpuSeconds / done.requests) * 1000);
  cell.p50Ms.push(done.p50Ms);
  samples.set(key, cell);
}

/** Starts a server on a directory with so many accounts, whose rows are written directly. */
async function startWith(bench: Bench, size: number, lines: Map<string, string[]>): Promise<Started> {
  const first = await bench.startLarder();
  const made = await call(first, "/api/users/api-keys", first, { name: "bench", currentPassword: PASSWORD });
  textAt(made, "data", "key");
  await first.stop();
  bench.log(`writing rows for ${size.toLocaleString("en")} accounts`);
  const path = join(first.directory, "data", "larder.db");
  const keys = seedWithKeys(join(first.directory, "data"), size);
  await runOnLarder(first, ["user", "set", first.email, "--role", "admin"]);
  const written = await bench.startLarder("larder", first);
  await waitUntilQuiet(written);
  await written.stop();
  const larder = await bench.startLarder("larder", first);
  addCell(lines, "start to the first listing, ms", formatAmount(larder.startMs));
  await Bun.sleep(SETTLE_MS);
  addCell(lines, "anonymous memory at rest, MiB", formatAmount(anonymousMib(larder.pid)));
  addCell(lines, "database, MB", formatAmount(statSync(path).size / 1e6));
  return { larder, accounts: size, keys };
}

/** @returns an API key of each account */
function seedWithKeys(data: string, size: number): string[] {
  const database = openToSeed(data);
  const scale = { accounts: size, files: 0, folderFiles: 0, journalEntries: 0, shares: 0 };
  const add = copyStatement(database, "api_keys", ["id", "public_id", "user_id", "key_hash"], "id = 1");
  const keys = Array.from({ length: size }, () => `lk_${newSecretToken(KEY_BITS)}`);
  database.transaction(() => {
    seedAccounts(database, scale);
    for (const [index, key] of keys.entries()) add.run(index + 2, newId("key", Date.now()), index + 2, hashToken(key));
  })();
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  return keys;
}

async function waitUntilQuiet(larder: Larder): Promise<void> {
  for (let quiet = 0; quiet < QUIET_CHECKS; ) {
    const before = cpuSeconds(larder.pid);
    await Bun.sleep(CHECK_MS);
    const isQuiet = cpuSeconds(larder.pid) - before < (CHECK_MS / 1000) * QUIET_SHARE_MAX;
    quiet = isQuiet ? quiet + 1 : 0;
  }
}
