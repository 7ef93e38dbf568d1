/** /api/admin/health, config and stats/history: the state, the configuration and the history of the server. */
import type { LoadedConfig } from "../../../config/load.ts";
import type { Reader } from "../../../db/reader.ts";
import { ok } from "../../../http/envelope.ts";
import { readInteger, queryOf } from "../../../http/fields.ts";
import { requestLanguage } from "../../../http/language.ts";
import type { JobState } from "../../../jobs/scheduler.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import type { TextIndexer } from "../../library/text-index/indexer.ts";
import { ADMIN_READ } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { DAYS_MAX } from "./model.ts";
import type { DailySamples } from "./daily-samples.ts";
import { presentConfig, presentHealth, presentHistory } from "./present.ts";
import { readStorageUsage } from "./storage-usage.ts";
import type { Statistics } from "./statistics.ts";
import type { ServerHealth } from "./types.ts";

/** Dependencies of these routes. */
export interface StateRoutesOptions {
  readonly statistics: Pick<Statistics, "count">;
  readonly reader: Pick<Reader, "read">;
  readonly samples: Pick<DailySamples, "history">;
  readonly guard: ReturnType<typeof authGuard>;
  readonly clock: Clock;
  readonly jobs: { list(): readonly JobState[] };
  readonly textIndexer: Pick<TextIndexer, "status">;
  readonly health: () => Promise<ServerHealth>;
  /** The settings with their sources. */
  readonly configuration: () => Pick<LoadedConfig, "values" | "sources" | "file">;
}

export function stateRoutes(options: StateRoutesOptions) {
  const { statistics, reader, samples, guard, clock, jobs, textIndexer, health, configuration } = options;
  const startedAtMs = clock.nowMs();
  return new Router({ prefix: "/api/admin", guard })
    .get("/health", { ...ADMIN_READ, docs: docs.health }, async ({ request }) => {
      const [{ queues }, present] = await Promise.all([statistics.count(), health()]);
      const language = requestLanguage(request);
      return ok(presentHealth(present, { queues, jobs: jobs.list(), startedAtMs, nowMs: clock.nowMs(), language }));
    })
    .get("/config", { ...ADMIN_READ, docs: docs.configuration }, ({ request }) =>
      ok(presentConfig(configuration(), requestLanguage(request))),
    )
    .get("/stats/storage", { ...ADMIN_READ, docs: docs.storageUsage }, async () => {
      const [usage, texts] = await Promise.all([readStorageUsage(reader), textIndexer.status()]);
      return ok({ ...usage, texts });
    })
    .get("/stats/history", { ...ADMIN_READ, docs: docs.statsHistory }, async ({ request }) => {
      const query = queryOf(request);
      const days = readInteger(query, "days", { min: 1, max: DAYS_MAX, default: 30 });
      return ok({ days: presentHistory(await samples.history(days)) });
    });
}
