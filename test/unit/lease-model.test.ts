// Every interleaving of three servers, within bounds: what was confirmed is in the database of every later owner.
import { expect, setDefaultTimeout, test } from "bun:test";
import { type Bounds, type Defect, newCluster, ownedCluster, steps, type Cluster } from "../support/lease-model.ts";

const MACHINES = 3;

// A few seconds on an idle machine.
setDefaultTimeout(120_000);

interface Exploration {
  /** Different states. */
  readonly states: number;
  /** States in which a change was confirmed, and another server has the database with it. */
  readonly handovers: number;
  /** What must never happen, with the steps that lead to it. */
  readonly violation: string | undefined;
}

/** Visits every state that can be reached, the nearest first. */
function explore(begin: Cluster, bounds: Bounds, defect?: Defect): Exploration {
  const seen = new Set([keyOf(begin)]);
  let handovers = 0;
  let reached = [{ cluster: begin, way: "" }];
  while (reached.length > 0) {
    const next: typeof reached = [];
    for (const { cluster, way } of reached) {
      for (const step of steps(cluster, bounds, defect)) {
        const key = keyOf(step.cluster);
        if (seen.has(key)) continue;
        seen.add(key);
        const { violation, confirmed, owners } = step.cluster;
        const nextWay = defect === undefined ? "" : `${way}, ${step.name}`;
        if (violation !== undefined) return { states: seen.size, handovers, violation: `${violation}: ${nextWay}` };
        if (confirmed.some(({ epoch }) => owners.some((owner) => owner.epoch > epoch))) handovers++;
        next.push({ cluster: step.cluster, way: nextWay });
      }
    }
    reached = next;
  }
  return { states: seen.size, handovers, violation: undefined };
}

/** Two of a million states have the same key with a probability of 1 : 30,000,000. */
function keyOf(cluster: Cluster): number | bigint {
  return Bun.hash(JSON.stringify(cluster));
}

test.each([
  ["three owners in turn", ownedCluster(MACHINES), { epochs: 3, writes: 1, crashes: 0 }],
  ["a crash", ownedCluster(MACHINES), { epochs: 2, writes: 1, crashes: 1 }],
  ["two changes", ownedCluster(MACHINES), { epochs: 2, writes: 2, crashes: 0 }],
])("no interleaving loses a confirmed change: %s", (_name, begin, bounds) => {
  const { states, handovers, violation } = explore(begin, bounds);
  expect(violation).toBeUndefined();
  expect(states).toBeGreaterThan(2_000);
  expect(handovers).toBeGreaterThan(100);
});

test("of three fresh servers at most one owns the store", () => {
  const { states, violation } = explore(newCluster(MACHINES), { epochs: 1, writes: 1, crashes: 0 });
  expect(violation).toBeUndefined();
  expect(states).toBeGreaterThan(100);
});

test.each<Defect>(["no-request", "early-request", "early-restore", "no-replica"])(
  "a protocol with a defect (%s) loses a confirmed change",
  (defect) => {
    const { violation } = explore(ownedCluster(MACHINES), { epochs: 3, writes: 1, crashes: 0 }, defect);
    expect(violation).toMatch(/is not in the database/);
  },
);

test("a service without conditions gives one epoch to two servers", () => {
  const { violation } = explore(newCluster(MACHINES), { epochs: 2, writes: 1, crashes: 0 }, "no-conditions");
  expect(violation).toMatch(/two servers own one epoch/);
});
