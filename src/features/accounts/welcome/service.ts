/**
 * The first password of a new person. An administrator creates the account without a password, and hands on a link with
 * which its owner chooses one. Triggers of the database end the link: with the first sign-in and any new password, and
 * if the account is disabled or gets another email.
 */
import type { Database } from "bun:sqlite";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newSecretToken } from "../../../lib/id.ts";
import { say } from "../../../translations/say.ts";
import { hashToken } from "../auth/token-hash.ts";
import { checkNewPassword } from "../users/passwords.ts";
import { checkLinkAccount } from "../users/link-account.ts";
import type { UserService } from "../users/service.ts";
import type { User } from "../users/types.ts";

/** Dependencies of {@link Welcome}. */
interface WelcomeOptions {
  readonly sqlite: Database;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly users: UserService;
}

/** How long a link is valid: as long as an invitation. */
const LIFETIME_MS = 7 * 24 * 60 * 60_000;

/** A link, which is shown only here. */
interface WelcomeLink {
  readonly token: string;
  readonly expiresAtMs: number;
}

export class Welcome {
  readonly #options: WelcomeOptions;
  readonly #queries: ReturnType<typeof welcomeQueries>;

  constructor(options: WelcomeOptions) {
    this.#options = options;
    this.#queries = welcomeQueries(options.sqlite);
  }

  /** Whether the account was created without a password, and nobody has signed in to it since. */
  isAwaited(userId: number): boolean {
    return this.#queries.ofUser.get(userId) !== null;
  }

  /**
   * A new link for an account whose owner has never signed in, in the caller's transaction. Earlier ones end.
   * @throws AppError not_found | account_disabled
   */
  issue(_tx: Transaction, userId: number): WelcomeLink {
    const { users, clock } = this.#options;
    checkLinkAccount(users, userId);
    const token = newSecretToken();
    const nowMs = clock.nowMs();
    this.#queries.put.run(userId, hashToken(token), nowMs, nowMs + LIFETIME_MS);
    return { token, expiresAtMs: nowMs + LIFETIME_MS };
  }

  /** The account that a link opens now. */
  find(token: string): User | undefined {
    const row = this.#queries.byToken.get(hashToken(token), this.#options.clock.nowMs());
    if (row === null) return undefined;
    const user = this.#options.users.findById(row.userId);
    return user === undefined || user.email === "" || user.disabledAtMs !== null ? undefined : user;
  }

  /**
   * Sets the first password with a link, which is used up; durable when this returns.
   * @throws AppError invalid_field (the link stays valid) | invalid_token | overloaded
   */
  async accept(token: string, password: string): Promise<User> {
    checkNewPassword(password, "password");
    const found = this.find(token);
    if (found === undefined) throw invalidLink();
    return this.#options.users.update(found.id, { password }, undefined, () => {
      // During hashing, another tab may have used the link, or the account may have changed.
      if (this.find(token)?.id !== found.id) throw invalidLink();
    });
  }
}

/** The address of the page on which a new person chooses a password. The token is in the query, which no log records. */
export function welcomeUrl(baseUrl: string, token: string): string {
  return `${baseUrl}/welcome?token=${token}`;
}

function welcomeQueries(sqlite: Database) {
  return {
    ofUser: sqlite.prepare<{ userId: number }, [number]>("SELECT user_id AS userId FROM welcomes WHERE user_id = ?1"),
    put: sqlite.prepare<void, [number, Uint8Array, number, number]>(
      "INSERT OR REPLACE INTO welcomes (user_id, token_hash, created_at, expires_at) VALUES (?1, ?2, ?3, ?4)",
    ),
    /** Index welcomes_token. */
    byToken: sqlite.prepare<{ userId: number }, [Uint8Array, number]>(
      "SELECT user_id AS userId FROM welcomes WHERE token_hash = ?1 AND expires_at > ?2",
    ),
  };
}

function invalidLink(): AppError {
  return new AppError("invalid_token", say`This link is not valid or has expired. Ask for a new one.`);
}
