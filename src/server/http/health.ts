/** /health/live, /health/ready, /openapi.json: outside /api, for monitors and tools; and what administrators are told. */
import { PAGE_ROUTE } from "../../features/accounts/routing/declaration.ts";
import { Router } from "../../features/accounts/routing/router.ts";
import { statSync } from "node:fs";
import type { ServerHealth } from "../../features/administration/admin-api/types.ts";
import { COMMIT, VERSION } from "../../version.ts";
import { availableBytes, totalBytes } from "../data/filesystem.ts";
import type { AppHost } from "./host.ts";
import type { PublicView } from "./public-view.ts";
import type { Services } from "../composition/services.ts";

/** What health is told from. */
export interface HealthOptions {
  /** Why the server can't take requests now, in words; undefined when it can. */
  readonly whyNotReady: () => string | undefined;
  readonly openApi: () => Promise<unknown>;
  /** How a request reached the server, for whoever may know; else undefined. */
  readonly viewOf: (request: Request) => PublicView | undefined;
}

/** /health/live, /health/ready and /openapi.json. */
export function healthRoutes({ whyNotReady, openApi, viewOf }: HealthOptions) {
  return new Router({ name: "health" })
    .get("/health/live", PAGE_ROUTE, ({ request }) => {
      const seen = viewOf(request);
      return seen === undefined ? { status: "live" } : { status: "live", seen };
    })
    .get("/health/ready", PAGE_ROUTE, ({ set }) => {
      const reason = whyNotReady();
      if (reason === undefined) return { status: "ready" };
      set.status = 503;
      return { status: "not ready", reason };
    })
    .get("/openapi.json", PAGE_ROUTE, () => openApi());
}

/** Why the server can't take requests now, in words; undefined when it can. */
export function readiness({ storeGuard, writer }: Services, host: Pick<AppHost, "isDraining">) {
  return (): string | undefined => {
    if (host.isDraining()) return "The server is stopping.";
    try {
      storeGuard.check();
      return writer.fault;
    } catch (error) {
      return error instanceof Error ? error.message : "The store is not available.";
    }
  };
}

/** How the server stands, for GET /api/admin/health. */
export async function healthOf(
  { paths, sqlite, writer, snapshots, integrity, remoteStore }: Services,
  { notReady, certificateEndsAtMs }: Pick<ServerHealth, "notReady" | "certificateEndsAtMs">,
): Promise<ServerHealth> {
  const kept = snapshots.list();
  const version = sqlite.query<{ version: string }, []>("SELECT sqlite_version() AS version").get()?.version;
  const { open } = integrity.figures();
  return {
    notReady,
    certificateEndsAtMs,
    disk: { freeBytes: availableBytes(paths.blobs), totalBytes: totalBytes(paths.blobs) },
    database: {
      bytes: sizeOf(paths.database),
      logBytes: sizeOf(`${paths.database}-wal`),
      fault: writer.fault,
    },
    snapshots: {
      count: kept.length,
      lastAtMs: kept[0]?.takenAtMs ?? null,
      lastBytes: kept[0]?.sizeBytes ?? null,
    },
    openFindings: Object.values(open).reduce((sum, count) => sum + count, 0),
    bucket: await remoteStore?.health(),
    versions: { larder: VERSION, commit: COMMIT, bun: Bun.version, sqlite: version ?? "unknown" },
    memoryBytes: process.memoryUsage.rss(),
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
