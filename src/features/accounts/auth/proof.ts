/**
 * Proof that the owner of an account asks. A token can be stolen and a screen left unlocked; so what would let somebody
 * stay in an account, take it over or end it asks for the password (and the second factor) once more: in the request,
 * or by a confirmation of the session that counts for ten minutes. Signing in alone is no proof.
 */
import type { Transaction, Writer } from "../../../db/transaction.ts";
import type { AppError } from "../../../errors.ts";
import type { RateGate } from "../rate-limits/guard.ts";
import type { UserService } from "../users/service.ts";
import type { User } from "../users/types.ts";
import { type Access, checkRole } from "./guard.ts";
import { type Principal, type Session, sessionOf } from "./principal.ts";
import { type ProofMethod, proofRequired, revokedToken } from "./refusals.ts";
import type { AuthService, CheckedUser } from "./service.ts";

/** Dependencies of {@link ProofService}. */
export interface ProofServiceOptions {
  readonly writer: Writer;
  readonly users: UserService;
  readonly auth: AuthService;
  readonly rateGate: Pick<RateGate, "guardPassword">;
  readonly hasPasskeys: (userId: number) => boolean;
  /** Whether the account can be entered by the OpenID Connect provider of this server. */
  readonly isLinked: (userId: number) => boolean;
  readonly hasSecondFactor: (userId: number) => boolean;
}

/** The proof that a request carries. */
export interface GivenProof {
  readonly currentPassword?: string | undefined;
  readonly code?: string | undefined;
}

/** The caller, and the access that the route requires. */
export interface Asking {
  readonly request: Request;
  readonly headers: Record<string, string | number>;
  readonly principal: Principal;
  readonly access: Access;
}

/**
 * Holds the proof against the state of the caller's transaction: checking a password takes a while, in which the
 * session may end, the password change, or the role.
 * @returns the user as they stand
 * @throws AppError revoked_token | role | password_required | bad_credentials | account_disabled | second_factor_required
 */
export type Proven = (tx: Transaction) => User;

export class ProofService {
  readonly #options: ProofServiceOptions;

  constructor(options: ProofServiceOptions) {
    this.#options = options;
  }

  /**
   * Rejects what comes without proof. A password that is given is checked, also where the session is confirmed.
   * @returns to be called in the transaction that does what is asked
   * @throws AppError scope for an API key; password_required; what {@link AuthService.checkCredentials} throws;
   *   rate_limited, as for sign-ins
   */
  async require(asking: Asking, given: GivenProof): Promise<Proven> {
    const session = sessionOf(asking.principal);
    const { auth } = this.#options;
    if (given.currentPassword === undefined) {
      const demand = (): void => {
        if (auth.confirmedUntil(session) === undefined) throw this.#required(asking.principal.user);
      };
      demand();
      return (tx) => {
        const user = this.standing(asking)(tx);
        demand();
        return user;
      };
    }
    const checked = await this.#checkPassword(asking, given.currentPassword, given.code);
    return (tx) => {
      const user = this.standing(asking)(tx);
      auth.confirm(tx, checked);
      return user;
    };
  }

  /** The same without proof: the session is open, and its user may still do this. @throws AppError as {@link Proven} */
  standing({ principal, access }: Asking): Proven {
    const session = sessionOf(principal);
    const { auth, users } = this.#options;
    return () => {
      const user = users.findById(principal.user.id);
      if (user === undefined || user.disabledAtMs !== null || auth.findSession(session.publicId) === undefined)
        throw revokedToken();
      checkRole(access, user);
      return { ...user, viaDeviceId: principal.user.viaDeviceId };
    };
  }

  /** Confirms the session by its account's password. @returns until when @throws AppError as {@link require} */
  async confirm(asking: Asking, password: string, code: string | undefined): Promise<number> {
    const session = sessionOf(asking.principal);
    const checked = await this.#checkPassword(asking, password, code);
    return this.confirmBy(asking, session, (tx) => void this.#options.auth.confirm(tx, checked));
  }

  /**
   * Confirms the session by something else that was shown just now. Durable when this returns.
   * @param within what was shown, in the same transaction
   * @returns until when
   */
  async confirmBy(asking: Asking, session: Session, within: (tx: Transaction) => void): Promise<number> {
    return this.#options.writer.run((tx) => {
      this.standing(asking)(tx);
      within(tx);
      return this.#options.auth.confirmSession(tx, session);
    });
  }

  /** How an account can show that its owner asks; the usual way first. */
  methodsOf({ id }: User): readonly ProofMethod[] {
    const { users, hasPasskeys, isLinked } = this.#options;
    const hasPassword = users.hasPassword(id);
    return [
      ...(hasPassword ? (["password"] as const) : []),
      ...(hasPasskeys(id) ? (["passkey"] as const) : []),
      // If the account has a password, a provider's sign-in can't replace it and the second factor.
      ...(!hasPassword && isLinked(id) ? (["provider"] as const) : []),
    ];
  }

  #required(user: User): AppError {
    return proofRequired(this.methodsOf(user), this.#options.hasSecondFactor(user.id));
  }

  /** Wrong ones count as failed sign-ins do. */
  async #checkPassword(asking: Asking, password: string, code: string | undefined): Promise<CheckedUser> {
    const { rateGate, auth } = this.#options;
    const { request, headers, principal } = asking;
    const { email } = principal.user;
    return rateGate.guardPassword(request, headers, email, () => auth.checkCredentials(email, password, code));
  }
}
