import type { Job } from "../../jobs/scheduler.ts";
import type { LoginFlowService } from "./login-flow/service.ts";

/** Removes sign-ins of programs that nobody finished. */
export function clientsJobs({ loginFlows }: { readonly loginFlows: LoginFlowService }): Job[] {
  return [
    {
      name: "login-flows",
      schedule: "37 * * * *",
      description: "Removes expired sign-ins of programs.",
      deletesByAge: true,
      run: async () => `${await loginFlows.sweep()} sign-ins removed`,
    },
  ];
}
