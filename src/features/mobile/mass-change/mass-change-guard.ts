/**
 * The guard against mass changes. A device that deletes or replaces too many files within ten minutes (more than a
 * fixed number, and more than a share of the account's files) may be broken, lost or infected. Its further deletions
 * and replacements go into a hold until a person accepts or declines them; new files are still accepted. The counts are
 * rows, written in the transaction of each change, so that neither a restart nor parallel requests bypass the guard.
 *
 * It applies to what devices do automatically: sync, the offline queue, resolved conflicts, uploads of new versions. It
 * does not apply to single actions of a person in an app (DELETE, PUT of content, move). Programs with app passwords are
 * guarded too, request by request: see {@link MassChangeGuard.countDirect}.
 */
import type { Database } from "bun:sqlite";
import type { Transaction } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { DeviceFacts } from "../../../events/catalogue.ts";
import type { Events } from "../../../events/events.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newId } from "../../../lib/id.ts";
import { invariant } from "../../../lib/invariant.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { say } from "../../../translations/say.ts";
import { subjectOf } from "./fingerprint.ts";
import { guardQueries } from "./queries.ts";
import type { Hold, LocalChange } from "./types.ts";

/** Options of {@link MassChangeGuard}. */
interface MassChangeGuardOptions {
  readonly sqlite: Database;
  readonly clock: Clock;
  readonly events: Events;
  readonly tree: Pick<TreeReader, "usage">;
  /** This many deletions and replacements within {@link WINDOW_MS} are always allowed. */
  readonly filesMax: number;
  /** This percentage of the account's files is allowed too. */
  readonly percentMax: number;
}

/** How far back deletions and replacements are counted. */
export const WINDOW_MS = 10 * 60 * 1000;
/** How long a device is not guarded after a person accepted its hold. */
export const ALLOWANCE_MS = 60 * 60 * 1000;
/** How long a hold waits for a decision; then its changes are dropped. */
const HOLD_MS = 7 * 24 * 60 * 60 * 1000;
/** The maximum of changes in a hold. Further ones are rejected too, and can be sent again after the decision. */
const HOLD_CHANGES_MAX = 10_000;
const SECOND_MS = 1_000;

/** Decides whether changes of a device may be applied now. */
export class MassChangeGuard {
  readonly #options: MassChangeGuardOptions;
  readonly #queries: ReturnType<typeof guardQueries>;

  constructor(options: MassChangeGuardOptions) {
    this.#options = options;
    this.#queries = guardQueries(options.sqlite);
  }

  /**
   * Call this inside the transaction that deletes or replaces files for a device, before the change. If it returns
   * undefined, the changes are counted and may be applied. Otherwise all of them are in the returned hold and none may
   * be applied: respond with {@link confirmationRequired}, but **return from the transaction, don't throw**, or the
   * hold is rolled back.
   *
   * A repeated change is found in its hold, also in a declined one. `HoldService` applies the stored changes when the
   * hold is accepted, except an `update` whose content the account does not have: the device has to send that again.
   *
   * @param changes deletions (`delete`) and replacements (any other action)
   * @param following how many more changes the same request has: a request that is too large is held from its first change
   */
  admit(
    tx: Transaction,
    device: DeviceFacts,
    accountId: number,
    changes: readonly LocalChange[],
    following = 0,
  ): Hold | undefined {
    const nowMs = this.#options.clock.nowMs();
    for (const change of changes) {
      const known = this.#queries.holdOfChange.get(device.id, subjectOf(change));
      if (known !== null && isInForce(known, nowMs)) return known;
    }
    const deletions = changes.filter(({ action }) => action === "delete").length;
    const added = { deletions, replacements: changes.length - deletions };
    const hold = this.#findOrBegin(tx, device, accountId, { ...added, following }, nowMs);
    if (hold === undefined) {
      this.#queries.count.run(device.id, nowMs - (nowMs % SECOND_MS), added.deletions, added.replacements);
      return undefined;
    }
    for (const change of changes) this.#store(hold, change);
    const updated = this.#queries.holdById.get(hold.id);
    invariant(updated !== null, "a hold exists after it was created");
    return updated;
  }

  /**
   * Counts changes that a program makes with single requests, which nothing can queue. If it returns undefined, they are
   * counted and may be made. Otherwise they must not be made now, and the program can repeat them once a person has
   * accepted the hold. Return from the transaction, don't throw, or the hold is rolled back.
   */
  countDirect(
    tx: Transaction,
    device: DeviceFacts,
    accountId: number,
    added: { readonly deletions: number; readonly replacements: number },
  ): Hold | undefined {
    const nowMs = this.#options.clock.nowMs();
    const hold = this.#findOrBegin(tx, device, accountId, { ...added, following: 0 }, nowMs);
    if (hold !== undefined) return hold;
    this.#queries.count.run(device.id, nowMs - (nowMs % SECOND_MS), added.deletions, added.replacements);
    return undefined;
  }

  /** The hold with this public id, decided or not; undefined if it was dropped. */
  find(accountId: number, holdId: string): Hold | undefined {
    return this.#queries.holdByPublicId.get(accountId, holdId) ?? undefined;
  }

  /** The hold that the changes must go into; undefined if they are allowed. */
  #findOrBegin(
    tx: Transaction,
    device: DeviceFacts,
    accountId: number,
    added: AddedChanges,
    nowMs: number,
  ): Hold | undefined {
    if (this.#queries.acceptedSince.get(device.id, nowMs - ALLOWANCE_MS) !== null) return undefined;
    // Later changes wait as well, or a broken device would continue at the rate of the window.
    const open = this.#queries.openHold.get(device.id, nowMs);
    if (open !== null) return open;
    const total = this.#excess(device.id, accountId, added, nowMs);
    if (total === undefined) return undefined;
    const publicId = newId("hold", nowMs);
    const row = this.#queries.insertHold.get(publicId, accountId, device.id, nowMs, nowMs + HOLD_MS);
    const hold = row === null ? null : this.#queries.holdById.get(row.id);
    invariant(hold !== null, "a hold exists after it was created");
    this.#options.events.emit(tx, "security.mass_change", { accountId, device, holdId: publicId, changes: total });
    return hold;
  }

  /** The number of changes within the window, if that is too many. */
  #excess(deviceId: number, accountId: number, added: AddedChanges, nowMs: number): number | undefined {
    const { tree, filesMax, percentMax } = this.#options;
    const before = this.#queries.countsSince.get(deviceId, nowMs - WINDOW_MS) ?? { deletions: 0, replacements: 0 };
    const requested = added.deletions + added.replacements + added.following;
    const total = before.deletions + before.replacements + requested;
    if (total <= filesMax) return undefined;
    // The percentage is of the files before the window: add those deleted within it.
    const files = tree.usage(accountId).files + before.deletions;
    return total * 100 > percentMax * files ? total : undefined;
  }

  #store(hold: Hold, change: LocalChange): void {
    if (hold.changes >= HOLD_CHANGES_MAX) return;
    this.#queries.insertChange.run(hold.id, hold.deviceId, subjectOf(change), JSON.stringify(change));
    this.#queries.countChange.run(hold.id);
  }
}

interface AddedChanges {
  readonly deletions: number;
  readonly replacements: number;
  readonly following: number;
}

/** Whether the changes of this hold are still blocked. */
function isInForce(hold: Hold, nowMs: number): boolean {
  if (hold.decision === null) return hold.expiresAtMs > nowMs;
  return hold.decision === "declined";
}

/** The error for a held change; `details.declined` is true if a person declined it. */
export function confirmationRequired(hold: Hold): AppError {
  const isDeclined = hold.decision === "declined";
  const message = isDeclined
    ? say`This change was rejected, so nothing changed. Download the file from the server again.`
    : say`This device is changing far more files than usual. Approve the change on any device or on the web.`;
  return new AppError("confirmation_required", message, {
    holdId: hold.publicId,
    ...(isDeclined && { declined: true }),
  });
}
