/**
 * A model of three servers and the objects that they share, for exploring every interleaving of the lease protocol. The
 * decisions are those of `lease-rules.ts`; only requests, databases and clocks are modeled. Clocks are arbitrary: each
 * decision that depends on time is explored with both results, so every pause of any length is included.
 */
import type { LeaseRecord } from "../../src/features/storage/replication/lease-record.ts";
import {
  type Acquisition,
  afterHeartbeat,
  afterRead,
  afterRenewal,
  afterRound,
  heartbeatText,
  type Claimant,
  mayConfirm,
  type Moment,
  recordOf,
  silenceMs,
  type LeaseOwnership,
} from "../../src/features/storage/replication/lease-rules.ts";

/** A protocol that is broken on purpose, to see that the model finds it. */
export type Defect =
  /** Confirms without a request for the next epoch. */
  | "no-request"
  /** Makes that request before the change is in the replica. */
  | "early-request"
  /** Restores the database before it takes the lease. */
  | "early-restore"
  /** The service replaces an existing object. */
  | "no-conditions"
  /** Confirms before the change is in the replica. */
  | "no-replica";

/** How much is explored. */
export interface Bounds {
  readonly epochs: number;
  readonly writes: number;
  /** Ends of a process without a word, of all servers. */
  readonly crashes: number;
}

/** A change on its way to its confirmation. `read`: the response to the request for the next epoch. */
interface Write {
  readonly id: number;
  readonly isReplicated: boolean;
  readonly epoch: number;
  readonly read: { readonly next: LeaseRecord | undefined } | undefined;
}

interface Machine {
  readonly mode: "off" | "acquiring" | "restoring" | "serving" | "deposed";
  readonly intent: Claimant["intent"];
  /** Between two steps, any time may pass. */
  readonly acquisition: Acquisition;
  /** The changes in its database, as bits. */
  readonly database: number;
  /** The identity of the database's file. */
  readonly file: number;
  /** How many of its processes have tried to create a lease. */
  readonly runs: number;
  readonly path: string;
  readonly ownership: LeaseOwnership | undefined;
  readonly write: Write | undefined;
  readonly markEpoch: number;
}

/** A state of all servers and objects. */
export interface Cluster {
  readonly machines: readonly Machine[];
  /** By epoch, from 1. */
  readonly leases: readonly LeaseRecord[];
  readonly heartbeats: readonly (string | undefined)[];
  /** Creations whose senders have ended: the service may still receive them. */
  readonly flying: readonly LeaseRecord[];
  /** What Litestream has sent to each path. */
  readonly replica: Readonly<Record<string, number>>;
  /** Confirmed changes, and the epoch in which they were. */
  readonly confirmed: readonly { readonly id: number; readonly epoch: number }[];
  /** The databases with which owners began to serve. */
  readonly owners: readonly { readonly epoch: number; readonly database: number }[];
  readonly writes: number;
  readonly crashes: number;
  readonly files: number;
  /** What must never happen. */
  readonly violation: string | undefined;
}

/** A step of one server, with the state after it. */
export interface Step {
  readonly name: string;
  readonly cluster: Cluster;
}

const TTL_MS = 4;
const START: Moment = { monotonicMs: 0, wallMs: 0 };
const LATE: Moment = { monotonicMs: TTL_MS, wallMs: TTL_MS };
const SILENT_MS = silenceMs(TTL_MS, { ttlMs: TTL_MS });

/** What a process that ends forgets. */
const ENDED = {
  mode: "off",
  acquisition: { step: "read" },
  path: "",
  ownership: undefined,
  write: undefined,
} as const satisfies Partial<Machine>;

const NEW: Machine = { ...ENDED, intent: "start", database: 0, file: 0, runs: 0, markEpoch: 0 };

/** Servers that have not started. */
export function newCluster(machines: number): Cluster {
  return {
    machines: Array.from({ length: machines }, () => NEW),
    leases: [],
    heartbeats: [],
    flying: [],
    replica: {},
    confirmed: [],
    owners: [],
    writes: 0,
    crashes: 0,
    files: 1,
    violation: undefined,
  };
}

/** The first server owns the store, and the others have not started. */
export function ownedCluster(machines: number): Cluster {
  let cluster = newCluster(machines);
  for (const name of ["0 looks (start)", "0 owns 1 and serves"]) {
    const next = [...steps(cluster, { epochs: 1, writes: 1, crashes: 0 }, undefined)].find(
      (step) => step.name === name,
    );
    if (next === undefined) throw new Error(`The first server can't do this: ${name}.`);
    cluster = next.cluster;
  }
  return cluster;
}

/** Every step that can happen next. */
export function* steps(cluster: Cluster, bounds: Bounds, defect: Defect | undefined): Generator<Step> {
  if (isFinished(cluster, bounds)) return;
  for (const [index, record] of cluster.flying.entries()) {
    const flying = cluster.flying.toSpliced(index, 1);
    const { leases, heartbeats } = cluster;
    const isFree = leases.length === record.epoch - 1;
    const made = isFree ? { leases: [...leases, record], heartbeats: [...heartbeats, undefined] } : {};
    yield { name: `a late creation of ${record.epoch}`, cluster: { ...cluster, flying, ...made } };
  }
  for (const [index, machine] of cluster.machines.entries()) {
    // New machines are alike: the first of them is the first to start.
    if (machine === NEW && cluster.machines[index - 1] === NEW) continue;
    for (const step of new MachineSteps(cluster, index, bounds, defect).all()) {
      yield { name: `${index} ${step.name}`, cluster: check(step.cluster) };
    }
  }
}

/** Whether nothing can be lost any more: no change is pending, and none was confirmed or nobody can take over. */
function isFinished({ machines, writes, confirmed, leases, flying }: Cluster, bounds: Bounds): boolean {
  if (writes < bounds.writes || machines.some(({ write }) => write !== undefined)) return false;
  if (confirmed.length === 0) return true;
  const isRestoring = machines.some(({ mode }) => mode === "restoring");
  return leases.length >= bounds.epochs && flying.length === 0 && !isRestoring;
}

/** Every confirmed change must be in the database of every later owner, and every epoch has one owner. */
function check(cluster: Cluster): Cluster {
  const epochs = cluster.owners.map(({ epoch }) => epoch);
  if (new Set(epochs).size < epochs.length) return { ...cluster, violation: "two servers own one epoch" };
  for (const { id, epoch } of cluster.confirmed) {
    const lost = cluster.owners.find((owner) => owner.epoch > epoch && (owner.database & (1 << id)) === 0);
    if (lost === undefined) continue;
    return {
      ...cluster,
      violation: `change ${id}, confirmed in epoch ${epoch}, is not in the database of epoch ${lost.epoch}`,
    };
  }
  return cluster;
}

/** The steps of one machine. */
class MachineSteps {
  readonly #cluster: Cluster;
  readonly #index: number;
  readonly #machine: Machine;
  readonly #bounds: Bounds;
  readonly #defect: Defect | undefined;

  constructor(cluster: Cluster, index: number, bounds: Bounds, defect: Defect | undefined) {
    this.#cluster = cluster;
    this.#index = index;
    this.#machine = cluster.machines[index] ?? NEW;
    this.#bounds = bounds;
    this.#defect = defect;
  }

  *all(): Generator<Step> {
    const { mode, acquisition } = this.#machine;
    if (mode === "off") yield* this.#start();
    else if (this.#cluster.crashes < this.#bounds.crashes) yield* this.#crash();
    if (mode === "acquiring") {
      if (acquisition.step === "watch") yield* this.#watch(acquisition);
      if (acquisition.step === "create") yield* this.#create(acquisition);
    }
    if (mode === "restoring") yield* this.#restore();
    if (mode === "serving") {
      yield* this.#write();
      yield* this.#round();
      yield* this.#stop();
    }
  }

  #next(name: string, machine: Partial<Machine>, cluster: Partial<Cluster> = {}): Step {
    const machines = this.#cluster.machines.with(this.#index, { ...this.#machine, ...machine });
    return { name, cluster: { ...this.#cluster, machines, ...cluster } };
  }

  *#start(): Generator<Step> {
    const { leases, files } = this.#cluster;
    const { file, markEpoch } = this.#machine;
    if (leases.length >= this.#bounds.epochs) return;
    // A server that never owned the store does not start while another one has it.
    if (leases.length === 0 || markEpoch > 0) {
      // A new directory gets a database before it takes the lease.
      const isNew = file === 0;
      const begun = { ...this.#machine, intent: "start", file: isNew ? files : file } as const;
      yield* this.#look(begun, isNew ? files + 1 : files);
    }
    if (leases.length > 0) {
      const database = this.#defect === "early-restore" ? this.#newest(leases.length) : this.#machine.database;
      yield* this.#look({ ...this.#machine, intent: "takeover", database }, files);
    }
  }

  *#look(begun: Machine, files: number): Generator<Step> {
    const lease = this.#cluster.leases.at(-1);
    const seen = lease && { lease, heartbeat: this.#cluster.heartbeats.at(-1) };
    const acquisition = afterRead(this.#claimant(begun), seen, 0);
    if (acquisition.step === "rejected") return;
    yield this.#next(`looks (${begun.intent})`, { ...begun, mode: "acquiring", acquisition }, { files });
  }

  *#watch(acquisition: Extract<Acquisition, { step: "watch" }>): Generator<Step> {
    const heartbeat = this.#cluster.heartbeats[acquisition.seen.lease.epoch - 1];
    const after = afterHeartbeat(this.#claimant(), acquisition, heartbeat, SILENT_MS);
    if (after.step === "rejected") yield this.#next("ends", ENDED);
    else yield this.#next("has watched", { acquisition: after });
  }

  /** The process ends without a word. What it was about to send may have been sent, and arrive at any time. */
  *#crash(): Generator<Step> {
    const crashes = this.#cluster.crashes + 1;
    yield this.#next("crashes", ENDED, { crashes });
    const record = this.#pending();
    if (record === undefined) return;
    const flying = [...this.#cluster.flying, record];
    const sent = { ...ENDED, markEpoch: record.epoch, runs: this.#machine.runs + 1 };
    yield this.#next(`crashes after sending ${record.epoch}`, sent, { crashes, flying });
  }

  /** The lease that is created next. */
  #pending(): LeaseRecord | undefined {
    const { mode, acquisition, ownership } = this.#machine;
    if (mode === "acquiring" && acquisition.step === "create") return this.#record(acquisition);
    return mode === "serving" && ownership !== undefined ? this.#renewal(ownership) : undefined;
  }

  *#create(acquisition: Extract<Acquisition, { step: "create" }>): Generator<Step> {
    const record = this.#record(acquisition);
    const { leases, heartbeats } = this.#cluster;
    const isReplaced = leases.length >= record.epoch && this.#defect === "no-conditions";
    if (leases.length >= record.epoch && !isReplaced) {
      yield this.#next("was too late", { ...ENDED, markEpoch: record.epoch });
      return;
    }
    const made = isReplaced
      ? { leases: leases.with(record.epoch - 1, record), heartbeats }
      : { leases: [...leases, record], heartbeats: [...heartbeats, undefined] };
    yield this.#own(record, made);
  }

  /** Owns an epoch. */
  #own({ epoch, path, run }: LeaseRecord, made: Pick<Cluster, "leases" | "heartbeats">): Step {
    const { intent, database, file, runs } = this.#machine;
    const ownership: LeaseOwnership = { epoch, ttlMs: TTL_MS, confirmed: START, successor: undefined };
    const owned = { ownership, path, acquisition: { step: "read" }, markEpoch: epoch, runs: runs + 1 } as const;
    if (intent === "takeover" && this.#defect !== "early-restore") {
      return this.#next(`owns ${epoch}`, { ...owned, mode: "restoring" }, made);
    }
    const heartbeats = made.heartbeats.with(epoch - 1, heartbeatOf(run, file, false));
    const owners = [...this.#cluster.owners, { epoch, database }];
    return this.#next(`owns ${epoch} and serves`, { ...owned, mode: "serving" }, { ...made, owners, heartbeats });
  }

  *#restore(): Generator<Step> {
    const { ownership } = this.#machine;
    if (ownership === undefined) return;
    const { epoch } = ownership;
    const { files, owners, leases, heartbeats } = this.#cluster;
    const database = this.#newest(epoch - 1);
    yield this.#next(
      "restores",
      { mode: "serving", database, file: files },
      {
        owners: [...owners, { epoch, database }],
        heartbeats: heartbeats.with(epoch - 1, heartbeatOf(leases[epoch - 1]?.run ?? "", files, false)),
        files: files + 1,
      },
    );
  }

  *#write(): Generator<Step> {
    const { write, ownership, database, path } = this.#machine;
    const { replica, writes, leases } = this.#cluster;
    if (ownership === undefined) return;
    const { epoch } = ownership;
    if (write === undefined) {
      if (writes >= this.#bounds.writes) return;
      const begun: Write = { id: writes, isReplicated: false, epoch, read: undefined };
      const changed = { write: begun, database: database | (1 << writes) };
      yield this.#next(`commits ${writes}`, changed, { writes: writes + 1 });
      return;
    }
    if (!write.isReplicated) {
      const replicated = { write: { ...write, isReplicated: true } };
      yield this.#next("replicates", replicated, { replica: { ...replica, [path]: database } });
    }
    const isEarly = this.#defect === "early-request" || this.#defect === "no-replica";
    if (write.read === undefined && (write.isReplicated || isEarly)) {
      const next = this.#defect === "no-request" ? undefined : leases[epoch];
      yield this.#next("requests the next epoch", { write: { ...write, epoch, read: { next } } });
    }
    if (write.read !== undefined && (write.isReplicated || this.#defect === "no-replica")) {
      yield* this.#confirm(ownership, write, write.read.next);
    }
  }

  *#confirm(ownership: LeaseOwnership, { id, epoch }: Write, next: LeaseRecord | undefined): Generator<Step> {
    for (const now of [START, LATE]) {
      const confirmed = mayConfirm(ownership, next, now)
        ? [...this.#cluster.confirmed, { id, epoch }]
        : this.#cluster.confirmed;
      yield this.#next(`ends the request of ${id}`, { write: undefined }, { confirmed });
    }
  }

  /** A round of the heartbeat: it may find a new owner, or renew the lease in time or too late. */
  *#round(): Generator<Step> {
    const { ownership, file } = this.#machine;
    const { leases, heartbeats } = this.#cluster;
    if (ownership === undefined) return;
    const after = afterRound(ownership, this.#run(), { started: START, next: leases[ownership.epoch] }, LATE);
    if (after !== "renew") {
      if (after.successor !== undefined) yield this.#next("is deposed", { ...ENDED, mode: "deposed" });
      return;
    }
    const record = this.#renewal(ownership);
    if (record === undefined) return;
    const renewed = afterRenewal(ownership, { started: START, successor: undefined });
    yield this.#next(
      `renews as ${record.epoch}`,
      { ownership: renewed, markEpoch: record.epoch },
      {
        leases: [...leases, record],
        heartbeats: [...heartbeats, heartbeatOf(record.run, file, false)],
      },
    );
  }

  #renewal(ownership: LeaseOwnership): LeaseRecord | undefined {
    const epoch = ownership.epoch + 1;
    if (epoch > this.#bounds.epochs || this.#cluster.leases.length >= epoch) return undefined;
    const { path } = this.#machine;
    const next = { step: "create", previous: undefined, epoch, path, untilMs: 0 } as const;
    return { ...this.#record(next), run: this.#run() };
  }

  *#stop(): Generator<Step> {
    const { write, ownership, path, database, file } = this.#machine;
    const { replica, heartbeats } = this.#cluster;
    if (write !== undefined || ownership === undefined) return;
    yield this.#next("stops", ENDED, {
      replica: { ...replica, [path]: database },
      heartbeats: heartbeats.with(ownership.epoch - 1, heartbeatOf(this.#run(), file, true)),
    });
  }

  /** The newest database in the replica, among the paths of this epoch and those before it. */
  #newest(epoch: number): number {
    for (const { path } of this.#cluster.leases.slice(0, epoch).toReversed()) {
      const stored = this.#cluster.replica[path];
      if (stored !== undefined) return stored;
    }
    return 0;
  }

  #claimant({ file, intent, markEpoch }: Machine = this.#machine): Claimant {
    return {
      holder: `machine ${this.#index}`,
      bootId: `boot ${this.#index}`,
      store: "store",
      databaseEpoch: intent === "takeover" ? null : String(file),
      ttlMs: TTL_MS,
      intent,
      mark: { epoch: markEpoch, counter: 0 },
    };
  }

  #record(acquisition: Extract<Acquisition, { step: "create" }>): LeaseRecord {
    const run = `${this.#index}-${this.#machine.runs + 1}`;
    return recordOf(acquisition, this.#claimant(), { store: "store", host: "", url: null, run });
  }

  /** The run that owns the lease. */
  #run(): string {
    return `${this.#index}-${this.#machine.runs}`;
  }
}

function heartbeatOf(run: string, file: number, isReleased: boolean): string {
  return heartbeatText({ run, counter: 0, isReleased, databaseEpoch: String(file) });
}
