import type { Clock } from "../../../lib/clock.ts";
import type { ChangeEntry } from "../../../tree/journal/entry.ts";
import { type ChangePosition, knownUpTo, NOTHING_KNOWN, runHeadOf } from "../../../tree/journal/position.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { SyncTokens } from "./cursor.ts";

/** Options of {@link SyncService}. */
interface SyncServiceOptions {
  readonly tree: TreeReader;
  readonly tokens: SyncTokens;
  readonly clock: Clock;
  /** The times of syncs; written in the background. */
  readonly devices: {
    lastSyncAt(deviceId: number): number | undefined;
    noteSync(deviceId: number, atMs: number): void;
  };
  /** Purges deleted folders sooner: tombstones exist only after that. */
  readonly hurryDeletions: () => void;
  /** How long a response waits for the purge of deleted folders; the next response has the rest. */
  readonly deletionsWaitMs?: number;
}

/** A request with the device's position. Without a token and a time, the device requests everything. */
export interface SyncRequest {
  readonly accountId: number;
  readonly deviceId: number;
  readonly syncToken: string | undefined;
  /** Server time, inclusive. */
  readonly lastSyncMs: number | undefined;
  /** The maximum of entries in the response. */
  readonly limit: number;
  readonly wantsFolders: boolean;
}

/** A page of changes. With `mustReset` it is empty: the device has to start again without a token. */
export interface SyncResult {
  readonly lastSyncAtMs: number | undefined;
  readonly entries: readonly ChangeEntry[];
  readonly nextSyncToken: string;
  readonly hasMore: boolean;
  readonly mustReset: boolean;
}

const DELETIONS_WAIT_MS = 1_000;
const DELETIONS_POLL_MS = 10;

/** Lists what has changed since a device's last sync. */
export class SyncService {
  readonly #options: SyncServiceOptions;
  /**
   * By account, a head of the journal at which no purge was in progress. The start and end of a purge advance the head.
   */
  readonly #idleHeads = new Map<number, number>();

  constructor(options: SyncServiceOptions) {
    this.#options = options;
  }

  /** @throws AppError invalid_field if the token was not issued here for this account */
  async changes(request: SyncRequest): Promise<SyncResult> {
    const { tree, tokens, clock, devices } = this.#options;
    const { accountId, deviceId, limit, wantsFolders } = request;
    const from = this.#positionOf(request);
    const lastSyncAtMs = devices.lastSyncAt(deviceId);
    devices.noteSync(deviceId, clock.nowMs());
    const isReaping = await this.#awaitDeletions(accountId);
    // `nextChanges` checks this in the state of the database from which it reads the page.
    const isValid = () => !this.#isForgotten(accountId, from);
    const page = await tree.nextChanges(accountId, from, limit, wantsFolders, isValid);
    if (page === undefined) {
      const nextSyncToken = tokens.issue(accountId, NOTHING_KNOWN);
      return { lastSyncAtMs, entries: [], nextSyncToken, hasMore: false, mustReset: true };
    }
    return {
      lastSyncAtMs,
      entries: page.entries,
      nextSyncToken: tokens.issue(accountId, page.next),
      // Deleted folders that are not purged yet have no tombstones: these follow in a later page.
      hasMore: page.hasMore || isReaping,
      mustReset: false,
    };
  }

  #positionOf({ accountId, syncToken, lastSyncMs }: SyncRequest): ChangePosition {
    const { tree, tokens } = this.#options;
    if (syncToken !== undefined) return tokens.parse(accountId, syncToken);
    return lastSyncMs === undefined ? NOTHING_KNOWN : knownUpTo(tree.seqBefore(accountId, lastSyncMs));
  }

  /**
   * Whether some changes after this position are lost: old tombstones were removed, or the database was restored from a
   * backup that is older than the token.
   */
  #isForgotten(accountId: number, from: ChangePosition): boolean {
    const { tree } = this.#options;
    const runHeadSeq = runHeadOf(from);
    if (Math.max(from.seq, runHeadSeq) > tree.headOf(accountId)) return true;
    const floorSeq = tree.floorSeq(accountId);
    if (!from.beganBlank) return from.seq < floorSeq;
    // A device that began without a token misses only later deletions.
    return from.ranges.length > 0 && Math.max(from.seq, runHeadSeq) < floorSeq;
  }

  /** Waits until deleted folders are purged. @returns whether some are left */
  async #awaitDeletions(accountId: number): Promise<boolean> {
    const { tree, hurryDeletions, deletionsWaitMs = DELETIONS_WAIT_MS } = this.#options;
    const headSeq = tree.headOf(accountId);
    if (this.#idleHeads.get(accountId) === headSeq) return false;
    if (!tree.isReaping(accountId)) {
      this.#idleHeads.set(accountId, headSeq);
      return false;
    }
    hurryDeletions();
    for (let waitedMs = 0; waitedMs < deletionsWaitMs; waitedMs += DELETIONS_POLL_MS) {
      await Bun.sleep(DELETIONS_POLL_MS);
      if (!tree.isReaping(accountId)) return false;
    }
    return true;
  }
}
