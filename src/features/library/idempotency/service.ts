/**
 * Idempotency-Key: a request repeated within 24 hours gets the first response, and nothing is done twice. The result is
 * stored in the same transaction as the change, so a crash cannot separate them. The single writer serializes
 * concurrent copies of a request.
 */
import type { Database } from "bun:sqlite";
import { AppError, invalidField } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { say } from "../../../translations/say.ts";

/** A request that carries a key. */
export interface KeyedRequest {
  readonly accountId: number;
  readonly key: string;
  /** A hash of everything that distinguishes this request from others. */
  readonly fingerprint: string;
}

const RETENTION_MS = 24 * 60 * 60 * 1000;

/** Stores the results of keyed requests. */
export class Idempotency {
  readonly #clock: Clock;
  readonly #find;
  readonly #insert;
  readonly #sweep;

  constructor(sqlite: Database, clock: Clock) {
    this.#clock = clock;
    this.#find = sqlite.prepare<{ fingerprint: string; result: string }, [number, string, number]>(
      "SELECT fingerprint, result FROM idempotency_keys WHERE account_id = ?1 AND key = ?2 AND created_at > ?3",
    );
    this.#insert = sqlite.prepare<void, [number, string, string, string, number]>(
      "INSERT OR REPLACE INTO idempotency_keys (account_id, key, fingerprint, result, created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
    );
    this.#sweep = sqlite.prepare<void, [number, number]>(
      `DELETE FROM idempotency_keys WHERE (account_id, key) IN
        (SELECT account_id, key FROM idempotency_keys WHERE created_at <= ?1 ORDER BY created_at LIMIT ?2)`,
    );
  }

  /**
   * Runs `body` inside the caller's transaction. If it already ran for this key, returns the stored result instead.
   * Results are stored as JSON.
   * @throws AppError idempotency_key if the key was used with another request; what `body` throws, and then nothing is
   *   stored
   */
  once<T>(request: KeyedRequest | undefined, body: () => T): T {
    if (request === undefined) return body();
    const { accountId, key, fingerprint } = request;
    const nowMs = this.#clock.nowMs();
    const first = this.#find.get(accountId, key, nowMs - RETENTION_MS);
    if (first !== null) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- stored below by the same call
      if (first.fingerprint === fingerprint) return JSON.parse(first.result) as T;
      throw keyReused();
    }
    const result = body();
    this.#insert.run(accountId, key, fingerprint, JSON.stringify(result), nowMs);
    return result;
  }

  /**
   * The result of a finished request; undefined if it is new. For requests of several transactions, whose result {@link
   * finish} stores.
   * @throws AppError idempotency_key if the key was used with another request
   */
  find(request: KeyedRequest): unknown {
    const first = this.#find.get(request.accountId, request.key, this.#clock.nowMs() - RETENTION_MS);
    if (first === null) return undefined;
    if (first.fingerprint !== request.fingerprint) throw keyReused();
    return JSON.parse(first.result);
  }

  /** Stores the result of a request of several transactions. Inside a transaction. */
  finish(request: KeyedRequest, result: unknown): void {
    const { accountId, key, fingerprint } = request;
    this.#insert.run(accountId, key, fingerprint, JSON.stringify(result), this.#clock.nowMs());
  }

  /** Whether a request with this key was processed: repeating it needs no space. */
  isKnown(accountId: number, key: string): boolean {
    return this.#find.get(accountId, key, this.#clock.nowMs() - RETENTION_MS) !== null;
  }

  /** Deletes up to `limit` results older than a day, inside a transaction. @returns how many */
  sweep(limit: number): number {
    return this.#sweep.run(this.#clock.nowMs() - RETENTION_MS, limit).changes;
  }
}

function keyReused(): AppError {
  return new AppError(
    "idempotency_key",
    say`This Idempotency-Key was already used for a different request. Use a new key for each request.`,
  );
}

/**
 * The key of a request, if it carries one.
 * @param parts everything that distinguishes this request from others
 * @throws AppError invalid_field
 */
export function keyedRequest(
  accountId: number,
  key: string | null,
  parts: readonly unknown[],
): KeyedRequest | undefined {
  if (key === null) return undefined;
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw invalidField("Idempotency-Key", say`An Idempotency-Key must have 1 to 255 visible ASCII characters.`);
  }
  const fingerprint = new Bun.CryptoHasher("sha256").update(JSON.stringify(parts)).digest("hex");
  return { accountId, key, fingerprint };
}
