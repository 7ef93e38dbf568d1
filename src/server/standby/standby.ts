/**
 * A machine that waits beside the owner of the store with a copy of its replica. It answers every request with status 503,
 * so that a proxy or a floating address can point at both machines.
 *
 * An owner that was stopped in order has released its lease. That is no failure: it is restarted, or its administrator
 * switches the machines on purpose. Only an owner whose heartbeats stop without a release is replaced automatically.
 */
import * as fs from "node:fs";
import { dirname } from "node:path";
import { S3Error } from "../../blobs/s3/error.ts";
import { describeSize } from "../../config/quantities.ts";
import { StartupError } from "../../config/startup-error.ts";
import { holderOf, identifyDirectory } from "../../features/storage/replication/directory-identity.ts";
import { machineClock } from "../../features/storage/replication/lease-clock.ts";
import { type LeaseRecord, parseHeartbeat } from "../../features/storage/replication/lease-record.ts";
import { databaseEpochOf, silenceMs, type Watch } from "../../features/storage/replication/lease-rules.ts";
import type { ReplicaMirror } from "../../features/storage/replication/mirror.ts";
import { systemClock } from "../../lib/clock.ts";
import { announcer } from "../../lib/log.ts";
import { VERSION } from "../../version.ts";
import { messageOf } from "../../lib/error.ts";
import { say } from "../../translations/say.ts";
import { hasFormerData } from "../data/former-data.ts";
import { listenAddress } from "../net/listen-address.ts";
import { Listener } from "../net/listener.ts";
import { respondUnavailable } from "../net/unavailable-response.ts";
import type { Notifier } from "../net/notify.ts";
import type { StandbyContext } from "./context.ts";
import { restoreNewest, setFormerDataAside } from "./continue-from-replica.ts";
import { isPromotionUnfinished, promote, type Promoted } from "./promotion.ts";
import { StandbyFiles, type StandbyStep } from "./standby-state.ts";

/** What is known about the owner. */
type OwnerState = "alive" | "released" | "silent" | "unknown";

/** How often the owner's heartbeat is read within the lease time, and at most. */
const POLLS_PER_TTL = 4;
const POLL_MS_MAX = 10_000;
/** How often the replica is copied. */
const COPY_MS = 5_000;
/** How often everything in the replica is listed: for new snapshots, and to remove what is not needed any more. */
const COMPLETE_MS = 10 * 60_000;
/** How often a request to take over is looked for. */
const REQUEST_MS = 200;
/** The pause after a takeover that was interrupted, for example by an outage of the bucket. */
const RETRY_MS = 10_000;
/** How long an automatic takeover waits after one that failed: another standby may have what this one lacks. */
const AFTER_FAILURE_MS = 60_000;

/** The response to clients. They try again soon after a takeover. */
const STANDBY = { message: say`This machine is the standby of another server. Try again in a moment.`, retryAfterS: 5 };

/** Waits, and takes over. */
export class Standby {
  readonly #context: StandbyContext;
  readonly #notifier: Notifier;
  readonly #files: StandbyFiles;
  #owner: LeaseRecord;
  #watch: Watch | undefined;
  #state: OwnerState = "unknown";
  #text = "";
  #attempts = 0;
  #failure: string | null = null;
  #failedAtMs = Number.NEGATIVE_INFINITY;
  /** When everything was listed last, by the monotonic clock. */
  #completeAtMs = Number.NEGATIVE_INFINITY;
  #mirror: ReplicaMirror | undefined;
  #copyFailure: string | undefined;
  /** Whether an outage has interrupted a takeover. */
  #isInterrupted = false;

  /** @param owner the newest lease, which another directory holds */
  constructor(context: StandbyContext, owner: LeaseRecord, notifier: Notifier) {
    this.#context = context;
    this.#owner = owner;
    this.#notifier = notifier;
    this.#files = new StandbyFiles(context.paths.root);
  }

  /**
   * Waits until this machine takes over.
   * @returns the store, and the port on which it waited; undefined if `stop` was aborted first @throws StartupError if the address is taken
   */
  async run(stop: AbortSignal): Promise<{ promoted: Promoted; port: number } | undefined> {
    const { config } = this.#context.loaded;
    const listener = await Listener.open({
      config,
      log: this.#context.log,
      clock: systemClock,
      fetch: (request) => respondUnavailable(request, config.basePath, { ...STANDBY, reason: this.#text }),
      error: () => new Response(null, { status: 503 }),
    });
    let promoted: Promoted | undefined;
    try {
      this.#report("waiting", "This machine is the standby.");
      this.#notifier.ready(`Standby, listening on ${listenAddress(config, listener.port)}.`);
      this.#notifier.watch(() => {});
      announcer(config.log)(`Larder ${VERSION} is a standby, listening on ${listenAddress(config, listener.port)}`);
      this.#files.takeRequest();
      promoted = await this.#wait(stop);
    } finally {
      if (promoted === undefined) await listener.cut();
    }
    if (promoted === undefined) return undefined;
    return { promoted: { ...promoted, beforeListening: () => listener.cut() }, port: listener.port };
  }

  async #wait(stop: AbortSignal): Promise<Promoted | undefined> {
    while (!stop.aborted) {
      const paused = new AbortController();
      const signal = AbortSignal.any([stop, paused.signal]);
      const copying = this.#copyUntil(signal);
      try {
        await this.#watchUntilNeeded(stop);
      } finally {
        paused.abort();
        await copying;
      }
      const promoted = stop.aborted ? undefined : await this.#promote(stop);
      if (promoted !== undefined)
        return { ...promoted, onServing: () => this.#report("serving", "This machine serves the store.") };
    }
    this.#files.remove();
    return undefined;
  }

  /** Watches the owner until this machine must take over, or `stop` is aborted. */
  async #watchUntilNeeded(stop: AbortSignal): Promise<void> {
    const { replica, standby } = this.#context.loaded.config;
    const pollMs = Math.min(POLL_MS_MAX, replica.leaseMs / POLLS_PER_TTL);
    while (!stop.aborted) {
      await this.#checkOwner();
      const isRested = performance.now() - this.#failedAtMs > AFTER_FAILURE_MS;
      if ((standby.automatic && this.#state === "silent" && isRested) || this.#mustContinue()) return;
      const untilMs = performance.now() + pollMs;
      while (performance.now() < untilMs && !stop.aborted) {
        if (this.#files.takeRequest()) return;
        await machineClock.sleep(REQUEST_MS, stop);
      }
    }
  }

  /** Whether this machine has taken the lease and could not restore the database: nobody else serves then. */
  #mustContinue(): boolean {
    const own = holderOf(this.#owner.store, identifyDirectory(this.#context.paths.root));
    return this.#isInterrupted && this.#owner.holder === own;
  }

  /** @returns undefined if that failed: the standby continues */
  async #promote(stop: AbortSignal): Promise<Promoted | undefined> {
    const context = this.#context;
    const report = (text: string) => this.#report("promoting", text);
    context.log.info("Taking over.", { owner: this.#owner.host, epoch: this.#owner.epoch });
    this.#attempts++;
    this.#failure = null;
    report("Taking over.");
    try {
      return await promote(context, { report, signal: stop }, this.#watch);
    } catch (error) {
      if (stop.aborted) return undefined;
      if (!(error instanceof StartupError)) throw error;
      context.log.warn("Could not take over; this machine stays the standby.", { error: error.message });
      this.#failure = error.message;
      this.#failedAtMs = performance.now();
      this.#watch = undefined;
      this.#report("waiting", this.#text);
      this.#isInterrupted = error.cause instanceof S3Error && isPromotionUnfinished(context.paths);
      if (this.#isInterrupted) await machineClock.sleep(RETRY_MS, stop);
      return undefined;
    }
  }

  /** Reads who owns the store, and whether the owner is alive. */
  async #checkOwner(): Promise<void> {
    const { leases, loaded } = this.#context;
    const startedMs = machineClock.now().monotonicMs;
    try {
      for (let next = await leases.read(this.#owner.epoch + 1); next !== undefined; ) {
        this.#owner = next;
        next = await leases.read(next.epoch + 1);
      }
      const { epoch } = this.#owner;
      const heartbeat = await leases.readHeartbeat(epoch);
      const nowMs = machineClock.now().monotonicMs;
      const isSame = this.#watch?.epoch === epoch && this.#watch.heartbeat === heartbeat;
      const sinceMs = isSame && this.#watch !== undefined ? this.#watch.sinceMs : nowMs;
      this.#watch = { epoch, heartbeat, sinceMs, readMs: startedMs };
      // An owner without a database has failed to take over, and nobody serves.
      const hasDatabase = databaseEpochOf({ lease: this.#owner, heartbeat }) !== null;
      const isReleased = hasDatabase && parseHeartbeat(heartbeat)?.isReleased === true;
      const isSilent = startedMs - sinceMs >= silenceMs(loaded.config.replica.leaseMs, this.#owner);
      this.#setState(isReleased ? "released" : isSilent ? "silent" : "alive");
    } catch (error) {
      if (!(error instanceof S3Error)) throw error;
      // The owner can't be heard: its silence does not count.
      this.#watch = undefined;
      this.#setState("unknown", error.message);
    }
  }

  /** Logs and reports a change. */
  #setState(state: OwnerState, detail?: string): void {
    const { host, epoch } = this.#owner;
    const text = {
      alive: `${host} owns the store and is running. This machine is its standby.`,
      released: `${host} was stopped in order. This machine is its standby, and waits. To take over, run larder promote.`,
      silent: `${host} sends no heartbeat. To let this machine take over, run larder promote.`,
      unknown: `The replica is not reachable: ${detail ?? ""}`,
    }[state];
    if (state !== this.#state || text !== this.#text) this.#report("waiting", text);
    if (state === this.#state) return;
    const { log } = this.#context;
    this.#state = state;
    if (state === "alive") log.info(text, { epoch });
    else log.warn(text, { epoch });
  }

  #report(step: StandbyStep, text: string): void {
    this.#text = text;
    this.#notifier.status(text);
    this.#files.write({ pid: process.pid, step, text, attempts: this.#attempts, failure: this.#failure });
  }

  /** Copies the replica every few seconds. */
  async #copyUntil(signal: AbortSignal): Promise<void> {
    const { log } = this.#context;
    while (!signal.aborted) {
      try {
        await this.#copy(signal);
        if (this.#copyFailure !== undefined) log.info("The replica is copied again.");
        this.#copyFailure = undefined;
      } catch (error) {
        if (signal.aborted) return;
        if (messageOf(error) !== this.#copyFailure) log.warn("Could not copy the replica; will retry.", { error });
        this.#copyFailure = messageOf(error);
      }
      await machineClock.sleep(COPY_MS, signal);
    }
  }

  async #copy(signal: AbortSignal): Promise<void> {
    const { mirrors, leases, log } = this.#context;
    const isComplete = performance.now() - this.#completeAtMs > COMPLETE_MS;
    const isCurrent = this.#mirror !== undefined && this.#mirror === mirrors.open(this.#owner.path);
    if (isCurrent && !isComplete) {
      await this.#mirror?.update({ kind: "quick", signal });
      return;
    }
    // A new owner sends the whole database first. Until then, the path before has the newest state.
    const mirror = await mirrors.findNewest(leases, this.#owner);
    if (mirror === undefined) return;
    const bytes = await mirror.update({ kind: "snapshot", signal });
    if (mirror !== this.#mirror) log.info("Copied the replica.", { size: describeSize(bytes) });
    this.#mirror = mirror;
    this.#completeAtMs = performance.now();
    mirror.prune();
    mirrors.removeOthers(mirror);
    if (hasFormerData(this.#context.paths)) await this.#setFormerDataAside(mirror, signal);
  }

  /** The directory was the owner's: its database must not be used again, and its last changes must not be lost. */
  async #setFormerDataAside(mirror: ReplicaMirror, signal: AbortSignal): Promise<void> {
    const restored = await restoreNewest(this.#context, mirror, signal);
    setFormerDataAside(this.#context, restored);
    fs.rmSync(dirname(restored), { recursive: true, force: true });
  }
}
