/** GET /metrics: Prometheus text, for this machine itself or for administrators (contract §9). */
import { Elysia } from "elysia";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { AppError } from "../errors.ts";
import { demand } from "../features/auth/guard.ts";
import { isLocalRequest } from "../http/client-address.ts";
import { exchangeOf } from "../http/exchange.ts";
import { VERSION } from "../version.ts";
import { availableBytes } from "./filesystem.ts";
import type { Services } from "./services.ts";

/** What metrics are told from. */
export interface MetricsOptions {
  readonly services: Services;
  readonly whyNotReady: () => string | undefined;
  readonly peerOf: (request: Request) => string;
}

const SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60];

/** The route, and the hook that counts requests. */
export function metricsRoutes({ services, whyNotReady, peerOf }: MetricsOptions) {
  const { config, paths, limiter } = services;
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: "larder_requests_total",
    help: "Requests answered, by method and class of status.",
    labelNames: ["method", "status"],
    registers,
  });
  const durations = new Histogram({
    name: "larder_request_seconds",
    help: "Time from the first line of a request to its answer.",
    buckets: SECONDS,
    registers,
  });
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  gauge("larder_ready", "1 when the server can take requests.", () => (whyNotReady() === undefined ? 1 : 0));
  gauge("larder_resident_memory_bytes", "Resident memory of the server.", () => process.memoryUsage.rss());
  gauge("larder_disk_available_bytes", "Free space where the files are.", () => availableBytes(paths.root));
  gauge("larder_rate_limit_subjects", "Users and addresses whose requests are counted now.", () => limiter.subjects);
  gauge("larder_deeds_waiting", "Changes that wait for their commit.", () => services.writer.waiting);
  new Gauge({ name: "larder_info", help: "The running version.", labelNames: ["version"], registers }).set(
    { version: VERSION },
    1,
  );

  return new Elysia({ name: "metrics" })
    .onAfterResponse({ as: "global" }, ({ request, set, responseValue }) => {
      const status = responseValue instanceof Response ? responseValue.status : Number(set.status ?? 200);
      requests.inc({ method: request.method, status: `${Math.floor(status / 100)}xx` });
      durations.observe((performance.now() - exchangeOf(request).startedMs) / 1000);
    })
    .get(
      "/metrics",
      async ({ request }) => {
        const isLocal = config.metricsAccess === "local" && isLocalRequest(peerOf(request), request.headers);
        if (config.metricsAccess !== "open" && !isLocal) demandAdmin(request);
        return new Response(await registry.metrics(), { headers: { "content-type": registry.contentType } });
      },
      { detail: { hide: true } },
    );
}

function demandAdmin(request: Request): void {
  try {
    demand("admin", request);
  } catch (error) {
    if (error instanceof AppError)
      throw new AppError("role", "Metrics are for administrators and for this machine itself.");
    throw error;
  }
}
