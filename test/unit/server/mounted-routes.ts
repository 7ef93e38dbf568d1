/** The routes of the whole application, over an empty data directory: for tests of what they declare. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../../src/config/load.ts";
import type { DeclaredRoute } from "../../../src/features/accounts/routing/declaration.ts";
import type { RouteTable } from "../../../src/http/route-table.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { openServices } from "../../../src/server/composition/services.ts";
import { createApp } from "../../../src/server/http/app.ts";

/** All routes, by method and path. */
export async function mountedRoutes(): Promise<RouteTable<DeclaredRoute>> {
  const data = await mkdtemp(join(tmpdir(), "larder-routes-"));
  try {
    const loaded = loadConfig({ flags: { data }, environment: {} });
    const services = await openServices(loaded, silentLog);
    try {
      return createApp(services).routes;
    } finally {
      await services.close();
    }
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}
