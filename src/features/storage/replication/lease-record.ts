/**
 * The objects of the lease. Each owner of a store has its own epoch, a number. `lease/00000007` is made once and never
 * changed; `heartbeat/00000007` is replaced by its owner for as long as it lives.
 */

/** Who owns the store in an epoch. */
export interface LeaseRecord {
  readonly epoch: number;
  /** Identity of the store. */
  readonly store: string;
  /** Where Litestream replicates to, below the prefix of the replica: `db/00000001`. */
  readonly path: string;
  /** Identifies the data directory of the owner: see {@link Claimant.holder}. */
  readonly holder: string;
  /** Identifies the run of the machine: it changes with every boot. */
  readonly bootId: string;
  /** Changes when the database is replaced, for example by a restore; null while it is being restored. */
  readonly databaseEpoch: string | null;
  /** The owner's machine, for people. */
  readonly host: string;
  /** The owner's address, for people. */
  readonly url: string | null;
  /** How long the owner may write after it was last confirmed. */
  readonly ttlMs: number;
  /** Random: identifies the process that made the record. */
  readonly run: string;
}

/** A heartbeat. The text of each one differs from all others of its epoch. */
export interface Heartbeat {
  readonly run: string;
  readonly counter: number;
  /** The owner has stopped, and everything it confirmed is in the replica. */
  readonly isReleased: boolean;
  readonly databaseEpoch: string | null;
}

/** Keys below the prefix of the replica. */
export const LEASES = "lease/";
export const HEARTBEATS = "heartbeat/";
export const DATABASES = "db/";

const DIGITS = 8;
/** A standby copies the path to a folder of this name, and removes that later: no record may name another folder. */
const PATH = /^db\/\d{8,15}$/;
const CONTROL = /\p{Cc}/u;

/** The number of an epoch in keys. */
export function epochName(epoch: number): string {
  return String(epoch).padStart(DIGITS, "0");
}

/** The epoch that a key names; undefined for other keys. */
export function epochOf(key: string): number | undefined {
  const name = key.slice(key.lastIndexOf("/") + 1);
  return /^\d{8,15}$/.test(name) ? Number(name) : undefined;
}

/** Parses a record; undefined if the text is none. */
export function parseLease(text: string): LeaseRecord | undefined {
  const fields = parseFields(text);
  if (fields === undefined) return undefined;
  const { epoch, store, path, holder, bootId, databaseEpoch = null, host, url = null, ttlMs, run } = fields;
  const isLease =
    typeof epoch === "number" &&
    typeof store === "string" &&
    typeof path === "string" &&
    PATH.test(path) &&
    typeof holder === "string" &&
    typeof bootId === "string" &&
    typeof host === "string" &&
    typeof ttlMs === "number" &&
    typeof run === "string";
  if (!isLease || !isTextOrNull(databaseEpoch) || !isTextOrNull(url)) return undefined;
  // For terminals and logs.
  if (CONTROL.test(`${host}${url ?? ""}`)) return undefined;
  return { epoch, store, path, holder, bootId, databaseEpoch, host, url, ttlMs, run };
}

/** Parses a heartbeat; undefined if the text is none. */
export function parseHeartbeat(text: string | undefined): Heartbeat | undefined {
  const fields = text === undefined ? undefined : parseFields(text);
  if (fields === undefined) return undefined;
  const { run, counter, isReleased, databaseEpoch = null } = fields;
  const isHeartbeat = typeof run === "string" && typeof counter === "number" && typeof isReleased === "boolean";
  return isHeartbeat && isTextOrNull(databaseEpoch) ? { run, counter, isReleased, databaseEpoch } : undefined;
}

function parseFields(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}
