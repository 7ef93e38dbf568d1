// Several machines that share one object store: one serves, one waits as its standby, one is a spare.
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { repositoryRoot, runLarder } from "../server.ts";
import { ClusterNode } from "./cluster-node.ts";
import type { ObjectStore } from "./engine.ts";

export interface ClusterOptions {
  readonly directory: string;
  readonly store: ObjectStore;
  readonly machines: number;
  readonly leaseMs: number;
  /** What a response waits for: `bucket` promises that nothing is lost, `disk` does not. */
  readonly acknowledge: "bucket" | "disk";
}

/** Generous, because the machine may be busy: the round prints how long it took. */
const OWNER_MS_MAX = 120_000;
const POLL_MS = 25;
const LITESTREAM = join(repositoryRoot, "node_modules/@flydotio/litestream-linux-x64/litestream");

/** Machines and their object store. */
export class Cluster {
  private constructor(
    readonly nodes: readonly ClusterNode[],
    readonly store: ObjectStore,
    readonly leaseMs: number,
  ) {}

  static async create({ directory, store, machines, leaseMs, acknowledge }: ClusterOptions): Promise<Cluster> {
    await mkdir(directory, { recursive: true });
    const keyFile = join(directory, "replica.key");
    const made = await runLarder(["replica", "key", keyFile]);
    if (made.code !== 0) throw new Error(`no key was made:\n${made.stdout}${made.stderr}`);
    const settings = {
      LARDER_BLOBS_STORE: "s3",
      LARDER_BLOBS_ACKNOWLEDGE: acknowledge,
      LARDER_REPLICA: "s3://larder/replica",
      LARDER_REPLICA_KEY_FILE: keyFile,
      LARDER_REPLICA_LITESTREAM: LITESTREAM,
      LARDER_REPLICA_LEASE: `${leaseMs / 1000}s`,
      LARDER_RATE_LIMITS: "off",
      LARDER_DEFAULT_PLAN: "enterprise",
      LARDER_GC_GRACE: "0s",
    };
    const nodes: ClusterNode[] = [];
    for (let number = 1; number <= machines; number++)
      nodes.push(
        await ClusterNode.create(number, directory, (address) => ({ ...settings, ...store.settings(address) })),
      );
    return new Cluster(nodes, store, leaseMs);
  }

  /** The machines that say that they are ready. */
  async ready(): Promise<ClusterNode[]> {
    const up = await Promise.all(this.nodes.map(async (node) => node.isRunning && (await node.isUp())));
    return this.nodes.filter((_, index) => up[index]);
  }

  /** Waits until a machine serves. @throws Error if none does in time */
  async awaitOwner(among: readonly ClusterNode[] = this.nodes, msMax = OWNER_MS_MAX): Promise<ClusterNode> {
    const endMs = performance.now() + msMax;
    for (;;) {
      for (const node of among) if (node.isRunning && (await node.isUp("/health/ready", 1_000))) return node;
      if (!among.some((node) => node.isRunning))
        throw new Error(`no machine runs:\n${among.map((node) => node.current?.output.slice(-1500) ?? "").join("\n")}`);
      if (performance.now() > endMs) throw new Error(`no machine serves after ${Math.round(msMax / 1000)} s`);
      await Bun.sleep(POLL_MS);
    }
  }

  /** Starts a standby, and waits until it responds. */
  async startStandby(node: ClusterNode, isAutomatic: boolean): Promise<void> {
    const standby = node.start("standby", { LARDER_STANDBY_AUTOMATIC: isAutomatic ? "on" : "off" });
    const endMs = performance.now() + OWNER_MS_MAX;
    while (!(await node.isUp("/health/live"))) {
      if (standby.hasEnded || performance.now() > endMs)
        throw new Error(`${standby.name} is no standby:\n${standby.output.slice(-2000)}`);
      await Bun.sleep(POLL_MS);
    }
  }

  async close(): Promise<void> {
    for (const node of this.nodes) await node.close();
  }
}

/** Whether a data directory was never used. */
export async function isEmptyDirectory(path: string): Promise<boolean> {
  return (await readdir(path)).length === 0;
}
