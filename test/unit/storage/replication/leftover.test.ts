// A server ends the Litestream that an earlier one left behind, and nothing else.
import { afterEach, expect, test } from "bun:test";
import { killLeftover } from "../../../../src/features/storage/replication/litestream/process.ts";
import { silentLog } from "../../../../src/lib/log.ts";

const CONFIGURATION = "/srv/larder-test/litestream.yml";
const children: Bun.Subprocess[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill("SIGKILL");
    await child.exited;
  }
});

/** A process that waits, with these words in its command line. */
async function start(words: readonly string[]): Promise<Bun.Subprocess> {
  const child = Bun.spawn(["sh", "-c", "echo ready; read line", ...words], { stdin: "pipe", stdout: "pipe" });
  children.push(child);
  await child.stdout.getReader().read();
  return child;
}

test("only a Litestream of this user with this configuration is ended", async () => {
  const leftover = await start(["litestream", "replicate", "-config", CONFIGURATION, "-no-expand-env"]);
  const others = [
    await start(["editor", CONFIGURATION]),
    await start(["litestream", "replicate", "-config", `${CONFIGURATION}.tmp`]),
    await start(["litestream", "snapshots", "-config", CONFIGURATION]),
  ];
  await killLeftover(CONFIGURATION, silentLog);
  await leftover.exited;
  expect(leftover.signalCode).toBe("SIGKILL");
  expect(others.map(({ exitCode, signalCode }) => exitCode ?? signalCode)).toEqual([null, null, null]);
});
