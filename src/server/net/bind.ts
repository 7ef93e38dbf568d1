/** Opens ports and Unix sockets, with errors for the operator. */
import * as fs from "node:fs";
import { connect } from "node:net";
import { StartupError } from "../../config/startup-error.ts";
import { hostInUrl } from "./listen-address.ts";
import { messageOf } from "../../lib/error.ts";

export type BunServer = Bun.Server<undefined>;

/** Seconds after which an idle connection is closed, as is one that has not sent its headers. */
export const IDLE_SECONDS = 120;
/** The maximum length of a socket's path, without the zero at its end (unix(7)). */
const SOCKET_PATH_BYTES_MAX = 107;
/** For owner and group: the group is the proxy's. */
const SOCKET_MODE = 0o660;

/** Returns the given port, or a free one for 0. Fails if another program listens on it. */
export function freePort(hostname: string, port: number): number {
  const probe = Bun.serve({ hostname, port, reusePort: false, development: false, fetch: () => new Response() });
  const free = probe.port ?? port;
  void probe.stop(true);
  return free;
}

/** Removes the socket that a crash left behind. @throws StartupError if the path is in use */
export async function claimSocket(path: string): Promise<void> {
  if (Buffer.byteLength(path) > SOCKET_PATH_BYTES_MAX) {
    throw new StartupError(
      `The socket path ${path} is longer than ${SOCKET_PATH_BYTES_MAX} bytes. Use a shorter path.`,
    );
  }
  const stat = fs.lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isSocket()) {
    throw new StartupError(
      `${path} already exists and is not a socket. Move it to another place, or set another path with --socket.`,
    );
  }
  if (await isResponding(path)) {
    throw new StartupError(`Another program listens on ${path}. Stop it, or set another path with --socket.`);
  }
  fs.unlinkSync(path);
}

function isResponding(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(path);
    connection.on("connect", () => {
      connection.destroy();
      resolve(true);
    });
    // Refused: the program that made the socket has ended. Other errors may come from a program that still listens.
    connection.on("error", (error) => resolve(!("code" in error && error.code === "ECONNREFUSED")));
  });
}

/** Listens on a Unix socket. */
export function listenOnSocket(options: Bun.Serve.Options<undefined, never> & { readonly unix: string }): BunServer {
  // The types lack the option for sockets, but it applies to them too.
  Object.assign(options, { idleTimeout: IDLE_SECONDS });
  try {
    const server = Bun.serve(options);
    fs.chmodSync(options.unix, SOCKET_MODE);
    return server;
  } catch (error) {
    const why = messageOf(error);
    throw new StartupError(`Cannot listen on ${options.unix}: ${why}. Set another path with --socket.`, error);
  }
}

/** Listens on a port. @throws StartupError if the operator can solve the problem; other errors unchanged */
export function listenOnPort(host: string, port: number, flag: string, serve: () => BunServer): BunServer {
  try {
    return serve();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const address = `${hostInUrl(host)} port ${port}`;
    if (code === "EADDRINUSE") {
      throw new StartupError(
        `Another program listens on ${address}. Stop it, or set another port with ${flag}.`,
        error,
      );
    }
    if (code === "EACCES") {
      throw new StartupError(
        `This user is not allowed to listen on ${address}. Set a port of 1024 or higher with ${flag}, or grant the permission: ` +
          "setcap cap_net_bind_service=+ep larder.",
        error,
      );
    }
    // EINVAL: the host name has no address.
    if (code === "EADDRNOTAVAIL" || code === "EINVAL") {
      throw new StartupError(`${host} is not an address of this machine. Set another with --host.`, error);
    }
    throw error;
  }
}
