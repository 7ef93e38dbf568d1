// A confined process has no network. Where the kernel rejects seccomp filters, these tests are skipped with its reason.
import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { findObstacle } from "./find-obstacle.ts";

const obstacleHere = findObstacle();

const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("open") });
afterAll(() => server.stop(true));

async function run(mode: string): Promise<Record<string, string>> {
  const program = join(import.meta.dir, "confined.ts");
  const child = Bun.spawn([process.execPath, program, String(server.port), mode], {
    stdout: "pipe",
    stderr: "inherit",
  });
  return JSON.parse(await new Response(child.stdout).text());
}

test("without the filter it connects, so that the next tests mean something", async () => {
  expect(await run("free")).toMatchObject({ fetched: "connected", connected: "connected", program: "started" });
});

test.skipIf(obstacleHere !== undefined)(
  "with the filter it cannot connect, resolve names, or start programs",
  async () => {
    const { obstacle, ...tried } = await run("confined");
    expect(obstacle).toBeUndefined();
    expect(tried).toEqual({ fetched: "failed", connected: "failed", resolved: "failed", program: "failed" });
  },
);

test.skipIf(obstacleHere !== undefined)("a process that needs a program may start it", async () => {
  expect(await run("programs")).toMatchObject({ connected: "failed", program: "started" });
});
