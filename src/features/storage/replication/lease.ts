/** The lease of a running server: heartbeats, and confirmations that no other server has taken over. */
import { S3Error } from "../../../blobs/s3/error.ts";
import { messageOf } from "../../../lib/error.ts";
import type { Log } from "../../../lib/log.ts";
import { notConfirmed } from "./fence.ts";
import type { LeaseClock } from "./lease-clock.ts";
import { type LeaseMark, writeMark } from "./lease-mark.ts";
import type { LeaseRecord } from "./lease-record.ts";
import { afterRenewal, afterRound, mayConfirm, type Moment, stateOf, type LeaseOwnership } from "./lease-rules.ts";
import type { LeaseStore } from "./lease-store.ts";
import { nameOwner } from "./owner-text.ts";
import type { Lease, LeaseState } from "./types.ts";

/** Dependencies of {@link OwnedLease}. */
export interface OwnedLeaseOptions {
  readonly store: Pick<LeaseStore, "read" | "mustRead" | "exists" | "create" | "writeHeartbeat">;
  readonly record: LeaseRecord;
  /** When the first attempt to create the record began. */
  readonly acquired: Moment;
  /** The file of the {@link LeaseMark}. */
  readonly markPath: string;
  readonly clock: LeaseClock;
  readonly log: Log;
}

/** How often a heartbeat is sent within the lease time. */
const HEARTBEATS_PER_TTL = 4;
/** Concurrent requests that confirm the lease. */
const CONFIRMATIONS_MAX = 8;

/** See {@link Lease}. */
export class OwnedLease implements Lease {
  readonly path: string;
  readonly #options: OwnedLeaseOptions;
  readonly #ended = new AbortController();
  readonly #effects: (() => void)[] = [];
  #ownership: LeaseOwnership;
  #databaseEpoch: string | null;
  #counter = 0;
  #reported: LeaseState = "valid";
  /** Why the last round failed. */
  #failure: string | undefined;
  /** The first attempt to create the next epoch. */
  #renewal: { readonly record: LeaseRecord; readonly started: Moment } | undefined;
  #sending: Promise<void> | undefined;
  /** Confirmations whose requests are in progress. */
  readonly #confirming = new Set<Promise<void>>();
  /** The confirmation whose request has not begun. */
  #nextConfirmation: Promise<void> | undefined;

  /** Starts to send heartbeats. */
  constructor(options: OwnedLeaseOptions) {
    const { record, acquired } = options;
    this.#options = options;
    this.path = record.path;
    this.#databaseEpoch = record.databaseEpoch;
    this.#ownership = { epoch: record.epoch, ttlMs: record.ttlMs, confirmed: acquired, successor: undefined };
    this.#sending = this.#sendHeartbeats();
  }

  get epoch(): number {
    return this.#ownership.epoch;
  }

  /** The time after which an unconfirmed lease is not valid any more. */
  get ttlMs(): number {
    return this.#ownership.ttlMs;
  }

  get state(): LeaseState {
    return stateOf(this.#ownership, this.#options.clock.now());
  }

  get problem(): string | undefined {
    const { state } = this;
    if (state === "valid") return undefined;
    const { successor } = this.#ownership;
    if (successor !== undefined) return deposedBy(successor);
    return `The bucket of the replica has not confirmed in time that this server owns the store. ${this.#failure ?? ""}`.trim();
  }

  /** Must be called when the database continues from another state, for example after a restore. */
  setDatabaseEpoch(epoch: string): void {
    this.#databaseEpoch = epoch;
  }

  async confirm(): Promise<void> {
    this.#mustBeValid();
    this.#nextConfirmation ??= this.#confirmSoon();
    return this.#nextConfirmation;
  }

  onDeposed(effect: () => void): void {
    if (this.state === "deposed") effect();
    else this.#effects.push(effect);
  }

  async close(isReleased: boolean): Promise<void> {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    await this.#sending;
    if (!isReleased || this.state !== "valid") return;
    try {
      await this.#sendHeartbeat(true);
    } catch (error) {
      this.#options.log.warn("Could not release the lease; a server that takes over waits until it has expired.", {
        error,
      });
    }
  }

  /** Begins a request after this turn of the event loop, which all calls until then share. */
  async #confirmSoon(): Promise<void> {
    await new Promise(setImmediate);
    // Requests in progress began before these calls. Waiting for one of them only bounds their number.
    while (this.#confirming.size >= CONFIRMATIONS_MAX) await Promise.race(this.#confirming);
    this.#nextConfirmation = undefined;
    const confirmation = this.#confirm();
    const ended = confirmation.catch(() => undefined).then(() => void this.#confirming.delete(ended));
    this.#confirming.add(ended);
    return confirmation;
  }

  async #confirm(): Promise<void> {
    const { store, clock } = this.#options;
    let next: LeaseRecord | undefined;
    try {
      const epoch = this.#ownership.epoch + 1;
      next = (await store.exists(epoch)) ? await store.mustRead(epoch) : undefined;
    } catch (error) {
      throw notConfirmed(error);
    }
    if (next !== undefined && next.run !== this.#options.record.run) {
      this.#setOwnership({ ...this.#ownership, successor: next });
    }
    if (!mayConfirm(this.#ownership, next, clock.now()))
      throw notConfirmed(new Error(this.problem ?? "The lease was renewed."));
  }

  #mustBeValid(): void {
    const { problem } = this;
    if (problem !== undefined) throw notConfirmed(new Error(problem));
  }

  async #sendHeartbeats(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#ended;
    while (!signal.aborted && this.#ownership.successor === undefined) {
      const started = clock.now();
      await this.#round(started);
      const elapsedMs = clock.now().monotonicMs - started.monotonicMs;
      await clock.sleep(Math.max(0, this.#ownership.ttlMs / HEARTBEATS_PER_TTL - elapsedMs), signal);
    }
  }

  async #round(started: Moment): Promise<void> {
    const { store, clock, record } = this.#options;
    try {
      const [sent, read] = await Promise.allSettled([
        this.#sendHeartbeat(false),
        store.read(this.#ownership.epoch + 1),
      ]);
      if (sent.status === "rejected") throw sent.reason;
      if (read.status === "rejected") throw read.reason;
      const next = read.value;
      const ownership = afterRound(this.#ownership, record.run, { started, next }, clock.now());
      if (ownership === "renew") await this.#renew();
      else this.#setOwnership(ownership);
      this.#failure = undefined;
    } catch (error) {
      this.#failure = messageOf(error);
      if (!(error instanceof S3Error)) this.#options.log.error("Could not renew the lease.", { error });
    }
    this.#report();
  }

  /** Creates the next epoch, because this one was not confirmed in time and others may be about to take over. */
  async #renew(): Promise<void> {
    const { store, clock, record, markPath } = this.#options;
    const epoch = this.#ownership.epoch + 1;
    if (this.#renewal?.record.epoch !== epoch) {
      this.#renewal = { record: { ...record, epoch, databaseEpoch: this.#databaseEpoch }, started: clock.now() };
    }
    const { started } = this.#renewal;
    await writeMark(markPath, { epoch, counter: 0 });
    const created = await store.create(this.#renewal.record);
    const successor = created.isOurs ? undefined : created.owner;
    this.#counter = 0;
    this.#setOwnership(afterRenewal(this.#ownership, { started, successor }));
  }

  async #sendHeartbeat(isReleased: boolean): Promise<void> {
    const { store, record, markPath } = this.#options;
    const mark: LeaseMark = { epoch: this.#ownership.epoch, counter: ++this.#counter };
    await writeMark(markPath, mark);
    const { counter } = mark;
    await store.writeHeartbeat(mark.epoch, {
      run: record.run,
      counter,
      isReleased,
      databaseEpoch: this.#databaseEpoch,
    });
  }

  #setOwnership(ownership: LeaseOwnership): void {
    const wasDeposed = this.#ownership.successor !== undefined;
    this.#ownership = ownership;
    if (wasDeposed || ownership.successor === undefined) return;
    this.#report();
    for (const effect of this.#effects.splice(0)) effect();
  }

  /** Logs a change of the state. */
  #report(): void {
    const { state, problem } = this;
    if (state === this.#reported) return;
    this.#reported = state;
    const { log } = this.#options;
    const { epoch } = this.#ownership;
    if (state === "valid") log.info("The lease is confirmed again; changes are accepted.", { epoch });
    else if (state === "expired")
      log.warn("The lease has expired; rejecting changes until it is confirmed again.", { problem, epoch });
    else log.error(problem ?? "", { epoch });
  }
}

/** Why a server from which another one has taken over confirms nothing any more. */
function deposedBy(successor: LeaseRecord): string {
  return (
    `${nameOwner(successor)} has taken over this store. Stop this server. ` +
    "To make this machine the standby, then run: larder standby"
  );
}
