// One round: load, a fault, a takeover or none, a judgment, and the machines in their roles again.
import { Database } from "bun:sqlite";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expectEventually } from "./waiting.ts";
import { type SeededRandom, seededRandom } from "../random.ts";
import { type Cluster, isEmptyDirectory } from "./cluster.ts";
import type { ClusterNode } from "./cluster-node.ts";
import type { Expectation, Fault, Scene } from "./faults.ts";
import { Judge, type Judgment } from "./judge.ts";
import type { FailoverLedger } from "./ledger.ts";
import { createAccount, FailoverLoad } from "./load.ts";

const START_MS_MAX = 60_000;
const MARK_AGE_MS = 15 * 60_000;

/** The roles of the machines between two rounds. */
export interface Roles {
  owner: ClusterNode;
  standby: ClusterNode;
  spare: ClusterNode | undefined;
  isAutomatic: boolean;
}

/** What a round did. */
export interface RoundResult {
  readonly owner: ClusterNode;
  readonly hasChanged: boolean;
  /** From the beginning of the fault to the first change that the new owner acknowledged. */
  readonly takeoverMs: number | undefined;
  readonly judgment: Judgment;
}

export interface RoundOptions {
  readonly cluster: Cluster;
  readonly ledger: FailoverLedger;
  readonly random: SeededRandom;
  readonly seed: number;
  /** How many clients send to all machines, not only to the owner. */
  readonly strays: number;
  /** Load before the fault, and after it. */
  readonly loadMs: number;
}

/** Starts the first machine, creates accounts on it, and makes another one its standby. */
export async function beginRounds(
  cluster: Cluster,
  ledger: FailoverLedger,
  clients: number,
  isAutomatic: boolean,
): Promise<Roles> {
  const [first] = cluster.nodes;
  if (first === undefined) throw new Error("there is no machine");
  first.start("serve");
  await cluster.awaitOwner([first]);
  for (let number = 1; number <= clients; number++) await createAccount(ledger, first, number);
  return assignRoles(cluster, first, seededRandom(1), isAutomatic);
}

/** Lets a fault happen under load, and compares the owner with the ledger afterwards. */
export async function runRound(options: RoundOptions, roles: Roles, fault: Fault): Promise<RoundResult> {
  const { cluster, ledger, random, loadMs } = options;
  const { owner: former } = roles;
  const formerServer = former.current?.name;
  const load = new FailoverLoad(ledger, cluster.nodes, options.seed, options.strays);
  const gc = collectGarbage(cluster);
  try {
    await Bun.sleep(loadMs * (0.5 + random.fraction()));
    const faultMs = performance.now();
    const scene: Scene = { cluster, ...roles, random };
    const expectation = await fault.run(scene);
    for (const node of cluster.nodes) node.network.heal();
    // Until the old owner knows, both may say that they are ready. Only one acknowledges.
    await Bun.sleep(cluster.leaseMs * 2);
    const owner = await awaitSingleOwner(cluster);
    if (!isExpected(expectation, owner, former))
      throw new Error(`${owner.name} serves after "${fault.name}", but not as expected (${expectation})`);
    await awaitAcknowledgement(ledger, owner);
    await Bun.sleep(loadMs);
    await load.stop();
    await gc.stop();
    const hasChanged = owner !== former;
    const firstMs = ledger.firstAcknowledgementMs(owner.current?.name ?? "");
    const isNew = owner.current?.name !== formerServer;
    const judgment = await new Judge(ledger, owner, random, false).judge();
    return { owner, hasChanged, takeoverMs: isNew && firstMs !== undefined ? firstMs - faultMs : undefined, judgment };
  } finally {
    await load.stop();
    await gc.stop();
  }
}

function isExpected(expectation: Expectation, owner: ClusterNode, former: ClusterNode): boolean {
  if (expectation === "any") return true;
  return (owner === former) === (expectation === "same");
}

/** Waits until exactly one machine says that it is ready. */
async function awaitSingleOwner(cluster: Cluster): Promise<ClusterNode> {
  await cluster.awaitOwner();
  return expectEventually("exactly one machine serves", 30_000, async () => {
    const [owner, ...others] = await cluster.ready();
    return others.length === 0 ? owner : undefined;
  });
}

/** Waits until the clients have found the owner. */
async function awaitAcknowledgement(ledger: FailoverLedger, owner: ClusterNode): Promise<void> {
  const before = ledger.acknowledgedBy(owner.current?.name ?? "");
  await expectEventually(`${owner.name} acknowledges changes`, 60_000, async () =>
    ledger.acknowledgedBy(owner.current?.name ?? "") >= before + 10 ? true : undefined,
  );
}

/** Removes the bytes of deleted files on the owner again and again, so that their objects are removed as early as possible. */
function collectGarbage(cluster: Cluster): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const work = async () => {
    while (!signal.aborted) {
      const [owner] = await cluster.ready();
      if (owner !== undefined && !owner.isFrozen) await owner.run(["gc", "--now"], 15_000);
      for (let waits = 0; waits < 20 && !signal.aborted; waits++) await Bun.sleep(100);
    }
  };
  const working = work();
  return {
    async stop() {
      stopping.abort();
      await working;
    },
  };
}

/**
 * Gives the machines their roles for the next round. An old owner that still runs must reject everything; one that is
 * started again must not serve.
 */
export async function assignRoles(
  cluster: Cluster,
  owner: ClusterNode,
  random: SeededRandom,
  isAutomatic: boolean,
): Promise<Roles> {
  const others = random.shuffled(cluster.nodes.filter((node) => node !== owner));
  for (const node of others) await retire(cluster, node, owner);
  const [standby, spare] = others;
  if (standby === undefined) throw new Error("there is no second machine");
  if (random.chance(0.3)) await standby.wipe();
  await cluster.startStandby(standby, isAutomatic);
  await spare?.wipe();
  ageMarks(owner);
  return { owner, standby, spare, isAutomatic };
}

/**
 * Objects are removed only ten minutes after they were marked. Makes all marks older, so that objects are removed during the
 * next round.
 */
function ageMarks({ dataDir }: ClusterNode): void {
  const db = new Database(join(dataDir, "larder.db"));
  db.run("PRAGMA busy_timeout = 10000");
  db.run("UPDATE remote_blobs SET leaving_at = leaving_at - ?1 WHERE leaving_at IS NOT NULL", [MARK_AGE_MS]);
  db.close();
}

/** Ends what runs on a machine that does not own the store, and checks that it does not serve. */
async function retire(cluster: Cluster, node: ClusterNode, owner: ClusterNode): Promise<void> {
  if (node.isRunning) {
    if (node.current?.command !== "standby" || (await node.statusOf("/health/live")) !== 200) {
      await expectEventually(`${node.name} knows that ${owner.name} serves`, cluster.leaseMs * 4, async () =>
        (await node.statusOf("/health/ready")) === 503 ? true : undefined,
      );
    }
    const status = await node.statusOf("/api/auth/session");
    if (status !== 503) throw new Error(`${node.name} responds with ${status}, although ${owner.name} serves`);
    await node.stop();
  }
  if (await isEmptyDirectory(node.dataDir)) return;
  await expectEventually(`larder serve on ${node.name} names the owner`, START_MS_MAX, async () => {
    const refused = node.start("serve");
    const code = await refused.child.exited;
    // The second: the machine was killed while it took over.
    if (code !== 0 && /larder standby|takeover of this directory has begun/.test(refused.output)) return true;
    // A busy object store may be slower than a short lease allows.
    if (code !== 0 && /Cannot use the bucket/.test(refused.output)) return undefined;
    throw new Error(`larder serve on ${node.name} ended with ${code}:\n${refused.output}`);
  });
}

/** Processes that work below a directory, except this one. */
export function describeLeftovers(nodes: readonly ClusterNode[]): string[] {
  return nodes.flatMap((node) => {
    if (node.isRunning || readdirSync(node.dataDir).length === 0) return [];
    const pids = node.litestreamPids();
    return pids.length === 0 ? [] : [`Litestream of ${node.name} still runs: ${pids.join(", ")}`];
  });
}
