import { describeSize } from "../../config/quantities.ts";
import type { Job } from "../../jobs/scheduler.ts";
import type { DailySamples } from "./admin-api/daily-samples.ts";
import type { AuditLog } from "./audit/service.ts";

/** Dependencies of the jobs of administration. */
interface AdministrationJobsOptions {
  readonly audit: AuditLog;
  readonly dailySamples: DailySamples;
}

/** Deletes old entries of the audit log, and takes the daily sample. */
export function administrationJobs({ audit, dailySamples }: AdministrationJobsOptions): Job[] {
  return [
    {
      name: "audit",
      schedule: "11 4 * * *",
      description: "Removes audit log entries that are older than audit.keep.",
      deletesByAge: true,
      run: async ({ signal }) => `${await audit.sweep(signal)} entries removed`,
    },
    {
      name: "daily-sample",
      schedule: "55 * * * *",
      description: "Records storage and transfer figures for the charts in administration.",
      async run() {
        const { files, storedBytes } = await dailySamples.take();
        return `${files} files, ${describeSize(storedBytes)} in the store`;
      },
    },
  ];
}
