// The program of scripts/rounds/failover.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Cluster } from "../../test/support/failover/cluster.ts";
import { Ceph, type ObjectStore, TestStore } from "../../test/support/failover/engine.ts";
import { type Fault, FAULTS } from "../../test/support/failover/faults.ts";
import { Judge } from "../../test/support/failover/judge.ts";
import { FailoverLedger } from "../../test/support/failover/ledger.ts";
import { canCutLinks } from "../../test/support/failover/network.ts";
import {
  assignRoles,
  beginRounds,
  describeLeftovers,
  type Roles,
  runRound,
} from "../../test/support/failover/round.ts";
import { type SeededRandom, seededRandom } from "../../test/support/random.ts";

const MACHINES = 3;
const STRAYS = 2;
/** How often the standby promotes itself. */
const AUTOMATIC_SHARE = 0.6;
const LOAD_MS = 4_000;

interface RunOptions {
  readonly rounds: number;
  readonly seed: number;
  readonly firstRound: number;
  readonly faultWords: string;
  readonly storeName: string | undefined;
  readonly leaseMs: number;
  readonly clients: number;
  readonly acknowledge: "bucket" | "disk";
  readonly keepsFiles: boolean;
}

function readOptions(): RunOptions {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    options: {
      rounds: text,
      seed: text,
      round: text,
      fault: text,
      store: text,
      lease: text,
      clients: text,
      acknowledge: text,
      keep: { type: "boolean" },
    },
  });
  const seconds = /^(\d+(?:\.\d+)?)s$/.exec(values.lease ?? "3s")?.[1];
  if (seconds === undefined) throw new Error("Specify seconds: --lease 3s");
  return {
    rounds: Number(values.rounds ?? 50),
    seed: Number(values.seed ?? Math.floor(Math.random() * 1_000_000)),
    firstRound: Number(values.round ?? 1),
    faultWords: values.fault ?? "",
    storeName: values.store,
    leaseMs: Number(seconds) * 1000,
    clients: Number(values.clients ?? 12),
    acknowledge: values.acknowledge === "disk" ? "disk" : "bucket",
    keepsFiles: values.keep ?? false,
  };
}

async function openStore(name: string | undefined, directory: string): Promise<ObjectStore> {
  if (name !== "tests" && Ceph.isInstalled()) return Ceph.start(join(directory, "ceph"));
  if (name === "ceph") throw new Error("Ceph is not installed.");
  if (name === undefined) console.log("NO CEPH: it is not installed. This run uses the S3 service of the tests.");
  return TestStore.start("0.0.0.0");
}

interface PlannedRound {
  readonly number: number;
  readonly fault: Fault;
  readonly random: SeededRandom;
  readonly roles: SeededRandom;
}

/** Each fault comes up once before one comes up again. */
function* faultsInTurn(options: RunOptions): Generator<PlannedRound> {
  const possible = FAULTS.filter(
    ({ name, needsLinks }) => name.includes(options.faultWords) && (canCutLinks || needsLinks !== true),
  );
  if (possible.length === 0) throw new Error(`No fault is called "${options.faultWords}".`);
  for (let number = options.firstRound; number < options.firstRound + options.rounds; number++) {
    const cycle = Math.floor((number - 1) / possible.length);
    const fault = seededRandom(options.seed * 1009 + cycle).shuffled(possible)[(number - 1) % possible.length];
    if (fault === undefined) continue;
    // Roles have their own numbers: how many a judgment takes depends on what the clients did.
    const [random, roles] = [seededRandom(options.seed * 1013 + number), seededRandom(options.seed * 1019 + number)];
    yield { fault, random, roles, number };
  }
}

/** The figures of a run. */
class Figures {
  private readonly takeovers: number[] = [];
  private presentUnacknowledged = 0;
  private rounds = 0;

  add(hasChanged: boolean, takeoverMs: number | undefined, presentUnacknowledged: number): void {
    this.rounds += 1;
    if (hasChanged && takeoverMs !== undefined) this.takeovers.push(takeoverMs);
    this.presentUnacknowledged = presentUnacknowledged;
  }

  print(ledger: FailoverLedger, late: number): void {
    const { acknowledged, unavailable, unanswered, rejected } = ledger.total;
    const sorted = [...this.takeovers].sort((a, b) => a - b);
    const at = (share: number) => ((sorted[Math.floor((sorted.length - 1) * share)] ?? 0) / 1000).toFixed(1);
    console.log(
      `\n${this.rounds} rounds: ${acknowledged} changes acknowledged, ${unavailable} rejected with 503, ` +
        `${unanswered} without a response, ${rejected} rejected otherwise; ${this.presentUnacknowledged} took effect without ` +
        `an acknowledgement; ${late} responses arrived late.`,
    );
    console.log(
      `${sorted.length} takeovers; from the fault to the first acknowledged change of the new owner: ` +
        `median ${at(0.5)} s, 90 % ${at(0.9)} s, longest ${at(1)} s.`,
    );
    const kinds = new Map<string, number>();
    for (const line of ledger.rejections) {
      const kind = line.replace(/^\S+ (\w+).*: /, "$1: ");
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }
    for (const [kind, count] of kinds) console.log(`  rejected ${count} times: ${kind}`);
  }
}

/** Promotes an empty machine while no other has run, and reads every byte of every file from the object store. */
async function judgeFromStoreAlone(cluster: Cluster, ledger: FailoverLedger, roles: Roles): Promise<void> {
  const last = roles.spare ?? roles.standby;
  for (const node of cluster.nodes) if (node !== last) await node.stop();
  await last.wipe();
  last.start("promote");
  await cluster.awaitOwner([last]);
  const judgment = await new Judge(ledger, last, seededRandom(1), true).judge();
  console.log(
    `At the end, an empty machine was promoted: ${judgment.files} files, all bytes read from the object store.`,
  );
  await last.stop();
}

async function run(options: RunOptions, directory: string): Promise<number> {
  const store = await openStore(options.storeName, directory);
  const { leaseMs, acknowledge } = options;
  const cluster = await Cluster.create({ directory, store, machines: MACHINES, leaseMs, acknowledge });
  const ledger = new FailoverLedger(join(directory, "requests.jsonl"));
  const figures = new Figures();
  console.log(`Seed ${options.seed}, ${store.name}, logs in ${directory}`);
  try {
    let roles = await beginRounds(cluster, ledger, options.clients, seededRandom(options.seed).chance(AUTOMATIC_SHARE));
    for (const { fault, random, roles: rolesRandom, number } of faultsInTurn(options)) {
      const begunMs = performance.now();
      const seed = options.seed + number;
      const roundOptions = { cluster, ledger, random, seed, strays: STRAYS, loadMs: LOAD_MS };
      ledger.beginRound();
      for (const node of cluster.nodes) node.note(`=== round ${number}: ${fault.name}`);
      const result = await runRound(roundOptions, roles, fault);
      figures.add(result.hasChanged, result.takeoverMs, result.judgment.presentUnacknowledged);
      ledger.findTwoWriters();
      const { acknowledged, unavailable, unanswered } = ledger.round;
      const took = result.takeoverMs === undefined ? "" : `, served after ${(result.takeoverMs / 1000).toFixed(1)} s`;
      console.log(
        `${String(number).padStart(3)} ${fault.name}${roles.isAutomatic ? " (automatic)" : ""}: ` +
          `${roles.owner.name} → ${result.owner.name}${took}; ${acknowledged} acknowledged, ${unavailable} × 503, ` +
          `${unanswered} without a response; ${result.judgment.files} files, ${result.judgment.read} read; ` +
          `${((performance.now() - begunMs) / 1000).toFixed(0)} s`,
      );
      if (ledger.violations.length > 0) break;
      roles = await assignRoles(cluster, result.owner, rolesRandom, rolesRandom.chance(AUTOMATIC_SHARE));
      ledger.violations.push(...describeLeftovers(cluster.nodes));
    }
    if (ledger.violations.length === 0) await judgeFromStoreAlone(cluster, ledger, roles);
  } catch (error) {
    ledger.violate(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    await cluster.close();
    await store.close();
  }
  figures.print(ledger, ledger.findTwoWriters());
  for (const violation of ledger.violations.slice(0, 20)) console.error(`BROKEN: ${violation}`);
  if (ledger.violations.length > 20) console.error(`… and ${ledger.violations.length - 20} more`);
  return ledger.violations.length === 0 ? 0 : 1;
}

const options = readOptions();
const directory = await mkdtemp(join(tmpdir(), "larder-failover-"));
const code = await run(options, directory);
if (code === 0 && !options.keepsFiles) await rm(directory, { recursive: true, force: true });
else
  console.log(
    `Logs and requests: ${directory}. Repeat it: scripts/rounds/failover --seed ${options.seed} --round N --rounds 1`,
  );
process.exitCode = code;
