import { eq } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { accounts } from "../../db/schema/accounts.ts";
import { users } from "../../db/schema/users.ts";
import { type Transaction, type Writer } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import type { Events } from "../../events/events.ts";
import type { Clock } from "../../lib/clock.ts";
import { newId } from "../../lib/id.ts";
import { checkNewPassword, type PasswordHasher } from "../auth/passwords.ts";
import { emailKey, parseEmail } from "./email.ts";
import { checkName } from "./name.ts";
import { toUser, userQueries } from "./queries.ts";
import type { NewUser, User, UserChanges } from "./types.ts";

/** What {@link UserService} works with. */
export interface UserServiceOptions {
  readonly db: Db;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly passwords: PasswordHasher;
  readonly events: Events;
  /** Makes the root folder of a new account, in the deed that makes the account. @returns the root's row id */
  readonly createRoot: (tx: Transaction, accountId: number) => number;
}

const NAME_CHARACTERS_MAX = 200;

/** Accounts: making, changing and finding them. Who may do what is decided by the callers. */
export class UserService {
  readonly #options: UserServiceOptions;
  readonly #queries: ReturnType<typeof userQueries>;
  readonly #onChange: ((userId: number) => void)[] = [];

  constructor(options: UserServiceOptions) {
    this.#options = options;
    this.#queries = userQueries(options.db.orm);
  }

  /** Calls `listener` after each committed change of an account, so that what was cached of it is dropped. */
  onChange(listener: (userId: number) => void): void {
    this.#onChange.push(listener);
  }

  /** Whether anybody has an account yet. */
  hasAny(): boolean {
    return this.#queries.any.get() !== undefined;
  }

  findByEmail(email: string): User | undefined {
    const row = this.#queries.byEmail.get({ emailKey: emailKey(email) });
    return row && toUser(row);
  }

  findByPublicId(publicId: string): User | undefined {
    const row = this.#queries.byPublicId.get({ publicId });
    return row && toUser(row);
  }

  findById(id: number): User | undefined {
    const row = this.#queries.byId.get({ id });
    return row && toUser(row);
  }

  /** For sign-in: the account and its password hash. */
  findCredentials(email: string): { user: User; passwordHash: string } | undefined {
    const row = this.#queries.byEmail.get({ emailKey: emailKey(email) });
    return row && { user: toUser(row), passwordHash: row.passwordHash };
  }

  /** All accounts, by e-mail, but for those that are being erased. */
  list(): User[] {
    return this.#queries.all
      .all()
      .filter((row) => row.email !== "")
      .map(toUser);
  }

  /**
   * Makes an account with its empty tree, and tells `user.created` in the deed; durable on return.
   * @param within runs in the same deed, for what must happen together with it (a used invitation)
   * @throws AppError invalid_field | email_taken | overloaded
   */
  async add(input: NewUser, within?: (tx: Transaction, userId: number) => void): Promise<User> {
    const email = parseEmail(input.email);
    const name = checkName(input.name ?? email.slice(0, email.indexOf("@")), NAME_CHARACTERS_MAX);
    const passwordHash = await this.#options.passwords.hash(checkNewPassword(input.password));
    const { clock, writer, db } = this.#options;
    const nowMs = clock.nowMs();
    return writer.run((tx) => {
      this.#checkEmailFree(email);
      const { id } = db.orm
        .insert(users)
        .values({
          publicId: newId("usr", nowMs),
          email,
          emailKey: emailKey(email),
          name,
          role: input.role,
          plan: input.plan,
          passwordHash,
          createdAt: nowMs,
          nameKey: nameKey(name),
        })
        .returning({ id: users.id })
        .get();
      db.orm
        .insert(accounts)
        .values({ id, rootId: 0, quotaBytes: storedQuota(input.quotaBytes) })
        .run();
      const rootId = this.#options.createRoot(tx, id);
      db.orm.update(accounts).set({ rootId }).where(eq(accounts.id, id)).run();
      const made = this.#get(id);
      this.#options.events.emit(tx, "user.created", { accountId: id, publicId: made.publicId, email, name });
      within?.(tx, id);
      return made;
    });
  }

  /**
   * Changes the account with this e-mail; durable on return. Disabling it, and a new password or e-mail, are for the
   * caller to follow up with the end of its sessions.
   * @throws AppError not_found | invalid_field | email_taken | last_admin | overloaded
   */
  async set(email: string, changes: UserChanges): Promise<User> {
    const user = this.findByEmail(email);
    if (user === undefined) {
      throw new AppError("not_found", `There is no account with the e-mail ${email}. List them to see its spelling.`);
    }
    return this.update(user.id, changes);
  }

  /**
   * As {@link set}, for a known account.
   * @param within runs afterwards in the same deed
   * @param before runs first in it: what it throws undoes the change
   */
  async update(
    userId: number,
    changes: UserChanges,
    within?: (tx: Transaction, user: User) => void,
    before?: (tx: Transaction) => void,
  ): Promise<User> {
    const email = changes.email === undefined ? undefined : parseEmail(changes.email);
    const name = changes.name === undefined ? undefined : checkName(changes.name, NAME_CHARACTERS_MAX);
    const passwordHash =
      changes.password === undefined
        ? undefined
        : await this.#options.passwords.hash(checkNewPassword(changes.password));
    const { clock, writer, db } = this.#options;
    return writer.run((tx) => {
      before?.(tx);
      const former = this.#get(userId);
      if (email !== undefined && emailKey(email) !== emailKey(former.email)) this.#checkEmailFree(email);
      this.#keepLastAdmin(former, changes);
      const disabledAt =
        changes.isDisabled === undefined
          ? undefined
          : changes.isDisabled
            ? (former.disabledAtMs ?? clock.nowMs())
            : null;
      const values = {
        ...(email !== undefined && { email, emailKey: emailKey(email) }),
        ...(name !== undefined && { name, nameKey: nameKey(name) }),
        ...(changes.role !== undefined && { role: changes.role }),
        ...(changes.plan !== undefined && { plan: changes.plan }),
        ...(passwordHash !== undefined && { passwordHash }),
        ...(disabledAt !== undefined && { disabledAt }),
      };
      if (Object.keys(values).length > 0) db.orm.update(users).set(values).where(eq(users.id, userId)).run();
      if (changes.quotaBytes !== undefined) {
        const quotaBytes = storedQuota(changes.quotaBytes);
        db.orm.update(accounts).set({ quotaBytes }).where(eq(accounts.id, userId)).run();
      }
      const after = this.#get(userId);
      within?.(tx, after);
      tx.afterCommit(() => {
        for (const listener of this.#onChange) listener(userId);
      });
      return after;
    });
  }

  /** The stored settings as JSON text; their meaning is `settings.ts`'s. */
  settingsJson(userId: number): string {
    return this.#queries.settings.get({ id: userId })?.settings ?? "{}";
  }

  /**
   * Replaces the settings by what `merge` makes of the present ones; durable on return.
   * @param within runs afterwards in the same deed
   */
  async changeSettings(
    userId: number,
    merge: (json: string) => string,
    within?: (tx: Transaction) => void,
  ): Promise<string> {
    const { writer, db } = this.#options;
    return writer.run((tx) => {
      const settings = merge(this.settingsJson(userId));
      db.orm.update(users).set({ settings }).where(eq(users.id, userId)).run();
      within?.(tx);
      return settings;
    });
  }

  #get(id: number): User {
    const row = this.#queries.byId.get({ id });
    if (row === undefined) throw new AppError("not_found", "This account does not exist any more.");
    return toUser(row);
  }

  #checkEmailFree(email: string): void {
    if (this.findByEmail(email) === undefined) return;
    throw new AppError("email_taken", "There is an account with this e-mail already. Sign in, or use another e-mail.", {
      field: "email",
    });
  }

  #keepLastAdmin(before: User, changes: UserChanges): void {
    const isEnabledAdmin = before.role === "admin" && before.disabledAtMs === null;
    const staysOne = (changes.role ?? "admin") === "admin" && changes.isDisabled !== true;
    if (!isEnabledAdmin || staysOne) return;
    if ((this.#queries.enabledAdmins.get()?.count ?? 0) > 1) return;
    throw new AppError(
      "last_admin",
      "This is the last administrator. Make somebody else an administrator first, then change this account.",
    );
  }
}

/** The form in which names are searched: case and the width of letters don't count. */
export function nameKey(name: string): string {
  return name.normalize("NFKC").toLowerCase();
}

function storedQuota(quotaBytes: number | "plan" | null | undefined): number | null {
  return quotaBytes === undefined || quotaBytes === "plan" ? null : (quotaBytes ?? -1);
}
