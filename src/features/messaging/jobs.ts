import type { Transaction, Writer } from "../../db/transaction.ts";
import type { Job } from "../../jobs/scheduler.ts";

/** Dependencies of {@link messagingJobs}. */
interface MessagingJobsOptions {
  readonly writer: Writer;
  readonly notifications: { sweep(limit: number): Promise<number> };
  readonly webhooks: { sweep(tx: Transaction, limit: number): number };
}

const SWEEP_ROWS = 1_000;

/** The jobs that remove expired notifications and webhook deliveries. */
export function messagingJobs({ writer, notifications, webhooks }: MessagingJobsOptions): Job[] {
  return [
    {
      name: "notifications",
      schedule: "41 * * * *",
      description: "Removes notifications older than 90 days, and push delivery results after one week.",
      deletesByAge: true,
      run: async () => `${await notifications.sweep(SWEEP_ROWS)} rows removed`,
    },
    {
      name: "webhooks",
      schedule: "*/15 * * * *",
      description: "Drops webhook deliveries after one day, and removes those older than 30 days.",
      deletesByAge: true,
      run: async () => `${await writer.run((tx) => webhooks.sweep(tx, SWEEP_ROWS))} deliveries dropped or removed`,
    },
  ];
}
