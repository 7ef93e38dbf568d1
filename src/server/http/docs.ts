/** The OpenAPI document without a running server: for `larder openapi`. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../config/load.ts";
import { silentLog } from "../../lib/log.ts";
import { createApp } from "./app.ts";
import { generateDocument } from "./openapi.ts";
import { openServices } from "../composition/services.ts";

/** Makes the document of this version from its routes, with an empty temporary data directory. */
export async function openApiDocument(): Promise<unknown> {
  const data = await mkdtemp(join(tmpdir(), "larder-openapi-"));
  try {
    const loaded = loadConfig({ flags: { data }, environment: {} });
    const services = await openServices(loaded, silentLog);
    try {
      return await generateDocument(createApp(services).app);
    } finally {
      await services.close();
    }
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}
