import type { Writer } from "../../db/transaction.ts";
import type { Job } from "../../jobs/scheduler.ts";
import type { ConflictService } from "./conflicts/service.ts";
import type { LocalChangeService } from "./local-changes/service.ts";
import type { HoldService } from "./mass-change/service.ts";
import type { QueueService } from "./offline-queue/service.ts";

/** Options of {@link mobileJobs}. */
interface MobileJobsOptions {
  readonly writer: Writer;
  readonly queue: QueueService;
  readonly holds: HoldService;
  readonly conflicts: ConflictService;
  readonly localChanges: LocalChangeService;
}

const SWEEP_ROWS = 1_000;

/** The jobs for devices. */
export function mobileJobs({ writer, queue, holds, conflicts, localChanges }: MobileJobsOptions): Job[] {
  return [
    {
      name: "offline-queue",
      schedule: "23 * * * *",
      description: "Expires queued operations after 30 days, and removes finished ones after 7 days.",
      deletesByAge: true,
      run: ({ signal }) => queue.sweep(signal),
    },
    {
      name: "device-changes",
      schedule: "*/20 * * * *",
      description: "Continues confirmed device changes, and removes old conflicts and records of repeated changes.",
      async run() {
        const resumed = await holds.resume();
        const removed = await writer.run(
          () => holds.sweep() + conflicts.sweep(SWEEP_ROWS) + localChanges.sweep(SWEEP_ROWS),
        );
        return `${resumed} holds finished, ${removed} rows removed`;
      },
    },
  ];
}
