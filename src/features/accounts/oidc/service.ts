/** Sign-in with an OpenID Connect provider, from its start to the session. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Writer } from "../../../db/transaction.ts";
import { AppError, invalidField } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newSecretToken } from "../../../lib/id.ts";
import type { ClientInfo } from "../auth/principal.ts";
import { accountDisabled } from "../auth/rejections.ts";
import type { AuthService, SignedIn } from "../auth/service.ts";
import type { UserService } from "../users/service.ts";
import type { User } from "../users/types.ts";
import { type AttemptSeal, readReturnPath } from "./attempt.ts";
import type { Identities } from "./identities.ts";
import { ExpiringMap } from "../../../lib/expiring-map.ts";
import { say } from "../../../translations/say.ts";
import type { OidcProvider } from "./provider.ts";
import type { Attempt, Entry, ProviderUser, SignInMode } from "./types.ts";

/** Dependencies of {@link OidcService}. */
interface OidcServiceOptions {
  /** The label of the button. */
  readonly name: string;
  readonly provider: OidcProvider;
  readonly identities: Identities;
  readonly seal: AttemptSeal;
  readonly users: Pick<UserService, "findByPublicId" | "findById" | "findCredentials">;
  readonly writer: Writer;
  readonly auth: Pick<AuthService, "signInConfirmed" | "findSession" | "confirmSession">;
  readonly clock: Clock;
}

/** The options of a new sign-in. */
interface BeginRequest {
  /** The address to which the provider redirects the browser. */
  readonly redirectUri: string;
  readonly returnTo?: string | undefined;
  readonly mode?: SignInMode | undefined;
  readonly challenge?: string | undefined;
  /** The purpose and session of a user who is signed in already. */
  readonly bySession?: { purpose: "link" | "confirm"; user: User; sessionId: string } | undefined;
}

/** A sign-in that has begun. */
interface StartedSignIn {
  /** The address to which to send the browser. */
  readonly address: string;
  /** The state that the browser stores during the sign-in. */
  readonly sealed: string;
}

/** How a sign-in ended. */
export type FinishedSignIn =
  | { readonly is: "signed-in"; readonly signedIn: SignedIn; readonly entry: Entry; readonly returnTo: string }
  | { readonly is: "code"; readonly code: string; readonly entry: Entry; readonly returnTo: string }
  | { readonly is: "linked" | "confirmed"; readonly user: User; readonly returnTo: string };

/** How long a sign-in may take, and a code may be exchanged. */
export const ATTEMPT_MS = 10 * 60_000;
export const CODE_MS = 5 * 60_000;

const USED_MAX = 10_000;
const CODES_MAX = 1_000;

export class OidcService {
  readonly #options: OidcServiceOptions;
  /**
   * States whose response has arrived: each counts once. After a restart, the provider itself rejects a used response.
   */
  readonly #used: ExpiringMap<true>;
  readonly #codes: ExpiringMap<{ readonly userId: number; readonly challenge: string }>;

  constructor(options: OidcServiceOptions) {
    this.#options = options;
    const { clock } = options;
    this.#used = new ExpiringMap({ clock, lifetimeMs: ATTEMPT_MS, countMax: USED_MAX });
    this.#codes = new ExpiringMap({ clock, lifetimeMs: CODE_MS, countMax: CODES_MAX });
  }

  /** The label of the button. */
  get name(): string {
    return this.#options.name;
  }

  /** Links between accounts and users of the provider. */
  get identities(): Identities {
    return this.#options.identities;
  }

  /** @throws AppError invalid_field | provider_unavailable */
  async begin(request: BeginRequest): Promise<StartedSignIn> {
    const { provider, seal, clock } = this.#options;
    const { bySession } = request;
    const nowMs = clock.nowMs();
    const attempt: Attempt = {
      state: newSecretToken(),
      nonce: newSecretToken(),
      verifier: newSecretToken(256),
      redirectUri: request.redirectUri,
      returnTo: checkReturnTo(request.returnTo),
      mode: request.mode ?? "cookie",
      challenge: checkChallenge(request.challenge),
      bySession: bySession === undefined ? null : this.#describe(bySession),
      startedAtMs: nowMs,
      expiresAtMs: nowMs + ATTEMPT_MS,
    };
    return { address: await provider.addressFor(attempt), sealed: seal.seal(attempt) };
  }

  /**
   * Ends a sign-in with the provider's response.
   * @param sealed the state from the browser, or undefined
   * @param query as the browser sends it
   * @throws AppError invalid_request if it does not belong to this browser, has expired or was used before |
   *   bad_credentials | provider_unavailable | signup_closed | account_disabled
   */
  async finish(sealed: string | undefined, query: string, client: ClientInfo): Promise<FinishedSignIn> {
    const { provider, identities, auth } = this.#options;
    const attempt = this.#openAttempt(sealed, query);
    const { returnTo } = attempt;
    const person = await provider.identify(attempt, query);
    if (attempt.bySession?.purpose === "link") {
      const user = await identities.link(person, () => this.#ownerOf(attempt).id);
      return { is: "linked", user, returnTo };
    }
    if (attempt.bySession?.purpose === "confirm") {
      return { is: "confirmed", user: await this.#confirm(attempt, person), returnTo };
    }
    const entry = await identities.accountOf(person);
    const { user } = entry;
    if (attempt.mode === "cookie") {
      return { is: "signed-in", signedIn: await auth.signInConfirmed(user, client), entry, returnTo };
    }
    if (user.disabledAtMs !== null) throw accountDisabled();
    const code = newSecretToken();
    this.#codes.put(digestOf(code), { userId: user.id, challenge: attempt.challenge });
    return { is: "code", code, entry, returnTo };
  }

  /**
   * Exchanges the code that a sign-in ended with for a session. The code is used up in any case.
   * @throws AppError invalid_code | account_disabled
   */
  async exchange(code: string, verifier: string | undefined, client: ClientInfo): Promise<SignedIn> {
    const { users, auth } = this.#options;
    const found = this.#codes.take(digestOf(code));
    const user = found && users.findById(found.userId);
    if (found === undefined || user === undefined || !matchesChallenge(found.challenge, verifier)) {
      throw new AppError("invalid_code", say`This code is not valid or has expired. Sign in again to get a new code.`);
    }
    return auth.signInConfirmed(user, client);
  }

  #openAttempt(sealed: string | undefined, query: string): Attempt {
    const { seal, clock } = this.#options;
    const attempt = sealed === undefined ? undefined : seal.open(sealed, clock.nowMs());
    const state = new URLSearchParams(query).getAll("state");
    const isOurs = attempt !== undefined && state.length === 1 && isSame(state[0] ?? "", attempt.state);
    if (!isOurs || this.#used.has(attempt.state)) {
      throw new AppError(
        "invalid_request",
        say`This sign-in has expired or was started in another browser. Start again.`,
      );
    }
    this.#used.put(attempt.state, true);
    return attempt;
  }

  #describe({ purpose, user, sessionId }: NonNullable<BeginRequest["bySession"]>): Attempt["bySession"] {
    const hash = this.#options.users.findCredentials(user.email)?.passwordHash ?? "";
    return { purpose, userId: user.publicId, sessionId, basis: digestOf(hash) };
  }

  /** Confirms the session that requested it; durable when this returns. @throws AppError bad_credentials */
  async #confirm(attempt: Attempt, person: ProviderUser): Promise<User> {
    const { identities, auth, writer } = this.#options;
    return writer.run((tx) => {
      const user = this.#ownerOf(attempt);
      const session = auth.findSession(attempt.bySession?.sessionId ?? "");
      if (session === undefined || !identities.isOwner(person, user.id)) {
        throw new AppError(
          "bad_credentials",
          say`You signed in with a different account. Start again and choose your own account.`,
        );
      }
      auth.confirmSession(tx, session);
      return user;
    });
  }

  /**
   * The account of a session that began an attempt, in the transaction that ends it. If another person had the password
   * or a session, and the owner ended that, an attempt that began earlier must not give access again.
   */
  #ownerOf({ bySession }: Attempt): User {
    const { users, auth } = this.#options;
    const user = bySession === null ? undefined : users.findByPublicId(bySession.userId);
    const credentials = user && users.findCredentials(user.email);
    const isOpen = bySession !== null && auth.findSession(bySession.sessionId) !== undefined;
    if (!isOpen || credentials === undefined || !isSame(digestOf(credentials.passwordHash), bySession.basis)) {
      throw new AppError(
        "bad_credentials",
        say`You were signed out, or your password changed. Sign in and start again.`,
      );
    }
    if (credentials.user.disabledAtMs !== null) throw accountDisabled();
    return credentials.user;
  }
}

function checkReturnTo(text: string | undefined): string {
  if (text === undefined || text === "") return "";
  const path = readReturnPath(text);
  if (path !== undefined) return path;
  throw invalidField("returnTo", say`returnTo must be a path on this server that begins with "/".`);
}

function checkChallenge(text: string | undefined): string {
  if (text === undefined || text === "") return "";
  if (/^[A-Za-z0-9_-]{43}$/.test(text)) return text;
  throw invalidField("challenge", say`challenge must be the SHA-256 of your verifier, as 43 base64url characters.`);
}

function matchesChallenge(challenge: string, verifier: string | undefined): boolean {
  if (challenge === "") return true;
  return verifier !== undefined && isSame(digestOf(verifier), challenge);
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
