import type { Command } from "commander";
import { openApiDocument } from "../../server/http/docs.ts";
import { type CommandContext, describeEnd, EXIT, runs } from "../shared/command.ts";
import { toJson } from "../shared/output.ts";

/** `larder openapi`: the description of the HTTP API, as /openapi.json serves it. Needs no data directory. */
export function define(command: Command, context: CommandContext): void {
  command.description("Print the OpenAPI document of the HTTP API, the same that the server returns at /openapi.json.");
  describeEnd(command, "larder openapi > openapi.json", null);
  runs(command, async () => {
    context.terminal.out(toJson(await openApiDocument()));
    return EXIT.fine;
  });
}
