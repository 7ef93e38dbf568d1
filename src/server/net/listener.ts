/**
 * Where requests come in: a port, with or without TLS, or a Unix socket.
 *
 * Bun takes no new certificate for a port that listens already. So a renewed one gets a second server on the same port
 * (SO_REUSEPORT), to which all new connections are led; the first goes on with those it has, then stops.
 */
import * as fs from "node:fs";
import { connect } from "node:net";
import type { Config } from "../../config/settings.ts";
import { StartupError } from "../../config/startup-error.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { hostInUrl } from "./listen-address.ts";
import { steerConnections } from "./tcp-connections.ts";
import { expiryWarning, readTlsPair, stampOf, type TlsFiles, type TlsPair } from "./tls.ts";

/** What a listener works with. */
export interface ListenerOptions {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly fetch: (request: Request) => Response | Promise<Response>;
  /** The answer where `fetch` failed. */
  readonly error: (error: unknown) => Response;
}

/** A connection that says nothing for so long is closed, in seconds; also one that takes so long to send its headers. */
const IDLE_SECONDS = 120;
/** What plain HTTP may bring along; none of it is read. */
const PLAIN_BODY_BYTES_MAX = 1024 * 1024;
/** How long a server goes on after its certificate was replaced: idle connections have ended by themselves then. */
const RETIRE_MS = (IDLE_SECONDS + 5) * 1_000;
/** How often the files of the certificate are looked at. */
const TLS_LOOK_MS = 60_000;
/** How often a certificate that ends soon is told of. */
const EXPIRY_WARNING_MS = 24 * 3_600_000;
/** Of a socket's path, with the zero at its end (unix(7)). */
const SOCKET_PATH_BYTES_MAX = 107;
/** Owner and group: the group is the proxy's. */
const SOCKET_MODE = 0o660;

type BunServer = Bun.Server<undefined>;

/** See the head of this file. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #files: TlsFiles | undefined;
  /** Those whose certificate was replaced, until they have finished. */
  readonly #leaving = new Set<BunServer>();
  /** Requests whose handler has not answered yet. */
  readonly #underWay = new Set<Request>();
  /** The last of those, while it still serves the connections that it had. */
  #predecessor: BunServer | undefined;
  #retiring: ReturnType<typeof setTimeout> | undefined;
  #server: BunServer;
  #redirect: BunServer | undefined;
  #pair: TlsPair | undefined;
  #stamp: string | undefined;
  /** Why the files can't be used as they are now: told once. */
  #rejection: string | undefined;
  #warnedMs = Number.NEGATIVE_INFINITY;
  readonly #looking: ReturnType<typeof setInterval> | undefined;
  readonly #onHangUp = () => this.readCertificateAgain(true);

  private constructor(options: ListenerOptions) {
    this.#options = options;
    const { certFile, keyFile, redirectPort } = options.config.tls;
    this.#files = certFile === null || keyFile === null ? undefined : { certFile, keyFile };
    if (this.#files !== undefined) {
      this.#stamp = stampOf(this.#files);
      this.#pair = readTlsPair(this.#files);
      for (const warning of this.#pair.warnings) options.log.warn(warning);
    }
    this.#server = this.#listen(options.config.port, false);
    if (this.#files === undefined) return;
    try {
      this.#redirect = redirectPort === null ? undefined : this.#listenForPlain(redirectPort);
    } catch (error) {
      void this.#server.stop(true);
      throw error;
    }
    this.#warnOfExpiry();
    this.#looking = setInterval(() => this.readCertificateAgain(), TLS_LOOK_MS);
    process.on("SIGHUP", this.#onHangUp);
  }

  /**
   * Listens from now on.
   * @throws StartupError where it can't listen there, or the certificate can't be used; nothing listens then
   */
  static async open(options: ListenerOptions): Promise<Listener> {
    const { socket } = options.config;
    if (socket !== null) await claimSocket(socket);
    return new Listener(options);
  }

  /** The port it listens on; that of the configuration where it listens on a socket. */
  get port(): number {
    return this.#server.port ?? this.#options.config.port;
  }

  /** The port on which plain HTTP is led to HTTPS, if there is one. */
  get redirectPort(): number | undefined {
    return this.#redirect?.port;
  }

  /** Requests under way. */
  get pendingRequests(): number {
    let count = this.#server.pendingRequests;
    for (const server of this.#leaving) count += server.pendingRequests;
    return count;
  }

  /** When the certificate in use ends; undefined without TLS. */
  get certificateEndsMs(): number | undefined {
    return this.#pair?.expiresAtMs;
  }

  /** The address at the other end of a request's connection; undefined where it has none, or is gone. */
  peerOf(request: Request): string | undefined {
    return this.#server.requestIP(request)?.address;
  }

  /** The ports on which connections arrive; none where it is a socket. */
  get ports(): ReadonlySet<number> {
    if (this.#options.config.socket !== null) return new Set();
    return new Set(this.redirectPort === undefined ? [this.port] : [this.port, this.redirectPort]);
  }

  /** The ports at the other end of the requests under way, by which connections of one address differ. */
  busyPeerPorts(): ReadonlySet<number> {
    const ports = new Set<number>();
    for (const request of this.#underWay) {
      const port = this.#server.requestIP(request)?.port;
      if (port !== undefined) ports.add(port);
    }
    return ports;
  }

  /** Closes connections that wait for another request after an answer. @returns how many */
  closeIdle(): number {
    return this.#all().reduce((count, server) => count + server.closeIdleConnections(), 0);
  }

  /** Gives the connection of a request its whole idle time again. */
  keepOpen(request: Request): void {
    this.#server.timeout(request, IDLE_SECONDS);
  }

  /** Lets a request take as long as it needs. */
  allowLong(request: Request): void {
    this.#server.timeout(request, 0);
  }

  /** Takes nothing new; resolves when what has begun is finished. */
  async stop(): Promise<void> {
    this.#endLooking();
    await Promise.all([this.#redirect?.stop(true), ...this.#all().map((server) => server.stop())]);
  }

  /** Ends everything now. */
  async cut(): Promise<void> {
    this.#endLooking();
    await Promise.all(this.#all().map((server) => server.stop(true)));
  }

  /**
   * Takes a new certificate into use where the files have changed. One that can't be used leaves the old one in use, and
   * is told of in the log once.
   * @param isForced whether the files are read even where they look unchanged
   */
  readCertificateAgain(isForced = false): void {
    const { log } = this.#options;
    if (this.#files === undefined) return;
    this.#warnOfExpiry();
    try {
      const stamp = stampOf(this.#files);
      // Missing for a moment, while they are being replaced.
      if (stamp === undefined || (stamp === this.#stamp && !isForced)) return;
      const pair = readTlsPair(this.#files);
      if (pair.cert !== this.#pair?.cert || pair.key !== this.#pair.key) this.#replace(pair);
      // Only now: what mends a pair that can't be used, such as another right, need not change the files.
      this.#stamp = stamp;
      this.#rejection = undefined;
    } catch (error) {
      const rejection = String(error);
      if (rejection !== this.#rejection || isForced) {
        log.error("Cannot use the new certificate; the old one stays in use.", { error });
      }
      this.#rejection = rejection;
    }
  }

  #track(request: Request, server: BunServer): Response | Promise<Response> {
    const answer = this.#options.fetch(request);
    const isLast = this.#leaving.has(server);
    if (!(answer instanceof Promise)) return isLast ? asLast(answer) : answer;
    this.#underWay.add(request);
    const forget = () => void this.#underWay.delete(request);
    // Beside the answer's own way, which it makes no longer.
    answer.then(forget, forget);
    return isLast ? answer.then(asLast) : answer;
  }

  #replace(pair: TlsPair): void {
    const { port } = this;
    // One predecessor at a time: which of two sockets is the newer one is known by their order.
    this.#retire();
    const before = { pair: this.#pair, server: this.#server };
    this.#pair = pair;
    try {
      this.#server = this.#listen(port, true);
    } catch (error) {
      this.#pair = before.pair;
      throw error;
    }
    this.#leaving.add(before.server);
    this.#predecessor = before.server;
    // Stopping cuts connections whose handshake has begun. So the old one first gets no new ones, and time to finish.
    if (steerConnections(port, 1)) this.#retiring = setTimeout(() => this.#retire(), RETIRE_MS);
    else setImmediate(() => this.#retire());
    for (const warning of pair.warnings) this.#options.log.warn(warning);
    this.#options.log.info("Loaded the new certificate.", {
      names: pair.names,
      until: new Date(pair.expiresAtMs).toISOString(),
    });
    this.#warnedMs = Number.NEGATIVE_INFINITY;
    this.#warnOfExpiry();
  }

  /** Stops the one whose certificate was replaced last; what it has begun goes on. */
  #retire(): void {
    clearTimeout(this.#retiring);
    const server = this.#predecessor;
    this.#predecessor = undefined;
    if (server !== undefined) void server.stop().then(() => this.#leaving.delete(server));
  }

  #warnOfExpiry(): void {
    const nowMs = this.#options.clock.nowMs();
    if (this.#pair === undefined || Math.abs(nowMs - this.#warnedMs) < EXPIRY_WARNING_MS) return;
    const warning = expiryWarning(this.#pair, nowMs);
    if (warning === undefined) return;
    this.#warnedMs = nowMs;
    this.#options.log.warn(warning, { certFile: this.#files?.certFile });
  }

  /** @param isSuccessor whether a server of ours listens on that port already */
  #listen(port: number, isSuccessor: boolean): BunServer {
    const { config, error } = this.#options;
    const fetch = (request: Request, server: BunServer) => this.#track(request, server);
    const common = {
      development: false,
      // Every reader of a body has a bound of its own, and answers in the envelope; the server's own 413 has no words.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch,
      error,
    } as const;
    if (config.socket !== null) return listenOnSocket({ ...common, unix: config.socket });
    const { host: hostname } = config;
    const pair = this.#pair;
    return listening(hostname, port, "--port", () => {
      if (pair === undefined) {
        // Or two servers could listen on one port, each with half of its connections.
        return Bun.serve({ ...common, idleTimeout: IDLE_SECONDS, hostname, port, reusePort: false });
      }
      // Shared with a successor of our own only: that nobody else listens there is found out before.
      const free = isSuccessor ? port : freePort(hostname, port);
      const tls = { cert: pair.cert, key: pair.key };
      return Bun.serve({ ...common, idleTimeout: IDLE_SECONDS, hostname, port: free, reusePort: true, tls });
    });
  }

  /** Leads plain HTTP to HTTPS; whatever carries a body has been sent in the clear already, and is told so. */
  #listenForPlain(port: number): BunServer {
    const { config } = this.#options;
    const fetch = (request: Request): Response => {
      const origin = httpsOrigin(request, config, this.port);
      if (origin === undefined || (request.method !== "GET" && request.method !== "HEAD")) {
        return new Response("This server accepts https:// only.\n", {
          status: 403,
          headers: { connection: "close" },
        });
      }
      const { url } = request;
      const path = url.startsWith("/") ? url : url.slice(url.indexOf("/", url.indexOf("//") + 2));
      return new Response(null, { status: 308, headers: { location: `${origin}${path}`, connection: "close" } });
    };
    return listening(config.host, port, "--tls-redirect-port", () =>
      Bun.serve({
        hostname: config.host,
        port,
        development: false,
        reusePort: false,
        idleTimeout: 10,
        maxRequestBodySize: PLAIN_BODY_BYTES_MAX,
        fetch,
        error: () => new Response(null, { status: 400 }),
      }),
    );
  }

  #all(): BunServer[] {
    return [this.#server, ...this.#leaving];
  }

  #endLooking(): void {
    clearTimeout(this.#retiring);
    clearInterval(this.#looking);
    process.off("SIGHUP", this.#onHangUp);
  }
}

/** An answer that ends its connection: the next request comes on a new one, and is not lost when the server stops. */
function asLast(response: Response): Response {
  response.headers.set("connection", "close");
  return response;
}

/** Where HTTPS answers for whoever asked by HTTP: the public address, or the same host. */
function httpsOrigin(request: Request, { publicUrl }: Config, port: number): string | undefined {
  if (publicUrl?.startsWith("https:")) return new URL(publicUrl).origin;
  const host = request.headers.get("host") ?? "";
  if (!/^[A-Za-z0-9._:[\]-]+$/.test(host) || !URL.canParse(`http://${host}`)) return undefined;
  const { hostname } = new URL(`http://${host}`);
  return `https://${hostname}${port === 443 ? "" : `:${port}`}`;
}

/** A port on which nobody listens: the given one, or any where it is 0. Fails where somebody does. */
function freePort(hostname: string, port: number): number {
  const probe = Bun.serve({ hostname, port, reusePort: false, development: false, fetch: () => new Response() });
  const free = probe.port ?? port;
  void probe.stop(true);
  return free;
}

/** Makes room for a socket: what a crash left behind goes, what anybody uses stays. */
async function claimSocket(path: string): Promise<void> {
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
    // Refused: whoever made it is gone. Everything else (no permission, no more room) may be somebody.
    connection.on("error", (error) => resolve(!("code" in error && error.code === "ECONNREFUSED")));
  });
}

function listenOnSocket(options: Bun.Serve.Options<undefined, never> & { readonly unix: string }): BunServer {
  // The types leave it out for sockets; it holds for them too.
  Object.assign(options, { idleTimeout: IDLE_SECONDS });
  try {
    const server = Bun.serve(options);
    fs.chmodSync(options.unix, SOCKET_MODE);
    return server;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartupError(`Cannot listen on ${options.unix}: ${why}. Set another path with --socket.`, error);
  }
}

/** Says what keeps a server from listening, which is the operator's to solve; everything else is passed on. */
function listening(host: string, port: number, flag: string, serve: () => BunServer): BunServer {
  try {
    return serve();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const place = `${hostInUrl(host)} port ${port}`;
    if (code === "EADDRINUSE") {
      throw new StartupError(`Another program listens on ${place}. Stop it, or set another port with ${flag}.`, error);
    }
    if (code === "EACCES") {
      throw new StartupError(
        `This user is not allowed to listen on ${place}. Set a port of 1024 or higher with ${flag}, or grant the permission: ` +
          "setcap cap_net_bind_service=+ep larder.",
        error,
      );
    }
    // EINVAL is a name that stands for no address.
    if (code === "EADDRNOTAVAIL" || code === "EINVAL") {
      throw new StartupError(`${host} is not an address of this machine. Set another with --host.`, error);
    }
    throw error;
  }
}
