/**
 * Keeps connections that ask for nothing from taking the place of those that do.
 *
 * Each takes a descriptor, and a process has only so many, for files too. Bun closes by itself what brings no whole request
 * within some ten seconds, and what has been silent for two minutes after an answer. Two things it leaves: a reader that
 * takes nothing of its answer any more, which is ended here after ten minutes, and a crowd. Where room runs short, what waits
 * after an answer is closed at once, then whatever has brought no whole request within seconds. What has a request under
 * way, and a reader that reads, however slowly, are never touched.
 */
import type { Log } from "../../lib/log.ts";
import { countOpenDescriptors, readDescriptorLimit } from "../../lib/descriptors.ts";
import { endConnection, listConnections, type TcpConnection } from "./tcp-connections.ts";

/** What the guard watches over. */
export interface GuardedListener {
  /** The ports on which connections arrive; empty for a Unix socket, whose peers are the operator's own. */
  readonly ports: ReadonlySet<number>;
  /** Closes connections that wait for another request after an answer. @returns how many */
  closeIdle(): number;
  /** The ports at the other end of the requests whose handler has not answered yet. */
  busyPeerPorts(): ReadonlySet<number>;
  /** Requests under way, those included whose answer is still being sent. */
  readonly pendingRequests: number;
}

/** What the guard works with. */
export interface ConnectionGuardOptions {
  readonly listener: GuardedListener;
  readonly log: Log;
  /** Descriptors from which on room is short. */
  readonly descriptorsMax: number;
  /** Milliseconds that only go forward. */
  readonly now?: () => number;
}

const LOOK_MS = 1_000;
/** How long a connection may take to bring its first whole request while room is short. */
const PATIENCE_MS = 5_000;
/** How long a reader may take nothing of its answer: a film that somebody paused, say. Less where room is short. */
const STALLED_MS = 600_000;
const STALLED_SHORT_MS = 120_000;
/** How often it is looked for such readers. */
const STALLED_LOOK_MS = 30_000;
/** Share of the limit from which on room is short: the rest is for files. */
const FULL_SHARE = 0.75;

/** From how many open descriptors on room is short, where there may be `maxConnections` connections. */
export function descriptorsMax(maxConnections: number): number {
  return Math.min(maxConnections, Math.floor((readDescriptorLimit() ?? Number.MAX_SAFE_INTEGER) * FULL_SHARE));
}

/** How much the other end of a connection had taken, and since when it has been so much. */
interface Taken {
  readonly takenBytes: bigint;
  readonly sinceMs: number;
}

/** See the head of this file. */
export class ConnectionGuard {
  readonly #options: ConnectionGuardOptions;
  readonly #now: () => number;
  readonly #timer: ReturnType<typeof setInterval>;
  /** Connections without a request that seem to be sent nothing, by descriptor and port at the other end. */
  #waiting = new Map<string, Taken>();
  /** Connections that are being sent something. */
  #readers = new Map<string, Taken>();
  #lookedForStalledMs: number;
  #isShort = false;

  constructor(options: ConnectionGuardOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#lookedForStalledMs = this.#now();
    this.#timer = setInterval(() => this.look(), LOOK_MS);
    this.#timer.unref();
  }

  /** Looks once, and closes what may go. @returns how many connections were closed */
  look(): number {
    return this.#endStalled() + this.#makeRoom();
  }

  /** Looks no longer. */
  stop(): void {
    clearInterval(this.#timer);
  }

  #makeRoom(): number {
    const { listener, log } = this.#options;
    const open = countOpenDescriptors();
    const isShort = open !== undefined && open >= this.#options.descriptorsMax;
    if (!isShort) {
      if (this.#isShort) log.info("The number of connections is below the limit again.", { open });
      this.#isShort = false;
      this.#waiting.clear();
      return 0;
    }
    if (!this.#isShort) {
      log.warn(
        "Too many open connections; closing idle ones. If this is not an attack, raise the limit of " +
          "open files (ulimit -n, LimitNOFILE=) or maxConnections. Logged once until the number is below the limit.",
        { open, max: this.#options.descriptorsMax },
      );
    }
    this.#isShort = true;
    return listener.closeIdle() + this.#endWaiting();
  }

  /** Ends connections that have brought no request for too long. */
  #endWaiting(): number {
    const { listener } = this.#options;
    const nowMs = this.#now();
    const busy = listener.busyPeerPorts();
    const known = this.#waiting;
    this.#waiting = new Map();
    let ended = 0;
    for (const connection of listConnections(listener.ports)) {
      if (connection.isSending || busy.has(connection.peerPort)) continue;
      const key = keyOf(connection);
      // An answer that is made slowly has nothing on its way now and then, but goes on.
      const sinceMs = sinceUnchanged(known.get(key), connection, nowMs);
      if (nowMs - sinceMs < PATIENCE_MS) {
        this.#waiting.set(key, { takenBytes: connection.takenBytes, sinceMs });
      } else {
        endConnection(connection);
        ended++;
      }
    }
    return ended;
  }

  /** Ends connections whose answer is not taken any more. */
  #endStalled(): number {
    const { listener, log } = this.#options;
    const nowMs = this.#now();
    if (nowMs - this.#lookedForStalledMs < STALLED_LOOK_MS) return 0;
    this.#lookedForStalledMs = nowMs;
    const known = this.#readers;
    this.#readers = new Map();
    if (listener.pendingRequests === 0) return 0;
    let ended = 0;
    for (const connection of listConnections(listener.ports)) {
      if (!connection.isSending) continue;
      const { takenBytes } = connection;
      const sinceMs = sinceUnchanged(known.get(keyOf(connection)), connection, nowMs);
      if (nowMs - sinceMs < (this.#isShort ? STALLED_SHORT_MS : STALLED_MS)) {
        this.#readers.set(keyOf(connection), { takenBytes, sinceMs });
      } else {
        endConnection(connection);
        ended++;
      }
    }
    if (ended > 0) log.debug("Closed connections whose clients had stopped reading.", { connections: ended });
    return ended;
  }
}

function sinceUnchanged(before: Taken | undefined, { takenBytes }: TcpConnection, nowMs: number): number {
  return before?.takenBytes === takenBytes ? before.sinceMs : nowMs;
}

function keyOf({ fd, peerPort }: TcpConnection): string {
  return `${fd}:${peerPort}`;
}
