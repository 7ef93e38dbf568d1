/**
 * Closes connections without requests, so that connections with requests get their descriptors.
 *
 * Each connection takes a descriptor. A process has a limited number of them, for files too. Bun closes a connection
 * that sends no complete request within about ten seconds, and one that is idle for two minutes after a response. It
 * leaves two cases to this guard:
 * - A client stopped reading its response. The guard closes the connection after ten minutes.
 * - Too many connections are open. The guard first closes those that are idle after a response, then those that have
 *   sent no complete request for five seconds.
 * The guard never closes a connection whose request is in progress, or whose client reads, even slowly.
 */
import type { Log } from "../../lib/log.ts";
import { countOpenDescriptors, readDescriptorLimit } from "../../lib/descriptors.ts";
import { endConnection, listConnections, type TcpConnection } from "./tcp-connections.ts";

/** The listener that the guard protects. */
interface GuardedListener {
  /** The ports that receive connections; empty for a Unix socket, whose clients are the operator's own programs. */
  readonly ports: ReadonlySet<number>;
  /** Closes connections that are idle after a response. @returns how many */
  closeIdle(): number;
  /** The clients' ports of the requests whose handler has not returned yet. */
  busyPeerPorts(): ReadonlySet<number>;
  /** Requests in progress, including those whose response is being sent. */
  readonly pendingRequests: number;
}

/** Dependencies of {@link ConnectionGuard}. */
interface ConnectionGuardOptions {
  readonly listener: GuardedListener;
  readonly log: Log;
  /** At this many open descriptors the guard starts to close connections. */
  readonly descriptorsMax: number;
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
}

const CHECK_MS = 1_000;
/** How long a connection may take to send its first complete request while descriptors are short. */
const PATIENCE_MS = 5_000;
/** How long a client may stop reading, for example a paused video. Shorter while descriptors are short. */
const STALLED_MS = 600_000;
const STALLED_SHORT_MS = 120_000;
/** How often the guard looks for such clients. */
const STALLED_CHECK_MS = 30_000;
/** Share of the descriptor limit that connections may use; the rest is for files. */
const FULL_SHARE = 0.75;

/** The number of open descriptors at which the guard starts to close connections. */
export function descriptorsMax(maxConnections: number): number {
  return Math.min(maxConnections, Math.floor((readDescriptorLimit() ?? Number.MAX_SAFE_INTEGER) * FULL_SHARE));
}

/** The progress of a connection: the bytes its client has acknowledged, and since when the number is unchanged. */
interface ConnectionProgress {
  readonly acknowledgedBytes: bigint;
  readonly sinceMs: number;
}

/** Closes connections without requests. */
export class ConnectionGuard {
  readonly #options: ConnectionGuardOptions;
  readonly #now: () => number;
  readonly #timer: ReturnType<typeof setInterval>;
  /** Connections without a request and without data in transit, by descriptor and client's port. */
  #waiting = new Map<string, ConnectionProgress>();
  /** Connections with data in transit. */
  #readers = new Map<string, ConnectionProgress>();
  #checkedStalledMs: number;
  #isShort = false;

  constructor(options: ConnectionGuardOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#checkedStalledMs = this.#now();
    this.#timer = setInterval(() => this.check(), CHECK_MS);
    this.#timer.unref();
  }

  /** Checks once. @returns how many connections were closed */
  check(): number {
    return this.#endStalled() + this.#closeIdle();
  }

  /** Stops the checks. */
  stop(): void {
    clearInterval(this.#timer);
  }

  #closeIdle(): number {
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

  /** Ends connections that have sent no request for too long. */
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
      // A response that is produced slowly sometimes has no data in transit, but makes progress.
      const sinceMs = sinceUnchanged(known.get(key), connection, nowMs);
      if (nowMs - sinceMs < PATIENCE_MS) {
        this.#waiting.set(key, { acknowledgedBytes: connection.acknowledgedBytes, sinceMs });
      } else {
        endConnection(connection);
        ended++;
      }
    }
    return ended;
  }

  /** Ends connections whose client stopped reading. */
  #endStalled(): number {
    const { listener, log } = this.#options;
    const nowMs = this.#now();
    if (nowMs - this.#checkedStalledMs < STALLED_CHECK_MS) return 0;
    this.#checkedStalledMs = nowMs;
    const known = this.#readers;
    this.#readers = new Map();
    if (listener.pendingRequests === 0) return 0;
    let ended = 0;
    for (const connection of listConnections(listener.ports)) {
      if (!connection.isSending) continue;
      const { acknowledgedBytes } = connection;
      const sinceMs = sinceUnchanged(known.get(keyOf(connection)), connection, nowMs);
      if (nowMs - sinceMs < (this.#isShort ? STALLED_SHORT_MS : STALLED_MS)) {
        this.#readers.set(keyOf(connection), { acknowledgedBytes, sinceMs });
      } else {
        endConnection(connection);
        ended++;
      }
    }
    if (ended > 0) log.debug("Closed connections whose clients had stopped reading.", { connections: ended });
    return ended;
  }
}

function sinceUnchanged(
  before: ConnectionProgress | undefined,
  { acknowledgedBytes }: TcpConnection,
  nowMs: number,
): number {
  return before?.acknowledgedBytes === acknowledgedBytes ? before.sinceMs : nowMs;
}

function keyOf({ fd, peerPort }: TcpConnection): string {
  return `${fd}:${peerPort}`;
}
