/**
 * The decisions of the lease, without requests and clocks: `test/unit/lease-model.test.ts` explores them with every
 * interleaving of three servers.
 *
 * Why there is one writer at a time: an epoch is an object that is created only once, so each epoch has one owner. A
 * server takes the lease before it restores the database, so what it restores has everything that was replicated before.
 * The owner before it confirms a change only if the next epoch did not exist at a time when the change was already
 * replicated. So every confirmed change is in what the next owner restores. No clock is needed for this.
 *
 * Clocks only decide how soon a silent owner loses the store, and when it stops on its own: it may write for the lease time
 * after the start of the last round in which its heartbeat was stored and the next epoch did not exist. Others wait one
 * and a half lease times without a new heartbeat. Two rounds start less than a lease time apart, and a request takes at
 * most a third of it: nobody who watches for so long misses the heartbeats of an owner that may still write. An owner that
 * was late must create the next epoch itself before it writes again, in competition with the others.
 */
import { type Heartbeat, DATABASES, epochName, type LeaseRecord, parseHeartbeat } from "./lease-record.ts";
import type { LeaseState } from "./types.ts";

/** Who wants the lease. */
export interface Claimant {
  /**
   * Identifies the data directory: a digest of the identity of the store, and the inode and the creation time of the
   * directory. A copy is another holder: its database may be older than the replica.
   */
  readonly holder: string;
  readonly bootId: string;
  readonly store: string | null;
  readonly databaseEpoch: string | null;
  readonly ttlMs: number;
  /** `start`: continues its own lease, or takes one that was never taken. `takeover`: may replace another holder. */
  readonly intent: "start" | "takeover";
  /** The last heartbeat that this directory has recorded before sending it; null if there is none. */
  readonly mark: { readonly epoch: number; readonly counter: number } | null;
}

/** The newest lease and its last heartbeat. */
export interface SeenLease {
  readonly lease: LeaseRecord;
  readonly heartbeat: string | undefined;
}

/** A heartbeat, and since when it has not changed, by the monotonic clock. */
export interface Watch {
  readonly epoch: number;
  readonly heartbeat: string | undefined;
  readonly sinceMs: number;
  /** When it was last requested. */
  readonly readMs: number;
}

/** Why the lease can't be had. */
export type Rejection =
  /** There is no lease to take over. */
  | "nothing"
  /** Another store is under this prefix. */
  | "other-store"
  /** Another holder has it, and only a takeover may change that. */
  | "other-holder"
  /** Its owner is alive. */
  | "alive"
  /** The directory is older than what it has confirmed. */
  | "older"
  /** The directory took over, and has not restored the database since. */
  | "unfinished";

/** The next step to the lease. */
export type Acquisition =
  | { readonly step: "read" }
  | { readonly step: "watch"; readonly seen: SeenLease; readonly watch: Watch }
  | {
      readonly step: "create";
      readonly previous: SeenLease | undefined;
      readonly epoch: number;
      readonly path: string;
      /** The decision is outdated after that, by the monotonic clock. */
      readonly untilMs: number;
    }
  | { readonly step: "rejected"; readonly reason: Rejection; readonly seen: SeenLease | undefined };

/** How many lease times a heartbeat must be unchanged before another server takes over. */
const SILENT_TTLS = 1.5;

/** What to do about the newest lease. @param nowMs when the response was there @param known an earlier watch, which counts */
export function afterRead(self: Claimant, seen: SeenLease | undefined, nowMs: number, known?: Watch): Acquisition {
  if (seen === undefined) {
    if (self.intent === "takeover") return { step: "rejected", reason: "nothing", seen };
    return { step: "create", previous: undefined, epoch: 1, path: pathOf(1), untilMs: nowMs + self.ttlMs / 4 };
  }
  const reason = whyRejected(self, seen);
  if (reason !== undefined) return { step: "rejected", reason, seen };
  if (isGone(self, seen)) return createNext(self, seen, nowMs);
  const { epoch } = seen.lease;
  const isKnown = known?.epoch === epoch && known.heartbeat === seen.heartbeat;
  const watch = { epoch, heartbeat: seen.heartbeat, sinceMs: isKnown ? known.sinceMs : nowMs, readMs: nowMs };
  return isSilent(watch, self, seen.lease) ? createNext(self, seen, nowMs) : { step: "watch", seen, watch };
}

/** What to do after a watched heartbeat was requested again. @param nowMs when it was requested */
export function afterHeartbeat(
  self: Claimant,
  { seen, watch }: Extract<Acquisition, { step: "watch" }>,
  heartbeat: string | undefined,
  nowMs: number,
): Acquisition {
  if (heartbeat !== watch.heartbeat) {
    if (parseHeartbeat(heartbeat)?.isReleased === true) return createNext(self, { ...seen, heartbeat }, nowMs);
    return { step: "rejected", reason: "alive", seen: { ...seen, heartbeat } };
  }
  const next = { ...watch, readMs: nowMs };
  return isSilent(next, self, seen.lease) ? createNext(self, seen, nowMs) : { step: "watch", seen, watch: next };
}

/** What to do after a watched heartbeat could not be requested: silence counts only from now on. */
export function afterMissedHeartbeat(state: Extract<Acquisition, { step: "watch" }>, nowMs: number): Acquisition {
  return { ...state, watch: { ...state.watch, sinceMs: nowMs, readMs: nowMs } };
}

/** How long an owner must be silent before another server takes over. */
export function silenceMs(ttlMs: number, lease: Pick<LeaseRecord, "ttlMs">): number {
  return SILENT_TTLS * Math.max(ttlMs, lease.ttlMs);
}

/** Whether a creation may still be sent: after a pause, the owner may be alive again. */
export function mayCreate(state: Extract<Acquisition, { step: "create" }>, nowMs: number): boolean {
  return nowMs <= state.untilMs;
}

/** The record that is created. */
export function recordOf(
  state: Extract<Acquisition, { step: "create" }>,
  self: Claimant,
  details: Pick<LeaseRecord, "store" | "host" | "url" | "run">,
): LeaseRecord {
  const { epoch, path } = state;
  const { holder, bootId, databaseEpoch, ttlMs } = self;
  return { epoch, path, holder, bootId, databaseEpoch, ttlMs, ...details };
}

function whyRejected(self: Claimant, { lease, heartbeat }: SeenLease): Rejection | undefined {
  if (self.store !== null && self.store !== lease.store) return "other-store";
  if (self.intent === "takeover") return undefined;
  if (self.holder !== lease.holder) return "other-holder";
  if (databaseEpochOf({ lease, heartbeat }) === null) return "unfinished";
  const { mark } = self;
  if (mark === null || mark.epoch < lease.epoch) return "older";
  return mark.epoch === lease.epoch && mark.counter < (parseHeartbeat(heartbeat)?.counter ?? 0) ? "older" : undefined;
}

/** Whether the owner is known to have stopped. The caller has the lock of its own directory. */
function isGone(self: Claimant, { lease, heartbeat }: SeenLease): boolean {
  if (self.holder === lease.holder && self.bootId === lease.bootId) return true;
  return parseHeartbeat(heartbeat)?.isReleased === true;
}

function isSilent({ sinceMs, readMs }: Watch, self: Claimant, lease: LeaseRecord): boolean {
  return readMs - sinceMs >= silenceMs(self.ttlMs, lease);
}

function createNext(self: Claimant, seen: SeenLease, nowMs: number): Acquisition {
  const epoch = seen.lease.epoch + 1;
  const path = continuesPath(self, seen) ? seen.lease.path : pathOf(epoch);
  return { step: "create", previous: seen, epoch, path, untilMs: nowMs + self.ttlMs / 4 };
}

/** Whether the database is the one that is replicated already: then nothing is uploaded again. */
function continuesPath(self: Claimant, { lease, heartbeat }: SeenLease): boolean {
  if (self.intent === "takeover" || self.holder !== lease.holder) return false;
  return self.databaseEpoch !== null && self.databaseEpoch === databaseEpochOf({ lease, heartbeat });
}

/** The database of the lease; null while its owner restores it. */
export function databaseEpochOf({ lease, heartbeat }: SeenLease): string | null {
  return parseHeartbeat(heartbeat)?.databaseEpoch ?? lease.databaseEpoch;
}

function pathOf(epoch: number): string {
  return `${DATABASES}${epochName(epoch)}`;
}

/** A moment, by both clocks. */
export interface Moment {
  /** Stands still while the machine is suspended. */
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** The owner's knowledge about its lease. */
export interface LeaseOwnership {
  readonly epoch: number;
  readonly ttlMs: number;
  /** Start of the last round that confirmed it. */
  readonly confirmed: Moment;
  /** The server that has taken over. */
  readonly successor: LeaseRecord | undefined;
}

/** Whether the owner may write now. */
export function stateOf({ ttlMs, confirmed, successor }: LeaseOwnership, now: Moment): LeaseState {
  if (successor !== undefined) return "deposed";
  const elapsedMs = now.monotonicMs - confirmed.monotonicMs;
  // A suspended machine, or a clock that was set. The next round decides.
  const isJump = Math.abs(now.wallMs - confirmed.wallMs - elapsedMs) > ttlMs / 2;
  return elapsedMs < ttlMs && !isJump ? "valid" : "expired";
}

/**
 * After a round: its heartbeat is stored, and the next epoch was requested.
 * @param round when it started, and the record of the next epoch if that exists
 * @param now when both were done
 */
export function afterRound(
  ownership: LeaseOwnership,
  run: string,
  round: { readonly started: Moment; readonly next: LeaseRecord | undefined },
  now: Moment,
): LeaseOwnership | "renew" {
  const { started, next } = round;
  if (ownership.successor !== undefined) return ownership;
  if (next !== undefined && next.run !== run) return { ...ownership, successor: next };
  // Our own next epoch: a renewal whose response was lost. Creating it again finds out.
  if (next !== undefined || stateOf(ownership, now) === "expired") return "renew";
  return { ...ownership, confirmed: started };
}

/** After the owner created its next epoch, or found that another server has it. */
export function afterRenewal(
  ownership: LeaseOwnership,
  { started, successor }: { readonly started: Moment; readonly successor: LeaseRecord | undefined },
): LeaseOwnership {
  if (successor !== undefined) return { ...ownership, successor };
  return { ...ownership, epoch: ownership.epoch + 1, confirmed: started };
}

/** Whether changes that were replicated before the request for the next epoch began may be confirmed to clients. */
export function mayConfirm(ownership: LeaseOwnership, next: LeaseRecord | undefined, now: Moment): boolean {
  return next === undefined && stateOf(ownership, now) === "valid";
}

/** The heartbeat as it is stored. */
export function heartbeatText(heartbeat: Heartbeat): string {
  return JSON.stringify(heartbeat);
}
