/**
 * Proof that the owner of an account makes a request. A token can be stolen and a screen left unlocked. A change by
 * which somebody could stay in an account, take it over or delete it therefore requires the password (and the second
 * factor) once more: in the request, or by a confirmation of the session that counts for ten minutes. Signing in alone
 * is no proof.
 */
import type { Transaction, Writer } from "../../../db/transaction.ts";
import type { AppError } from "../../../errors.ts";
import type { RateGate } from "../rate-limits/guard.ts";
import type { UserService } from "../users/service.ts";
import type { User } from "../users/types.ts";
import { type Access, checkRole } from "./guard.ts";
import { type Principal, sessionOf } from "./principal.ts";
import { type ProofMethod, proofRequired, revokedToken } from "./rejections.ts";
import type { AuthService, CheckedUser } from "./service.ts";

/** Dependencies of {@link ProofService}. */
interface ProofServiceOptions {
  readonly writer: Writer;
  readonly users: UserService;
  readonly auth: AuthService;
  readonly rateGate: Pick<RateGate, "guardPassword">;
  readonly hasPasskeys: (userId: number) => boolean;
  /** Whether the provider of this server can sign in to the account. */
  readonly isLinked: (userId: number) => boolean;
  readonly hasSecondFactor: (userId: number) => boolean;
}

/** The proof in the body of a request. */
export interface GivenProof {
  readonly currentPassword?: string | undefined;
  readonly code?: string | undefined;
}

/** What a handler passes on to require proof. */
export interface ProofContext<Body extends GivenProof = GivenProof> {
  readonly request: Request;
  readonly set: { readonly headers: Record<string, string | number> };
  readonly principal: Principal;
  readonly body: Body;
}

/**
 * Compares the proof with the state in the caller's transaction: while a password is checked, the session may end and
 * the password or the role may change.
 * @returns the user in that state
 * @throws AppError revoked_token | role | password_required | bad_credentials | account_disabled | second_factor_required
 */
export type ProofCheck = (tx: Transaction) => User;

/** Runs first in the transaction of a change; what it throws undoes the change. */
export type TransactionCheck = (tx: Transaction) => unknown;

/** Checks the proof in requests, and confirms sessions. */
export class ProofService {
  readonly #options: ProofServiceOptions;

  constructor(options: ProofServiceOptions) {
    this.#options = options;
  }

  /**
   * Rejects a request without proof. A password in the body is checked, even if the session is confirmed.
   * @param access the access that the route requires
   * @returns a check to be called in the transaction of the change
   * @throws AppError scope for an API key; password_required; what {@link AuthService.checkCredentials} throws;
   *   rate_limited, as for sign-ins
   */
  async require(access: Access, context: ProofContext): Promise<ProofCheck> {
    const { principal, body } = context;
    const session = sessionOf(principal);
    const { auth } = this.#options;
    if (body.currentPassword === undefined) {
      const requireConfirmed = (): void => {
        if (auth.confirmedUntil(session) === undefined) throw this.#required(principal.user);
      };
      requireConfirmed();
      return (tx) => {
        const user = this.checkSession(access, principal)(tx);
        requireConfirmed();
        return user;
      };
    }
    const checked = await this.#checkPassword(context, body.currentPassword);
    return (tx) => {
      const user = this.checkSession(access, principal)(tx);
      auth.confirm(tx, checked);
      return user;
    };
  }

  /** Checks without proof that the session is open and that its user may still do this. @throws AppError as {@link ProofCheck} */
  checkSession(access: Access, principal: Principal): ProofCheck {
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
  async confirm(
    access: Access,
    context: ProofContext<GivenProof & { readonly currentPassword: string }>,
  ): Promise<number> {
    const { principal, body } = context;
    const checked = await this.#checkPassword(context, body.currentPassword);
    return this.confirmBy(access, principal, (tx) => void this.#options.auth.confirm(tx, checked));
  }

  /**
   * Confirms the session by another proof, such as a passkey. Durable when this returns.
   * @param within checks that proof in the same transaction
   * @returns until when
   */
  async confirmBy(access: Access, principal: Principal, within: (tx: Transaction) => void): Promise<number> {
    const session = sessionOf(principal);
    return this.#options.writer.run((tx) => {
      this.checkSession(access, principal)(tx);
      within(tx);
      return this.#options.auth.confirmSession(tx, session);
    });
  }

  /** The ways to prove that the owner of an account makes a request; the usual way first. */
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

  /** Checks a password, and the code in the body. Wrong ones count as failed sign-ins do. */
  async #checkPassword({ request, set, principal, body }: ProofContext, password: string): Promise<CheckedUser> {
    const { rateGate, auth } = this.#options;
    const { email } = principal.user;
    return rateGate.guardPassword(request, set.headers, email, () => auth.checkCredentials(email, password, body.code));
  }
}
