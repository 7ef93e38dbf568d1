import * as http from "node:http";
import * as https from "node:https";
import type { Command } from "commander";
import { listenAddress, reachableHost } from "../../server/net/listen-address.ts";
import {
  addSettings,
  type CommandContext,
  describeEnd,
  EXIT,
  readConfig,
  runs,
  UsageError,
} from "../shared/command.ts";

const TIMEOUT_MS = 5_000;

/** `larder healthcheck`: whether the server of this configuration is ready. */
export function define(command: Command, context: CommandContext): void {
  command.description(
    "Check whether the running server is ready (GET /health/ready). For container health checks and monitoring.",
  );
  addSettings(command, ["data", "host", "port", "socket", "basePath", "tls.certFile", "tls.keyFile"]);
  describeEnd(command, "larder healthcheck --port 8790", "the server does not respond or is not ready");
  runs(command, async () => {
    const { config } = readConfig(command, context);
    const { socket, basePath } = config;
    if (socket === null && config.port === 0) {
      throw new UsageError("The port is 0 (any free port). Set the actual port with --port.");
    }
    const url = listenAddress({ ...config, host: reachableHost(config.host), socket: null }, config.port);
    const place = socket === null ? `${url}/health/ready` : `unix:${socket} ${basePath}/health/ready`;
    const answer = await ask(`${url}/health/ready`, socket);
    const { terminal } = context;
    if (answer === 200) {
      terminal.out("ready\n");
      return EXIT.fine;
    }
    terminal.error(`${place}: ${typeof answer === "number" ? `not ready (status ${answer})` : answer}\n`);
    return EXIT.wrong;
  });
}

/** The status of the answer, or what kept it from coming. By node:http, which follows no proxy of the environment. */
function ask(url: string, socketPath: string | null): Promise<number | string> {
  const options = {
    timeout: TIMEOUT_MS,
    agent: false,
    ...(socketPath !== null && { socketPath }),
    // The certificate names the address that people use, and this asks at another; nothing is sent that matters.
    rejectUnauthorized: false,
  };
  return new Promise((resolve) => {
    const request = (url.startsWith("https:") ? https : http).get(url, options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on("timeout", () => {
      resolve(`no response within ${TIMEOUT_MS / 1000} s`);
      request.destroy();
    });
    request.on("error", (error) => resolve(error.message));
  });
}
