/**
 * Receives requests: on a port, with or without TLS, or on a Unix socket.
 *
 * Bun can't change the certificate of a server. A renewed certificate gets a second server on the same port
 * (SO_REUSEPORT), which receives all new connections. The first server finishes its connections, then stops.
 */
import type { Config } from "../../config/settings.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { type BunServer, claimSocket, freePort, IDLE_SECONDS, listenOnPort, listenOnSocket } from "./bind.ts";
import { listenForRedirects } from "./https-redirect.ts";
import { steerConnections } from "./tcp-connections.ts";
import { expiryWarning, fileFingerprint, readTlsPair, type TlsFiles, type TlsPair } from "./tls.ts";

/** Dependencies of {@link Listener}. */
interface ListenerOptions {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly fetch: (request: Request) => Response | Promise<Response>;
  /** The response if `fetch` failed. */
  readonly error: (error: unknown) => Response;
}

/** How long a server runs after its certificate was replaced. Idle connections have ended by then. */
const RETIRE_MS = (IDLE_SECONDS + 5) * 1_000;
/** How often the files of the certificate are checked for changes. */
const TLS_CHECK_MS = 60_000;
/** How often a certificate that expires soon is logged. */
const EXPIRY_WARNING_MS = 24 * 3_600_000;

/** The open port or socket of the server. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #files: TlsFiles | undefined;
  /** Servers whose certificate was replaced, until their requests are finished. */
  readonly #retiring = new Set<BunServer>();
  /** Requests whose handler has not returned a response yet. */
  readonly #inProgress = new Set<Request>();
  /** The server before this one, while it still serves its connections. */
  #predecessor: BunServer | undefined;
  #retireTimer: ReturnType<typeof setTimeout> | undefined;
  #server: BunServer;
  #redirect: BunServer | undefined;
  #pair: TlsPair | undefined;
  #fingerprint: string | undefined;
  /** Why the files can't be used at present; logged once. */
  #rejection: string | undefined;
  #warnedMs = Number.NEGATIVE_INFINITY;
  readonly #checkTimer: ReturnType<typeof setInterval> | undefined;
  readonly #onHangUp = () => this.reloadCertificate(true);

  private constructor(options: ListenerOptions) {
    this.#options = options;
    const { certFile, keyFile, redirectPort } = options.config.tls;
    this.#files = certFile === null || keyFile === null ? undefined : { certFile, keyFile };
    if (this.#files !== undefined) {
      this.#fingerprint = fileFingerprint(this.#files);
      this.#pair = readTlsPair(this.#files);
      for (const warning of this.#pair.warnings) options.log.warn(warning);
    }
    this.#server = this.#listen(options.config.port, false);
    if (this.#files === undefined) return;
    try {
      this.#redirect =
        redirectPort === null ? undefined : listenForRedirects(options.config, redirectPort, () => this.port);
    } catch (error) {
      void this.#server.stop(true);
      throw error;
    }
    this.#warnOfExpiry();
    this.#checkTimer = setInterval(() => this.reloadCertificate(), TLS_CHECK_MS);
    process.on("SIGHUP", this.#onHangUp);
  }

  /**
   * Opens the port or the socket.
   * @throws StartupError if that is not possible, or the certificate can't be used; nothing is open then
   */
  static async open(options: ListenerOptions): Promise<Listener> {
    const { socket } = options.config;
    if (socket !== null) await claimSocket(socket);
    return new Listener(options);
  }

  /** The open port; the configured port if the server listens on a socket. */
  get port(): number {
    return this.#server.port ?? this.#options.config.port;
  }

  /** The port that redirects HTTP to HTTPS, if there is one. */
  get redirectPort(): number | undefined {
    return this.#redirect?.port;
  }

  /** Requests in progress. */
  get pendingRequests(): number {
    let count = this.#server.pendingRequests;
    for (const server of this.#retiring) count += server.pendingRequests;
    return count;
  }

  /** When the certificate in use expires; undefined without TLS. */
  get certificateEndsMs(): number | undefined {
    return this.#pair?.expiresAtMs;
  }

  /** The address of the client's end of the connection; undefined if the connection has none, or is closed. */
  peerOf(request: Request): string | undefined {
    return this.#server.requestIP(request)?.address;
  }

  /** The ports that receive connections; none for a socket. */
  get ports(): ReadonlySet<number> {
    if (this.#options.config.socket !== null) return new Set();
    return new Set(this.redirectPort === undefined ? [this.port] : [this.port, this.redirectPort]);
  }

  /** The clients' ports of the requests in progress. They distinguish connections from one address. */
  busyPeerPorts(): ReadonlySet<number> {
    const ports = new Set<number>();
    for (const request of this.#inProgress) {
      const port = this.#server.requestIP(request)?.port;
      if (port !== undefined) ports.add(port);
    }
    return ports;
  }

  /** Closes connections that are idle after a response. @returns how many */
  closeIdle(): number {
    return this.#all().reduce((count, server) => count + server.closeIdleConnections(), 0);
  }

  /** Restarts the idle timeout of a request's connection. */
  keepOpen(request: Request): void {
    this.#server.timeout(request, IDLE_SECONDS);
  }

  /** Turns the idle timeout off for a request. */
  allowLong(request: Request): void {
    this.#server.timeout(request, 0);
  }

  /** Accepts no more connections; resolves when the requests in progress are finished. */
  async stop(): Promise<void> {
    this.#stopChecking();
    await Promise.all([this.#redirect?.stop(true), ...this.#all().map((server) => server.stop())]);
  }

  /** Aborts all requests and closes all connections. */
  async cut(): Promise<void> {
    this.#stopChecking();
    await Promise.all([this.#redirect?.stop(true), ...this.#all().map((server) => server.stop(true))]);
  }

  /**
   * Loads the new certificate if the files have changed. If it can't be used, the old one stays in use, and the problem
   * is logged once.
   * @param isForced whether to read the files even if they look unchanged
   */
  reloadCertificate(isForced = false): void {
    const { log } = this.#options;
    if (this.#files === undefined) return;
    this.#warnOfExpiry();
    try {
      const fingerprint = fileFingerprint(this.#files);
      // A file is missing for a moment while another program replaces it.
      if (fingerprint === undefined || (fingerprint === this.#fingerprint && !isForced)) return;
      const pair = readTlsPair(this.#files);
      if (pair.cert !== this.#pair?.cert || pair.key !== this.#pair.key) this.#replace(pair);
      // Set only on success: a change of permissions can make the files readable without changing them.
      this.#fingerprint = fingerprint;
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
    const response = this.#options.fetch(request);
    const isLast = this.#retiring.has(server);
    if (!(response instanceof Promise)) return isLast ? asLast(response) : response;
    this.#inProgress.add(request);
    const forget = () => void this.#inProgress.delete(request);
    // A separate branch, so that it does not delay the response.
    response.then(forget, forget);
    return isLast ? response.then(asLast) : response;
  }

  #replace(pair: TlsPair): void {
    const { port } = this;
    // One predecessor at a time: only the order of two sockets shows which one is newer.
    this.#retire();
    const before = { pair: this.#pair, server: this.#server };
    this.#pair = pair;
    try {
      this.#server = this.#listen(port, true);
    } catch (error) {
      this.#pair = before.pair;
      throw error;
    }
    this.#retiring.add(before.server);
    this.#predecessor = before.server;
    // Stopping a server cuts connections in their handshake. So it first receives no new ones, and gets time to finish.
    if (steerConnections(port, 1)) this.#retireTimer = setTimeout(() => this.#retire(), RETIRE_MS);
    else setImmediate(() => this.#retire());
    for (const warning of pair.warnings) this.#options.log.warn(warning);
    this.#options.log.info("Loaded the new certificate.", {
      names: pair.names,
      until: new Date(pair.expiresAtMs).toISOString(),
    });
    this.#warnedMs = Number.NEGATIVE_INFINITY;
    this.#warnOfExpiry();
  }

  /** Stops the server before this one after its requests in progress. */
  #retire(): void {
    clearTimeout(this.#retireTimer);
    const server = this.#predecessor;
    this.#predecessor = undefined;
    if (server !== undefined) void server.stop().then(() => this.#retiring.delete(server));
  }

  #warnOfExpiry(): void {
    const nowMs = this.#options.clock.nowMs();
    if (this.#pair === undefined || Math.abs(nowMs - this.#warnedMs) < EXPIRY_WARNING_MS) return;
    const warning = expiryWarning(this.#pair, nowMs);
    if (warning === undefined) return;
    this.#warnedMs = nowMs;
    this.#options.log.warn(warning, { certFile: this.#files?.certFile });
  }

  /** @param isSuccessor whether this process already listens on that port */
  #listen(port: number, isSuccessor: boolean): BunServer {
    const { config, error } = this.#options;
    const fetch = (request: Request, server: BunServer) => this.#track(request, server);
    const common = {
      development: false,
      // Every reader of a body has its own limit, with an error in the API's form. Bun's own 413 has no body.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch,
      error,
    } as const;
    if (config.socket !== null) return listenOnSocket({ ...common, unix: config.socket });
    const { host: hostname } = config;
    const pair = this.#pair;
    return listenOnPort(hostname, port, "--port", () => {
      if (pair === undefined) {
        // Otherwise two servers could share one port, each with half of the connections.
        return Bun.serve({ ...common, idleTimeout: IDLE_SECONDS, hostname, port, reusePort: false });
      }
      // Shared only with a successor in this process: freePort() fails if another program listens there.
      const free = isSuccessor ? port : freePort(hostname, port);
      const tls = { cert: pair.cert, key: pair.key };
      return Bun.serve({ ...common, idleTimeout: IDLE_SECONDS, hostname, port: free, reusePort: true, tls });
    });
  }

  #all(): BunServer[] {
    return [this.#server, ...this.#retiring];
  }

  #stopChecking(): void {
    clearTimeout(this.#retireTimer);
    clearInterval(this.#checkTimer);
    process.off("SIGHUP", this.#onHangUp);
  }
}

/** A response that closes its connection: the next request uses a new one, and is not lost when the server stops. */
function asLast(response: Response): Response {
  response.headers.set("connection", "close");
  return response;
}
