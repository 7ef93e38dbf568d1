/**
 * The brake on mass changes (D12). A device that deletes or replaces more files within ten minutes than a number and
 * than a share of what the account holds is not trusted to mean it: further deletions and replacements of it are kept in
 * a hold until a person accepts or declines them, while new files go on arriving. It counts in rows, in the very deed of
 * each change, so that neither a restart nor many requests at once lead past it.
 *
 * Asked for what devices do by themselves: sync, the offline queue, resolved conflicts, uploads of next versions. What a
 * person does to a file or folder in an app (DELETE, PUT of a content, move) is left alone on purpose: it has been seen.
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
import { subjectOf } from "./fingerprint.ts";
import { holdQueries } from "./queries.ts";
import type { Hold, LocalChange } from "./types.ts";

/** What the brake works with. */
export interface MassChangeGuardOptions {
  readonly sqlite: Database;
  readonly clock: Clock;
  readonly events: Events;
  readonly tree: Pick<TreeReader, "usage">;
  /** So many deletions and replacements within {@link WINDOW_MS} go through in any case. */
  readonly filesMax: number;
  /** And so many of every hundred files of the account. */
  readonly percentMax: number;
}

/** How far back deletions and replacements are counted. */
export const WINDOW_MS = 10 * 60 * 1000;
/** How long a device goes unbraked after a person accepted what it had asked for. */
export const ALLOWANCE_MS = 60 * 60 * 1000;
/** How long a hold waits for its decision; then it is dropped undone. */
const HOLD_MS = 7 * 24 * 60 * 60 * 1000;
/** What a hold keeps at most; more is refused all the same, and can be sent again after the decision. */
const HELD_MAX = 10_000;
const SECOND_MS = 1_000;

/** See the head of this file. */
export class MassChangeGuard {
  readonly #options: MassChangeGuardOptions;
  readonly #queries: ReturnType<typeof holdQueries>;

  constructor(options: MassChangeGuardOptions) {
    this.#options = options;
    this.#queries = holdQueries(options.sqlite);
  }

  /**
   * Asked inside the deed that deletes or replaces files for a device, before it does. Undefined: go ahead; the changes
   * are counted. Otherwise they are all held, and nothing of them may be done now: answer with
   * {@link confirmationRequired}, but **return from the deed, don't throw**: that would undo the hold.
   *
   * The same change asked about again is found in its hold, a declined one too. What the changes say is kept, and carried
   * out by `HoldService` when the hold is accepted; an `update` whose content the account does not hold is left to the
   * device, which may then go on.
   *
   * @param changes deletions (`delete`) and replacements (any other action)
   * @param following how many more the same request will ask about: what goes too far as a whole is held from its first
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
    for (const change of changes) this.#keep(hold, change);
    const kept = this.#queries.holdById.get(hold.id);
    invariant(kept !== null, "a hold that was just made is there");
    return kept;
  }

  /** A hold by its public id, decided or not; undefined once it was dropped. */
  find(accountId: number, holdId: string): Hold | undefined {
    return this.#queries.holdByPublicId.get(accountId, holdId) ?? undefined;
  }

  /** The hold that the changes go into, if they may not go through. */
  #findOrBegin(tx: Transaction, device: DeviceFacts, accountId: number, added: Added, nowMs: number): Hold | undefined {
    if (this.#queries.acceptedSince.get(device.id, nowMs - ALLOWANCE_MS) !== null) return undefined;
    // What follows a stop waits as well: a device that has gone wrong would otherwise go on at the pace of the window.
    const open = this.#queries.openHold.get(device.id, nowMs);
    if (open !== null) return open;
    const total = this.#excess(device.id, accountId, added, nowMs);
    if (total === undefined) return undefined;
    const publicId = newId("hold", nowMs);
    const row = this.#queries.insertHold.get(publicId, accountId, device.id, nowMs, nowMs + HOLD_MS);
    const hold = row === null ? null : this.#queries.holdById.get(row.id);
    invariant(hold !== null, "a hold that was just made is there");
    this.#options.events.emit(tx, "security.mass_change", { accountId, device, holdId: publicId, changes: total });
    return hold;
  }

  /** How many changes it would be within the window, if that is too many. */
  #excess(deviceId: number, accountId: number, added: Added, nowMs: number): number | undefined {
    const { tree, filesMax, percentMax } = this.#options;
    const before = this.#queries.countsSince.get(deviceId, nowMs - WINDOW_MS) ?? { deletions: 0, replacements: 0 };
    const asked = added.deletions + added.replacements + added.following;
    const total = before.deletions + before.replacements + asked;
    if (total <= filesMax) return undefined;
    // The share is of what there was before the device began: what it deleted since counts with what is left.
    const files = tree.usage(accountId).files + before.deletions;
    return total * 100 > percentMax * files ? total : undefined;
  }

  #keep(hold: Hold, change: LocalChange): void {
    if (hold.changes >= HELD_MAX) return;
    this.#queries.hold.run(hold.id, hold.deviceId, subjectOf(change), JSON.stringify(change));
    this.#queries.countHeld.run(hold.id);
  }
}

interface Added {
  readonly deletions: number;
  readonly replacements: number;
  readonly following: number;
}

/** Whether a change of this hold is still kept from happening. */
function isInForce(hold: Hold, nowMs: number): boolean {
  if (hold.decision === null) return hold.expiresAtMs > nowMs;
  return hold.decision === "declined";
}

/** What the asker of a held change is told; `details.declined` is true where a person has said no. */
export function confirmationRequired(hold: Hold): AppError {
  const isDeclined = hold.decision === "declined";
  const message = isDeclined
    ? "This change was rejected, so nothing changed. Download the file from the server again."
    : "This device is changing far more files than usual. Approve the change on any device or on the web.";
  return new AppError("confirmation_required", message, {
    holdId: hold.publicId,
    ...(isDeclined && { declined: true }),
  });
}
