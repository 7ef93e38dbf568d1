import type { Writer } from "../../db/transaction.ts";
import type { Job } from "../../jobs/scheduler.ts";
import type { TreeWriter } from "../../tree/writer.ts";
import type { LoginFlowService } from "./login-flow/service.ts";

/** Dependencies of {@link clientsJobs}. */
interface ClientsJobsOptions {
  readonly writer: Writer;
  readonly treeWriter: Pick<TreeWriter, "locks">;
  readonly loginFlows: LoginFlowService;
}

/** Locks removed per run. */
const SWEEP_ROWS = 1_000;

/** Removes what programs left: sign-ins that nobody finished, and expired locks. */
export function clientsJobs({ writer, treeWriter, loginFlows }: ClientsJobsOptions): Job[] {
  return [
    {
      name: "locks",
      schedule: "34 * * * *",
      description: "Removes expired locks of programs.",
      deletesByAge: true,
      run: async () => `${await writer.run(() => treeWriter.locks.sweep(SWEEP_ROWS))} locks removed`,
    },
    {
      name: "login-flows",
      schedule: "37 * * * *",
      description: "Removes expired sign-ins of programs.",
      deletesByAge: true,
      run: async () => `${await loginFlows.sweep()} sign-ins removed`,
    },
  ];
}
