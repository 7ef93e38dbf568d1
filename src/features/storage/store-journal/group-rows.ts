import type { Database } from "bun:sqlite";
import { nameKey } from "../../accounts/users/service.ts";
import { numberedName } from "../../../tree/tables/names.ts";
import type { AccountRecord, GroupMembership, ShareRecord } from "./records.ts";

/**
 * Writes groups from records of accounts and shares, which name them. A group without members and shares is in no record.
 * Every method is called inside a transaction.
 */
export class GroupRecords {
  readonly #find;
  readonly #isNameTaken;
  readonly #insert;
  readonly #join;
  readonly #hide;

  constructor(sqlite: Database) {
    this.#find = sqlite.prepare<{ id: number }, [string]>("SELECT id FROM groups WHERE public_id = ?1");
    this.#isNameTaken = sqlite.prepare<{ one: 1 }, [string]>("SELECT 1 AS one FROM groups WHERE name_key = ?1");
    this.#insert = sqlite.prepare<{ id: number }, [string, string, string, number]>(
      "INSERT INTO groups (public_id, name, name_key, created_at) VALUES (?1, ?2, ?3, ?4) RETURNING id",
    );
    this.#join = sqlite.prepare<undefined, [number, number, number]>(
      "INSERT OR IGNORE INTO group_members (group_id, user_id, added_at) VALUES (?1, ?2, ?3)",
    );
    this.#hide = sqlite.prepare<undefined, [string, string]>(
      `INSERT OR IGNORE INTO hidden_shares (share_id, user_id)
       SELECT s.id, u.id FROM shares s CROSS JOIN users u ON u.public_id = ?2 WHERE s.public_id = ?1`,
    );
  }

  /**
   * Makes an account a member of the groups of its record, except where the membership or the group is noted as ended.
   * @returns the number of new memberships
   */
  join(accountId: number, record: AccountRecord, isEnded: (id: string) => boolean): number {
    let joined = 0;
    for (const { id, name, created, added } of openMemberships(record, isEnded)) {
      joined += this.#join.run(this.#findOrAdd(id, name, created), accountId, added).changes;
    }
    return joined;
  }

  /** The row id of the group of a share; null if the share is not for a group. */
  idOf({ group, groupName, created }: ShareRecord): number | null {
    return group === undefined ? null : this.#findOrAdd(group, groupName ?? group, created);
  }

  /** Hides a share from the members who hid it. */
  hide({ id, hiddenBy = [] }: ShareRecord): void {
    for (const account of hiddenBy) this.#hide.run(id, account);
  }

  #findOrAdd(publicId: string, name: string, createdAtMs: number): number {
    const known = this.#find.get(publicId);
    if (known !== null) return known.id;
    let free = name;
    for (let number = 1; this.#isNameTaken.get(nameKey(free)) !== null; number++) free = numberedName(name, number);
    const made = this.#insert.get(publicId, free, nameKey(free), createdAtMs);
    if (made === null) throw new Error("an inserted group has an id");
    return made.id;
  }
}

/** The memberships of a record that are not noted as ended. */
export function openMemberships(
  { account, groups = [] }: AccountRecord,
  isEnded: (id: string) => boolean,
): GroupMembership[] {
  return groups.filter(({ id, added }) => !isEnded(id) && !isEnded(membershipId(id, account, added)));
}

/** The id by which the end of a membership is noted. An account that joins again has another one. */
export function membershipId(group: string, account: string, addedAtMs: number): string {
  return `${group}/${account}/${addedAtMs}`;
}
