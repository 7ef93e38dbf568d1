import type { Database } from "bun:sqlite";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError, invalidField } from "../../../errors.ts";
import type { Events } from "../../../events/events.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newId, newSecretToken } from "../../../lib/id.ts";
import { say } from "../../../translations/say.ts";
import type { KeyPrincipal } from "../auth/principal.ts";
import { DEFAULT_SCOPES, SCOPES } from "../auth/scopes.ts";
import { hashToken } from "../auth/token-hash.ts";
import { checkName } from "../users/name.ts";
import type { UserService } from "../users/service.ts";
import type { User } from "../users/types.ts";
import { apiKeyQueries, toApiKey } from "./queries.ts";
import type { ApiKey, NewApiKey } from "./types.ts";

/** Dependencies of {@link ApiKeyService}. */
interface ApiKeyServiceOptions {
  readonly sqlite: Database;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly users: UserService;
  readonly events: Events;
}

const KEY = /^lk_[A-Za-z0-9_-]{43}$/;
const KEY_BITS = 256;
/** `lk_` and six characters: 36 of the 256 random bits. */
const PREFIX_CHARACTERS = 9;
const NAME_CHARACTERS_MAX = 100;
/** Most keys of an account. */
const KEYS_MAX = 100;
/** Revoked keys in memory, so that the response to a request with one of them gives the reason. */
const REVOKED_MAX = 100;
const REVOKED_MS = 90 * 24 * 60 * 60 * 1000;
/** "Last used" is written at most this often. */
const LAST_USED_MS = 60_000;
/** Most keys whose owners are cached; the oldest are dropped first. */
const CACHED_KEYS_MAX = 10_000;

interface CachedKey {
  readonly principal: KeyPrincipal;
  lastUsedAtMs: number;
}

/** Creates, lists and revokes API keys, and finds their owners. */
export class ApiKeyService {
  readonly #options: ApiKeyServiceOptions;
  readonly #queries: ReturnType<typeof apiKeyQueries>;
  readonly #cache = new Map<string, CachedKey>();

  constructor(options: ApiKeyServiceOptions) {
    this.#options = options;
    this.#queries = apiKeyQueries(options.sqlite);
    options.users.onChange(() => this.dropCaches());
  }

  /** Drops the cached owners: something about accounts or keys changed, here or in another process. */
  dropCaches(): void {
    this.#cache.clear();
  }

  /**
   * Finds the owner of a key. Keys of disabled and deleted accounts count as revoked.
   * @throws AppError invalid_token | expired_token | revoked_token
   */
  identify(key: string): KeyPrincipal {
    const cached = this.#cache.get(key) ?? this.#identifyUncached(key);
    const nowMs = this.#options.clock.nowMs();
    const { expiresAtMs } = cached.principal.key;
    if (expiresAtMs !== null && expiresAtMs <= nowMs) throw expiredKey();
    if (nowMs - cached.lastUsedAtMs >= LAST_USED_MS) this.#noteUsed(key, cached, nowMs);
    return cached.principal;
  }

  /**
   * The current state of the user whose request began with this key. Synchronous and uncached: may be called inside a
   * transaction.
   * @throws AppError expired_token | revoked_token
   */
  confirm({ user, key }: KeyPrincipal): User {
    const row = this.#queries.byPublicId.get(key.publicId);
    const present = this.#options.users.findById(user.id);
    if (row === null || row.revokedAtMs !== null || present === undefined || present.disabledAtMs !== null) {
      throw revokedKey();
    }
    if (row.expiresAtMs !== null && row.expiresAtMs <= this.#options.clock.nowMs()) throw expiredKey();
    return present;
  }

  /**
   * Creates a key; durable when this returns. `key` is returned only here.
   * @param findOwner returns its owner, in the transaction that creates it; may reject it
   * @throws AppError invalid_field; role if a user who is not an administrator requests the scope admin
   */
  async add(
    input: NewApiKey,
    findOwner: (tx: Transaction) => User,
  ): Promise<{ readonly apiKey: ApiKey; readonly key: string }> {
    const { writer, clock, events } = this.#options;
    const nowMs = clock.nowMs();
    const name = checkName(input.name, NAME_CHARACTERS_MAX);
    const given = input.scopes ?? DEFAULT_SCOPES;
    if (given.length === 0)
      throw invalidField(
        "scopes",
        say`An API key needs at least one scope. To allow reading and writing files, leave out scopes.`,
      );
    const expiresAtMs = input.expiresAtMs ?? null;
    if (expiresAtMs !== null && expiresAtMs <= nowMs) {
      throw invalidField("expiresAt", say`The expiry time is in the past. Choose a future time, or none.`);
    }
    const key = `lk_${newSecretToken(KEY_BITS)}`;
    const apiKey: ApiKey = {
      publicId: newId("key", nowMs),
      name,
      prefix: key.slice(0, PREFIX_CHARACTERS),
      scopes: SCOPES.filter((scope) => given.includes(scope)),
      createdAtMs: nowMs,
      expiresAtMs,
      lastUsedAtMs: null,
    };
    await writer.run((tx) => {
      const user = findOwner(tx);
      if (given.includes("admin") && user.role !== "admin") {
        throw new AppError("role", say`Only administrators can create a key with the admin scope. Remove that scope.`);
      }
      if ((this.#queries.count.get(user.id)?.count ?? 0) >= KEYS_MAX) {
        throw new AppError(
          "invalid_request",
          say`You can have at most ${KEYS_MAX} API keys. Delete one that you don't use.`,
          {
            limit: KEYS_MAX,
          },
        );
      }
      const { publicId, prefix, scopes } = apiKey;
      this.#queries.insert.run(publicId, user.id, name, hashToken(key), prefix, scopes.join(" "), nowMs, expiresAtMs);
      events.emit(tx, "security.api_key_created", { accountId: user.id, keyId: publicId, name });
    });
    return { apiKey, key };
  }

  /** The keys of a user that were not deleted, newest first; expired ones too. */
  list(userId: number): ApiKey[] {
    return this.#queries.ofUser.all(userId).map(toApiKey);
  }

  /**
   * Revokes a key of a user; durable when this returns.
   * @throws AppError not_found for unknown keys and keys of others
   */
  async revoke(userId: number, publicId: string): Promise<void> {
    const { writer, clock } = this.#options;
    await writer.run((tx) => {
      const { changes } = this.#queries.revoke.run(publicId, userId, clock.nowMs());
      if (changes === 0) throw new AppError("not_found", say`This API key was not found. It may already be deleted.`);
      this.#queries.forgetRevoked.run(userId, REVOKED_MAX);
      tx.afterCommit(() => this.dropCaches());
    });
  }

  /** Revokes all keys of a user, in the caller's transaction. @returns how many */
  revokeAll(tx: Transaction, userId: number): number {
    const { changes } = this.#queries.revokeAll.run(userId, this.#options.clock.nowMs());
    this.#queries.forgetRevoked.run(userId, REVOKED_MAX);
    tx.afterCommit(() => this.dropCaches());
    return changes;
  }

  /**
   * Deletes at most `limit` keys that were revoked long ago. A transaction for the housekeeping job.
   * @returns how many
   */
  async sweep(limit: number): Promise<number> {
    const { writer, clock } = this.#options;
    return writer.run(() => this.#queries.sweep.run(clock.nowMs() - REVOKED_MS, limit).changes);
  }

  #identifyUncached(key: string): CachedKey {
    const row = KEY.test(key) ? this.#queries.byHash.get(hashToken(key)) : null;
    if (row === null) {
      throw new AppError("invalid_token", say`This API key is not valid. Check it, or create a new one.`);
    }
    const user = this.#options.users.findById(row.userId);
    if (row.revokedAtMs !== null || user === undefined || user.disabledAtMs !== null) {
      throw revokedKey();
    }
    const { publicId, scopes, createdAtMs, expiresAtMs } = toApiKey(row);
    const cached = {
      principal: { user, key: { publicId, scopes, createdAtMs, expiresAtMs } },
      lastUsedAtMs: row.lastUsedAtMs ?? 0,
    };
    if (this.#cache.size >= CACHED_KEYS_MAX) {
      const oldest = this.#cache.keys().next();
      if (!oldest.done) this.#cache.delete(oldest.value);
    }
    this.#cache.set(key, cached);
    return cached;
  }

  /** Only a date in a list: nobody waits for it, and failures show in the requests that write. */
  #noteUsed(key: string, cached: CachedKey, nowMs: number): void {
    cached.lastUsedAtMs = nowMs;
    this.#options.writer
      .run(() => void this.#queries.noteUsed.run(nowMs, cached.principal.key.publicId))
      .catch(() => this.#cache.delete(key));
  }
}

function expiredKey(): AppError {
  return new AppError("expired_token", say`This API key has expired. Create a new one.`);
}

function revokedKey(): AppError {
  return new AppError("revoked_token", say`This API key was deleted, or its account is disabled. Create a new one.`);
}
