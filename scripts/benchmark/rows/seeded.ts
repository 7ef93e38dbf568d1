/**
 * Larder with a folder of very many files: one that was uploaded, and the others written as rows beside it.
 */
import { dirname, join } from "node:path";
import type { Bench } from "../bench.ts";
import type { Answer } from "../job.ts";
import { load } from "../load.ts";
import { run } from "../processes.ts";

/** The folder that holds them. */
export const SEEDED_FOLDER = "million";

/** A data directory to start Larder on, and what is needed to ask it. */
export interface Seeded {
  directory: string;
  token: string;
  /** The upload of the first file. */
  answer: Answer;
}

/** Makes an account whose folder has `count` files besides the first; nothing runs on return. */
export async function seedLarder(bench: Bench, count: number): Promise<Seeded> {
  const larder = await bench.startLarder();
  const upload = { folder: SEEDED_FOLDER, name: "first.txt", body: { random: 1000 }, rawAs: "form" } as const;
  const sent = await load(larder, { connections: 1, count: 1, templates: [larder.uploadTemplate(upload)] });
  const answer = sent.answers[0];
  await larder.stop();
  if (answer === undefined) throw new Error("the upload had no answer");
  bench.say(`writing ${count.toLocaleString("en")} rows`);
  const data = join(larder.directory, "data");
  const script = join(dirname(import.meta.dir), "seed.ts");
  await run([process.execPath, script, data, SEEDED_FOLDER, String(count)]);
  return { directory: larder.directory, token: larder.token, answer };
}
