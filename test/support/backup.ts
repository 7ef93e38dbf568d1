// Runs `larder backup`.
import { randomContent } from "./client.ts";
import { runInProcess } from "./in-process.ts";
import type { runLarder } from "./server.ts";
import { stoppedServer } from "./stopped-server.ts";

/** The output of `larder backup --json`. */
export interface BackupSummary {
  ok: boolean;
  contents: number;
  already: number;
  new: number;
  linked: number;
  copied: number;
  unshared: number;
  newBytes: number;
  pruned: number;
  snapshots: number;
  snapshot: string;
  lost: { checksum: string; size: number; why: string; names: string[] }[];
}

/** Makes a backup. @returns the exit code and the summary */
export async function backUp(
  data: string,
  dir: string,
  flags: string[] = [],
  run: typeof runLarder = runInProcess,
): Promise<{ code: number; summary: BackupSummary }> {
  const { code, stdout, stderr } = await run(["backup", dir, "--json", ...flags, "--data", data]);
  if (stdout === "") throw new Error(`backup ended with ${code}: ${stderr}`);
  const summary: BackupSummary = JSON.parse(stdout);
  return { code, summary };
}

/** Prepares a stopped server with eight files: good.txt, gone.txt, flipped.bin with the returned bytes, and five more. */
export const eightFiles = () =>
  stoppedServer(async ({ client }) => {
    const flipped = randomContent(100_000);
    await client.storedId(flipped, { name: "flipped.bin" });
    await client.storedId("gone", { name: "gone.txt" });
    await client.storedId("good", { name: "good.txt" });
    for (let index = 0; index < 5; index++) await client.storedId(randomContent(5_000), { name: `f${index}` });
    return flipped;
  });
