/**
 * Sends the messages in the outbox. Each device gets one message at a time, so that their order is preserved. Many
 * devices are served concurrently, but only a few of each concurrency group, so that a slow push service does not block
 * the others. Transactions that create messages wake the dispatcher, and so does a timer for the next due message. No
 * request ever waits for it.
 */
import type { Writer } from "../../../db/transaction.ts";
import { DispatchLoop } from "../../../jobs/dispatch-loop.ts";
import { type Backoff, backoffMs } from "../../../lib/backoff.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { DeliveryOutcome, PushChannel, PushTarget } from "./channels/channel.ts";
import { messageOf, type Outbox } from "./outbox.ts";
import { decidePush, preferencesInForce } from "./preferences.ts";
import type { HeadRow } from "./queries.ts";
import type { PushChannelSet } from "./types.ts";

/** Dependencies of {@link Dispatcher}. */
export interface DispatcherOptions {
  readonly outbox: Outbox;
  readonly writer: Writer;
  readonly channels: PushChannelSet;
  readonly clock: Clock;
  readonly log: Log;
  /** The time limit of one attempt; default 10 s. */
  readonly attemptMs?: number;
  /** The delays between attempts; by default 10 s, doubled up to an hour. */
  readonly backoff?: Backoff;
}

/** The next step for the first message in a device's queue. */
type Plan =
  | { readonly action: "send"; readonly channel: PushChannel; readonly target: PushTarget }
  | { readonly action: "defer"; readonly untilMs: number }
  | { readonly action: "drop"; readonly why: string };

const ATTEMPT_MS = 10_000;
const BACKOFF: Backoff = { firstMs: 10_000, maxMs: 60 * 60_000 };
/** A message is dropped when it could not be delivered for this long. */
const GIVE_UP_AFTER_MS = 48 * 60 * 60_000;
/** The longest `Retry-After` of a push service that is honored. */
const RETRY_AFTER_MS_MAX = 24 * 60 * 60_000;
const CONCURRENT_MAX = 64;
const PER_GROUP_MAX = 8;

/** Sends the messages in the outbox to the push services. */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #loop: DispatchLoop;
  /** The concurrency group of each device with an attempt in progress. */
  readonly #inFlight = new Map<number, string | null>();

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#loop = new DispatchLoop({
      ...options,
      what: "push notifications",
      startDue: (nowMs) => this.#startDue(nowMs),
    });
  }

  /** Starts sending. Until then, messages only accumulate. */
  start(): void {
    this.#loop.start();
  }

  /** Looks for due messages soon. Cheap to call often. */
  wake(): void {
    this.#loop.wake();
  }

  /** Starts no more attempts and aborts those in progress, which are repeated after the next start. */
  close(): Promise<void> {
    return this.#loop.close();
  }

  #startDue(nowMs: number): number | undefined {
    while (this.#startSome(nowMs) > 0);
    this.#resetDueTimes(nowMs);
    return this.#options.outbox.nextDueMs(nowMs);
  }

  /**
   * @returns the number of attempts started; a group that just became full may have hidden due devices of other groups
   */
  #startSome(nowMs: number): number {
    const groups = [...this.#inFlight.values()].filter((group) => group !== null);
    const fullGroups = [...new Set(groups)].filter((group) => this.#isFull(group));
    const free = CONCURRENT_MAX - this.#inFlight.size;
    if (free <= 0) return 0;
    let started = 0;
    const due = this.#options.outbox.due(nowMs, [...this.#inFlight.keys()], fullGroups, free);
    for (const { deviceId, concurrencyGroup } of due) {
      if (concurrencyGroup !== null && this.#isFull(concurrencyGroup)) continue;
      started++;
      this.#begin(deviceId, concurrencyGroup);
    }
    return started;
  }

  /** A message created while the clock was ahead must not wait until that time comes again. */
  #resetDueTimes(nowMs: number): void {
    for (const deviceId of this.#options.outbox.dueTooLate(nowMs, CONCURRENT_MAX)) {
      if (this.#inFlight.size >= CONCURRENT_MAX) return;
      if (!this.#inFlight.has(deviceId)) this.#begin(deviceId, null);
    }
  }

  #isFull(group: string): boolean {
    let inProgress = 0;
    for (const other of this.#inFlight.values()) if (other === group) inProgress++;
    return inProgress >= PER_GROUP_MAX;
  }

  #begin(deviceId: number, group: string | null): void {
    this.#inFlight.set(deviceId, group);
    void this.#loop
      .begin(deviceId, (stop) => this.#serve(deviceId, stop))
      .finally(() => {
        this.#inFlight.delete(deviceId);
        this.wake();
      });
  }

  /** Sends, defers or drops the first message in a device's queue. */
  async #serve(deviceId: number, stop: AbortSignal): Promise<void> {
    const { outbox, clock } = this.#options;
    const nowMs = clock.nowMs();
    const head = outbox.head(deviceId, nowMs);
    if (head === undefined) return this.#loop.write(() => outbox.resetDueTimes(deviceId, nowMs));
    const plan = this.#planFor(head, nowMs);
    if (plan.action !== "send") return this.#loop.write(() => this.#deferOrDrop(deviceId));
    const outcome = await this.#deliver(plan.channel, plan.target, head, stop);
    // The server stops: the attempt does not count.
    if (outcome === undefined) return undefined;
    const endedMs = clock.nowMs();
    const pause = this.#pauseAfter(head, outcome, endedMs);
    this.#logOutcome(plan.channel, head, outcome, pause.isLast);
    return this.#loop.write(() => outbox.recordOutcome(deviceId, head, outcome, pause, endedMs));
  }

  /**
   * Defers or drops the first message of a device. The plan is made again in the transaction that writes it, because
   * the preferences may have changed since. A message that such a change released must not be deferred, or later
   * messages would overtake it.
   */
  #deferOrDrop(deviceId: number): void {
    const { outbox, clock } = this.#options;
    const nowMs = clock.nowMs();
    const head = outbox.head(deviceId, nowMs);
    if (head === undefined) return;
    const plan = this.#planFor(head, nowMs);
    if (plan.action === "defer") outbox.defer(deviceId, plan.untilMs);
    if (plan.action === "drop") outbox.drop(deviceId, head.id, plan.why, nowMs);
  }

  /** Decides at the last moment, because preferences, token and account may have changed while the message waited. */
  #planFor(head: HeadRow, nowMs: number): Plan {
    if (head.isDisabled !== 0) return drop("the account is disabled");
    if (head.isSignedIn === 0 && (head.isBrowser !== 0 || head.category !== "security"))
      return drop("the device is signed out");
    const target = head.token === null ? undefined : { token: head.token, platform: head.platform ?? "" };
    const channel = target && this.#options.channels.pick(target);
    if (channel === undefined || target === undefined) return drop("the device has no push channel");
    const decision = decidePush(preferencesInForce(head.preferences, head.userSettings), head.category, nowMs);
    if (decision.action === "mute") return drop("the device has turned off this category");
    return decision.action === "defer" ? decision : { action: "send", channel, target };
  }

  /** Makes one attempt within the time limit. @returns undefined if the server stops during the attempt */
  async #deliver(
    channel: PushChannel,
    target: PushTarget,
    head: HeadRow,
    stop: AbortSignal,
  ): Promise<DeliveryOutcome | undefined> {
    const { attemptMs = ATTEMPT_MS, log } = this.#options;
    const giveUp = new AbortController();
    const ended = Promise.withResolvers<DeliveryOutcome | undefined>();
    const timer = setTimeout(() => {
      ended.resolve({ state: "retry", why: "no response in time" });
      giveUp.abort();
    }, attemptMs);
    const onStop = () => {
      ended.resolve(undefined);
      giveUp.abort();
    };
    stop.addEventListener("abort", onStop, { once: true });
    try {
      // A channel that ignores the signal must not block the device.
      return await Promise.race([channel.deliver(target, messageOf(head), giveUp.signal), ended.promise]);
    } catch (error) {
      log.error("A push channel failed unexpectedly; will retry.", { channel: channel.name, error });
      return { state: "retry", why: "the push channel failed" };
    } finally {
      clearTimeout(timer);
      stop.removeEventListener("abort", onStop);
    }
  }

  #pauseAfter(head: HeadRow, outcome: DeliveryOutcome, nowMs: number) {
    const { backoff = BACKOFF } = this.#options;
    const retryAfterMs = outcome.state === "retry" ? Math.min(outcome.afterMs ?? 0, RETRY_AFTER_MS_MAX) : 0;
    const untilMs = nowMs + Math.max(backoffMs(head.attempts + 1, backoff), retryAfterMs);
    return { untilMs, isLast: untilMs > head.createdAt + GIVE_UP_AFTER_MS };
  }

  #logOutcome(channel: PushChannel, head: HeadRow, outcome: DeliveryOutcome, isLast: boolean): void {
    const { log } = this.#options;
    const fields = { message: head.publicId, channel: channel.name, attempts: head.attempts + 1 };
    if (outcome.state === "delivered") log.debug("Push notification delivered.", fields);
    else if (outcome.state === "gone")
      log.info("Push token no longer valid; removed it.", { ...fields, why: outcome.why });
    else if (outcome.state === "rejected")
      log.warn("Push notification rejected; dropped it.", { ...fields, why: outcome.why });
    else if (isLast)
      log.warn("Push notification dropped; it could not be delivered in time.", { ...fields, why: outcome.why });
    else if (head.attempts === 0)
      log.info("Push notification delivery failed; will retry.", { ...fields, why: outcome.why });
  }
}

function drop(why: string): Plan {
  return { action: "drop", why };
}
