/**
 * Tokens that allow somebody to create an account, each valid once: the setup link of the first start, and invitations.
 */
import { eq } from "drizzle-orm";
import type { Db } from "../../../db/open.ts";
import { invites } from "../../../db/schema/users.ts";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newId, newSecretToken } from "../../../lib/id.ts";
import { type Message, say } from "../../../translations/say.ts";
import type { PlanName, Role } from "../users/types.ts";
import { hashToken } from "./token-hash.ts";

/** Dependencies of {@link SignupTokens}. */
interface SignupTokensOptions {
  readonly db: Db;
  readonly writer: Writer;
  readonly clock: Clock;
}

/** The rights that a sign-up token gives. */
interface Admission {
  readonly id: number;
  /** The folded email that it is bound to; null for any. */
  readonly emailKey: string | null;
  readonly role: Role;
  /** Null for the default plan. */
  readonly plan: PlanName | null;
}

const SETUP_LINK_MS = 24 * 60 * 60 * 1000;

export class SignupTokens {
  readonly #options: SignupTokensOptions;

  constructor(options: SignupTokensOptions) {
    this.#options = options;
  }

  /** A new one-time token for the setup page, valid for a day. Earlier ones end. Durable when this returns. */
  async newSetupToken(): Promise<string> {
    const { db, writer, clock } = this.#options;
    const token = newSecretToken();
    const nowMs = clock.nowMs();
    await writer.run(() => {
      db.orm.delete(invites).where(eq(invites.kind, "setup")).run();
      db.orm
        .insert(invites)
        .values({
          publicId: newId("inv", nowMs),
          tokenHash: hashToken(token),
          kind: "setup",
          role: "admin",
          createdAt: nowMs,
          expiresAt: nowMs + SETUP_LINK_MS,
        })
        .run();
    });
    return token;
  }

  /** Whether a token is that of an invitation, valid or not. */
  isInvite(token: string | undefined): boolean {
    if (token === undefined) return false;
    const { orm } = this.#options.db;
    const row = orm
      .select({ kind: invites.kind })
      .from(invites)
      .where(eq(invites.tokenHash, hashToken(token)))
      .get();
    return row?.kind === "invite";
  }

  /** The rights that a token gives now. @throws AppError signup_closed */
  find(token: string | undefined, kind: "setup" | "invite"): Admission {
    if (token === undefined)
      throw signupClosed(say`You need an invitation to create an account. Ask your administrator for one.`);
    const { db, clock } = this.#options;
    const row = db.orm
      .select()
      .from(invites)
      .where(eq(invites.tokenHash, hashToken(token)))
      .get();
    if (row === undefined || row.kind !== kind || row.usedAt !== null || row.expiresAt <= clock.nowMs()) {
      throw signupClosed(say`This invitation is not valid. It may be used or expired: ask for a new one.`);
    }
    return row;
  }

  /** Uses up a token, in the transaction that creates the account with this row id. @throws AppError signup_closed */
  use(_tx: Transaction, id: number, userId: number): void {
    const { db, clock } = this.#options;
    const used = db.sqlite
      .query("UPDATE invites SET used_at = ?2, used_by = ?3 WHERE id = ?1 AND used_at IS NULL")
      .run(id, clock.nowMs(), userId);
    if (used.changes === 0) throw signupClosed(say`This invitation was already used. Ask for a new one.`);
  }
}

/** Nobody can create an account with this token. */
export function signupClosed(text: Message): AppError {
  return new AppError("signup_closed", text);
}
