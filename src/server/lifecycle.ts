/** The life cycle of a server: lock, recovery, start, and graceful stop. */
import * as fs from "node:fs";
import type { LoadedConfig } from "../config/load.ts";
import { systemClock } from "../lib/clock.ts";
import { type Announce, announcer, type Log } from "../lib/log.ts";
import { COMMIT, VERSION } from "../version.ts";
import { Background } from "./composition/background.ts";
import { explainOpening } from "./composition/open-data.ts";
import { openFence } from "./composition/open-fence.ts";
import { findReplicaParts } from "./composition/start-replica.ts";
import { openServices, type Services } from "./composition/services.ts";
import { dataPaths, openDataDirectory } from "./data/data-directory.ts";
import { acquireServerLock } from "./data/lock.ts";
import { identifyDatabase } from "../features/storage/replication/directory-identity.ts";
import type { OwnedLease } from "../features/storage/replication/lease.ts";
import { BUCKET_RECONCILIATION_JOB } from "../features/storage/jobs.ts";
import { DRAIN_MS, HttpServer } from "./http/http-server.ts";
import { browserAddresses, listenAddress } from "./net/listen-address.ts";
import type { Listener } from "./net/listener.ts";
import { type Notifier, openNotifier } from "./net/notify.ts";
import { IdleMemory } from "./observability/idle-memory.ts";
import { prepareServices } from "./prepare.ts";
import { type Promoted, rejectUnfinishedPromotion } from "./standby/promotion.ts";
import { acquireLease } from "./store-lease.ts";

/** How long the start may take if the database is upgraded first, or the data is a copy. */
const START_MS_MAX = 3_600_000;
/** How long closing all services may take after the requests in progress have ended. */
const CLOSE_MS_MAX = 10_000;
const SLOW_DISK_BYTES_PER_MS = 10_000;

/** How a run of the server ended. */
interface RunResult {
  /** `deposed`: another server has taken over the store. */
  readonly how: "stop" | "restart" | "deposed";
  /** The port on which the server listened. */
  readonly port: number;
  /** Whether everything is in the replica. */
  readonly isReplicated: boolean;
}

/** What a process has for as long as it runs: the lock of its data directory is taken. */
export interface ServerProcess {
  readonly log: Log;
  /** Aborted by SIGTERM or SIGINT. */
  readonly stop: AbortSignal;
  readonly notifier: Notifier;
}

/** How requests are served. */
export interface ServeOptions {
  /** Reads the configuration again, for a restart in place after the set-up page changed it. */
  readonly reload: () => LoadedConfig;
  /** A store that this machine has just taken over. */
  readonly promoted?: Promoted | undefined;
  /** Whether the serving ends when another server takes over. Otherwise, requests are rejected until the process stops. */
  readonly endsWhenDeposed?: boolean;
}

/** What all runs of a process share. */
interface Running extends ServerProcess, ServeOptions {
  /** The right to write; undefined without a replica. */
  readonly lease: OwnedLease | undefined;
}

/** How the serving ended. */
export interface ServeResult {
  readonly how: "stop" | "deposed";
  /** The configuration of the last run. */
  readonly loaded: LoadedConfig;
  /** Whether everything is in the replica. */
  readonly isReplicated: boolean;
}

/**
 * Runs the server until SIGTERM or SIGINT. Requests in progress may take up to 30 s more.
 * @param reload as in {@link ServeOptions}
 * @throws StartupError with what is wrong and what to do
 */
export async function runServer(loaded: LoadedConfig, log: Log, reload = () => loaded): Promise<void> {
  await holdDirectory(loaded, log, async (running) => {
    rejectUnfinishedPromotion(dataPaths(loaded.config.data));
    await serve(loaded, running, { reload });
  });
}

/** Runs `work` with the lock of the data directory. @throws StartupError if another process has it */
export async function holdDirectory(
  { config }: LoadedConfig,
  log: Log,
  work: (running: ServerProcess) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  // An error outside of every handler is a defect. It is logged, and must not abort the uploads of other users.
  process.on("uncaughtException", (error) => log.error("Uncaught exception.", { error }));
  process.on("unhandledRejection", (error) => log.error("Unhandled promise rejection.", { error }));
  openDataDirectory(config.data);
  const notifier = await openNotifier(process.env, log);
  const lock = acquireServerLock(dataPaths(config.data).lock);
  try {
    notifier.extend(START_MS_MAX);
    await work({ log, stop: stop.signal, notifier });
  } catch (error) {
    if (error !== stop.signal.reason) throw explainOpening(error, dataPaths(config.data));
    log.info("Stopped before the store was opened.");
  } finally {
    notifier.close();
    lock.release();
    process.off("SIGTERM", onSignal);
    process.off("SIGINT", onSignal);
  }
}

/** Serves requests until the process must stop, or another server takes over. */
export async function serve(loaded: LoadedConfig, running: ServerProcess, options: ServeOptions): Promise<ServeResult> {
  // Before the lease: a server that can't replicate must not take it.
  await findReplicaParts(loaded.config);
  const lease = options.promoted?.lease ?? (await acquireLease(loaded, running.log, running.stop));
  let isReplicated = false;
  try {
    const result = await runUntilEnd(loaded, { ...running, ...options, lease });
    isReplicated = result.isReplicated && result.how === "stop";
    return result;
  } finally {
    await lease?.close(isReplicated);
  }
}

/** Runs the server, and again after each request to restart. */
async function runUntilEnd(loaded: LoadedConfig, running: Running): Promise<ServeResult> {
  let current = loaded;
  for (let { promoted } = running; ; promoted = undefined) {
    const { how, port, isReplicated } = await runOnce(current, { ...running, promoted });
    const next = how === "restart" ? running.reload() : current;
    if (how === "restart" && next.config.preset !== "household") {
      running.log.warn(
        "The household preset chosen on the set-up page has no effect; preset is set elsewhere. To see where: larder config",
      );
    }
    // Port 0 means any port. Keep the one that was picked: browsers know it.
    current = next.config.port === 0 ? { ...next, config: { ...next.config, port } } : next;
    if (how !== "restart") return { how, loaded: current, isReplicated };
  }
}

/** Opens the data directory, serves requests until the end of the run, then closes everything. */
async function runOnce(loaded: LoadedConfig, running: Running): Promise<RunResult> {
  const { log, stop, notifier, lease, promoted } = running;
  notifier.extend(START_MS_MAX);
  notifier.status("Opening the data directory and upgrading it if needed.");
  const services = await openServices(loaded, log, systemClock, undefined, lease);
  lease?.setDatabaseEpoch(identifyDatabase(services.paths.database));
  await prepareServices(services);
  if (promoted !== undefined) await noteAbsent(services, promoted);

  const end = Promise.withResolvers<RunResult["how"]>();
  if (stop.aborted) end.resolve("stop");
  stop.addEventListener("abort", () => end.resolve("stop"), { once: true });
  const background = new Background(services);
  const { replica } = services;
  const isOwner = lease !== undefined && replica !== undefined;
  const fence = isOwner ? openFence(services, lease, replica) : undefined;
  if (isOwner) services.removals.enable({ lease, replica, ttlMs: lease.ttlMs });
  const http = new HttpServer({ services, loaded, background, fence, lease, restart: () => end.resolve("restart") });
  await promoted?.beforeListening?.();
  await http.listen();
  noteStart(services, lease);
  await background.start();
  await announceStart(services, http.listener, notifier);
  if (promoted !== undefined) announceTakeover(background, promoted);
  const idleMemory = watchIdleMemory(services, http);
  lease?.onDeposed(() => end.resolve("deposed"));

  const how = await end.promise;
  const { port, pendingRequests } = http.listener;
  http.startDraining();
  idleMemory.stop();
  if (how === "stop") notifier.stopping(DRAIN_MS + CLOSE_MS_MAX + snapshotMs(services.paths.database));
  background.stopTimers();
  log.info(ENDS[how], { requestsUnderWay: pendingRequests });
  if (how === "deposed") await http.finishRequests();
  else await http.drain();
  await background.stop();
  const isReplicated = await services.close({ takeSnapshot: how !== "deposed", endsProcess: how === "stop" });
  if (how === "deposed") await waitDeposed(http, running);
  return { how, port, isReplicated };
}

const ENDS: Readonly<Record<RunResult["how"], string>> = {
  stop: "Stopping.",
  restart: "Restarting with the new settings.",
  deposed: "Closing the store, because another server has taken it over.",
};

/** Rejects all requests, with the reason why this server does nothing any more, until it is stopped. */
async function waitDeposed(
  { listener }: HttpServer,
  { stop, notifier, lease, endsWhenDeposed = false }: Running,
): Promise<void> {
  if (endsWhenDeposed) return listener.cut();
  notifier.status(lease?.problem ?? "");
  notifier.watch(() => {});
  const { promise, resolve } = Promise.withResolvers<void>();
  stop.addEventListener("abort", () => resolve(), { once: true });
  if (stop.aborted) resolve();
  await promise;
  await listener.cut();
}

function noteStart({ audit, config }: Services, lease: OwnedLease | undefined): void {
  const { signup, audit: audited, rateLimits } = config;
  audit.note({
    action: "server.start",
    outcome: "done",
    via: "system",
    details: {
      version: VERSION,
      signup,
      auditFiles: audited.files,
      rateLimits,
      ...(lease !== undefined && { epoch: lease.epoch }),
    },
  });
}

/** Records the blobs that the former owner had not sent, so that their owners are notified. */
async function noteAbsent({ integrity }: Services, { absent }: Promoted): Promise<void> {
  const fault = { kind: "missing", detail: "not in the bucket when this machine took over" } as const;
  await integrity.note(absent.map((digest) => ({ digest, fault })));
}

/** Compares the whole bucket in the background: before the start, only the last blobs were compared. */
function announceTakeover({ scheduler }: Background, { onServing }: Promoted): void {
  void scheduler.runNow(BUCKET_RECONCILIATION_JOB);
  onServing?.();
}

/** Releases memory while the server is idle. */
function watchIdleMemory({ db }: Services, http: HttpServer): IdleMemory {
  const idleMemory = new IdleMemory({
    requestCount: () => http.requests.total,
    pendingRequests: () => http.pendingRequests(),
    residentBytes: () => process.memoryUsage.rss(),
    release() {
      db.sqlite.run("PRAGMA shrink_memory");
      Bun.shrink();
    },
  });
  idleMemory.start();
  return idleMemory;
}

/** Prints where the server listens, and reports it to the service manager. */
async function announceStart(services: Services, listener: Listener, notifier: Notifier): Promise<void> {
  const { config, db, log } = services;
  const url = listenAddress(config, listener.port);
  // If the server listens on a socket, only the proxy knows the address for users.
  const local = config.socket === null ? browserAddresses(config, listener.port) : ["https://ADDRESS-OF-YOUR-PROXY"];
  const announce = announcer(config.log);
  await printSetupLink(services, config.publicUrl === null ? local : [config.publicUrl], announce);
  announce(`Larder ${VERSION} (${COMMIT}) listening on ${url}`);
  if (listener.redirectPort !== undefined) log.info("Redirecting HTTP to HTTPS.", { port: listener.redirectPort });
  notifier.ready(`Listening on ${url}.`);
  // Healthy while the database can be read. A restart would not help against a missing store.
  notifier.watch(() => void db.sqlite.query("PRAGMA schema_version").get());
}

async function printSetupLink({ auth }: Services, addresses: readonly string[], announce: Announce): Promise<void> {
  const token = await auth.newSetupToken();
  if (token === undefined) return;
  const links = addresses.map((address) => `${address}/setup?token=${token}`);
  const [begin, end] = [
    "There is no administrator yet. Create one within 24 hours at:",
    "or on the command line: larder user add EMAIL --admin --password-stdin",
  ];
  const [first = "", ...local] = links;
  const lines = [first, ...local.map((link) => `${link} (on this machine)`)];
  announce(`${begin} ${lines.join(" or ")} ${end}`, `${begin}\n${lines.map((line) => `  ${line}\n`).join("")}${end}\n`);
}

/** How long a slow disk takes to write a snapshot of the database. */
function snapshotMs(database: string): number {
  return Math.ceil(fs.statSync(database).size / SLOW_DISK_BYTES_PER_MS);
}
