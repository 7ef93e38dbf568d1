import { isExhausted, translateDiskError } from "../../blobs/disk.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { auditRecorder } from "../../features/administration/audit/audited-requests.ts";
import type { Lease, WriteFence } from "../../features/storage/replication/types.ts";
import { withRetryAfter } from "../../http/base.ts";
import { BodyPaces } from "../../http/body-pace.ts";
import { LOCAL_PEER } from "../../http/client-address.ts";
import { errorResponseOf } from "../../http/error-response.ts";
import { invariant } from "../../lib/invariant.ts";
import type { Background } from "../composition/background.ts";
import type { Services } from "../composition/services.ts";
import { savePreset } from "../data/save-preset.ts";
import { ConnectionGuard, descriptorsMax } from "../net/connection-guard.ts";
import { Listener } from "../net/listener.ts";
import { deposed, respondUnavailable } from "../net/unavailable-response.ts";
import { observeRequests } from "../observability/observe.ts";
import { RequestStatistics } from "../observability/request-statistics.ts";
import { createApp } from "./app.ts";
import { confirmChanges } from "./confirm-changes.ts";
import type { AppHost } from "./host.ts";

/** How long requests in progress may take once the server is stopping. */
export const DRAIN_MS = 30_000;
/** How long requests in progress may take once another server has taken over: none of them is confirmed. */
const FINISH_MS_MAX = 5_000;
const FINISH_POLL_MS = 20;
/** How long the server waits before it restarts after a set-up, so that the response is sent first. */
const RESTART_AFTER_MS = 100;
/** The router skips this many characters before it searches for the path. A shorter host would hide part of the path. */
const ROUTER_PATH_FROM = 11;

/** Dependencies of {@link HttpServer}. */
interface HttpServerOptions {
  readonly services: Services;
  readonly loaded: LoadedConfig;
  readonly background: Background;
  /** Decides when changes are confirmed; undefined without a replica. */
  readonly fence: WriteFence | undefined;
  /** The right to write to the store; undefined without a replica. */
  readonly lease: Pick<Lease, "state" | "problem"> | undefined;
  /** Restarts the server with new settings. */
  readonly restart: () => void;
}

/** The HTTP side of a running server: the application, and the listener that receives its requests. */
export class HttpServer implements AppHost {
  readonly fence: WriteFence | undefined;
  readonly requests: RequestStatistics;
  readonly bodies: BodyPaces;
  readonly #options: HttpServerOptions;
  readonly #app: ReturnType<typeof createApp>;
  #listener: Listener | undefined;
  #guard: ConnectionGuard | undefined;
  #isDraining = false;
  #isRestarting = false;

  constructor(options: HttpServerOptions) {
    const { services } = options;
    this.#options = options;
    this.fence = options.fence;
    this.requests = new RequestStatistics(() => this.#app.app.routes.map(({ path }) => path));
    this.bodies = new BodyPaces({ perAddressMax: services.config.maxSlowBodies });
    this.#app = createApp(services, this);
    this.#app.app.compile();
  }

  /** Receives requests from now on. @throws StartupError if the address is taken, or the certificate is invalid */
  async listen(): Promise<void> {
    const { config, clock, log } = this.#options.services;
    this.#listener = await Listener.open({
      config,
      log,
      clock,
      fetch: this.#requestHandler(),
      error(error) {
        // The file of a download is opened after its handler returned: a missing descriptor shows only here.
        const known = isExhausted(error) ? translateDiskError(error) : error;
        const { status, body, headers } = errorResponseOf(known, "none");
        if (status === 500) log.error("Could not create a response.", { error });
        return Response.json(body, { status, headers });
      },
    });
    this.#guard = new ConnectionGuard({
      listener: this.#listener,
      log,
      descriptorsMax: descriptorsMax(config.maxConnections),
    });
  }

  get listener(): Listener {
    invariant(this.#listener !== undefined, "the server listens");
    return this.#listener;
  }

  /** Rejects further requests. */
  startDraining(): void {
    this.#isDraining = true;
    this.#guard?.stop();
  }

  /** Finishes the requests in progress, then closes the listener. Aborts requests that take too long. */
  async drain(): Promise<void> {
    const { listener } = this;
    const isDrained = await Promise.race([listener.stop().then(() => true), Bun.sleep(DRAIN_MS).then(() => false)]);
    if (isDrained) return;
    const { log } = this.#options.services;
    log.warn("Some requests did not finish in time; aborted them.", { requests: listener.pendingRequests });
    await listener.cut();
  }

  /** Waits for the requests in progress, for a short time. The listener stays open. */
  async finishRequests(): Promise<void> {
    const deadlineMs = performance.now() + FINISH_MS_MAX;
    while (this.listener.pendingRequests > 0 && performance.now() < deadlineMs) await Bun.sleep(FINISH_POLL_MS);
  }

  isDraining(): boolean {
    return this.#isDraining;
  }

  isRestarting(): boolean {
    return this.#isRestarting;
  }

  isOverloaded(): boolean {
    // A request that waits for a small body costs little, and each address may have only a few of them.
    return this.listener.pendingRequests - this.bodies.waiting > this.#options.services.config.maxRequests;
  }

  pendingRequests(): number {
    return this.listener.pendingRequests;
  }

  certificateEndsMs(): number | undefined {
    return this.listener.certificateEndsMs;
  }

  peerOf(request: Request): string {
    return this.listener.peerOf(request) ?? LOCAL_PEER;
  }

  keepOpen(request: Request): void {
    this.listener.keepOpen(request);
  }

  allowLong(request: Request): void {
    this.listener.allowLong(request);
  }

  noticeChanges(): void {
    this.#options.background.noticeChanges();
  }

  listJobs() {
    return this.#options.background.scheduler.list();
  }

  runJob(name: string) {
    return this.#options.background.scheduler.runNow(name);
  }

  onSetUp(use: "household" | "accounts"): boolean {
    if (use !== "household") return false;
    const { config, log } = this.#options.services;
    try {
      savePreset(config);
    } catch (error) {
      log.error('Could not write larder.toml. Add preset = "household" to it, then restart the server.', { error });
      return false;
    }
    // Until the restart, /health/ready responds 503. Otherwise the page would take this process for the restarted one.
    this.#isRestarting = true;
    setTimeout(this.#options.restart, RESTART_AFTER_MS);
    return true;
  }

  /** The application with its audit log, the log of requests, and their statistics around it. */
  #requestHandler(): (request: Request) => Response | Promise<Response> {
    const { services } = this.#options;
    const { basePath, audit, logRequests, logLevel } = services.config;
    const { app, routes, begin, mayChange, respondToFailure, respondInstead } = this.#app;
    const { fence } = this;
    const audited = auditRecorder({
      ...services,
      files: audit.files,
      routeOf: (method, path) => routes.find(method, path),
    });
    const observed = observeRequests({
      log: services.log,
      logRequests,
      isDebugging: logLevel === "debug",
      statistics: this.requests,
    });
    const fetch = (request: Request): Response | Promise<Response> => {
      try {
        const response: Response | Promise<Response> = app.fetch(request);
        if (!(response instanceof Promise)) return response;
        return response.catch((error: unknown) => respondToFailure(request, error));
      } catch (error) {
        return respondToFailure(request, error);
      }
    };
    const handle = (request: Request) => audited(request, fetch(request));
    const confirmed = fence && confirmChanges({ fence, mayChange, respondInstead });
    const acknowledge = confirmed === undefined ? handle : (request: Request) => confirmed(request, handle(request));
    const respond = (request: Request) => {
      const response = acknowledge(request);
      if (!(response instanceof Promise)) return withRetryAfter(request, response);
      return response.then((finished) => withRetryAfter(request, finished));
    };
    const { lease } = this.#options;
    return (request) => {
      if (lease?.state === "deposed") return respondUnavailable(request, basePath, deposed(lease.problem ?? ""));
      const url = routableUrl(request.url, basePath);
      // Changes the request in place: a copy of it would read the whole body into memory, at any speed.
      if (url !== request.url) Object.defineProperty(request, "url", { value: url });
      return observed(request, () => {
        const pending = begin(request);
        return pending === undefined ? respond(request) : pending.then(() => respond(request));
      });
    };
  }
}

/**
 * The URL for the router: without the base path, which a proxy may have removed already, and with a host that is long
 * enough. Links are made from the Host header instead.
 */
function routableUrl(url: string, basePath: string): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("//") + 2);
  const path = url.slice(start);
  const isBelow = path.startsWith(basePath) && "/?".includes(path.charAt(basePath.length));
  if (basePath === "" || !isBelow) return start >= ROUTER_PATH_FROM ? url : `http://localhost${path}`;
  const rest = path.slice(basePath.length);
  return `http://localhost${rest.startsWith("/") ? rest : `/${rest}`}`;
}
