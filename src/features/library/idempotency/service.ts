/**
 * Idempotency-Key (contract §4): a request that is sent again within 24 hours gets the first answer, and nothing is done
 * twice. The first result is kept in the very transaction that does the transaction, so a crash in between can't part them,
 * and two copies of a request that run side by side are put in order by the one writer.
 */
import type { Database } from "bun:sqlite";
import { AppError, invalidField } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";

/** A request that carries a key. */
export interface KeyedRequest {
  readonly accountId: number;
  readonly key: string;
  /** What makes it this very request: any two that differ in anything that matters differ here. */
  readonly fingerprint: string;
}

const RETENTION_MS = 24 * 60 * 60 * 1000;

/** Remembers the results of keyed requests. */
export class Idempotency {
  readonly #clock: Clock;
  readonly #find;
  readonly #insert;
  readonly #sweep;

  constructor(sqlite: Database, clock: Clock) {
    this.#clock = clock;
    this.#find = sqlite.query<{ fingerprint: string; result: string }, [number, string, number]>(
      "SELECT fingerprint, result FROM idempotency_keys WHERE account_id = ?1 AND key = ?2 AND created_at > ?3",
    );
    this.#insert = sqlite.query<void, [number, string, string, string, number]>(
      "INSERT OR REPLACE INTO idempotency_keys (account_id, key, fingerprint, result, created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
    );
    this.#sweep = sqlite.query<void, [number, number]>(
      `DELETE FROM idempotency_keys WHERE (account_id, key) IN
        (SELECT account_id, key FROM idempotency_keys WHERE created_at <= ?1 ORDER BY created_at LIMIT ?2)`,
    );
  }

  /**
   * Runs `transaction` unless it was done for this key already, within the caller's transaction; then gives what it gave. The
   * result passes through JSON.
   * @throws AppError idempotency_key where the key came with another request; whatever `transaction` throws, and then nothing is kept
   */
  once<T>(request: KeyedRequest | undefined, deed: () => T): T {
    if (request === undefined) return deed();
    const { accountId, key, fingerprint } = request;
    const nowMs = this.#clock.nowMs();
    const first = this.#find.get(accountId, key, nowMs - RETENTION_MS);
    if (first !== null) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what this very transaction gave, kept below
      if (first.fingerprint === fingerprint) return JSON.parse(first.result) as T;
      throw usedOtherwise();
    }
    const result = deed();
    this.#insert.run(accountId, key, fingerprint, JSON.stringify(result), nowMs);
    return result;
  }

  /**
   * What a finished request gave, or undefined where it is new. For requests of several transactions, which {@link finish} keeps.
   * @throws AppError idempotency_key where the key came with another request
   */
  find(request: KeyedRequest): unknown {
    const first = this.#find.get(request.accountId, request.key, this.#clock.nowMs() - RETENTION_MS);
    if (first === null) return undefined;
    if (first.fingerprint !== request.fingerprint) throw usedOtherwise();
    return JSON.parse(first.result);
  }

  /** Keeps the result of a request of several transactions. Inside a transaction. */
  finish(request: KeyedRequest, result: unknown): void {
    const { accountId, key, fingerprint } = request;
    this.#insert.run(accountId, key, fingerprint, JSON.stringify(result), this.#clock.nowMs());
  }

  /** Whether a request with this key has been carried out: then it needs no room. */
  isKnown(accountId: number, key: string): boolean {
    return this.#find.get(accountId, key, this.#clock.nowMs() - RETENTION_MS) !== null;
  }

  /** Forgets results older than a day, so many at most; a transaction. @returns how many */
  sweep(limit: number): number {
    return this.#sweep.run(this.#clock.nowMs() - RETENTION_MS, limit).changes;
  }
}

function usedOtherwise(): AppError {
  return new AppError(
    "idempotency_key",
    "This Idempotency-Key was already used for a different request. Use a new key for each request.",
  );
}

/**
 * The key of a request, if it carries one.
 * @param parts all that makes this very request
 * @throws AppError invalid_field
 */
export function keyedRequest(
  accountId: number,
  key: string | null,
  parts: readonly unknown[],
): KeyedRequest | undefined {
  if (key === null) return undefined;
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw invalidField("Idempotency-Key", "An Idempotency-Key must have 1 to 255 visible ASCII characters.");
  }
  const fingerprint = new Bun.CryptoHasher("sha256").update(JSON.stringify(parts)).digest("hex");
  return { accountId, key, fingerprint };
}
