/** /health/live, /health/ready, and /openapi.json for monitors and tools; and the health data for administrators. */
import { PAGE_ROUTE } from "../../features/accounts/routing/declaration.ts";
import { Router } from "../../features/accounts/routing/router.ts";
import { statSync } from "node:fs";
import type { ServerHealth } from "../../features/administration/admin-api/types.ts";
import { COMMIT, VERSION } from "../../version.ts";
import { availableBytes, totalBytes } from "../data/filesystem.ts";
import type { AppHost } from "./host.ts";
import type { PublicView } from "./public-view.ts";
import type { Services } from "../composition/services.ts";

/** Dependencies of {@link healthRoutes}. */
interface HealthOptions {
  /** Why the server is not ready; undefined if it is. */
  readonly whyNotReady: () => string | undefined;
  readonly openApi: () => Promise<unknown>;
  /** How a request reached the server, for requests with a probe token. */
  readonly readPublicView: (request: Request) => PublicView | undefined;
}

/** What the readiness depends on, apart from the host. */
interface ReadinessSources {
  readonly storeGuard: Pick<Services["storeGuard"], "check">;
  readonly writer: Pick<Services["writer"], "fault">;
}

/** The routes of monitors and tools. */
export function healthRoutes({ whyNotReady, openApi, readPublicView }: HealthOptions) {
  return new Router()
    .get("/health/live", PAGE_ROUTE, ({ request }) => {
      const seen = readPublicView(request);
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

/** Returns a function that says why the server is not ready; undefined if it is. */
export function readiness(
  { storeGuard, writer }: ReadinessSources,
  host: Pick<AppHost, "isDraining" | "isRestarting">,
) {
  return (): string | undefined => {
    if (host.isDraining()) return "The server is stopping.";
    if (host.isRestarting()) return "The server is restarting.";
    try {
      storeGuard.check();
      return writer.fault;
    } catch (error) {
      return error instanceof Error ? error.message : "The store is not available.";
    }
  };
}

/** The health of the server, for GET /api/admin/health. */
export async function readHealth(
  { paths, sqlite, writer, snapshots, integrity, remoteStore, replica }: Services,
  { notReady, certificateEndsAtMs }: Pick<ServerHealth, "notReady" | "certificateEndsAtMs">,
): Promise<ServerHealth> {
  const stored = snapshots.list();
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
      count: stored.length,
      lastAtMs: stored[0]?.takenAtMs ?? null,
      lastBytes: stored[0]?.sizeBytes ?? null,
    },
    openFindings: Object.values(open).reduce((sum, count) => sum + count, 0),
    bucket: await remoteStore?.health(),
    replicaProblem: replica?.problem,
    versions: { larder: VERSION, commit: COMMIT, bun: Bun.version, sqlite: version ?? "unknown" },
    memoryBytes: process.memoryUsage.rss(),
  };
}

/** The size of a file in bytes; 0 if it is missing. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
