import { get } from "node:http";
import type { Command } from "commander";
import type { Config } from "../config/settings.ts";
import { addSettings, type CommandContext, describeEnd, EXIT, readConfig, runs, UsageError } from "./command.ts";

const TIMEOUT_MS = 5_000;

/** `larder healthcheck`: whether the server of this configuration is ready. */
export function define(command: Command, context: CommandContext): void {
  command.description("Ask the running server whether it is ready (GET /health/ready). For containers and monitors.");
  addSettings(command, ["data", "host", "port", "basePath"]);
  describeEnd(command, "larder healthcheck --port 8790", "no server answers, or it is not ready");
  runs(command, async () => {
    const { config } = readConfig(command, context);
    if (config.port === 0) throw new UsageError("Port 0 is any port. Give the one it listens on by --port.");
    const url = `http://${reachableHost(config)}:${config.port}${config.basePath}/health/ready`;
    const answer = await ask(url);
    const { terminal } = context;
    if (answer === 200) {
      terminal.out("ready\n");
      return EXIT.fine;
    }
    terminal.error(`${url}: ${typeof answer === "number" ? `not ready (status ${answer})` : answer}\n`);
    return EXIT.wrong;
  });
}

/** The address at which this machine reaches a server that listens on `host`. */
function reachableHost({ host }: Config): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

/** The status of the answer, or what kept it from coming. By node:http, which follows no proxy of the environment. */
function ask(url: string): Promise<number | string> {
  return new Promise((resolve) => {
    const request = get(url, { timeout: TIMEOUT_MS, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on("timeout", () => {
      resolve(`no answer within ${TIMEOUT_MS / 1000} s`);
      request.destroy();
    });
    request.on("error", (error) => resolve(error.message));
  });
}
