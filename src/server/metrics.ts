/** GET /metrics: Prometheus text, for this machine itself or for administrators (contract §9). */
import { Elysia } from "elysia";
import { AppError } from "../errors.ts";
import { demand } from "../features/auth/guard.ts";
import { isLocalRequest } from "../http/client-address.ts";
import { VERSION } from "../version.ts";
import { availableBytes } from "./filesystem.ts";
import type { Services } from "./services.ts";

/** What metrics are told from. */
export interface MetricsOptions {
  readonly services: Services;
  readonly whyNotReady: () => string | undefined;
  readonly peerOf: (request: Request) => string;
  readonly counts: RequestCounts;
}

/** What has been counted of requests since the start. */
export class RequestCounts {
  requests = 0;
  /** Counted where refusals and failures are answered: no hook after that one hears of them. */
  failures = 0;
}

/** The route, and the hook that counts requests. */
export function metricsRoutes({ services, whyNotReady, peerOf, counts }: MetricsOptions) {
  const { config, paths, limiter, writer } = services;
  return new Elysia({ name: "metrics" })
    .onRequest(() => {
      counts.requests++;
    })
    .get(
      "/metrics",
      async ({ request }) => {
        const isLocal = config.metricsAccess === "local" && isLocalRequest(peerOf(request), request.headers);
        if (config.metricsAccess !== "open" && !isLocal) demandAdmin(request);
        const body = await render([
          ["counter", "larder_requests_total", "Requests that arrived.", counts.requests],
          ["counter", "larder_request_failures_total", "Requests that were refused or failed.", counts.failures],
          ["gauge", "larder_ready", "1 when the server can take requests.", whyNotReady() === undefined ? 1 : 0],
          ["gauge", "larder_resident_memory_bytes", "Resident memory of the server.", process.memoryUsage.rss()],
          ["gauge", "larder_disk_available_bytes", "Free space where the files are.", availableBytes(paths.root)],
          ["gauge", "larder_rate_limit_subjects", "Users and addresses that are counted now.", limiter.subjects],
          ["gauge", "larder_deeds_waiting", "Changes that wait for their commit.", writer.waiting],
        ]);
        return new Response(body, { headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" } });
      },
      { detail: { hide: true } },
    );
}

type Metric = [kind: "counter" | "gauge", name: string, help: string, value: number];

/** By the library, which is loaded at the first scrape: most servers are never asked, and a start should be quick. */
async function render(metrics: readonly Metric[]): Promise<string> {
  const { Counter, Gauge, Registry } = await import("prom-client");
  const registry = new Registry();
  for (const [kind, name, help, value] of metrics) {
    if (kind === "gauge") new Gauge({ name, help, registers: [registry] }).set(value);
    else new Counter({ name, help, registers: [registry] }).inc(value);
  }
  new Gauge({ name: "larder_info", help: "The running version.", labelNames: ["version"], registers: [registry] }).set(
    { version: VERSION },
    1,
  );
  return registry.metrics();
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
