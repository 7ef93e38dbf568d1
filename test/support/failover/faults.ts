// What goes wrong in a round, and what must follow from it.
import type { SeededRandom } from "../random.ts";
import type { Cluster } from "./cluster.ts";
import type { ClusterNode } from "./cluster-node.ts";
import type { CutDirection } from "./network.ts";

/** The machines at the beginning of a round. */
export interface Scene {
  readonly cluster: Cluster;
  readonly random: SeededRandom;
  readonly owner: ClusterNode;
  readonly standby: ClusterNode;
  /** With an empty data directory, and no process. Undefined with two machines. */
  readonly spare: ClusterNode | undefined;
  /** Whether the standby promotes itself. */
  readonly isAutomatic: boolean;
}

/** Which machine must serve afterwards. */
export type Expectation = "same" | "other" | "any";

export interface Fault {
  readonly name: string;
  /** Links must be cut for it. */
  readonly needsLinks?: boolean;
  readonly needsSpare?: boolean;
  /** Lets it happen, and repairs it. @throws Error if a server behaves differently from what was promised */
  readonly run: (scene: Scene) => Promise<Expectation>;
}

/** Between these multiples of the lease time. */
function during({ cluster, random }: Scene, least: number, most: number): number {
  return Math.round(cluster.leaseMs * (least + random.fraction() * (most - least)));
}

/** Lets the standby take over, automatically or by a command. */
async function takeOver({ cluster, standby, isAutomatic }: Scene): Promise<void> {
  if (!isAutomatic) {
    const { code, stdout, stderr } = await standby.run(["promote"], 120_000);
    if (code !== 0) throw new Error(`larder promote on ${standby.name} ended with ${code}:\n${stdout}${stderr}`);
  }
  await cluster.awaitOwner([standby]);
}

/**
 * Ends the owner, and lets the standby begin to take over.
 * @returns the end of its command, which need not succeed
 */
async function beginTakeover(scene: Scene): Promise<{ ended: Promise<unknown> }> {
  const { owner, standby, random, isAutomatic } = scene;
  await owner.kill9(random.chance(0.5));
  const ended = isAutomatic ? Promise.resolve() : standby.run(["promote"], 120_000);
  await Bun.sleep(during(scene, 1.3, 2.3));
  return { ended };
}

/** Starts a server as systemd does: again, if the object store was too slow for its start. */
async function serveAgain(node: ClusterNode): Promise<void> {
  for (;;) {
    const server = node.start("serve");
    while (!server.hasEnded && !(await node.isUp())) await Bun.sleep(50);
    if (!server.hasEnded || !server.output.includes("Cannot use the bucket")) return;
  }
}

/** While the owner can't work: waits, or promotes the standby in that time. */
async function passTime(scene: Scene, ms: number): Promise<Expectation> {
  const { isAutomatic, random } = scene;
  if (isAutomatic || random.chance(0.4)) {
    await Bun.sleep(ms);
    return isAutomatic ? "any" : "same";
  }
  await takeOver(scene);
  return "other";
}

/** Expects that a command is rejected with words. */
async function expectRejection(node: ClusterNode, args: readonly string[], words: RegExp): Promise<void> {
  const { code, stdout, stderr } = await node.run(args);
  const text = stdout + stderr;
  if (code === 0 || !words.test(text))
    throw new Error(`larder ${args.join(" ")} on ${node.name} ended with ${code} instead of ${words}:\n${text}`);
}

function cutLinks(kind: "store" | "clients" | "all", scene: Scene): string {
  const direction = scene.random.pick<CutDirection>(["both", "both", "to-server", "from-server"]);
  const { store, clients } = scene.owner.network;
  if (kind !== "clients") store.cut(direction);
  if (kind !== "store") clients.cut(direction);
  return direction;
}

/** Cuts the owner off for a while. */
async function cutOff(kind: "store" | "all", scene: Scene): Promise<Expectation> {
  cutLinks(kind, scene);
  const expectation = await passTime(scene, during(scene, 0.5, 5));
  scene.owner.network.heal();
  return expectation;
}

export const FAULTS: readonly Fault[] = [
  {
    name: "kill -9 of the owner",
    run: async (scene) => {
      await scene.owner.kill9(scene.random.chance(0.5));
      await takeOver(scene);
      return "other";
    },
  },
  {
    name: "kill -9 and restart on the same directory",
    run: async ({ owner, random, isAutomatic }) => {
      await owner.kill9(random.chance(0.5));
      await serveAgain(owner);
      return isAutomatic ? "any" : "same";
    },
  },
  {
    name: "SIGSTOP of Larder about as long as the lease",
    run: async (scene) => {
      scene.owner.freeze(scene.random.chance(0.5) ? "both" : "larder");
      const expectation = await passTime(scene, during(scene, 0.8, 3));
      scene.owner.thaw();
      return expectation;
    },
  },
  {
    name: "SIGSTOP of Larder far past the lease",
    run: async (scene) => {
      scene.owner.freeze("both");
      // An automatic standby needs one and a half lease times, and the time of a restore.
      await takeOver(scene);
      scene.owner.thaw();
      return "other";
    },
  },
  {
    name: "SIGSTOP of Larder within the lease",
    run: async (scene) => {
      for (let times = 0; times < 3; times++) {
        scene.owner.freeze("both");
        await Bun.sleep(during(scene, 0.2, 0.7));
        scene.owner.thaw();
        await Bun.sleep(during(scene, 0.5, 1));
      }
      return "same";
    },
  },
  {
    name: "SIGSTOP of Litestream",
    run: async (scene) => {
      scene.owner.freeze("litestream");
      await Bun.sleep(during(scene, 0.5, 4));
      scene.owner.thaw();
      return "same";
    },
  },
  {
    name: "kill -9 of Litestream",
    run: async (scene) => {
      for (let times = 0; times < 3; times++) {
        scene.owner.killLitestream();
        await Bun.sleep(during(scene, 0.3, 2));
      }
      return "same";
    },
  },
  { name: "owner cut off from the object store", needsLinks: true, run: (scene) => cutOff("store", scene) },
  {
    name: "owner cut off from its clients",
    needsLinks: true,
    run: async (scene) => {
      cutLinks("clients", scene);
      await Bun.sleep(during(scene, 0.5, 3));
      scene.owner.network.heal();
      return "same";
    },
  },
  { name: "owner cut off from everything", needsLinks: true, run: (scene) => cutOff("all", scene) },
  {
    name: "object store frozen",
    run: async (scene) => {
      await scene.cluster.store.freeze();
      await Bun.sleep(during(scene, 0.5, 5));
      await scene.cluster.store.thaw();
      return scene.isAutomatic ? "any" : "same";
    },
  },
  {
    name: "object store killed and started again",
    run: async (scene) => {
      await scene.cluster.store.kill();
      await Bun.sleep(during(scene, 0.2, 3));
      await scene.cluster.store.revive();
      return scene.isAutomatic ? "any" : "same";
    },
  },
  {
    name: "clean stop and start",
    run: async ({ owner }) => {
      await owner.stop();
      await serveAgain(owner);
      return "same";
    },
  },
  {
    name: "planned switch",
    run: async (scene) => {
      await scene.owner.stop();
      await takeOver({ ...scene, isAutomatic: false });
      return "other";
    },
  },
  {
    name: "promotion while the owner lives",
    run: async ({ standby, spare }) => {
      await expectRejection(standby, ["promote"], /owns this store|still owns/);
      if (spare !== undefined) await expectRejection(spare, ["promote"], /owns this store|still owns/);
      return "same";
    },
  },
  {
    name: "promotion of an empty directory",
    needsSpare: true,
    run: async ({ cluster, owner, standby, spare, random }) => {
      if (spare === undefined) throw new Error("there is no spare machine");
      await owner.kill9(random.chance(0.5));
      await standby.stop();
      spare.start("promote");
      await cluster.awaitOwner([spare]);
      return "other";
    },
  },
  {
    name: "two promotions at once",
    needsSpare: true,
    run: async ({ cluster, owner, standby, spare, random, isAutomatic }) => {
      if (spare === undefined) throw new Error("there is no spare machine");
      await owner.kill9(random.chance(0.5));
      spare.start("promote");
      const promotion = isAutomatic ? undefined : standby.run(["promote"], 120_000);
      await cluster.awaitOwner([standby, spare]);
      await promotion;
      return "other";
    },
  },
  {
    name: "kill -9 of the standby while it takes over",
    needsSpare: true,
    run: async (scene) => {
      const { cluster, standby, spare, random } = scene;
      if (spare === undefined) throw new Error("there is no spare machine");
      const promotion = await beginTakeover(scene);
      await standby.kill9(random.chance(0.5));
      await promotion.ended;
      spare.start("promote");
      await cluster.awaitOwner([spare]);
      return "other";
    },
  },
  {
    name: "SIGSTOP of the standby while it takes over",
    needsSpare: true,
    run: async (scene) => {
      const { cluster, standby, spare } = scene;
      if (spare === undefined) throw new Error("there is no spare machine");
      const promotion = await beginTakeover(scene);
      standby.freeze("both");
      spare.start("promote");
      await cluster.awaitOwner([spare]);
      standby.thaw();
      await promotion.ended;
      return "other";
    },
  },
  {
    name: "kill -9 of everything",
    run: async ({ cluster, owner, standby, random }) => {
      await Promise.all([owner.kill9(random.chance(0.5)), standby.kill9(true), cluster.store.kill()]);
      await cluster.store.revive();
      await serveAgain(owner);
      return "same";
    },
  },
];
