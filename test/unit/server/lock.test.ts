import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { acquireServerLock, findRunningServer, LockedError } from "../../../src/server/data/lock.ts";

const root = mkdtempSync(join(tmpdir(), "larder-lock-"));
afterAll(() => rmSync(root, { recursive: true }));

/** Another process that takes the lock and holds it until it is killed. */
async function holder(path: string) {
  const script = `import { acquireServerLock } from ${JSON.stringify(join(import.meta.dir, "../../../src/server/data/lock.ts"))};
    globalThis.lock = acquireServerLock(${JSON.stringify(path)}); console.log("held"); setInterval(() => {}, 1000);`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
  for await (const chunk of child.stdout) if (new TextDecoder().decode(chunk).includes("held")) break;
  return child;
}

describe("the lock of a data directory", () => {
  test("is held by one process, rejects a second one, and is released even by SIGKILL", async () => {
    const path = join(root, "killed.lock");
    const child = await holder(path);
    try {
      expect(findRunningServer(path)).toEqual({ pid: child.pid });
      expect(() => acquireServerLock(path, 0)).toThrow(
        `Process ${child.pid} is already running on this data directory`,
      );
      expect(findRunningServer(path)).toEqual({ pid: child.pid });
    } finally {
      child.kill("SIGKILL");
      await child.exited;
    }
    expect(findRunningServer(path)).toBeUndefined();
    acquireServerLock(path, 0).release();
  });

  test("is rejected to the same process a second time", () => {
    const path = join(root, "twice.lock");
    const lock = acquireServerLock(path);
    expect(() => acquireServerLock(path, 0)).toThrow(LockedError);
    lock.release();
    lock.release();
    acquireServerLock(path, 0).release();
  });

  test("is not disturbed by processes that check it", async () => {
    const path = join(root, "looked-at.lock");
    expect(findRunningServer(path)).toBeUndefined();
    const lock = acquireServerLock(path);
    for (let i = 0; i < 20; i++) expect(findRunningServer(path)).toEqual({ pid: process.pid });
    const script = `import { findRunningServer } from ${JSON.stringify(join(import.meta.dir, "../../../src/server/data/lock.ts"))};
      console.log(JSON.stringify(findRunningServer(${JSON.stringify(path)})));`;
    const other = Bun.spawnSync([process.execPath, "-e", script], { stdout: "pipe" });
    expect(other.stdout.toString().trim()).toBe(JSON.stringify({ pid: process.pid }));
    lock.release();
  });
});
