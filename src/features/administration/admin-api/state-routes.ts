/** /api/admin/health, config and stats/history: how the server stands, is set up, and has grown (contract §9). */
import { Elysia } from "elysia";
import type { LoadedConfig } from "../../../config/load.ts";
import { documented } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { readInteger, readQuery } from "../../../http/fields.ts";
import type { JobState } from "../../../jobs/scheduler.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import type { DailySamples } from "./daily-samples.ts";
import { ConfigRecord, HealthRecord, HistoryRecord } from "./model.ts";
import { presentConfig, presentHealth, presentHistory } from "./present.ts";
import type { Statistics } from "./statistics.ts";
import type { ServerHealth } from "./types.ts";

/** What these routes work with. */
export interface StateRoutesOptions {
  readonly statistics: Pick<Statistics, "count">;
  readonly samples: Pick<DailySamples, "history">;
  readonly guard: ReturnType<typeof authGuard>;
  readonly clock: Clock;
  readonly jobs: { list(): readonly JobState[] };
  readonly health: () => Promise<ServerHealth>;
  /** How the settings came about; undefined where nothing is served. */
  readonly configuration: () => Pick<LoadedConfig, "values" | "sources" | "file"> | undefined;
}

const DAYS_MAX = 731;

/** See the head of this file. */
export function stateRoutes(options: StateRoutesOptions) {
  const { statistics, samples, guard, clock, jobs, health, configuration } = options;
  const startedAtMs = clock.nowMs();
  return new Elysia({ name: "admin-state-routes", prefix: "/api/admin" })
    .use(guard)
    .get(
      "/health",
      async () => {
        const [{ queues }, present] = await Promise.all([statistics.count(), health()]);
        return ok(presentHealth(present, { queues, jobs: jobs.list(), startedAtMs, nowMs: clock.nowMs() }));
      },
      {
        access: "admin",
        ...documented({
          tag: "Administration",
          summary: "How the server stands, and what wants to be looked at",
          description: "Lists problems that need the administrator, and figures of the running server.",
          access: "admin",
          data: HealthRecord,
        }),
      },
    )
    .get("/config", () => ok(presentConfig(configuration())), {
      access: "admin",
      ...documented({
        tag: "Administration",
        summary: "Every setting as it holds, and where it came from",
        description: "Settings are changed in the configuration, by whoever runs the server. Secrets are not shown.",
        access: "admin",
        data: ConfigRecord,
      }),
    })
    .get(
      "/stats/history",
      async ({ request }) => {
        const query = readQuery(requestContextOf(request).query);
        const days = readInteger(query, "days", { min: 1, max: DAYS_MAX, default: 30 });
        return ok({ days: presentHistory(await samples.history(days)) });
      },
      {
        access: "admin",
        ...documented({
          tag: "Administration",
          summary: "What the server held and did on each of the last days, the oldest first",
          description: "Days on which it did not run are missing. Today is as it stands now. Days are those of UTC.",
          access: "admin",
          query: { days: { type: "integer", minimum: 1, maximum: DAYS_MAX, default: 30 } },
          data: HistoryRecord,
          errors: ["invalid_field"],
        }),
      },
    );
}
