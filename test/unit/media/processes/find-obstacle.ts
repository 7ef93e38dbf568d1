import { join } from "node:path";

/** Why this system cannot deny a process the network, with a warning; undefined if it can. */
export function findObstacle(): string | undefined {
  const sandbox = join(import.meta.dir, "../../../../src/features/media/processes/sandbox.ts");
  // In a process of its own: a filter stays until the process ends.
  const script = `import { denyNetwork } from ${JSON.stringify(sandbox)};
    process.stdout.write(denyNetwork({ mayStartPrograms: false }) ?? "");`;
  const { stdout, success } = Bun.spawnSync([process.execPath, "-e", script]);
  if (!success) throw new Error("The process that tries the filter failed.");
  const obstacle = stdout.toString();
  if (obstacle === "") return undefined;
  console.warn(`SKIPPED: tests of confined processes: ${obstacle}.`);
  return obstacle;
}
