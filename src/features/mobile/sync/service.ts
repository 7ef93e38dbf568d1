/** What has changed since a device asked last. */
import type { Clock } from "../../../lib/clock.ts";
import type { ChangeEntry } from "../../../tree/journal/entry.ts";
import { type ChangePosition, knownUpTo, NOTHING_KNOWN, runHeadOf } from "../../../tree/journal/position.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { SyncTokens } from "./cursor.ts";

/** What {@link SyncService} works with. */
export interface SyncServiceOptions {
  readonly tree: TreeReader;
  readonly tokens: SyncTokens;
  readonly clock: Clock;
  /** When a device asked last, and that it asks now; written behind. */
  readonly devices: {
    lastSyncAt(deviceId: number): number | undefined;
    noteSync(deviceId: number, atMs: number): void;
  };
  /** Takes what was deleted apart sooner, so that its tombstones can be told. */
  readonly hurryDeletions: () => void;
  /** How long an answer waits for large deletions to be taken apart; what is left then is told by the next one. */
  readonly deletionsWaitMs?: number;
}

/** Where a device says that it stands; neither: nowhere, it wants everything. */
export interface SyncRequest {
  readonly accountId: number;
  readonly deviceId: number;
  readonly syncToken: string | undefined;
  /** Server time, inclusive. */
  readonly lastSyncMs: number | undefined;
  /** Entries of one answer. */
  readonly limit: number;
  readonly wantsFolders: boolean;
}

/** An answer. With `mustReset` there are no changes: the device begins anew, without a token. */
export interface SyncResult {
  readonly lastSyncAtMs: number | undefined;
  readonly entries: readonly ChangeEntry[];
  readonly nextSyncToken: string;
  readonly hasMore: boolean;
  readonly mustReset: boolean;
}

const DELETIONS_WAIT_MS = 1_000;
const DELETIONS_LOOK_MS = 10;

/** See the head of this file. */
export class SyncService {
  readonly #options: SyncServiceOptions;
  /**
   * By account, the journal's head at which nothing was being taken apart; both beginning and end of that move it on.
   */
  readonly #quietHeads = new Map<number, number>();

  constructor(options: SyncServiceOptions) {
    this.#options = options;
  }

  /** @throws AppError invalid_field for a token that is not ours, or of another account */
  async changes(request: SyncRequest): Promise<SyncResult> {
    const { tree, tokens, clock, devices } = this.#options;
    const { accountId, deviceId, limit, wantsFolders } = request;
    const from = this.#placeOf(request);
    const lastSyncAtMs = devices.lastSyncAt(deviceId);
    devices.noteSync(deviceId, clock.nowMs());
    const isReaping = await this.#awaitDeletions(accountId);
    // What is compared and what is read is one state of the database.
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
      // What is deleted and not yet taken apart has no tombstones to tell of: they follow.
      hasMore: page.hasMore || isReaping,
      mustReset: false,
    };
  }

  #placeOf({ accountId, syncToken, lastSyncMs }: SyncRequest): ChangePosition {
    const { tree, tokens } = this.#options;
    if (syncToken !== undefined) return tokens.parse(accountId, syncToken);
    return lastSyncMs === undefined ? NOTHING_KNOWN : knownUpTo(tree.seqBefore(accountId, lastSyncMs));
  }

  /**
   * Whether changes after this place are not all known any more: deletions were forgotten, or the database is older
   * than the token, because it was restored from a backup.
   */
  #isForgotten(accountId: number, from: ChangePosition): boolean {
    const { tree } = this.#options;
    const runHeadSeq = runHeadOf(from);
    if (Math.max(from.seq, runHeadSeq) > tree.headOf(accountId)) return true;
    const floorSeq = tree.floorOf(accountId);
    if (!from.beganBlank) return from.seq < floorSeq;
    // Who began with nothing misses only what was deleted after that.
    return from.ranges.length > 0 && Math.max(from.seq, runHeadSeq) < floorSeq;
  }

  /** @returns whether some deletion is still being taken apart */
  async #awaitDeletions(accountId: number): Promise<boolean> {
    const { tree, hurryDeletions, deletionsWaitMs = DELETIONS_WAIT_MS } = this.#options;
    const headSeq = tree.headOf(accountId);
    if (this.#quietHeads.get(accountId) === headSeq) return false;
    if (!tree.isReaping(accountId)) {
      this.#quietHeads.set(accountId, headSeq);
      return false;
    }
    hurryDeletions();
    for (let waitedMs = 0; waitedMs < deletionsWaitMs; waitedMs += DELETIONS_LOOK_MS) {
      await Bun.sleep(DELETIONS_LOOK_MS);
      if (!tree.isReaping(accountId)) return false;
    }
    return true;
  }
}
