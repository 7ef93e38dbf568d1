/**
 * Notifies the members of groups of new shares, each member once. A group can have thousands of members, so the request
 * only queues a row, and a job emits `share.received` for some members at a time.
 */
import type { Database } from "bun:sqlite";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import type { Events } from "../../../events/events.ts";
import type { Clock } from "../../../lib/clock.ts";
import { isForUser } from "../../library/permissions/recipients.ts";
import type { UserService } from "../../accounts/users/service.ts";
import type { ShareRows } from "./queries.ts";
import { summarizeShare } from "./summarize.ts";
import type { ShareTargets } from "./targets.ts";

/** Dependencies of {@link GroupNotices}. */
interface GroupNoticesOptions {
  readonly sqlite: Database;
  readonly writer: Pick<Writer, "run">;
  readonly clock: Clock;
  readonly events: Events;
  readonly rows: ShareRows;
  readonly targets: ShareTargets;
  readonly users: Pick<UserService, "findById">;
}

/** Members that are notified in one transaction. */
const BATCH = 50;
/** Members of larger groups get no emails, only notifications in Larder. */
const MAILED_MEMBERS_MAX = 50;

interface NoticeRow {
  readonly shareId: number;
  readonly afterUserId: number;
}

/** The queue of notifications about shares with groups. */
export class GroupNotices {
  /** Called after a commit that queued something. */
  onQueued: () => void = () => {};
  readonly #options: GroupNoticesOptions;
  readonly #queue;
  readonly #next;
  readonly #members;
  readonly #memberCount;
  readonly #advance;
  readonly #remove;

  constructor(options: GroupNoticesOptions) {
    this.#options = options;
    const { sqlite } = options;
    this.#queue = sqlite.prepare<undefined, [number]>(
      "INSERT OR REPLACE INTO group_notices (share_id, after_user_id) VALUES (?1, 0)",
    );
    this.#next = sqlite.prepare<NoticeRow, []>(
      "SELECT share_id AS shareId, after_user_id AS afterUserId FROM group_notices ORDER BY share_id LIMIT 1",
    );
    this.#members = sqlite.prepare<{ id: number }, [number, number]>(
      `SELECT m.user_id AS id FROM shares s CROSS JOIN group_members m ON m.group_id = s.group_id AND m.user_id > ?2
       WHERE s.id = ?1 AND ${isForUser("s", "m.user_id")} ORDER BY m.user_id LIMIT ${BATCH}`,
    );
    this.#memberCount = sqlite.prepare<{ count: number }, [number]>(
      "SELECT count(*) AS count FROM group_members WHERE group_id = ?1",
    );
    this.#advance = sqlite.prepare<undefined, [number, number]>(
      "UPDATE group_notices SET after_user_id = ?2 WHERE share_id = ?1",
    );
    this.#remove = sqlite.prepare<undefined, [number]>("DELETE FROM group_notices WHERE share_id = ?1");
  }

  /** Queues the members of the group of a new share. In the caller's transaction. */
  queue(tx: Transaction, shareId: number): void {
    this.#queue.run(shareId);
    tx.afterCommit(() => this.onQueued());
  }

  /** Notifies the next members. Durable when this returns. @returns how many; undefined if none are left */
  async notifySome(): Promise<number | undefined> {
    // Nothing is written while nothing waits.
    if (this.#next.get() === null) return undefined;
    return this.#options.writer.run((tx) => {
      const notice = this.#next.get();
      return notice === null ? undefined : this.#notify(tx, notice);
    });
  }

  #notify(tx: Transaction, { shareId, afterUserId }: NoticeRow): number {
    const { rows, targets, users, events, clock } = this.#options;
    const share = rows.findById(shareId);
    const node = share && targets.find(share);
    const owner = share && users.findById(share.accountId);
    const isOver = share?.expiresAtMs !== null && (share?.expiresAtMs ?? 0) <= clock.nowMs();
    const isGone = share === undefined || node === undefined || owner?.disabledAtMs !== null || isOver;
    const members = isGone ? [] : this.#members.all(shareId, afterUserId);
    const last = members.at(-1);
    if (isGone || last === undefined) {
      this.#remove.run(shareId);
      return 0;
    }
    const isMailed = (this.#memberCount.get(share.groupId ?? 0)?.count ?? 0) <= MAILED_MEMBERS_MAX;
    const summary = summarizeShare(share, node);
    for (const { id: accountId } of members) {
      if (users.findById(accountId)?.disabledAtMs !== null) continue;
      events.emit(tx, "share.received", {
        accountId,
        share: summary,
        ownerId: owner.publicId,
        ownerName: owner.name,
        isMailed,
      });
    }
    this.#advance.run(shareId, last.id);
    return members.length;
  }
}
