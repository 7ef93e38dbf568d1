import { describeSize } from "../../config/quantities.ts";
import type { JobOutcome } from "../../jobs/job-requests.ts";
import { DATA_SETTINGS, defineCommand, EXIT } from "../shared/command.ts";
import { runJob } from "../shared/jobs.ts";
import { count } from "../shared/output.ts";

const PROGRESS_MS = 5_000;

/** `larder gc [--now]`: removes blobs that no file uses; in the running server if there is one, otherwise here. */
export const define = defineCommand({
  description:
    "Garbage collection: free the disk space of deleted files whose grace period (gcGrace) has passed. " +
    "The server does this automatically once a day. If a server is running, it does the work.",
  options: [
    [
      "--now",
      "Skip the grace period and remove older snapshots. Deleted files can no longer be recovered. " +
        "Do not use while you copy the data directory.",
    ],
    ["--json", "Print the result as JSON."],
  ],
  settings: [...DATA_SETTINGS, "gcGrace"],
  examples: "larder gc --now",
  problems: "garbage collection failed",
  needsDatabase: true,
  async run(command) {
    let nextMs = performance.now() + PROGRESS_MS;
    const outcome = await runJob(command, {
      name: "gc",
      arguments: { now: command.has("now") },
      unfinished: "garbage collection finished",
      onWait() {
        if (performance.now() < nextMs) return;
        command.terminal.error("Garbage collection is running on the server …\n");
        nextMs += PROGRESS_MS;
      },
    });
    const { isOk, text } = outcome;
    const result = readResult(outcome);
    if (isOk || command.isJson) command.print({ ok: isOk, error: isOk ? null : text, result }, `${describe(result)}\n`);
    else command.terminal.error(`Garbage collection failed: ${text}\n`);
    return isOk ? EXIT.success : EXIT.problems;
  },
});

/** The result of the job: JSON, or text. */
function readResult({ isOk, text }: JobOutcome): unknown {
  try {
    return isOk ? JSON.parse(text) : null;
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

function describe(result: unknown): string {
  const numbers =
    typeof result === "object" && result !== null ? new Map(Object.entries(result)) : new Map<string, unknown>();
  const numberOf = (name: string) => Number(numbers.get(name) ?? 0);
  const [removed, setAside, snapshots] = [numberOf("removed"), numberOf("setAside"), numberOf("snapshotsRemoved")];
  const done = [
    ...(removed > 0 ? [`removed ${count(removed, "blob")}, ${describeSize(numberOf("freedBytes"))}`] : []),
    ...(setAside > 0 ? [`marked ${count(setAside, "blob")} for removal by a later run`] : []),
  ].join("; ");
  const first = done === "" ? "Nothing to remove." : `${done.charAt(0).toUpperCase()}${done.slice(1)}.`;
  return snapshots > 0 ? `${first}\nRemoved ${count(snapshots, "older snapshot")}; kept the newest.` : first;
}
