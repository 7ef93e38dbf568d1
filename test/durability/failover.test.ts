// Two machines share an object store. If one of them fails, nothing that was acknowledged is lost.
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cluster } from "../support/failover/cluster.ts";
import { Ceph, TestStore } from "../support/failover/engine.ts";
import { type Fault, FAULTS } from "../support/failover/faults.ts";
import { FailoverLedger } from "../support/failover/ledger.ts";
import { assignRoles, beginRounds, runRound } from "../support/failover/round.ts";
import { seededRandom } from "../support/random.ts";
import { cleanEnv, repositoryRoot } from "../support/server.ts";

const CLIENTS = 6;
const LEASE_MS = 1_000;
const LOAD_MS = 1_500;

function faultCalled(name: string): Fault {
  const fault = FAULTS.find((one) => one.name === name);
  if (fault === undefined) throw new Error(`no fault is called "${name}"`);
  return fault;
}

test("the ledger finds a change that an old owner acknowledged after a new one, and permits a late response", () => {
  const ledger = new FailoverLedger(undefined);
  const acknowledge = (server: string, sentMs: number, respondedMs: number) =>
    ledger.record({ server, what: "upload", sentMs, respondedMs, result: { kind: "acknowledged", status: 201 } });
  acknowledge("A1", 1, 2);
  acknowledge("B1", 10, 20);
  acknowledge("A1", 19, 21);
  expect([ledger.findTwoWriters(), ledger.violations]).toEqual([1, []]);
  acknowledge("A1", 22, 23);
  ledger.findTwoWriters();
  expect(ledger.violations).toEqual([expect.stringContaining("two writers: A1 acknowledged 1 requests")]);
});

test("a crash with a promotion, and a frozen owner with an automatic one, lose nothing that was acknowledged", async () => {
  const directory = await mkdtemp(join(tmpdir(), "larder-failover-"));
  const store = await TestStore.start("127.0.0.1");
  const cluster = await Cluster.create({ directory, store, machines: 2, leaseMs: LEASE_MS, acknowledge: "bucket" });
  const ledger = new FailoverLedger(undefined);
  try {
    const random = seededRandom(1);
    const options = { cluster, ledger, random, strays: 1, loadMs: LOAD_MS };
    const first = await beginRounds(cluster, ledger, CLIENTS, false);
    const crash = await runRound({ ...options, seed: 1 }, first, faultCalled("kill -9 of the owner"));
    expect(ledger.violations).toEqual([]);
    expect(crash.hasChanged).toBe(true);
    const second = await assignRoles(cluster, crash.owner, random, true);
    const freeze = await runRound({ ...options, seed: 2 }, second, faultCalled("SIGSTOP of Larder far past the lease"));
    ledger.findTwoWriters();
    expect(ledger.violations).toEqual([]);
    expect(freeze.hasChanged).toBe(true);
    expect(ledger.total.acknowledged).toBeGreaterThan(50);
  } finally {
    await cluster.close();
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
}, 240_000);

test.skipIf(!Ceph.isInstalled())(
  "with a real Ceph, the death of an owner loses nothing that was acknowledged",
  async () => {
    const round = Bun.spawn(
      ["scripts/rounds/failover", "--rounds", "1", "--seed", "1", "--fault", "kill -9 of the owner", "--store", "ceph"],
      {
        cwd: repositoryRoot,
        env: cleanEnv({
          TMPDIR: tmpdir(),
          LARDER_TEST_COMMAND: process.env["LARDER_TEST_COMMAND"] ?? "bun src/main.ts",
        }),
        stdout: "pipe",
        stderr: "pipe",
      },
    );
    const [stdout, stderr] = await Promise.all([new Response(round.stdout).text(), new Response(round.stderr).text()]);
    expect(await round.exited, stdout + stderr).toBe(0);
  },
  300_000,
);
