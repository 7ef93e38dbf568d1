/** GET /metrics: Prometheus text, for this machine itself or for administrators. */
import { PAGE_ROUTE } from "../../features/accounts/routing/declaration.ts";
import { Router } from "../../features/accounts/routing/router.ts";
import { AppError } from "../../errors.ts";
import { requirePrincipal } from "../../features/accounts/auth/guard.ts";
import { isLocalRequest } from "../../http/client-address.ts";
import type { JobState } from "../../jobs/scheduler.ts";
import { say } from "../../translations/say.ts";
import { EventLoopWatch } from "../observability/event-loop.ts";
import { gauge } from "../observability/metric-family.ts";
import {
  certificateFamilies,
  databaseFamilies,
  jobFamilies,
  processFamilies,
  requestFamilies,
  storageFamilies,
  TotalsReader,
} from "./metric-sources.ts";
import type { RequestStatistics } from "../observability/request-statistics.ts";
import type { Services } from "../composition/services.ts";

/** Dependencies of {@link metricsRoutes}. */
interface MetricsOptions {
  readonly services: Services;
  readonly whyNotReady: () => string | undefined;
  readonly host: {
    peerOf(request: Request): string;
    pendingRequests(): number;
    listJobs(): readonly JobState[];
    readonly requests: RequestStatistics;
    certificateEndsMs(): number | undefined;
  };
}

/** The route of the metrics. */
export function metricsRoutes({ services, whyNotReady, host }: MetricsOptions) {
  const { config } = services;
  const totals = new TotalsReader(services);
  const eventLoop = new EventLoopWatch();
  return new Router().get("/metrics", PAGE_ROUTE, async ({ request }) => {
    const isLocal = config.metricsAccess === "local" && isLocalRequest(host.peerOf(request), request.headers);
    if (config.metricsAccess !== "open" && !isLocal) requireAdmin(request);
    // Loaded at the first scrape: most servers have none, and it would slow the start down.
    const [{ renderMetrics, METRICS_TYPE }, counted] = await Promise.all([
      import("../observability/metric-text.ts"),
      totals.read(),
    ]);
    const body = await renderMetrics([
      gauge("larder_ready", "1 if the server is ready for requests, 0 otherwise.", whyNotReady() === undefined ? 1 : 0),
      ...requestFamilies(host.requests, host.pendingRequests()),
      ...storageFamilies(services, counted),
      ...databaseFamilies(services),
      ...jobFamilies(host.listJobs()),
      ...certificateFamilies(host.certificateEndsMs()),
      ...processFamilies(eventLoop.read()),
    ]);
    return new Response(body, { headers: { "content-type": METRICS_TYPE } });
  });
}

function requireAdmin(request: Request): void {
  try {
    requirePrincipal({ access: "admin", scope: "admin" }, request);
  } catch (error) {
    if (error instanceof AppError)
      throw new AppError(
        "role",
        say`Only administrators and programs on the server can read metrics. Sign in as an administrator.`,
      );
    throw error;
  }
}
