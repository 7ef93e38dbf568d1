import { openApiDocument } from "../../server/http/docs.ts";
import { defineCommand } from "../shared/command.ts";
import { toJson } from "../shared/output.ts";

/** `larder openapi`: the description of the HTTP API, as /openapi.json returns it. Needs no data directory. */
export const define = defineCommand({
  description: "Print the OpenAPI document of the HTTP API, the same that the server returns at /openapi.json.",
  examples: "larder openapi > openapi.json",
  problems: null,
  run: async ({ terminal }) => terminal.out(toJson(await openApiDocument())),
});
