/**
 * An account with a folder of many files: one is uploaded, and the others are written as rows of the database.
 */
import { dirname, join } from "node:path";
import type { Bench, Existing } from "../bench.ts";
import type { RecordedResponse } from "../job.ts";
import type { LarderSubject } from "../larder.ts";
import { load } from "../load.ts";
import { run } from "../processes.ts";

/** The name of the folder. */
export const SEEDED_FOLDER = "million";

/** A data directory for Larder, and the account's token. */
export interface SeededAccount extends Existing {
  /** The response to the upload of the first file. */
  response: RecordedResponse;
}

/** Creates an account whose folder has `count` files in addition to the first, and stops the server. */
export async function seedLarder(
  bench: Bench,
  count: number,
  subject: LarderSubject = "larder",
): Promise<SeededAccount> {
  const larder = await bench.startLarder(subject);
  const upload = { folder: SEEDED_FOLDER, name: "first.txt", body: { random: 1000 }, rawAs: "form" } as const;
  const sent = await load(larder, { connections: 1, count: 1, templates: [larder.uploadTemplate(upload)] });
  const response = sent.responses[0];
  await larder.stop();
  if (response === undefined) throw new Error("the upload had no response");
  bench.log(`writing ${count.toLocaleString("en")} rows`);
  const data = join(larder.directory, "data");
  const script = join(dirname(import.meta.dir), "seed.ts");
  await run([process.execPath, script, data, SEEDED_FOLDER, String(count)]);
  return { directory: larder.directory, token: larder.token, response };
}
