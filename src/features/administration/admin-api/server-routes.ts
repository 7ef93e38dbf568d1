/** /api/admin/stats, plans and jobs: the server as a whole (contract §9). */
import { Elysia, t } from "elysia";
import { AppError } from "../../../errors.ts";
import { documented } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import type { JobOutcome, JobState } from "../../../jobs/scheduler.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import type { Plans } from "../../accounts/plans/plans.ts";
import { PLAN_NAMES, type PlanName } from "../../accounts/users/types.ts";
import { JobRecord, PlanRecord, StatsRecord } from "./model.ts";
import { presentJob, presentPlan, presentStats, type ServerState } from "./present.ts";
import type { Statistics } from "./statistics.ts";

/** The jobs of the running server. */
export interface JobControl {
  list(): readonly JobState[];
  /** Runs a job now. @throws Error for a name that none has */
  run(name: string): Promise<JobOutcome>;
}

/** What these routes work with. */
export interface ServerRoutesOptions {
  readonly statistics: Statistics;
  readonly guard: ReturnType<typeof authGuard>;
  readonly clock: Clock;
  readonly plans: Plans;
  readonly defaultPlan: PlanName;
  readonly jobs: JobControl;
  readonly disk: { readonly freeBytes: () => number; readonly totalBytes: () => number };
  readonly version: string;
  /** The store's health, as it is shown. */
  readonly integrity: () => ServerState["integrity"];
}

/** A run of a job is waited for so long; it goes on behind the answer. */
const JOB_WAIT_MS = 5_000;

const JobParams = t.Object({ name: t.String() });

/** See the head of this file. */
export function serverRoutes(options: ServerRoutesOptions) {
  const { statistics, guard, clock, plans, defaultPlan, jobs, disk, version, integrity } = options;
  const startedAtMs = clock.nowMs();
  const jobNamed = (name: string) => {
    const job = jobs.list().find((one) => one.name === name);
    if (job === undefined) throw new AppError("not_found", "There is no such job. See GET /api/admin/jobs.");
    return job;
  };
  return new Elysia({ name: "admin-server-routes", prefix: "/api/admin" })
    .use(guard)
    .get(
      "/stats",
      async () =>
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
      {
        access: "admin",
        ...documented({
          tag: "Administration",
          summary: "What the server holds and does",
          description: "Sums over a very large server may be up to a minute old.",
          access: "admin",
          data: StatsRecord,
        }),
      },
    )
    .get("/plans", () => ok({ plans: PLAN_NAMES.map((name) => presentPlan(plans[name], name === defaultPlan)) }), {
      access: "admin",
      ...documented({
        tag: "Administration",
        summary: "The plans with their numbers as they hold",
        description: "They are changed in the configuration.",
        access: "admin",
        data: t.Object({ plans: t.Array(PlanRecord) }),
      }),
    })
    .get("/jobs", () => ok({ jobs: jobs.list().map(presentJob) }), {
      access: "admin",
      ...documented({
        tag: "Administration",
        summary: "Scheduled jobs and how they stand",
        description: "Each with its schedule, its last run and its result.",
        access: "admin",
        data: t.Object({ jobs: t.Array(JobRecord) }),
      }),
    })
    .post(
      "/jobs/:name/run",
      async ({ params }) => {
        jobNamed(params.name);
        await Promise.race([jobs.run(params.name), Bun.sleep(JOB_WAIT_MS)]);
        return ok(presentJob(jobNamed(params.name)));
      },
      {
        access: "admin",
        parse: "none",
        params: JobParams,
        ...documented({
          tag: "Administration",
          summary: "Run a job now, or after its present run",
          description: "Answers when it is done, or after 5 seconds with `isRunning`; it goes on.",
          access: "admin",
          data: JobRecord,
          errors: ["not_found", "invalid_field"],
        }),
      },
    );
}
