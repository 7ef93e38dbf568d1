import type { Database } from "bun:sqlite";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError, invalidField } from "../../../errors.ts";
import type { Events } from "../../../events/events.ts";
import type { Clock } from "../../../lib/clock.ts";
import { invariant } from "../../../lib/invariant.ts";
import { newId } from "../../../lib/id.ts";
import { normalizePath, ROOT_PATH } from "../../../lib/path.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { say } from "../../../translations/say.ts";
import { type AppPasswordPrincipal, type ClientInfo, checkWriter } from "../auth/principal.ts";
import type { TransactionCheck } from "../auth/proof.ts";
import { emailKey } from "../users/email.ts";
import { checkName } from "../users/name.ts";
import type { UserService } from "../users/service.ts";
import type { User } from "../users/types.ts";
import { readBasic, type BasicCredentials } from "./basic.ts";
import { type AppPasswordRow, appPasswordQueries, toAppPassword } from "./queries.ts";
import { hashAppPassword, newAppPassword } from "./secret.ts";
import type { AppPassword, NewAppPassword } from "./types.ts";
import type { WrongAppPasswords } from "./wrong-passwords.ts";

/** Dependencies of {@link AppPasswordService}. */
interface AppPasswordServiceOptions {
  readonly sqlite: Database;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly users: UserService;
  readonly events: Events;
  readonly tree: Pick<TreeReader, "findById" | "findFolderByPath" | "pathOf">;
  readonly wrongPasswords: WrongAppPasswords;
}

const NAME_CHARACTERS_MAX = 100;
/** App passwords that an account can have. */
const PASSWORDS_MAX = 50;
/** Revoked app passwords of an account that stay stored; as many as of API keys. */
const REVOKED_MAX = 100;
const REVOKED_MS = 90 * 24 * 60 * 60 * 1000;
/** The last use is written at most this often. */
const LAST_USED_MS = 60_000;
const LAST_CLIENT_MAX = 200;
/** Headers in the cache; the oldest are dropped first. Only headers with a correct app password are cached. */
const CACHED_MAX = 10_000;

interface CachedPassword {
  readonly principal: AppPasswordPrincipal;
  readonly expiresAtMs: number | null;
  lastUsedAtMs: number | null;
}

/** Creates, lists and revokes app passwords, and finds their owners. */
export class AppPasswordService {
  readonly #options: AppPasswordServiceOptions;
  readonly #queries: ReturnType<typeof appPasswordQueries>;
  /** By the header `Authorization`. */
  readonly #cache = new Map<string, CachedPassword>();

  constructor(options: AppPasswordServiceOptions) {
    this.#options = options;
    this.#queries = appPasswordQueries(options.sqlite);
    options.users.onChange(() => this.dropCaches());
  }

  /** Drops the cached owners: something about accounts or app passwords changed, here or in another process. */
  dropCaches(): void {
    this.#cache.clear();
  }

  /**
   * Finds the owner of an app password. Wrong ones are counted. A correct one works even when their limit is reached.
   * @param authorization the header of the request; null without one
   * @param addressKey the client address, or its /64
   * @throws AppError missing_token | invalid_token | bad_credentials | expired_token | revoked_token | rate_limited
   */
  identify(authorization: string | null, client: ClientInfo, addressKey: string): AppPasswordPrincipal {
    if (authorization === null) {
      throw new AppError("missing_token", say`Sign in with your email and an app password from your settings.`);
    }
    const cached = this.#cache.get(authorization) ?? this.#identifyUncached(authorization, addressKey);
    const nowMs = this.#options.clock.nowMs();
    if (cached.expiresAtMs !== null && cached.expiresAtMs <= nowMs) throw expiredPassword();
    this.#checkFolder(cached.principal);
    if (nowMs - (cached.lastUsedAtMs ?? 0) >= LAST_USED_MS) this.#noteUsed(cached, client, nowMs);
    return cached.principal;
  }

  /**
   * The current state of a caller whose request began with this app password. Synchronous and uncached: may be called
   * inside a transaction.
   * @throws AppError expired_token | revoked_token
   */
  confirm({ appPassword }: AppPasswordPrincipal): AppPasswordPrincipal {
    const row = this.#queries.byId.get(appPassword.id);
    const principal = row === null ? undefined : this.#principalOf(row);
    if (row === null || principal === undefined) throw revokedPassword();
    if (row.expiresAtMs !== null && row.expiresAtMs <= this.#options.clock.nowMs()) throw expiredPassword();
    this.#checkFolder(principal);
    return principal;
  }

  /**
   * Whether a user name in a header or an address is this account's: its email, a former email that no other account
   * has now, or its id.
   */
  namesAccount(user: User, given: string): boolean {
    if (given === user.publicId || emailKey(given) === emailKey(user.email)) return true;
    const { users } = this.#options;
    return users.hadEmail(user.id, given) && users.findByEmail(given) === undefined;
  }

  /**
   * Creates an app password with its hidden device; durable when this returns. `password` is returned only here.
   * @param findOwner returns its owner, in the transaction that creates it; may reject it
   * @throws AppError invalid_field | invalid_path | invalid_request; not_found for an unknown folder; role if a viewer
   *   requests the access `write`
   */
  async add(
    input: NewAppPassword,
    findOwner: (tx: Transaction) => User,
  ): Promise<{ readonly appPassword: AppPassword; readonly user: User; readonly password: string }> {
    const { writer, clock, events } = this.#options;
    const nowMs = clock.nowMs();
    const name = checkName(input.name, NAME_CHARACTERS_MAX);
    const expiresAtMs = input.expiresAtMs ?? null;
    if (expiresAtMs !== null && expiresAtMs <= nowMs) {
      throw invalidField("expiresAt", say`The expiry time is in the past. Choose a future time, or none.`);
    }
    const password = newAppPassword();
    const passwordHash = hashAppPassword(password);
    invariant(passwordHash !== undefined, "a new app password has the form of app passwords");
    const publicId = input.publicId ?? newId("app", nowMs);
    return writer.run((tx) => {
      const user = findOwner(tx);
      const folderId = this.check(user, input);
      const canWrite = input.access !== "read" && user.role !== "viewer";
      const device = this.#queries.insertDevice.get(user.id, publicId, name, nowMs);
      invariant(device !== null, "an inserted row is returned");
      const row = { publicId, deviceId: device.id, name, folderId, createdAtMs: nowMs, expiresAtMs };
      const inserted = this.#queries.insert.get({ ...row, userId: user.id, canWrite: canWrite ? 1 : 0, passwordHash });
      invariant(inserted !== null, "an inserted row is returned");
      events.emit(tx, "security.app_password_created", { accountId: user.id, appPasswordId: publicId, name });
      const unused = { lastUsedAtMs: null, lastAddress: null, lastClient: null };
      return { appPassword: { ...row, ...unused, id: inserted.id, canWrite }, user, password };
    });
  }

  /**
   * Checks whether a user can have this new app password.
   * @returns row id of its only folder; null for the whole tree
   * @throws AppError role | invalid_path | invalid_request | not_found, as {@link add}
   */
  check(
    user: User,
    { access, folder, folderId }: Pick<NewAppPassword, "access" | "folder" | "folderId">,
  ): number | null {
    if (access === "write") checkWriter(user);
    this.#checkCount(user.id);
    if (folderId === undefined) return this.#findFolder(user.id, folder);
    if (folderId !== null && !this.#hasFolder(user.id, folderId)) throw folderNotFound();
    return folderId;
  }

  /** The app passwords of a user that were not ended, newest first; expired ones too. */
  list(userId: number): AppPassword[] {
    return this.#queries.ofUser.all(userId).map(toAppPassword);
  }

  /** The current path of the folder that an app password opens, `/` for the whole tree; undefined if that is gone. */
  folderOf(userId: number, { folderId }: Pick<AppPassword, "folderId">): string | undefined {
    if (folderId === null) return ROOT_PATH;
    return this.#hasFolder(userId, folderId) ? this.#options.tree.pathOf(folderId) : undefined;
  }

  /**
   * Ends an app password of a user; durable when this returns.
   * @param check runs first in the same transaction; what it throws undoes the change
   * @throws AppError not_found for unknown ones and those of others
   */
  async revoke(userId: number, publicId: string, check?: TransactionCheck): Promise<void> {
    await this.#options.writer.run((tx) => {
      check?.(tx);
      const row = this.#queries.ofUser.all(userId).find((found) => found.publicId === publicId);
      if (row === undefined) {
        throw new AppError("not_found", say`This app password was not found. It may have ended already.`);
      }
      this.#end(tx, userId, [row]);
    });
  }

  /** Ends all app passwords of a user, in the caller's transaction. */
  revokeAll(tx: Transaction, userId: number): void {
    this.#end(tx, userId, this.#queries.ofUser.all(userId));
  }

  /**
   * Deletes at most `limit` rows that were ended long ago. A transaction for the housekeeping job.
   * @returns how many
   */
  async sweep(limit: number): Promise<number> {
    const { writer, clock } = this.#options;
    return writer.run(() => this.#queries.sweep.run(clock.nowMs() - REVOKED_MS, limit).changes);
  }

  #end(tx: Transaction, userId: number, rows: readonly AppPasswordRow[]): void {
    const nowMs = this.#options.clock.nowMs();
    for (const row of rows) {
      this.#queries.revoke.run(row.id, nowMs);
      // The row of the device stays, so that its changes can still be undone.
      this.#queries.removeDevice.run(row.deviceId, nowMs);
      this.#options.events.emit(tx, "app_password.ended", { accountId: userId, deviceId: row.deviceId });
    }
    this.#queries.forgetRevoked.run(userId, REVOKED_MAX);
    this.#queries.forgetDevices.run(userId, REVOKED_MAX);
    tx.afterCommit(() => this.dropCaches());
  }

  #identifyUncached(authorization: string, addressKey: string): CachedPassword {
    const credentials = readBasic(authorization);
    if (credentials === undefined) {
      throw new AppError("invalid_token", say`Sign in with HTTP Basic: send your email and an app password.`);
    }
    const { wrongPasswords } = this.#options;
    const found = this.#find(credentials);
    // Nobody can guess an app password, so the limit applies to wrong ones only. One program with an outdated app
    // password must stop neither the other programs at the same address nor the new app password of its owner.
    if (found === undefined) {
      wrongPasswords.reject(addressKey, credentials.username);
      wrongPasswords.note(addressKey, credentials.username);
      throw new AppError(
        "bad_credentials",
        say`The email or the app password is wrong. Your own password does not work here: create an app password in Settings, under Connect devices.`,
      );
    }
    if (this.#cache.size >= CACHED_MAX) {
      const oldest = this.#cache.keys().next();
      if (!oldest.done) this.#cache.delete(oldest.value);
    }
    this.#cache.set(authorization, found);
    return found;
  }

  /** Looks up the password first, so the time of a wrong attempt does not show whether an account has the email. */
  #find({ username, password }: BasicCredentials): CachedPassword | undefined {
    const passwordHash = hashAppPassword(password);
    const row = passwordHash === undefined ? null : this.#queries.byHash.get(passwordHash);
    const principal = row === null ? undefined : this.#principalOf(row);
    if (row === null || principal === undefined || !this.namesAccount(principal.user, username)) return undefined;
    return { principal, expiresAtMs: row.expiresAtMs, lastUsedAtMs: row.lastUsedAtMs };
  }

  /** The principal of this row; undefined if the app password or its account has ended. */
  #principalOf(row: AppPasswordRow): AppPasswordPrincipal | undefined {
    const user = this.#options.users.findById(row.userId);
    if (row.revokedAtMs !== null || user === undefined || user.disabledAtMs !== null) return undefined;
    const { id, deviceId, publicId, name, folderId } = row;
    // The account may have become a viewer since.
    const canWrite = row.canWrite === 1 && user.role !== "viewer";
    const appPassword = { id, deviceId, publicId, name, canWrite, folderId };
    return { user: { ...user, viaDeviceId: deviceId }, appPassword };
  }

  /** @throws AppError revoked_token if the only folder of an app password is gone */
  #checkFolder({ user, appPassword: { folderId } }: AppPasswordPrincipal): void {
    if (folderId === null || this.#hasFolder(user.id, folderId)) return;
    throw new AppError(
      "revoked_token",
      say`The folder of this app password no longer exists. Create a new app password.`,
    );
  }

  #hasFolder(userId: number, folderId: number): boolean {
    const node = this.#options.tree.findById(folderId);
    return node?.kind === "folder" && node.accountId === userId;
  }

  /** @returns null for the root @throws AppError invalid_path | not_found */
  #findFolder(userId: number, path: string | undefined): number | null {
    const normalized = path === undefined ? ROOT_PATH : normalizePath(path, "folder");
    if (normalized === ROOT_PATH) return null;
    const folder = this.#options.tree.findFolderByPath(userId, normalized);
    if (folder === undefined) throw folderNotFound();
    return folder.id;
  }

  /** @throws AppError invalid_request */
  #checkCount(userId: number): void {
    if ((this.#queries.count.get(userId)?.count ?? 0) < PASSWORDS_MAX) return;
    throw new AppError(
      "invalid_request",
      say`You can have at most ${PASSWORDS_MAX} app passwords. End one that you don't use.`,
      { limit: PASSWORDS_MAX },
    );
  }

  /** Updates what the list shows, in the background. If the disk fails, the requests that write report that. */
  #noteUsed(cached: CachedPassword, { address, userAgent }: ClientInfo, nowMs: number): void {
    const lastUsedAtMs = cached.lastUsedAtMs;
    cached.lastUsedAtMs = nowMs;
    const { id } = cached.principal.appPassword;
    const lastClient = userAgent?.slice(0, LAST_CLIENT_MAX) ?? null;
    this.#options.writer
      .run(() => void this.#queries.noteUsed.run(id, nowMs, address, lastClient), { isQuiet: true })
      .catch(() => {
        cached.lastUsedAtMs = lastUsedAtMs;
      });
  }
}

function folderNotFound(): AppError {
  return new AppError("not_found", say`The folder was not found. Check its path.`, { field: "folder" });
}

function expiredPassword(): AppError {
  return new AppError("expired_token", say`This app password has expired. Create a new one.`);
}

function revokedPassword(): AppError {
  return new AppError("revoked_token", say`This app password has ended, or its account is disabled. Create a new one.`);
}
