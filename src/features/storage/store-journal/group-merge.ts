/**
 * Merges recorded memberships of groups. Those that are noted as ended end, and those that began after the restored state
 * begin. A deleted group is deleted.
 */
import type { Database } from "bun:sqlite";
import type { Writer } from "../../../db/transaction.ts";
import { ChangeBatches } from "./change-batches.ts";
import { GroupRecords, membershipId, openMemberships } from "./group-rows.ts";
import type { AccountRecord } from "./records.ts";

/** Dependencies of {@link GroupMerge}. */
interface GroupMergeOptions {
  readonly sqlite: Database;
  readonly writer: Pick<Writer, "run">;
  readonly isDryRun: boolean;
  /** Whether a group or a membership is noted as ended. */
  readonly isEnded: (id: string) => boolean;
}

/** What was merged. */
export interface GroupMergeCounts {
  /** Groups that were deleted. */
  groups: number;
  /** Memberships that began. */
  joined: number;
  /** Memberships that ended, without those of deleted groups. */
  left: number;
}

interface MembershipRow {
  readonly groupId: number;
  readonly userId: number;
  readonly group: string;
  readonly account: string;
  readonly added: number;
}

/** Merges groups and their members. */
export class GroupMerge {
  readonly #options: GroupMergeOptions;
  readonly #rows: GroupRecords;
  readonly #findUser;
  readonly #memberSince;
  readonly #removeGroup;
  readonly #removeMember;
  readonly #batches: ChangeBatches;
  readonly counts: GroupMergeCounts = { groups: 0, joined: 0, left: 0 };

  constructor(options: GroupMergeOptions) {
    this.#options = options;
    this.#batches = new ChangeBatches(options.isDryRun ? undefined : options.writer);
    const { sqlite } = options;
    this.#rows = new GroupRecords(sqlite);
    this.#findUser = sqlite.prepare<{ id: number }, [string]>("SELECT id FROM users WHERE public_id = ?1");
    this.#memberSince = sqlite.prepare<{ added: number }, [string, number]>(
      `SELECT m.added_at AS added FROM groups g JOIN group_members m ON m.group_id = g.id AND m.user_id = ?2 WHERE g.public_id = ?1`,
    );
    this.#removeGroup = sqlite.prepare<undefined, [number]>("DELETE FROM groups WHERE id = ?1");
    this.#removeMember = sqlite.prepare<undefined, [number, number]>(
      "DELETE FROM group_members WHERE group_id = ?1 AND user_id = ?2",
    );
  }

  /** Deletes the groups that are noted as ended. */
  async removeGroups(): Promise<void> {
    const { sqlite, isEnded } = this.#options;
    const groups = sqlite
      .query<{ id: number; publicId: string }, []>("SELECT id, public_id AS publicId FROM groups")
      .all();
    for (const { id, publicId } of groups) {
      if (!isEnded(publicId)) continue;
      this.counts.groups++;
      this.#batches.add(() => this.#removeGroup.run(id));
    }
    await this.#batches.run();
  }

  /** Ends the memberships that are noted as ended. @param accounts public ids of the accounts to merge */
  async endMemberships(accounts: ReadonlySet<string>): Promise<void> {
    const { sqlite, isEnded } = this.#options;
    const rows = sqlite
      .query<MembershipRow, []>(
        `SELECT g.id AS groupId, u.id AS userId, g.public_id AS "group", u.public_id AS account, m.added_at AS added
         FROM group_members m JOIN groups g ON g.id = m.group_id JOIN users u ON u.id = m.user_id`,
      )
      .all();
    for (const row of rows) {
      if (!accounts.has(row.account)) continue;
      if (isEnded(row.group) || !isEnded(membershipId(row.group, row.account, row.added))) continue;
      this.counts.left++;
      this.#batches.add(() => this.#removeMember.run(row.groupId, row.userId));
    }
    await this.#batches.run();
  }

  /** Makes an account a member of the groups of its record. */
  async join(record: AccountRecord): Promise<void> {
    const userId = this.#findUser.get(record.account)?.id;
    if (userId === undefined) return;
    const { isEnded } = this.#options;
    const missing = openMemberships(record, isEnded).filter(({ id }) => {
      const since = this.#memberSince.get(id, userId)?.added;
      // A dry run has not ended the memberships.
      return since === undefined || isEnded(membershipId(id, record.account, since));
    });
    if (missing.length === 0) return;
    this.counts.joined += missing.length;
    this.#batches.add(() => this.#rows.join(userId, record, isEnded));
    await this.#batches.run();
  }
}
