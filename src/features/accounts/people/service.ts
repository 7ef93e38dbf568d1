/**
 * Finds people and groups by name, for accounts that share with them, if the setting `showPeople` allows it. Without it,
 * nothing here finds anything. Never found: disabled accounts, accounts whose email is not confirmed, and the caller.
 */
import type { Database } from "bun:sqlite";
import type { Config } from "../../../config/settings.ts";
import type { Group } from "../groups/types.ts";
import type { GroupService } from "../groups/service.ts";
import { nameKey, type UserService } from "../users/service.ts";
import type { User } from "../users/types.ts";

/** A person whom somebody may share with. */
interface FoundPerson {
  /** `usr_…` */
  readonly publicId: string;
  readonly name: string;
  readonly email: string;
}

/** A group whom somebody may share with. */
interface FoundGroup {
  /** `grp_…` */
  readonly publicId: string;
  readonly name: string;
  readonly members: number;
}

/** Dependencies of {@link PeopleService}. */
interface PeopleServiceOptions {
  readonly sqlite: Database;
  readonly config: Pick<Config, "showPeople">;
  readonly users: Pick<UserService, "findByPublicId">;
  readonly groups: Pick<GroupService, "find">;
}

/** Some of the people of a group. */
interface GroupPeople {
  readonly people: readonly Omit<FoundPerson, "email">[];
  /** How many there are. */
  readonly total: number;
}

const PEOPLE_MAX = 10;
const GROUPS_MAX = 5;
const MEMBERS_MAX = 100;

/** Condition: a text begins with the parameter, or a later word of it does. Both are folded. */
const matches = (column: string): string =>
  `(substr(${column}, 1, length(?1)) = ?1 OR instr(${column}, ' ' || ?1) > 0)`;

/** By users_people, so at most a pass over the names of all accounts. `?2` is the caller, who is left out. */
const selectPeople = (condition: string): string =>
  `SELECT public_id AS publicId, name, email FROM users INDEXED BY users_people
   WHERE disabled_at IS NULL AND email_unconfirmed_since IS NULL AND id <> ?2 AND ${condition}
   ORDER BY name_key, id LIMIT ${PEOPLE_MAX}`;

/** The people of a group who can be found. Accounts that are being deleted have left their groups. */
const MEMBERS = `FROM group_members m CROSS JOIN users u ON u.id = m.user_id
  WHERE m.group_id = ?1 AND u.disabled_at IS NULL AND u.email_unconfirmed_since IS NULL`;

/** Finds people and groups. */
export class PeopleService {
  readonly #options: PeopleServiceOptions;
  readonly #people;
  readonly #peopleByEmail;
  readonly #groups;
  readonly #sharedGroup;
  readonly #members;
  readonly #memberCount;

  constructor(options: PeopleServiceOptions) {
    this.#options = options;
    const { sqlite } = options;
    this.#people = sqlite.prepare<FoundPerson, [string, number]>(selectPeople(matches("name_key")));
    this.#peopleByEmail = sqlite.prepare<FoundPerson, [string, number]>(
      selectPeople(`(${matches("name_key")} OR substr(email_key, 1, length(?1)) = ?1)`),
    );
    this.#groups = sqlite.prepare<FoundGroup, [string]>(
      `SELECT public_id AS publicId, name, (SELECT count(*) FROM group_members m WHERE m.group_id = g.id) AS members
       FROM groups g INDEXED BY groups_name WHERE ${matches("name_key")} ORDER BY name_key LIMIT ${GROUPS_MAX}`,
    );
    this.#sharedGroup = sqlite.prepare<{ id: number }, [string, number]>(
      `SELECT g.id FROM groups g WHERE g.public_id = ?1
         AND EXISTS (SELECT 1 FROM shares s INDEXED BY shares_group WHERE s.group_id = g.id AND s.account_id = ?2)`,
    );
    this.#members = sqlite.prepare<Omit<FoundPerson, "email">, [number]>(
      `SELECT u.public_id AS publicId, u.name ${MEMBERS} ORDER BY u.name_key, u.id LIMIT ${MEMBERS_MAX}`,
    );
    this.#memberCount = sqlite.prepare<{ count: number }, [number]>(`SELECT count(*) AS count ${MEMBERS}`);
  }

  /** Whether accounts may find each other. */
  get isOn(): boolean {
    return this.#options.config.showPeople !== "off";
  }

  /** Whether they also see email addresses. */
  get showsEmails(): boolean {
    return this.#options.config.showPeople === "emails";
  }

  /** The first people and groups by name with a word that begins with a text. */
  search(caller: User, text: string): { people: readonly FoundPerson[]; groups: readonly FoundGroup[] } {
    if (!this.isOn) return { people: [], groups: [] };
    const key = nameKey(text.trim());
    const statement = this.showsEmails ? this.#peopleByEmail : this.#people;
    return { people: statement.all(key, caller.id), groups: this.#groups.all(key) };
  }

  /** The first people of a group by name; undefined unless the caller shares something with it and may find people. */
  members(caller: User, groupId: string): GroupPeople | undefined {
    const group = this.isOn ? this.#sharedGroup.get(groupId, caller.id) : null;
    if (group === null) return undefined;
    return { people: this.#members.all(group.id), total: this.#memberCount.get(group.id)?.count ?? 0 };
  }

  /** The account with an id, if it can be found. */
  findPerson(publicId: string): User | undefined {
    const found = this.isOn ? this.#options.users.findByPublicId(publicId) : undefined;
    const isHidden = found?.disabledAtMs !== null || found.isEmailUnconfirmed === true || found.email === "";
    return isHidden ? undefined : found;
  }

  /** The group with an id, if the caller can find it. Administrators find all groups. */
  findGroup(caller: User, publicId: string): Group | undefined {
    return this.isOn || caller.role === "admin" ? this.#options.groups.find(publicId) : undefined;
  }
}
