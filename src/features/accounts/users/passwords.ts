/**
 * Hashes passwords with argon2id, off the event loop, at most two at a time (one on small machines): many concurrent
 * sign-ins must not take all memory or all threads.
 */
import { availableParallelism } from "node:os";
import { AppError, invalidField } from "../../../errors.ts";
import { FairQueue } from "../../../lib/fair-queue.ts";
import { say } from "../../../translations/say.ts";
import { checkedAddress } from "./password-line.ts";

const PASSWORD_CHARACTERS_MIN = 8;
const PASSWORD_CHARACTERS_MAX = 256;
/** One processor remains free for everything else. */
const RUNNING_MAX = Math.max(1, Math.min(2, availableParallelism() - 1));
/** A longer queue would take more than a few seconds. */
const WAITING_MAX = 100;
/** The cost of one hash: KiB of memory, and passes over them. */
interface HashCost {
  readonly memoryCost: number;
  readonly timeCost: number;
}

/** The minimum that OWASP recommends. */
const HASH_COST: HashCost = { memoryCost: 19_456, timeCost: 2 };

/** Creates and checks password hashes, with a limit on concurrent ones. Addresses take turns. */
export class PasswordHasher {
  readonly #queue = new FairQueue({ runningMax: RUNNING_MAX, waitingMax: WAITING_MAX });
  readonly #argon2: Bun.Password.Argon2Algorithm;
  #decoy: Promise<string> | undefined;

  /** @param cost lower in tests that create accounts */
  constructor(cost: HashCost = HASH_COST) {
    this.#argon2 = { algorithm: "argon2id", ...cost };
  }

  /** @throws AppError overloaded */
  async hash(password: string): Promise<string> {
    return this.#bounded(() => Bun.password.hash(password.normalize("NFC"), this.#argon2));
  }

  /**
   * Whether `password` is the one that was hashed. Without a hash (an unknown account) it takes the same time and
   * returns false.
   * @throws AppError overloaded
   */
  async verify(password: string, hash: string | undefined): Promise<boolean> {
    this.#decoy ??= Bun.password.hash(crypto.randomUUID(), this.#argon2);
    const against = hash ?? (await this.#decoy);
    const isRight = await this.#bounded(() => Bun.password.verify(password.normalize("NFC"), against));
    return isRight && hash !== undefined;
  }

  #bounded<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.run(checkedAddress() ?? "", work, () => {
      return new AppError("overloaded", say`Too many sign-ins are in progress. Try again in a few seconds.`);
    });
  }
}

/** Checks the length of a new password, in characters after NFC. @throws AppError invalid_field */
export function checkNewPassword(password: string, field = "password"): string {
  const { length } = [...password.slice(0, PASSWORD_CHARACTERS_MAX * 8).normalize("NFC")];
  if (length < PASSWORD_CHARACTERS_MIN || length > PASSWORD_CHARACTERS_MAX) {
    throw invalidField(
      field,
      say`A password must have ${PASSWORD_CHARACTERS_MIN} to ${PASSWORD_CHARACTERS_MAX} characters. Choose another password.`,
    );
  }
  return password;
}
