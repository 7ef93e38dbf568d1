/** /api/admin/stats, plans and jobs: the server as a whole. */
import { t } from "elysia";
import { AppError } from "../../../errors.ts";
import { ok } from "../../../http/envelope.ts";
import type { JobOutcome } from "../../../jobs/job-requests.ts";
import type { JobState } from "../../../jobs/scheduler.ts";
import type { Clock } from "../../../lib/clock.ts";
import { say } from "../../../translations/say.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import type { Plans } from "../../accounts/plans/plans.ts";
import { PLAN_NAMES, type PlanName } from "../../accounts/users/types.ts";
import { ADMIN_READ, ADMIN_ROUTE } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { presentJob, presentPlan, presentStats, type ServerState } from "./present.ts";
import type { Statistics } from "./statistics.ts";

/** The jobs of the running server. */
interface JobControl {
  list(): readonly JobState[];
  /** Runs a job now. @throws Error for an unknown name */
  run(name: string): Promise<JobOutcome>;
}

/** Dependencies of these routes. */
export interface ServerRoutesOptions {
  readonly statistics: Statistics;
  readonly guard: ReturnType<typeof authGuard>;
  readonly clock: Clock;
  readonly plans: Plans;
  readonly defaultPlan: () => PlanName;
  readonly jobs: JobControl;
  readonly disk: { readonly freeBytes: () => number; readonly totalBytes: () => number };
  readonly version: string;
  /** The state of the blob store as the API shows it. */
  readonly integrity: () => ServerState["integrity"];
}

/** How long a response waits for a job. The job continues in the background. */
const JOB_WAIT_MS = 5_000;

const JobParams = t.Object({ name: t.String() });

export function serverRoutes(options: ServerRoutesOptions) {
  const { statistics, guard, clock, plans, defaultPlan, jobs, disk, version, integrity } = options;
  const startedAtMs = clock.nowMs();
  const jobNamed = (name: string) => {
    const job = jobs.list().find((one) => one.name === name);
    if (job === undefined)
      throw new AppError("not_found", say`This job was not found. List the jobs with GET /api/admin/jobs.`);
    return job;
  };
  return new Router({ prefix: "/api/admin", guard })
    .get("/stats", { ...ADMIN_READ, docs: docs.stats }, async () =>
      ok(
        presentStats(await statistics.count(), {
          diskFreeBytes: disk.freeBytes(),
          diskTotalBytes: disk.totalBytes(),
          jobs: jobs.list(),
          integrity: integrity(),
          version,
          startedAtMs,
          nowMs: clock.nowMs(),
        }),
      ),
    )
    .get("/plans", { ...ADMIN_READ, docs: docs.listPlans }, () =>
      ok({ plans: PLAN_NAMES.map((name) => presentPlan(plans[name], name === defaultPlan())) }),
    )
    .get("/jobs", { ...ADMIN_READ, docs: docs.listJobs }, () => ok({ jobs: jobs.list().map(presentJob) }))
    .post(
      "/jobs/:name/run",
      {
        ...ADMIN_ROUTE,
        audit: { action: "job.run", target: "job", targetParam: "name" },
        docs: docs.runJob,
        params: JobParams,
        parse: "none",
      },
      async ({ params }) => {
        jobNamed(params.name);
        await Promise.race([jobs.run(params.name), Bun.sleep(JOB_WAIT_MS)]);
        return ok(presentJob(jobNamed(params.name)));
      },
    );
}
