import type { Reader } from "../../../db/reader.ts";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { Events } from "../../../events/events.ts";
import { say } from "../../../translations/say.ts";
import type { TransactionCheck } from "../../accounts/auth/proof.ts";
import type { AuthService } from "../../accounts/auth/service.ts";
import { changeAccount, unknownAccount } from "../../accounts/profile/change-account.ts";
import type { AppPasswordService } from "../../accounts/app-passwords/service.ts";
import type { CredentialRevoker } from "../../accounts/profile/change-profile.ts";
import type { UserService } from "../../accounts/users/service.ts";
import type { NewUser, User, UserChanges } from "../../accounts/users/types.ts";
import { accountOf, accountPage } from "./queries.ts";
import type { AccountQuery, AccountRow } from "./types.ts";

/** Dependencies of {@link AccountAdministration}. */
interface AccountAdministrationOptions {
  readonly reader: Reader;
  readonly writer: Writer;
  readonly users: UserService;
  readonly auth: AuthService;
  readonly events: Events;
  /** Deletes an account permanently. @throws AppError last_admin */
  readonly eraseAccount: (user: User, check: TransactionCheck) => Promise<void>;
  readonly appPasswords: Pick<AppPasswordService, "revokeAll">;
  readonly credentialRevoker: CredentialRevoker;
}

/**
 * What administrators do with accounts. Every change takes effect on the next request of the account. At least one
 * enabled administrator always remains. Nothing here shows the files of an account.
 */
export class AccountAdministration {
  readonly #options: AccountAdministrationOptions;

  constructor(options: AccountAdministrationOptions) {
    this.#options = options;
  }

  /** A page of the accounts, and the number of those that match the filter. */
  async list(query: AccountQuery): Promise<{ accounts: readonly AccountRow[]; total: number }> {
    const [accounts, [total = 0]] = await this.#options.reader.read(accountPage(query));
    return { accounts, total };
  }

  /** One account as the list shows it. @throws AppError not_found */
  async read(publicId: string): Promise<AccountRow> {
    const [[found]] = await this.#options.reader.read([accountOf(publicId)]);
    if (found === undefined) throw unknownAccount();
    return found;
  }

  /** An account that is not deleted. @throws AppError not_found */
  get(publicId: string): User {
    const user = this.#options.users.findByPublicId(publicId);
    if (user === undefined || user.email === "") throw unknownAccount();
    return user;
  }

  /**
   * Like {@link get}, but rejects the caller's own account.
   * @throws AppError not_found; what {@link rejectOwn} throws
   */
  getOther(caller: User, publicId: string): User {
    const user = this.get(publicId);
    this.rejectOwn(caller, user.publicId, {});
    return user;
  }

  /** Creates an account; durable when this returns. @throws AppError invalid_field | email_taken | overloaded */
  async add(input: NewUser, check?: TransactionCheck): Promise<User> {
    return this.#options.users.add({ ...input, isByAdministrator: true }, check);
  }

  /**
   * Changes an account; durable when this returns. See {@link changeAccount}.
   * @param endKeys with a new password: ends the API keys and app passwords too
   * @throws AppError not_found | invalid_field | email_taken | last_admin | overloaded
   */
  async change(publicId: string, changes: UserChanges, endKeys: boolean, check?: TransactionCheck): Promise<User> {
    const { credentialRevoker } = this.#options;
    const within = (tx: Transaction, { id }: User) => void (endKeys && credentialRevoker.revokeAll(tx, id));
    return changeAccount(this.#options, this.get(publicId).id, changes, within, check);
  }

  /**
   * Deletes an account with all its files.
   * @returns the deleted user
   * @throws AppError not_found | last_admin
   */
  async erase(publicId: string, check: TransactionCheck): Promise<User> {
    const user = this.get(publicId);
    await this.#options.eraseAccount(user, check);
    return user;
  }

  /**
   * Ends all sessions of an account, including those of phones; durable when this returns. API keys and app passwords stay.
   * @throws AppError not_found
   */
  async endSessions(publicId: string, check: TransactionCheck): Promise<void> {
    const { id } = this.get(publicId);
    await this.#options.writer.run((tx) => {
      check(tx);
      this.#options.auth.endSessions(tx, id);
    });
  }

  /**
   * Rejects a change by administrators of their own account: it would bypass the checks of the account settings.
   * @param changes the rejected changes
   * @throws AppError role; last_admin if the change would leave no administrator
   */
  rejectOwn(caller: User, publicId: string, changes: UserChanges): void {
    if (caller.publicId !== publicId) return;
    this.#options.users.checkLastAdmin(caller, changes);
    throw new AppError(
      "role",
      say`You can't do this to your own account. Use your account settings, or ask another administrator.`,
    );
  }
}
