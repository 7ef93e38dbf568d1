// Every interleaving of three servers, within bounds: what was confirmed is in the database of every later owner.
import { expect, test } from "bun:test";
import { type Bounds, type Defect, newWorld, ownedWorld, steps, type World } from "../support/lease-model.ts";

const MACHINES = 3;

interface Exploration {
  /** Different states. */
  readonly states: number;
  /** States in which a change was confirmed, and another server has the database with it. */
  readonly handovers: number;
  /** What must never happen, with the steps that lead to it. */
  readonly violation: string | undefined;
}

/** Visits every state that can be reached, the nearest first. */
function explore(begin: World, bounds: Bounds, defect?: Defect): Exploration {
  const seen = new Set([keyOf(begin)]);
  let handovers = 0;
  let reached = [{ world: begin, way: "" }];
  while (reached.length > 0) {
    const next: typeof reached = [];
    for (const { world, way } of reached) {
      for (const step of steps(world, bounds, defect)) {
        const key = keyOf(step.world);
        if (seen.has(key)) continue;
        seen.add(key);
        const { violation, confirmed, owners } = step.world;
        const nextWay = defect === undefined ? "" : `${way}, ${step.name}`;
        if (violation !== undefined) return { states: seen.size, handovers, violation: `${violation}: ${nextWay}` };
        if (confirmed.some(({ epoch }) => owners.some((owner) => owner.epoch > epoch))) handovers++;
        next.push({ world: step.world, way: nextWay });
      }
    }
    reached = next;
  }
  return { states: seen.size, handovers, violation: undefined };
}

/** Two of a million states have the same key with a probability of 1 : 30,000,000. */
function keyOf(world: World): number | bigint {
  return Bun.hash(JSON.stringify(world));
}

test.each([
  ["three owners in turn", ownedWorld(MACHINES), { epochs: 3, writes: 1, crashes: 0 }],
  ["a crash", ownedWorld(MACHINES), { epochs: 2, writes: 1, crashes: 1 }],
  ["two changes", ownedWorld(MACHINES), { epochs: 2, writes: 2, crashes: 0 }],
])("no interleaving loses a confirmed change: %s", (_name, begin, bounds) => {
  const { states, handovers, violation } = explore(begin, bounds);
  expect(violation).toBeUndefined();
  expect(states).toBeGreaterThan(2_000);
  expect(handovers).toBeGreaterThan(100);
});

test("of three fresh servers at most one owns the store", () => {
  const { states, violation } = explore(newWorld(MACHINES), { epochs: 1, writes: 1, crashes: 0 });
  expect(violation).toBeUndefined();
  expect(states).toBeGreaterThan(100);
});

test.each<Defect>(["no-request", "early-request", "early-restore", "no-replica"])(
  "a protocol with a defect (%s) loses a confirmed change",
  (defect) => {
    const { violation } = explore(ownedWorld(MACHINES), { epochs: 3, writes: 1, crashes: 0 }, defect);
    expect(violation).toMatch(/is not in the database/);
  },
);

test("a service without conditions gives one epoch to two servers", () => {
  const { violation } = explore(newWorld(MACHINES), { epochs: 2, writes: 1, crashes: 0 }, "no-conditions");
  expect(violation).toMatch(/two servers own one epoch/);
});
