/** The link that lets the owner of an account set a password: a welcome for new people, else a reset link. */
import type { Writer } from "../../../db/transaction.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { TransactionCheck } from "../auth/proof.ts";
import { type PasswordReset, RESET_LIFETIME_MS, resetLink } from "../password-reset/service.ts";
import type { User } from "../users/types.ts";
import { type Welcome, welcomeUrl } from "./service.ts";

/** Dependencies of {@link PasswordLinks}. */
interface PasswordLinksOptions {
  readonly writer: Writer;
  readonly clock: Clock;
  readonly passwordReset: PasswordReset;
  readonly welcome: Welcome;
}

/** A link, and its end. */
export interface PasswordLink {
  readonly url: string;
  readonly expiresAtMs: number;
}

export class PasswordLinks {
  readonly #options: PasswordLinksOptions;

  constructor(options: PasswordLinksOptions) {
    this.#options = options;
  }

  /** The first link of an account that was created without a password; durable when this returns. */
  async issueFirst(user: User, baseUrl: string): Promise<PasswordLink> {
    const { writer, welcome } = this.#options;
    const { token, expiresAtMs } = await writer.run((tx) => welcome.issue(tx, user.id));
    return { url: welcomeUrl(baseUrl, token), expiresAtMs };
  }

  /**
   * A new link in place of earlier ones; durable when this returns.
   * @param check runs first in the transaction; what it throws undoes it
   * @throws AppError not_found | account_disabled
   */
  async issue(user: User, baseUrl: string, check?: TransactionCheck): Promise<PasswordLink> {
    const { writer, clock, welcome, passwordReset } = this.#options;
    return writer.run((tx) => {
      check?.(tx);
      if (!welcome.isAwaited(user.id)) {
        const url = resetLink(baseUrl, passwordReset.issue(tx, user.id));
        return { url, expiresAtMs: clock.nowMs() + RESET_LIFETIME_MS };
      }
      const { token, expiresAtMs } = welcome.issue(tx, user.id);
      return { url: welcomeUrl(baseUrl, token), expiresAtMs };
    });
  }
}
