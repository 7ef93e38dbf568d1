/**
 * Sends what waits in the outbox. One message at a time to each device, so that their order stays; many devices side by
 * side, but only a few by the same provider, so that a slow one stops nobody else. It runs on its own: woken by the deeds
 * that make messages and by a timer for the next that falls due; no request ever waits for it.
 */
import type { Writer } from "../../../db/transaction.ts";
import { DispatchLoop } from "../../../jobs/dispatch-loop.ts";
import { type Backoff, backoffMs } from "../../../lib/backoff.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { DeliveryOutcome, PushChannel, PushTarget } from "./channels/channel.ts";
import { messageOf, type Outbox } from "./outbox.ts";
import { preferencesInForce, wishOf } from "./preferences.ts";
import type { HeadRow } from "./queries.ts";
import type { PushChannelSet } from "./types.ts";

/** What {@link Dispatcher} works with. */
export interface DispatcherOptions {
  readonly outbox: Outbox;
  readonly writer: Writer;
  readonly channels: PushChannelSet;
  readonly clock: Clock;
  readonly log: Log;
  /** How long one attempt may take; default 10 s. */
  readonly attemptMs?: number;
  /** Of the waiting time between attempts; default 10 s, doubled up to an hour. */
  readonly backoff?: Backoff;
}

/** What is to be done with the message that is first in line. */
type Plan =
  | { readonly is: "send"; readonly channel: PushChannel; readonly target: PushTarget }
  | { readonly is: "hold"; readonly untilMs: number }
  | { readonly is: "drop"; readonly why: string };

const ATTEMPT_MS = 10_000;
const BACKOFF: Backoff = { firstMs: 10_000, maxMs: 60 * 60_000 };
/** A message that could not be delivered for so long is given up. */
const GIVE_UP_AFTER_MS = 48 * 60 * 60_000;
/** A push service may ask for patience, but not for more than this. */
const PATIENCE_MS_MAX = 24 * 60 * 60_000;
const SIDE_BY_SIDE_MAX = 64;
const LANE_MAX = 8;

/** See the head of this file. */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #loop: DispatchLoop;
  /** Devices that are being sent to, and their lanes. */
  readonly #inFlight = new Map<number, string | null>();

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#loop = new DispatchLoop({
      ...options,
      what: "push notifications",
      startDue: (nowMs) => this.#startDue(nowMs),
    });
  }

  /** Begins to send. Before it, messages only gather. */
  start(): void {
    this.#loop.start();
  }

  /** Something may be due: looks soon. Costs nothing when called often. */
  wake(): void {
    this.#loop.wake();
  }

  /** Begins nothing more and gives up what is under way, which is sent again after the next start. */
  close(): Promise<void> {
    return this.#loop.close();
  }

  #startDue(nowMs: number): number | undefined {
    while (this.#startSome(nowMs) > 0);
    this.#startStrays(nowMs);
    return this.#options.outbox.nextDueMs(nowMs);
  }

  /** @returns how many it began: a lane that became full may have hidden others that are due */
  #startSome(nowMs: number): number {
    const lanes = [...this.#inFlight.values()].filter((lane) => lane !== null);
    const fullLanes = [...new Set(lanes)].filter((lane) => this.#isFull(lane));
    const free = SIDE_BY_SIDE_MAX - this.#inFlight.size;
    if (free <= 0) return 0;
    let begun = 0;
    for (const { deviceId, lane } of this.#options.outbox.due(nowMs, [...this.#inFlight.keys()], fullLanes, free)) {
      if (lane !== null && this.#isFull(lane)) continue;
      begun++;
      this.#begin(deviceId, lane);
    }
    return begun;
  }

  /** What was made while the clock was ahead must not wait until it comes there again. */
  #startStrays(nowMs: number): void {
    for (const deviceId of this.#options.outbox.strays(nowMs, SIDE_BY_SIDE_MAX)) {
      if (this.#inFlight.size >= SIDE_BY_SIDE_MAX) return;
      if (!this.#inFlight.has(deviceId)) this.#begin(deviceId, null);
    }
  }

  #isFull(lane: string): boolean {
    let inLane = 0;
    for (const other of this.#inFlight.values()) if (other === lane) inLane++;
    return inLane >= LANE_MAX;
  }

  #begin(deviceId: number, lane: string | null): void {
    this.#inFlight.set(deviceId, lane);
    void this.#loop
      .begin(deviceId, (stop) => this.#serve(deviceId, stop))
      .finally(() => {
        this.#inFlight.delete(deviceId);
        this.wake();
      });
  }

  /** Does what is to be done with the first message of a device. */
  async #serve(deviceId: number, stop: AbortSignal): Promise<void> {
    const { outbox, clock } = this.#options;
    const nowMs = clock.nowMs();
    const head = outbox.head(deviceId, nowMs);
    if (head === undefined) return this.#loop.write(() => outbox.pullIn(deviceId, nowMs));
    const plan = this.#planFor(head, nowMs);
    if (plan.is !== "send") return this.#loop.write(() => this.#putOff(deviceId));
    const outcome = await this.#deliver(plan.channel, plan.target, head, stop);
    // Given up by the stop: no fault of anybody's.
    if (outcome === undefined) return undefined;
    const endedMs = clock.nowMs();
    const pause = this.#pauseAfter(head, outcome, endedMs);
    this.#tell(plan.channel, head, outcome, pause.isLast);
    return this.#loop.write(() => outbox.settle(deviceId, head, outcome, pause, endedMs));
  }

  /**
   * Holds or drops the first message of a device. Decided once more in the deed that writes it: a change of preferences may
   * have come in between, and what it let go must not be held after all, or later messages would overtake it.
   */
  #putOff(deviceId: number): void {
    const { outbox, clock } = this.#options;
    const nowMs = clock.nowMs();
    const head = outbox.head(deviceId, nowMs);
    if (head === undefined) return;
    const plan = this.#planFor(head, nowMs);
    if (plan.is === "hold") outbox.hold(deviceId, plan.untilMs);
    if (plan.is === "drop") outbox.drop(deviceId, head.id, plan.why, nowMs);
  }

  /** Decided at the last moment: preferences, token and account may have changed while it waited. */
  #planFor(head: HeadRow, nowMs: number): Plan {
    if (head.isDisabled !== 0) return { is: "drop", why: "the account is disabled" };
    if (head.isSignedIn === 0 && head.category !== "security") return { is: "drop", why: "the device is signed out" };
    const target = head.token === null ? undefined : { token: head.token, platform: head.platform ?? "" };
    const channel = target && this.#options.channels.pick(target);
    if (channel === undefined || target === undefined) return { is: "drop", why: "the device has no push channel" };
    const wish = wishOf(preferencesInForce(head.preferences, head.userSettings), head.category, nowMs);
    if (wish.is === "muted") return { is: "drop", why: "the device has turned off this category" };
    return wish.is === "held" ? { is: "hold", untilMs: wish.untilMs } : { is: "send", channel, target };
  }

  /** One attempt, within its time. @returns undefined where the stop ended it */
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
      // A channel that doesn't heed the signal holds nobody up.
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
    const askedMs = outcome.state === "retry" ? Math.min(outcome.afterMs ?? 0, PATIENCE_MS_MAX) : 0;
    const untilMs = nowMs + Math.max(backoffMs(head.attempts + 1, backoff), askedMs);
    return { untilMs, isLast: untilMs > head.createdAt + GIVE_UP_AFTER_MS };
  }

  #tell(channel: PushChannel, head: HeadRow, outcome: DeliveryOutcome, isLast: boolean): void {
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
