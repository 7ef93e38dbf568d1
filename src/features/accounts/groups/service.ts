/**
 * Groups of accounts, which administrators create. A share may be for a group; `permissions` reads the rows. So a change
 * of a group takes effect with its commit: nothing is copied, and nothing has to be revoked.
 */
import type { Database } from "bun:sqlite";
import type { Writer } from "../../../db/transaction.ts";
import { AppError, notFound } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newId } from "../../../lib/id.ts";
import { say } from "../../../translations/say.ts";
import type { TransactionCheck } from "../auth/proof.ts";
import { checkName } from "../users/name.ts";
import { nameKey, type UserService } from "../users/service.ts";
import type { User } from "../users/types.ts";
import { groupQueries } from "./queries.ts";
import type { Group, GroupRow, Member } from "./types.ts";

/** Dependencies of {@link GroupService}. */
interface GroupServiceOptions {
  readonly sqlite: Database;
  readonly writer: Pick<Writer, "run">;
  readonly clock: Clock;
  readonly users: Pick<UserService, "findByPublicId">;
  /** Records durably, outside the database, which shares, groups and memberships have ended. */
  readonly noteEnded: () => Promise<void>;
}

const NAME_CHARACTERS_MAX = 100;
const GROUPS_MAX = 1_000;
/** Most members of a group. */
const MEMBERS_MAX = 5_000;

/** Makes, changes and finds groups. All writes are durable when a promise resolves. The callers check permissions. */
export class GroupService {
  readonly #options: GroupServiceOptions;
  readonly #queries: ReturnType<typeof groupQueries>;

  constructor(options: GroupServiceOptions) {
    this.#options = options;
    this.#queries = groupQueries(options.sqlite);
  }

  /** A page of all groups by name, and their number. */
  list(limit: number, offset: number): { groups: GroupRow[]; total: number } {
    return { groups: this.#queries.page.all(limit, offset), total: this.#queries.count.get()?.count ?? 0 };
  }

  /** @throws AppError not_found */
  get(publicId: string): GroupRow {
    const row = this.#queries.row.get(publicId);
    if (row === null) throw unknownGroup();
    return row;
  }

  find(publicId: string): Group | undefined {
    return this.#queries.byPublicId.get(publicId) ?? undefined;
  }

  isMember(group: Group, user: User): boolean {
    return this.#queries.isMember.get(group.id, user.id) !== null;
  }

  /** @throws AppError invalid_field | name_taken | invalid_request */
  async add(name: string): Promise<GroupRow> {
    const { writer, clock } = this.#options;
    const checked = checkName(name, NAME_CHARACTERS_MAX);
    const nowMs = clock.nowMs();
    const publicId = newId("grp", nowMs);
    return writer.run(() => {
      if ((this.#queries.count.get()?.count ?? 0) >= GROUPS_MAX) {
        throw new AppError("invalid_request", say`There can be at most ${GROUPS_MAX} groups. Delete one first.`);
      }
      this.#checkNameFree(checked, undefined);
      this.#queries.insert.run(publicId, checked, nameKey(checked), nowMs);
      return this.get(publicId);
    });
  }

  /** @throws AppError not_found | invalid_field | name_taken */
  async rename(publicId: string, name: string): Promise<GroupRow> {
    const checked = checkName(name, NAME_CHARACTERS_MAX);
    return this.#options.writer.run(() => {
      const group = this.get(publicId);
      this.#checkNameFree(checked, group.id);
      this.#queries.rename.run(group.id, checked, nameKey(checked));
      return this.get(publicId);
    });
  }

  /** Deletes a group. Its shares end with it, by their foreign key. @throws AppError not_found */
  async remove(publicId: string): Promise<GroupRow> {
    const { writer, noteEnded } = this.#options;
    const removed = await writer.run(() => {
      const group = this.get(publicId);
      this.#queries.remove.run(group.id);
      return group;
    });
    await noteEnded();
    return removed;
  }

  /** A page of the members of a group by name, and their number. @throws AppError not_found */
  members(publicId: string, limit: number, offset: number): { members: Member[]; total: number } {
    const { id, members: total } = this.get(publicId);
    return { members: this.#queries.members.all(id, limit, offset), total };
  }

  /** Adds an account; no change if it is a member. @throws AppError not_found | invalid_request; what `check` throws */
  async addMember(publicId: string, userId: string, check: TransactionCheck): Promise<void> {
    const { writer, clock } = this.#options;
    await writer.run((tx) => {
      check(tx);
      const group = this.get(publicId);
      const user = this.#getUser(userId);
      if (group.members >= MEMBERS_MAX) {
        throw new AppError("invalid_request", say`A group can have at most ${MEMBERS_MAX} members.`);
      }
      this.#queries.addMember.run(group.id, user.id, clock.nowMs());
    });
  }

  /** @throws AppError not_found for an unknown group or account, or one that is no member */
  async removeMember(publicId: string, userId: string): Promise<void> {
    const { writer, noteEnded } = this.#options;
    await writer.run(() => {
      const { changes } = this.#queries.removeMember.run(this.get(publicId).id, this.#getUser(userId).id);
      if (changes === 0) throw notFound(say`This member was not found.`);
    });
    await noteEnded();
  }

  /** @throws AppError not_found */
  #getUser(publicId: string): User {
    const user = this.#options.users.findByPublicId(publicId);
    if (user === undefined || user.email === "") throw notFound(say`This account was not found.`);
    return user;
  }

  /** @param exceptId row id of the group that may have the name */
  #checkNameFree(name: string, exceptId: number | undefined): void {
    const existing = this.#queries.byName.get(nameKey(name));
    if (existing === null || existing.id === exceptId) return;
    throw new AppError("name_taken", say`There is already a group “${existing.name}”. Choose another name.`, {
      field: "name",
    });
  }
}

function unknownGroup(): AppError {
  return notFound(say`This group was not found.`);
}
