/** /health/live, /health/ready, /openapi.json: outside /api, for monitors and tools. */
import { Elysia } from "elysia";
import type { PublicView } from "./public-view.ts";

/** What health is told from. */
export interface HealthOptions {
  /** Why the server can't take requests now, in words; undefined when it can. */
  readonly whyNotReady: () => string | undefined;
  readonly openApi: () => Promise<unknown>;
  /** How a request reached the server, for whoever may know; else undefined. */
  readonly viewOf: (request: Request) => PublicView | undefined;
}

/** The routes of the head of this file. */
export function healthRoutes({ whyNotReady, openApi, viewOf }: HealthOptions) {
  return new Elysia({ name: "health" })
    .get(
      "/health/live",
      ({ request }) => {
        const seen = viewOf(request);
        return seen === undefined ? { status: "live" } : { status: "live", seen };
      },
      { detail: { hide: true } },
    )
    .get(
      "/health/ready",
      ({ set }) => {
        const reason = whyNotReady();
        if (reason === undefined) return { status: "ready" };
        set.status = 503;
        return { status: "not ready", reason };
      },
      { detail: { hide: true } },
    )
    .get("/openapi.json", () => openApi(), { detail: { hide: true } });
}
