/**
 * Finds the account of a user of the provider.
 * An email alone proves little: sign-up does not check it. An attacker could sign up with another person's email and
 * wait for them to sign in. So users link their accounts themselves, with their password. Accounts are linked by email
 * only where the operator vouches for the emails of this server.
 */
import type { Config } from "../../../config/settings.ts";
import type { Database } from "bun:sqlite";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import { say } from "../../../translations/say.ts";
import { emailKey } from "../users/email.ts";
import type { TransactionCheck } from "../auth/proof.ts";
import type { UserService } from "../users/service.ts";
import type { User } from "../users/types.ts";
import { identityQueries } from "./queries.ts";
import type { Entry, ProviderUser } from "./types.ts";

/** Dependencies of {@link Identities}. */
export interface IdentitiesOptions {
  readonly sqlite: Database;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  readonly users: UserService;
  /** The provider that issued the subjects. */
  readonly issuer: string;
  readonly autoCreate: boolean;
  readonly linkByEmail: boolean;
  readonly trustEmail: boolean;
  /** Lower case; empty for all. */
  readonly allowedDomains: readonly string[];
  /** Null: the provider does not decide who is an administrator. */
  readonly adminGroup: string | null;
  readonly config: Pick<Config, "defaultPlan">;
  /** Notifies the owner of a new way to sign in to their account, in the transaction. */
  readonly onLinked: (tx: Transaction, accountId: number) => void;
}

const NAME_CHARACTERS_MAX = 200;

export class Identities {
  readonly #options: IdentitiesOptions;
  readonly #queries: ReturnType<typeof identityQueries>;
  readonly #issuer: string;

  constructor(options: IdentitiesOptions) {
    this.#options = options;
    this.#queries = identityQueries(options.sqlite);
    this.#issuer = options.issuer.replace(/\/$/, "");
  }

  /**
   * The account of a user who has just signed in at the provider; created or linked if the configuration allows it.
   * @throws AppError signup_closed | account_disabled | invalid_field | email_taken | overloaded
   */
  async accountOf(person: ProviderUser): Promise<Entry> {
    this.#checkDomain(person);
    const user = this.#find(person);
    const entry = user === undefined ? await this.#signInFirstTime(person) : { user, made: undefined, role: undefined };
    return this.#options.adminGroup === null ? entry : this.#updateRole(entry, person, this.#options.adminGroup);
  }

  /**
   * Links a user who has just signed in at the provider to an account. Durable when this returns.
   * @param confirm returns the account's row id within the transaction, or throws
   * @returns the user of the account
   * @throws AppError signup_closed if they are linked to another account already, or their domain is not allowed |
   *   account_disabled; what `confirm` throws
   */
  async link(person: ProviderUser, confirm: () => number): Promise<User> {
    this.#checkDomain(person);
    const { users, writer } = this.#options;
    return writer.run((tx) => {
      const user = this.#add(tx, confirm(), person.subject);
      const isTheirs = person.isEmailVerified && emailKey(person.email ?? "") === emailKey(user.email);
      return isTheirs ? users.confirmEmail(tx, user.id) : user;
    });
  }

  /**
   * Like {@link link}, for a subject that the operator names.
   * @param within runs afterwards in the same transaction
   */
  async linkSubject(userId: number, subject: string, within: (tx: Transaction) => void): Promise<void> {
    await this.#options.writer.run((tx) => {
      this.#add(tx, userId, subject);
      within(tx);
    });
  }

  /**
   * Removes all links of an account.
   * @param check runs first in the transaction
   * @returns how many there were
   */
  async unlink(userId: number, check: TransactionCheck): Promise<number> {
    return this.#options.writer.run((tx) => {
      check(tx);
      return this.#queries.removeOfUser.run(userId).changes;
    });
  }

  /** Whether the provider of this server can sign in to this account. */
  isLinked(userId: number): boolean {
    return this.#queries.ofUser.all(userId).some(({ issuer }) => issuer === this.#issuer);
  }

  /** Whether a user who has just signed in at the provider is linked to this account. */
  isOwner(person: ProviderUser, userId: number): boolean {
    return this.#find(person)?.id === userId;
  }

  /** Since when the provider can sign in to an account. */
  list(userId: number): { issuer: string; createdAtMs: number }[] {
    return this.#queries.ofUser.all(userId).map(({ issuer, createdAt }) => ({ issuer, createdAtMs: createdAt }));
  }

  #find({ subject }: ProviderUser): User | undefined {
    const row = this.#queries.find.get(this.#issuer, subject);
    return row === null ? undefined : this.#options.users.findById(row.userId);
  }

  /** Signs in a user who comes for the first time. */
  async #signInFirstTime(person: ProviderUser): Promise<Entry> {
    const { users, autoCreate, linkByEmail } = this.#options;
    if (!autoCreate && !linkByEmail) throw noLinkedAccount();
    const email = this.#verifiedEmail(person);
    const same = users.findByEmail(email);
    if (same !== undefined) {
      // Another person may have entered the unconfirmed email, and would then share the account with its owner.
      if (linkByEmail && same.isEmailUnconfirmed !== true) return this.#linkByEmail(same, email, person);
      throw new AppError(
        "signup_closed",
        say`An account with your email already exists. Sign in with its password and link it, or contact your administrator.`,
      );
    }
    if (!autoCreate) throw noLinkedAccount();
    return this.#make(email, person);
  }

  async #linkByEmail(user: User, email: string, person: ProviderUser): Promise<Entry> {
    const { users, writer } = this.#options;
    return writer.run((tx) => {
      const present = users.findById(user.id);
      // Changed in between: it belongs to another account now.
      const isSame = present !== undefined && emailKey(present.email) === emailKey(email);
      if (!isSame || present.isEmailUnconfirmed === true) throw noLinkedAccount();
      return { user: this.#add(tx, user.id, person.subject), made: "link", role: undefined };
    });
  }

  async #make(email: string, person: ProviderUser): Promise<Entry> {
    const { users, config } = this.#options;
    const name = nameOf(person);
    try {
      const user = await users.add(
        {
          email,
          ...(name !== undefined && { name }),
          role: "user",
          plan: config.defaultPlan,
          password: undefined,
          isEmailConfirmed: true,
        },
        (_tx, userId) => this.#queries.add.run(this.#issuer, person.subject, userId, this.#options.clock.nowMs()),
      );
      return { user, made: "account", role: undefined };
    } catch (error) {
      // Two concurrent first sign-ins: one of them created the account.
      const user = error instanceof AppError && error.reason === "email_taken" ? this.#find(person) : undefined;
      if (user === undefined) throw error;
      return { user, made: undefined, role: undefined };
    }
  }

  #add(tx: Transaction, userId: number, subject: string): User {
    const { users, clock, onLinked } = this.#options;
    const user = users.findById(userId);
    if (user === undefined) throw noLinkedAccount();
    if (user.disabledAtMs !== null) {
      throw new AppError("account_disabled", say`This account is disabled. Ask your administrator to enable it.`);
    }
    const isNew = this.#queries.add.run(this.#issuer, subject, userId, clock.nowMs()).changes > 0;
    if (isNew) onLinked(tx, userId);
    else if (this.#queries.find.get(this.#issuer, subject)?.userId !== userId) {
      throw new AppError(
        "signup_closed",
        say`This sign-in is already linked to another account. Unlink that account first.`,
      );
    }
    return user;
  }

  /**
   * Sets the role by the provider's groups. A user who left the group loses the role, except the last administrator.
   */
  async #updateRole(entry: Entry, { groups }: ProviderUser, adminGroup: string): Promise<Entry> {
    const { user } = entry;
    const isAdmin = groups.includes(adminGroup);
    // A disabled account keeps its role, since its sign-in fails.
    if (isAdmin === (user.role === "admin") || user.disabledAtMs !== null) return entry;
    const role = isAdmin ? "admin" : "user";
    try {
      return { ...entry, user: await this.#options.users.update(user.id, { role }), role };
    } catch (error) {
      if (!(error instanceof AppError) || error.reason !== "last_admin") throw error;
      this.#options.log.warn(
        "The last administrator is not in the administrator group of the provider; keeping the role.",
        {
          user: user.publicId,
        },
      );
      return entry;
    }
  }

  #checkDomain(person: ProviderUser): void {
    const { allowedDomains } = this.#options;
    if (allowedDomains.length === 0) return;
    const email = this.#verifiedEmail(person);
    const domain = email.slice(email.lastIndexOf("@") + 1).toLowerCase();
    if (allowedDomains.includes(domain)) return;
    throw new AppError(
      "signup_closed",
      say`Your email address is not allowed to sign in to this server. Contact your administrator.`,
    );
  }

  #verifiedEmail({ email, isEmailVerified }: ProviderUser): string {
    if (email === undefined) {
      throw new AppError(
        "signup_closed",
        say`The sign-in service did not provide an email address. Contact your administrator.`,
      );
    }
    if (isEmailVerified || this.#options.trustEmail) return email;
    throw new AppError(
      "signup_closed",
      say`The sign-in service has not confirmed your email address. Confirm it there, or contact your administrator.`,
    );
  }
}

function nameOf({ name }: ProviderUser): string | undefined {
  const clean = [
    ...(name ?? "")
      .toWellFormed()
      .replaceAll(/\p{Cc}+/gu, " ")
      .trim(),
  ];
  return clean.length === 0 ? undefined : clean.slice(0, NAME_CHARACTERS_MAX).join("");
}

function noLinkedAccount(): AppError {
  return new AppError(
    "signup_closed",
    say`No account is linked to this sign-in. Sign in with your password and link it, or contact your administrator.`,
  );
}
