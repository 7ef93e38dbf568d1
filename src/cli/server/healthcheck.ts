import * as http from "node:http";
import * as https from "node:https";
import { listenAddress, reachableHost } from "../../server/net/listen-address.ts";
import { defineCommand, EXIT, UsageError } from "../shared/command.ts";

const TIMEOUT_MS = 5_000;

/** `larder healthcheck`: whether the server with this configuration is ready. */
export const define = defineCommand({
  description:
    "Check whether the running server is ready (GET /health/ready). For container health checks and monitoring.",
  settings: ["data", "host", "port", "socket", "basePath", "tls.certFile", "tls.keyFile"],
  examples: "larder healthcheck --port 8790",
  problems: "the server does not respond or is not ready",
  handlesWarnings: true,
  async run({ config, terminal }) {
    const { socket, basePath } = config;
    if (socket === null && config.port === 0) {
      throw new UsageError("The port is 0 (any free port). Set the actual port with --port.");
    }
    const url = `${listenAddress({ ...config, host: reachableHost(config.host), socket: null }, config.port)}/health/ready`;
    const status = await requestStatus(url, socket);
    if (status === 200) {
      terminal.out("ready\n");
      return EXIT.success;
    }
    const address = socket === null ? url : `unix:${socket} ${basePath}/health/ready`;
    terminal.error(`${address}: ${typeof status === "number" ? `not ready (status ${status})` : status}\n`);
    return EXIT.problems;
  },
});

/** The status of the response, or the error. Uses node:http, which ignores the proxies of the environment. */
function requestStatus(url: string, socketPath: string | null): Promise<number | string> {
  const options = {
    timeout: TIMEOUT_MS,
    agent: false,
    ...(socketPath !== null && { socketPath }),
    // The certificate is for the public name, not for this address. Nothing secret is sent.
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
