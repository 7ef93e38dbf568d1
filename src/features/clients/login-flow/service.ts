import type { Database } from "bun:sqlite";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError, notFound } from "../../../errors.ts";
import { rateLimitKey } from "../../../http/client-address.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newId, newSecretToken } from "../../../lib/id.ts";
import { say } from "../../../translations/say.ts";
import type { AppPasswordService } from "../../accounts/app-passwords/service.ts";
import type { NewAppPassword } from "../../accounts/app-passwords/types.ts";
import type { ProofCheck } from "../../accounts/auth/proof.ts";
import { hashToken } from "../../accounts/auth/token-hash.ts";
import { checkName } from "../../accounts/users/name.ts";
import type { UserService } from "../../accounts/users/service.ts";
import { type LoginFlowRow, loginFlowQueries } from "./queries.ts";
import type { Agreement, BegunLoginFlow, LoginChoices, LoginFlow, LoginFlowRequest, LoginResult } from "./types.ts";

/** Dependencies of {@link LoginFlowService}. */
interface LoginFlowServiceOptions {
  readonly sqlite: Database;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly users: Pick<UserService, "findById">;
  readonly appPasswords: Pick<AppPasswordService, "add" | "check">;
}

/** How long a sign-in waits for the person. */
const FLOW_MS = 20 * 60 * 1000;
const TOKEN_BITS = 128;
/** Sign-ins that wait, of one client address and of all. */
const OF_ADDRESS_MAX = 10;
const ALL_MAX = 1_000;
const PROGRAM_CHARACTERS_MAX = 100;

/**
 * Sign-ins of programs through a browser (login flow v2 of Nextcloud, and the older one). The program begins, the
 * signed-in person agrees on a page, and the program gets an app password. The server creates it only when it hands it
 * over, so the password itself is never stored.
 */
export class LoginFlowService {
  readonly #options: LoginFlowServiceOptions;
  readonly #queries: ReturnType<typeof loginFlowQueries>;

  constructor(options: LoginFlowServiceOptions) {
    this.#options = options;
    this.#queries = loginFlowQueries(options.sqlite);
  }

  /** Begins a sign-in; durable when this returns. @throws AppError overloaded for too many open ones */
  async begin(request: LoginFlowRequest): Promise<BegunLoginFlow> {
    const { writer, clock } = this.#options;
    const { clientAddress, isPolling } = request;
    const token = newSecretToken(TOKEN_BITS);
    const pollToken = newSecretToken(TOKEN_BITS);
    const addressKey = rateLimitKey(clientAddress);
    const nowMs = clock.nowMs();
    await writer.run(() => {
      this.#queries.removeExpired.run(nowMs);
      const ofAddress = this.#queries.countOfAddress.get(addressKey)?.count ?? 0;
      const all = this.#queries.count.get()?.count ?? 0;
      if (ofAddress >= OF_ADDRESS_MAX || all >= ALL_MAX) {
        throw new AppError("overloaded", say`Too many sign-ins are waiting. Finish one, or try again in 20 minutes.`);
      }
      this.#queries.insert.run({
        tokenHash: hashToken(token),
        pollHash: isPolling ? hashToken(pollToken) : null,
        program: programOf(request.userAgent),
        clientAddress,
        addressKey,
        createdAtMs: nowMs,
        expiresAtMs: nowMs + FLOW_MS,
      });
    });
    return { token, pollToken };
  }

  /** A sign-in that waits for the person. @throws AppError not_found if there is none, or somebody agreed already */
  get(token: string): LoginFlow {
    return this.#getOpen(token);
  }

  /**
   * Agrees to a sign-in; durable when this returns.
   * @param checkProof returns the person, in the transaction; may reject them
   * @returns the id of the app password; and the result, if the page must pass it on instead of the program asking for it
   * @throws AppError not_found; what {@link AppPasswordService.add} throws
   */
  async agree(token: string, choices: LoginChoices, checkProof: ProofCheck): Promise<Agreement> {
    const { writer, clock, appPasswords } = this.#options;
    const { pollHash, program } = this.#getOpen(token);
    const { access, folder } = choices;
    const publicId = newId("app", clock.nowMs());
    const input: NewAppPassword = { publicId, name: choices.name ?? program, access, folder };
    if (pollHash === null) {
      const { user, password } = await appPasswords.add(input, (tx) => {
        const user = checkProof(tx);
        this.#queries.remove.run(this.#getOpen(token).id);
        return user;
      });
      return { publicId, result: { loginName: user.email, password } };
    }
    checkName(input.name, PROGRAM_CHARACTERS_MAX);
    await writer.run((tx) => {
      const user = checkProof(tx);
      // Checked now, while the person can correct it. Until the program asks, another folder may get the path.
      const folderId = appPasswords.check(user, input);
      const agreed: NewAppPassword = { publicId, name: input.name, access, folderId };
      this.#queries.agree.run(this.#getOpen(token).id, user.id, JSON.stringify(agreed));
    });
    return { publicId, result: undefined };
  }

  /** Denies a sign-in. @throws AppError not_found */
  async deny(token: string): Promise<void> {
    await this.#options.writer.run(() => void this.#queries.remove.run(this.#getOpen(token).id));
  }

  /**
   * Creates the app password of a sign-in and returns it once.
   * @returns undefined until the person agreed, for an unknown token, and if the account can no longer sign in
   * @throws what {@link AppPasswordService.add} throws; the sign-in then remains open
   */
  async collect(pollToken: string): Promise<LoginResult | undefined> {
    const { users, appPasswords } = this.#options;
    const found = this.#findAgreed(pollToken);
    if (found === undefined) return undefined;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by agree()
    const input = JSON.parse(found.options) as NewAppPassword;
    let isGone = false;
    const findOwner = () => {
      const current = this.#findAgreed(pollToken);
      const user = current && users.findById(current.userId);
      isGone = current === undefined || user === undefined || user.disabledAtMs !== null;
      if (isGone || current === undefined || user === undefined) throw notFound(say`This sign-in was not found.`);
      this.#queries.remove.run(current.id);
      return user;
    };
    try {
      const { user, password } = await appPasswords.add(input, findOwner);
      return { loginName: user.email, password };
    } catch (error) {
      if (isGone) return undefined;
      throw error;
    }
  }

  /** Ends the sign-ins to which a user agreed, in the transaction that changes the user's credentials. */
  endOf(_tx: Transaction, userId: number): void {
    this.#queries.removeOfUser.run(userId);
  }

  /** Deletes expired sign-ins. A transaction for the housekeeping job. @returns how many */
  async sweep(): Promise<number> {
    const { writer, clock } = this.#options;
    return writer.run(() => this.#queries.removeExpired.run(clock.nowMs()).changes);
  }

  #getOpen(token: string): LoginFlowRow {
    const row = this.#queries.byToken.get(hashToken(token));
    if (row !== null && row.userId === null && row.expiresAtMs > this.#options.clock.nowMs()) return row;
    throw new AppError(
      "not_found",
      say`This sign-in has expired, or somebody used it already. Start it again in the program.`,
    );
  }

  #findAgreed(pollToken: string) {
    const row = this.#queries.byPoll.get(hashToken(pollToken));
    if (row === null || row.expiresAtMs <= this.#options.clock.nowMs()) return undefined;
    const { userId, options } = row;
    return userId === null || options === null ? undefined : { ...row, userId, options };
  }
}

/** What a program calls itself, without characters that could confuse the person who reads it. */
function programOf(userAgent: string | null): string {
  const name = (userAgent ?? "")
    .toWellFormed()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, " ")
    .trim();
  return [...name].slice(0, PROGRAM_CHARACTERS_MAX).join("").trim() || "Unknown program";
}
