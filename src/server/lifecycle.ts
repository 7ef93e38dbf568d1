/** From start to end of a server: lock, recovery, "listening on", and the orderly stop. */
import * as fs from "node:fs";
import { join } from "node:path";
import { isExhausted, translateDiskError } from "../blobs/disk.ts";
import { CONFIG_FILE, type LoadedConfig } from "../config/load.ts";
import { readAdminPassword } from "../config/secrets.ts";
import type { Config } from "../config/settings.ts";
import { StartupError } from "../config/startup-error.ts";
import { auditGuard } from "../features/administration/audit/guard.ts";
import { QueueWorker } from "../features/mobile/offline-queue/worker.ts";
import { findCopyStart } from "../features/storage/store-journal/opened-copy.ts";
import { withRetryAfter } from "../http/base.ts";
import { BodyPaces } from "../http/body-pace.ts";
import { LOCAL_PEER } from "../http/client-address.ts";
import { errorResponseOf } from "../http/error-response.ts";
import { ClockWatch } from "../jobs/clock-watch.ts";
import { Scheduler } from "../jobs/scheduler.ts";
import { type Announce, announcer, type Log } from "../lib/log.ts";
import { COMMIT, VERSION } from "../version.ts";
import { createApp } from "./http/app.ts";
import type { AppHost } from "./http/host.ts";
import { ConnectionGuard, descriptorsMax } from "./net/connection-guard.ts";
import { dataPaths, openDataDirectory, syncDirectory } from "./data/data-directory.ts";
import { listenAddress } from "./net/listen-address.ts";
import { Listener } from "./net/listener.ts";
import { openNotifier, type Notifier } from "./net/notify.ts";
import { observeRequests } from "./observability/observe.ts";
import { RequestStatistics } from "./observability/request-statistics.ts";
import { acquireServerLock } from "./data/lock.ts";
import { explainOpening } from "./composition/open-data.ts";
import { openServices, type Services } from "./composition/services.ts";
import { REAP_JOB } from "../features/library/jobs.ts";
import { QUICK_CHECK_JOB, SNAPSHOT_JOB } from "../features/storage/jobs.ts";
import { timetable } from "./composition/timetable.ts";

/** How long requests that are under way may still take once the server was told to stop. */
const DRAIN_MS = 30_000;
/** How long the start may take where the database must be changed first, or the data is a copy. */
const START_MS_MAX = 3_600_000;
/** How long closing everything may take after that. */
const CLOSE_MS_MAX = 10_000;
const SLOW_DISK_BYTES_PER_MS = 10_000;
/** How often it is looked whether another process changed something: by requests, and where there are none. */
const CHANGES_MS = 1;
const NOTICE_MS = 1_000;
const SCHEDULE_AFTER_MS = 500;
/** The look for damage leaves the first requests alone. */
const CHECK_AFTER_MS = 120_000;
/** How often it is looked whether the database should be copied; looking costs nothing. */
const SNAPSHOT_LOOK_MS = 1_000;
/** How a run of the server ended. */
interface Ending {
  readonly how: "stop" | "restart";
  /** On which it listened. */
  readonly port: number;
}

/**
 * Runs the server until SIGTERM or SIGINT. What has begun is finished, for 30 s at most.
 * @param reload reads the configuration again, for a restart in place after the set-up page changed it
 * @throws StartupError with what is wrong and what to do
 */
export async function runServer(loaded: LoadedConfig, log: Log, reload = () => loaded): Promise<void> {
  const { config } = loaded;
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  // Whatever slips past every handler is a defect, to be seen in the log; it must not take everybody's uploads along.
  process.on("uncaughtException", (error) => log.error("Uncaught exception.", { error }));
  process.on("unhandledRejection", (error) => log.error("Unhandled promise rejection.", { error }));
  openDataDirectory(config.data);
  const notifier = await openNotifier(process.env, log);
  const lock = acquireServerLock(dataPaths(config.data).lock);
  try {
    let current = loaded;
    for (;;) {
      const { how, port } = await runOnce(current, log, stop.signal, notifier);
      if (how === "stop") break;
      const next = reload();
      if (next.config.preset !== "household") {
        log.warn(
          "The household preset chosen on the set-up page has no effect; preset is set elsewhere. To see where: larder config",
        );
      }
      // Port 0 is any port: browsers know the one that was picked, so it stays.
      current = next.config.port === 0 ? { ...next, config: { ...next.config, port } } : next;
    }
  } catch (error) {
    throw explainOpening(error, dataPaths(config.data));
  } finally {
    notifier.close();
    lock.release();
    process.off("SIGTERM", onSignal);
    process.off("SIGINT", onSignal);
  }
}

async function runOnce(loaded: LoadedConfig, log: Log, stop: AbortSignal, notifier: Notifier): Promise<Ending> {
  const { config } = loaded;
  notifier.extend(START_MS_MAX);
  notifier.status("Opening the data directory and upgrading it if needed.");
  const services = await openServices(config, log);
  const { blobs, limiter, db } = services;
  const swept = blobs.sweepStaging();
  if (swept > 0) log.info("Removed files of unfinished uploads.", { files: swept });
  await services.derived.sweep();
  await services.remoteStore?.checkAtStart();
  await services.uploads.recover();
  await services.tus.recover();
  limiter.load();
  services.reserve.take();
  await mergeIfCopied(services);
  await services.users.renewEmailForms();
  await openUnconfirmed(services);
  await makeFirstAdministrator(services);

  const clockWatch = new ClockWatch(services);
  clockWatch.start();
  const scheduler = new Scheduler({ ...services, jobs: timetable(services), clockWatch });
  services.onDetached.wake = () => void scheduler.runNow(REAP_JOB);
  const end = Promise.withResolvers<Ending["how"]>();
  let isDraining = false;
  let lookedMs = 0;
  const noticeChanges = () => {
    const nowMs = performance.now();
    if (nowMs - lookedMs < CHANGES_MS) return;
    lookedMs = nowMs;
    if (!db.changedElsewhere()) return;
    services.auth.dropCaches();
    services.apiKeys.dropCaches();
    services.tree.dropCaches();
    services.queue.dropCaches();
    services.blobRows.dropCaches();
    void scheduler.handleRequests();
    services.pushDispatcher.wake();
    services.mailDispatcher.wake();
    services.webhookSubscriptions.dropCaches();
    services.webhookDispatcher.wake();
  };
  const requests = new RequestStatistics(() => app.routes.map(({ path }) => path));
  const observed = observeRequests({
    log,
    logRequests: config.logRequests,
    isDebugging: config.logLevel === "debug",
    statistics: requests,
  });
  const bodies = new BodyPaces({ perAddressMax: config.maxSlowBodies });
  const host: AppHost = {
    requests,
    requestsUnderWay: () => listener.pendingRequests,
    certificateEndsMs: () => listener.certificateEndsMs,
    configuration: () => loaded,
    peerOf: (request) => listener.peerOf(request) ?? LOCAL_PEER,
    keepOpen: (request) => listener.keepOpen(request),
    allowLong: (request) => listener.allowLong(request),
    isDraining: () => isDraining,
    bodies,
    // A request that waits for a small body costs next to nothing, and each address has only so many of them.
    isOverloaded: () => listener.pendingRequests - bodies.waiting > config.maxRequests,
    noticeChanges,
    listJobs: () => scheduler.list(),
    runJob: (name) => scheduler.runNow(name),
    onSetUp: (use) => {
      if (use !== "household") return;
      try {
        keepPreset(config);
      } catch (error) {
        log.error('Could not write larder.toml. Add preset = "household" to it, then restart the server.', { error });
        return;
      }
      // After the answer is on its way.
      setTimeout(() => end.resolve("restart"), 100);
    },
  };
  const { app, routes } = createApp(services, host);
  app.compile();
  const audited = auditGuard({
    ...services,
    files: config.audit.files,
    routeOf: (method, path) => routes.find(method, path),
  });
  const { basePath } = config;
  const listener = await Listener.open({
    config,
    log,
    clock: services.clock,
    fetch(request) {
      const url = routableUrl(request.url, basePath);
      // In place: a new Request made of this one would read the whole body into memory, however fast it comes.
      if (url !== request.url) Object.defineProperty(request, "url", { value: url });
      const answer = (response: Response) => withRetryAfter(request, response);
      return observed(request, () => {
        const audit = audited(request, app.fetch(request));
        return audit instanceof Promise ? audit.then(answer) : answer(audit);
      });
    },
    error(error) {
      // The file of a download is opened when the handler has answered: here is where it shows that nothing is left for it.
      const known = isExhausted(error) ? translateDiskError(error) : error;
      const { status, body, headers } = errorResponseOf(known, "none");
      if (status === 500) log.error("Could not create a response.", { error });
      return Response.json(body, { status, headers });
    },
  });
  const guard = new ConnectionGuard({ listener, log, descriptorsMax: descriptorsMax(config.maxConnections) });
  const noticing = setInterval(noticeChanges, NOTICE_MS);
  // The first answers come first.
  const scheduling = setTimeout(() => scheduler.start(), SCHEDULE_AFTER_MS);
  scheduling.unref();
  const copyWhenDue = () => {
    try {
      if (services.snapshots.isDue()) void scheduler.runNow(SNAPSHOT_JOB);
    } catch (error) {
      // Without a descriptor left the folder can't be read; the guard of connections has logged that, and makes room.
      if (!isExhausted(error)) log.warn("Cannot read the snapshots; will retry.", { error });
    }
  };
  const copying = setInterval(copyWhenDue, SNAPSHOT_LOOK_MS);
  if (services.snapshots.list().length === 0) copyWhenDue();
  const queueWorker = new QueueWorker(services);
  queueWorker.start();
  const checking = setTimeout(() => void scheduler.runNow(QUICK_CHECK_JOB), CHECK_AFTER_MS);
  checking.unref();
  services.pushDispatcher.start();
  services.mailDispatcher.start();
  services.passwordReset.handleRequests();
  services.audit.note({
    action: "server.start",
    outcome: "done",
    via: "system",
    details: { version: VERSION, signup: config.signup, auditFiles: config.audit.files, rateLimits: config.rateLimits },
  });
  services.searchIndexer.start();
  services.photoBackfill.start();
  services.storeJournal.start();
  services.remoteStore?.start();
  await services.mediaInfo.start();
  services.webhookDispatcher.start();
  const { port } = listener;
  const url = listenAddress(config, port);
  // Behind a socket only the proxy knows where people come in.
  const address = config.publicUrl ?? (config.socket === null ? url : "https://ADDRESS-OF-YOUR-PROXY");
  const announce = announcer(config.log);
  await printSetupLink(services, address, announce);
  announce(`Larder ${VERSION} (${COMMIT}) listening on ${url}`);
  if (listener.redirectPort !== undefined) log.info("Redirecting HTTP to HTTPS.", { port: listener.redirectPort });
  notifier.ready(`Listening on ${url}.`);
  // Whether the database can be read. A store that is not there is no reason to be started anew.
  notifier.watch(() => void db.sqlite.query("PRAGMA schema_version").get());

  if (stop.aborted) end.resolve("stop");
  stop.addEventListener("abort", () => end.resolve("stop"), { once: true });
  const how = await end.promise;
  isDraining = true;
  if (how === "stop") notifier.stopping(DRAIN_MS + CLOSE_MS_MAX + copyingMs(services.paths.database));
  guard.stop();
  clearInterval(noticing);
  clearInterval(copying);
  clearTimeout(scheduling);
  clearTimeout(checking);
  log.info(how === "stop" ? "Stopping." : "Restarting with the new settings.", {
    requestsUnderWay: listener.pendingRequests,
  });
  const isDrained = await Promise.race([listener.stop().then(() => true), Bun.sleep(DRAIN_MS).then(() => false)]);
  if (!isDrained) {
    log.warn("Some requests did not finish in time; aborted them.", { requests: listener.pendingRequests });
    await listener.cut();
  }
  await scheduler.stop();
  clockWatch.stop();
  await queueWorker.stop();
  await services.close({ takeSnapshot: true });
  return { how, port };
}

/** Brings an opened copy up to date. What that takes is loaded then alone: a start should be quick. */
async function mergeIfCopied(services: Services): Promise<void> {
  const copyStart = findCopyStart(services.sqlite);
  if (copyStart === undefined) return;
  const { mergeLater } = await import("./composition/merge-later.ts");
  await mergeLater(services, copyStart);
}

/** Without mail.verify nobody can confirm an address any more: what waits for that would wait for ever. */
async function openUnconfirmed({ config, receivedShares, log }: Services): Promise<void> {
  if (config.mail.verify) return;
  const shares = await receivedShares.claimUnconfirmed();
  if (shares === 0) return;
  log.info("mail.verify is off; opened the shares that were waiting for a confirmed email address.", { shares });
}

/**
 * Makes the administrator that the configuration names, while there is none.
 * @throws StartupError where somebody else's account has that e-mail
 */
async function makeFirstAdministrator({ config, users, audit, log }: Services): Promise<void> {
  const password = readAdminPassword(config);
  if (!config.adminEmail || password === undefined || users.hasAdministrator()) return;
  const holder = users.findByEmail(config.adminEmail);
  if (holder !== undefined) {
    throw new StartupError(
      `adminEmail is ${holder.email}, but the account with this email is not an administrator. It was not changed, ` +
        `because anyone could have created it. If it is yours, run: larder user set ${holder.email} --admin. Otherwise, ` +
        "set another adminEmail.",
    );
  }
  const input = {
    email: config.adminEmail,
    password,
    role: "admin",
    plan: config.defaultPlan,
    isByAdministrator: true,
  } as const;
  const user = await users.add(input, (tx, id) => {
    const subject = { id: users.findById(id)?.publicId, email: input.email };
    audit.write(tx, { action: "user.create", outcome: "done", via: "system", subject, details: { role: "admin" } });
  });
  log.info("Created the first administrator from the configuration.", { email: user.email });
}

async function printSetupLink({ auth }: Services, url: string, announce: Announce): Promise<void> {
  const token = await auth.newSetupToken();
  if (token === undefined) return;
  const [begin, link, end] = [
    "There is no administrator yet. Create one within 24 hours at:",
    `${url}/setup?token=${token}`,
    "or on the command line: larder user add EMAIL --admin --password-stdin",
  ];
  announce(`${begin} ${link} ${end}`, `${begin}\n  ${link}\n${end}\n`);
}

/** How long a slow disk takes to copy the database at the end. */
function copyingMs(database: string): number {
  return Math.ceil(fs.statSync(database).size / SLOW_DISK_BYTES_PER_MS);
}

/** Writes the choice of the set-up page into larder.toml, durably, above whatever it holds. */
function keepPreset(config: Config): void {
  const path = join(config.data, CONFIG_FILE);
  const before = fs.existsSync(path) ? fs.readFileSync(path, "utf8") : "";
  if (/^\s*preset\s*=/m.test(before)) return;
  const partial = `${path}.partial`;
  fs.writeFileSync(partial, `# Chosen on the set-up page.\npreset = "household"\n${before}`, {
    mode: 0o600,
    flush: true,
  });
  fs.renameSync(partial, path);
  syncDirectory(config.data);
}

/** Where the router begins to look for the path of a URL: host names shorter than that would be taken for a part of it. */
const ROUTER_PATH_FROM = 11;

/**
 * The URL under which the router finds a request: without the base path, which a proxy may have stripped already,
 * and with a host of which only the length matters there; links are made from the Host header.
 */
function routableUrl(url: string, basePath: string): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("//") + 2);
  const path = url.slice(start);
  const isBelow = path.startsWith(basePath) && "/?".includes(path.charAt(basePath.length));
  if (basePath === "" || !isBelow) return start >= ROUTER_PATH_FROM ? url : `http://localhost${path}`;
  const rest = path.slice(basePath.length);
  return `http://localhost${rest.startsWith("/") ? rest : `/${rest}`}`;
}
