import { eq } from "drizzle-orm";
import type { Db } from "../../../db/open.ts";
import { accounts } from "../../../db/schema/accounts.ts";
import { users } from "../../../db/schema/users.ts";
import { type Transaction, type Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { Events } from "../../../events/events.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newId, newSecretToken } from "../../../lib/id.ts";
import { checkNewPassword, type PasswordHasher } from "./passwords.ts";
import { emailKey, parseEmail } from "./email.ts";
import { EMAIL_FORMS_VERSION, emailForms, skeletonsToCheck } from "./email-forms.ts";
import { checkName } from "./name.ts";
import { toUser, type UserRow, userQueries } from "./queries.ts";
import type { NewUser, User, UserChanges } from "./types.ts";

/** Dependencies of {@link UserService}. */
export interface UserServiceOptions {
  readonly db: Db;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly passwords: PasswordHasher;
  readonly events: Events;
  /** Whether the email of an account must be confirmed before it shares. */
  readonly verifiesEmail?: boolean;
  /** Makes the root folder of a new account, in the transaction that makes the account. @returns the root's row id */
  readonly createRoot: (tx: Transaction, accountId: number) => number;
}

const NAME_CHARACTERS_MAX = 200;
const FORMS_AT_ONCE = 500;

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

  /** Whether there is an administrator. While there is one, at least one of them is enabled. */
  hasAdministrator(): boolean {
    return this.#queries.administrator.get() !== undefined;
  }

  findByEmail(email: string): User | undefined {
    const row = this.#queries.byEmail.get({ emailKey: emailKey(email) });
    return row && this.#toUser(row);
  }

  findByPublicId(publicId: string): User | undefined {
    const row = this.#queries.byPublicId.get({ publicId });
    return row && this.#toUser(row);
  }

  findById(id: number): User | undefined {
    const row = this.#queries.byId.get({ id });
    return row && this.#toUser(row);
  }

  /** For sign-in: the account and its password hash. */
  findCredentials(email: string): { user: User; passwordHash: string } | undefined {
    const row = this.#queries.byEmail.get({ emailKey: emailKey(email) });
    return row && { user: this.#toUser(row), passwordHash: row.passwordHash };
  }

  /** Whether somebody knows the account's password, rather than the server having made one up. */
  hasPassword(userId: number): boolean {
    const { orm } = this.#options.db;
    const row = orm.select({ hasPassword: users.hasPassword }).from(users).where(eq(users.id, userId)).get();
    return row?.hasPassword === 1;
  }

  /** @throws AppError last_admin where the change would leave no enabled administrator */
  checkLastAdmin(user: User, changes: UserChanges): void {
    this.#keepLastAdmin(user, changes);
  }

  /** All accounts, by email, but for those that are being erased. */
  list(): User[] {
    return this.#queries.all
      .all()
      .filter((row) => row.email !== "")
      .map((row) => this.#toUser(row));
  }

  /**
   * Creates an account with an empty tree, and emits `user.created` in the transaction. Durable when this returns.
   * @param within runs in the same transaction, for what must happen together with it (a used invitation)
   * @param before runs first in it: what it throws undoes everything
   * @throws AppError invalid_field | email_taken | overloaded
   */
  async add(
    input: NewUser,
    within?: (tx: Transaction, userId: number) => void,
    before?: (tx: Transaction) => void,
  ): Promise<User> {
    const email = parseEmail(input.email);
    const name = checkName(input.name ?? email.slice(0, email.indexOf("@")), NAME_CHARACTERS_MAX);
    const password = input.password ?? newSecretToken(256);
    const passwordHash = await this.#options.passwords.hash(checkNewPassword(password));
    const { clock, writer, db, events, verifiesEmail } = this.#options;
    const nowMs = clock.nowMs();
    const isConfirmed = verifiesEmail !== true || input.isByAdministrator === true || input.isEmailConfirmed === true;
    return writer.run((tx) => {
      before?.(tx);
      this.#checkEmailFree(email);
      if (input.isByAdministrator !== true) this.#checkNoLookalike(email);
      const { id } = db.orm
        .insert(users)
        .values({
          publicId: newId("usr", nowMs),
          email,
          emailKey: emailKey(email),
          ...formValues(email),
          name,
          role: input.role,
          plan: input.plan,
          passwordHash,
          hasPassword: input.password === undefined ? 0 : 1,
          createdAt: nowMs,
          nameKey: nameKey(name),
          emailUnconfirmedSince: isConfirmed ? null : nowMs,
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
      events.emit(tx, "user.created", { accountId: id, publicId: made.publicId, email, name });
      events.emit(tx, isConfirmed ? "user.email_confirmed" : "user.email_unconfirmed", { accountId: id, email });
      within?.(tx, id);
      return made;
    });
  }

  /**
   * Changes the account with this email; durable when this returns. Disabling it, and a new password or email, are
   * for the caller to follow up with the end of its sessions.
   * @throws AppError not_found | invalid_field | email_taken | last_admin | overloaded
   */
  async set(email: string, changes: UserChanges): Promise<User> {
    const user = this.findByEmail(email);
    if (user === undefined) {
      throw new AppError("not_found", `No account has the email ${email}. List the accounts to check the spelling.`);
    }
    return this.update(user.id, changes);
  }

  /**
   * As {@link set}, for a known account.
   * @param within runs afterwards in the same transaction
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
      const formerRow = this.#row(userId);
      const former = this.#toUser(formerRow);
      const emailUnconfirmedSince = this.#unconfirmedSince(formerRow, changes);
      if (email !== undefined && emailKey(email) !== emailKey(former.email)) {
        this.#checkEmailFree(email);
        if (changes.isByAdministrator !== true) this.#checkNoLookalike(email, userId);
      }
      this.#keepLastAdmin(former, changes);
      const disabledAt =
        changes.isDisabled === undefined
          ? undefined
          : changes.isDisabled
            ? (former.disabledAtMs ?? clock.nowMs())
            : null;
      const values = {
        ...(email !== undefined && { email, emailKey: emailKey(email), ...formValues(email) }),
        ...(name !== undefined && { name, nameKey: nameKey(name) }),
        ...(changes.role !== undefined && { role: changes.role }),
        ...(changes.plan !== undefined && { plan: changes.plan }),
        ...(passwordHash !== undefined && { passwordHash, hasPassword: 1 }),
        ...(disabledAt !== undefined && { disabledAt }),
        ...(emailUnconfirmedSince !== undefined && { emailUnconfirmedSince }),
      };
      if (Object.keys(values).length > 0) db.orm.update(users).set(values).where(eq(users.id, userId)).run();
      if (changes.quotaBytes !== undefined) {
        const quotaBytes = storedQuota(changes.quotaBytes);
        db.orm.update(accounts).set({ quotaBytes }).where(eq(accounts.id, userId)).run();
      }
      const after = this.#get(userId);
      this.#emitConfirmation(tx, formerRow, this.#row(userId), changes);
      within?.(tx, after);
      this.#notifyListeners(tx, userId);
      return after;
    });
  }

  /** The stored settings as JSON text; their meaning is `settings.ts`'s. */
  settingsJson(userId: number): string {
    return this.#queries.settings.get({ id: userId })?.settings ?? "{}";
  }

  /**
   * Replaces the settings by what `merge` makes of the present ones; durable when this returns.
   * @param within runs afterwards in the same transaction
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

  /**
   * Makes the forms by which look-alike addresses are found, where they are missing or made by other tables of Unicode.
   * @returns for how many accounts
   */
  async renewEmailForms(): Promise<number> {
    const { writer, db } = this.#options;
    const renewSome = () =>
      writer.run(() => {
        const found = this.#queries.outdatedForms.all({ version: EMAIL_FORMS_VERSION, limit: FORMS_AT_ONCE });
        for (const { id, email } of found) {
          db.orm.update(users).set(formValues(email)).where(eq(users.id, id)).run();
        }
        return found.length;
      });
    let renewed = 0;
    for (let some = await renewSome(); some > 0; some = await renewSome()) renewed += some;
    return renewed;
  }

  /** Notes that the email of an account is its owner's, in the caller's transaction. @throws AppError not_found */
  confirmEmail(tx: Transaction, userId: number): User {
    const { email, emailUnconfirmedSince } = this.#row(userId);
    if (emailUnconfirmedSince !== null) {
      this.#options.db.orm.update(users).set({ emailUnconfirmedSince: null }).where(eq(users.id, userId)).run();
      this.#options.events.emit(tx, "user.email_confirmed", { accountId: userId, email });
      this.#notifyListeners(tx, userId);
    }
    return this.#get(userId);
  }

  /** Since when the email of a changed account waits for its confirmation; undefined where that stays as it was. */
  #unconfirmedSince(former: UserRow, changes: UserChanges): number | null | undefined {
    const { clock, verifiesEmail } = this.#options;
    const isNew = changes.email !== undefined && emailKey(changes.email) !== emailKey(former.email);
    if (changes.isEmailConfirmed === true) return null;
    if (changes.isEmailConfirmed === false) return (isNew ? null : former.emailUnconfirmedSince) ?? clock.nowMs();
    if (!isNew) return undefined;
    return verifiesEmail === true && changes.isByAdministrator !== true ? clock.nowMs() : null;
  }

  /** Emits the event for an address that must be confirmed from now on, or that was confirmed. */
  #emitConfirmation(tx: Transaction, former: UserRow, after: UserRow, changes: UserChanges): void {
    const { events } = this.#options;
    const event = { accountId: after.id, email: after.email };
    const isNew = emailKey(former.email) !== emailKey(after.email);
    const waits = after.emailUnconfirmedSince !== null;
    if (waits && (isNew || former.emailUnconfirmedSince === null)) events.emit(tx, "user.email_unconfirmed", event);
    // An address that an administrator gives an account counts as confirmed, and opens nothing that waits for it until
    // somebody says that it is the owner's.
    if (changes.isEmailConfirmed === true) events.emit(tx, "user.email_confirmed", event);
  }

  #notifyListeners(tx: Transaction, userId: number): void {
    tx.afterCommit(() => {
      for (const listener of this.#onChange) listener(userId);
    });
  }

  /** Whether an account, other than the one with this row id, has an address that looks like this one. */
  hasLookalike(email: string, exceptId = 0): boolean {
    const { folded } = emailForms(email);
    const [skeleton, shownSkeleton] = skeletonsToCheck(email);
    return this.#queries.lookalike.get({ exceptId, folded, skeleton, shownSkeleton }) !== undefined;
  }

  #toUser(row: UserRow): User {
    return toUser(row, this.#options.verifiesEmail === true);
  }

  #get(id: number): User {
    return this.#toUser(this.#row(id));
  }

  #row(id: number): UserRow {
    const row = this.#queries.byId.get({ id });
    if (row === undefined) throw new AppError("not_found", "This account no longer exists.");
    return row;
  }

  #checkEmailFree(email: string): void {
    if (this.findByEmail(email) === undefined) return;
    throw new AppError("email_taken", "An account with this email already exists. Sign in, or use another email.", {
      field: "email",
    });
  }

  /** @param exceptId the account whose address it becomes @throws AppError email_taken */
  #checkNoLookalike(email: string, exceptId = 0): void {
    if (!this.hasLookalike(email, exceptId)) return;
    throw new AppError(
      "email_taken",
      "An account with a similar-looking email already exists. Use another email, or contact your administrator.",
      { field: "email" },
    );
  }

  #keepLastAdmin(before: User, changes: UserChanges): void {
    const isEnabledAdmin = before.role === "admin" && before.disabledAtMs === null;
    const staysOne = (changes.role ?? "admin") === "admin" && changes.isDisabled !== true;
    if (!isEnabledAdmin || staysOne) return;
    if ((this.#queries.enabledAdmins.get()?.count ?? 0) > 1) return;
    throw new AppError("last_admin", "This is the only administrator. Make another user an administrator first.");
  }
}

/** The form in which names are searched: case and the width of letters don't count. */
export function nameKey(name: string): string {
  return name.normalize("NFKC").toLowerCase();
}

/** What is stored of an address beside itself and its key. */
function formValues(email: string) {
  const { folded, skeleton } = emailForms(email);
  return { emailFolded: folded, emailSkeleton: skeleton, emailForms: EMAIL_FORMS_VERSION };
}

function storedQuota(quotaBytes: number | "plan" | null | undefined): number | null {
  return quotaBytes === undefined || quotaBytes === "plan" ? null : (quotaBytes ?? -1);
}
