/** Creates, lists, changes and ends shares for their owners. `share-access.ts` opens them. */
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError, invalidField, notFound } from "../../../errors.ts";
import type { Events } from "../../../events/events.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { PasswordHasher } from "../../accounts/users/passwords.ts";
import type { Permissions } from "../../library/permissions/permissions.ts";
import type { Reader } from "../../../db/reader.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import { say } from "../../../translations/say.ts";
import { requireConfirmedEmail } from "../../accounts/users/confirmed-email.ts";
import { emailKey } from "../../accounts/users/email.ts";
import type { UserService } from "../../accounts/users/service.ts";
import type { User } from "../../accounts/users/types.ts";
import { insertShare } from "./insert-share.ts";
import { loosens } from "./loosens.ts";
import type { PublicLinks } from "./file-links.ts";
import { type ShareRows, SHARES_OF_NODE_MAX } from "./queries.ts";
import { type CheckedChanges, checkChanges, checkNewShare } from "./settings.ts";
import type { ShareCounts, ShareStatistics } from "./statistics.ts";
import type { PeopleShares } from "./people-shares.ts";
import { summarizeShare } from "./summarize.ts";
import type { ShareTargets } from "./targets.ts";
import type { ShareTokens } from "./tokens.ts";
import type { OwnShare, Share, SharedWithMany, ShareRequest, ShareSettings, SharedItem, SharesQuery } from "./types.ts";

/** Dependencies of {@link ShareService}. */
interface ShareServiceOptions {
  readonly rows: ShareRows;
  readonly tokens: ShareTokens;
  readonly statistics: ShareStatistics;
  readonly links: PublicLinks;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly events: Events;
  /** Sorts shares by name. */
  readonly reader: Reader;
  readonly treeWriter: TreeWriter;
  readonly users: Pick<UserService, "findByEmail">;
  readonly targets: ShareTargets;
  readonly permissions: Pick<Permissions, "file" | "folder" | "album">;
  readonly passwords: Pick<PasswordHasher, "hash">;
  readonly peopleShares: PeopleShares;
}

/** The file, folder or album to share, by its id. */
export interface ShareTarget {
  readonly type: SharedItem["kind"];
  readonly id: string;
}

/** How long expired shares stay in the owner's list. */
const RETENTION_AFTER_EXPIRY_MS = 30 * 24 * 60 * 60 * 1000;

/** Manages the shares of their owners. All writes are durable when a promise resolves. */
export class ShareService {
  readonly #options: ShareServiceOptions;

  constructor(options: ShareServiceOptions) {
    this.#options = options;
  }

  /**
   * Shares a file, folder or album of this user. No response shows whether an email belongs to an account.
   * @throws AppError email_unconfirmed | invalid_field | invalid_request | not_found | share_permission | overloaded
   */
  async create(user: User, target: ShareTarget, settings: ShareRequest): Promise<OwnShare> {
    const { rows, clock, writer, passwords } = this.#options;
    requireConfirmedEmail(user);
    // Checked before anything that takes time: requests for the nodes of others reveal nothing and cost little.
    this.#find(user, target);
    const { password, ...checked } = checkNewShare(settings, target.type, clock.nowMs());
    if (checked.recipientEmailKey === emailKey(user.email)) {
      throw invalidField("user", say`You can't share with your own account. Choose another user.`);
    }
    const passwordHash = password === null ? null : await passwords.hash(password);
    return writer.run((tx) => {
      const node = this.#find(user, target);
      if (rows.countOf(node) >= SHARES_OF_NODE_MAX) {
        throw new AppError(
          "invalid_request",
          say`This item already has ${SHARES_OF_NODE_MAX} shares. Delete some of them first.`,
        );
      }
      const { recipientEmailKey } = checked;
      const userId = this.#recipientOf(recipientEmailKey)?.id ?? null;
      const share = insertShare(tx, this.#options, {
        user,
        node,
        checked,
        recipient: { emailKey: recipientEmailKey, userId, groupId: null },
        passwordHash,
        pinnedVersion: checked.isPinned && node.kind === "file" ? node.version : null,
      });
      return { share, node };
    });
  }

  /**
   * Shares a file, folder or album of this user with several people and groups, all or nothing.
   * @throws AppError as {@link create}
   */
  async createForMany(user: User, target: ShareTarget, settings: ShareRequest): Promise<SharedWithMany> {
    requireConfirmedEmail(user);
    return this.#options.peopleShares.create({ user, settings, find: () => this.#find(user, target) });
  }

  /** The shares of a file, folder or album of this user, oldest first. @throws AppError not_found | share_permission */
  listOf(user: User, target: ShareTarget): OwnShare[] {
    const node = this.#find(user, target);
    return this.#options.rows.of(node).map((share) => ({ share, node }));
  }

  /**
   * A page of all shares of this user, without those of nodes in the trash. The total still includes
   * shares of nodes below a folder in the trash.
   */
  async list(user: User, query: SharesQuery): Promise<{ shares: OwnShare[]; total: number }> {
    const { rows, targets, reader } = this.#options;
    const isByCreation = query.sort === "createdAt";
    const page = isByCreation ? rows.ofAccount(user.id, query) : await rows.sortedOfAccount(reader, user.id, query);
    const shares = page.flatMap((share) => {
      const node = targets.find(share);
      return node === undefined ? [] : [{ share, node }];
    });
    return { shares, total: rows.countOfAccount(user.id) };
  }

  /** One share of this user. @throws AppError not_found */
  get(user: User, publicId: string): OwnShare {
    const share = this.#own(user, publicId);
    const node = this.#options.targets.find(share);
    if (node === undefined) throw notFound(say`This share was not found.`);
    return { share, node };
  }

  /**
   * Changes a share of this user; all its grants end. Without a confirmed email, it can only be restricted.
   * @throws AppError email_unconfirmed | not_found | invalid_field | invalid_request
   */
  async update(user: User, publicId: string, settings: ShareSettings): Promise<OwnShare> {
    const { rows, writer, passwords } = this.#options;
    const { password } = this.#change(user, publicId, settings);
    const passwordHash = typeof password === "string" ? await passwords.hash(password) : null;
    return writer.run(() => {
      const { share, node } = this.#change(user, publicId, settings);
      rows.update({ ...share, passwordHash: password === undefined ? share.passwordHash : passwordHash });
      return { share: this.#own(user, publicId), node };
    });
  }

  /**
   * Ends a share of this user immediately. Ending that of a public file makes the file private.
   * @throws AppError not_found
   */
  async revoke(user: User, publicId: string): Promise<Share> {
    const { writer, links } = this.#options;
    const revoked = await writer.run((tx) => {
      const share = this.#own(user, publicId);
      const node = this.#options.targets.find(share);
      if (share.kind === "public") this.#makePrivate(tx, user, share, node);
      else this.#end(tx, user, share, node);
      return share;
    });
    await links.settleEnded();
    return revoked;
  }

  /**
   * The account with an email. An account that has not confirmed it may belong to anybody, so the share waits as
   * without an account.
   */
  #recipientOf(recipientEmailKey: string | null): User | undefined {
    const found = recipientEmailKey === null ? undefined : this.#options.users.findByEmail(recipientEmailKey);
    return found?.isEmailUnconfirmed === true ? undefined : found;
  }

  /** The token of a share, for its owner. */
  tokenOf(share: Share): string {
    return this.#options.tokens.tokenOf(share.nonce);
  }

  /** The current counts of a share. */
  countsOf(share: Share): ShareCounts {
    return this.#options.statistics.countsOf(share);
  }

  /** Removes shares that expired 30 days ago. @returns how many; fewer than `limit` if none are left */
  async sweep(limit: number): Promise<number> {
    const { rows, clock, writer } = this.#options;
    return writer.run(() => rows.sweep(clock.nowMs() - RETENTION_AFTER_EXPIRY_MS, limit));
  }

  /** @throws AppError not_found | share_permission */
  #find(user: User, { type, id }: ShareTarget): SharedItem {
    const { permissions, targets } = this.#options;
    if (type === "album") {
      const album = targets.findAlbum(permissions.album(user, id, "own").albumId);
      if (album === undefined) throw notFound(say`This album was not found.`);
      return album;
    }
    return type === "file" ? permissions.file(user, id, "own").node : permissions.folder(user, id, "own").node;
  }

  #own(user: User, publicId: string): Share {
    const share = this.#options.rows.find(publicId);
    if (share?.accountId !== user.id) throw notFound(say`This share was not found.`);
    return share;
  }

  /** Applies a change to the current state of a share; the password stays the former one. @throws as {@link update} */
  #change(user: User, publicId: string, settings: ShareSettings): OwnShare & Pick<CheckedChanges, "password"> {
    const { share, node } = this.get(user, publicId);
    const nowMs = this.#options.clock.nowMs();
    const { password, isPinned, share: checked } = checkChanges(share, settings, node.kind, nowMs);
    const changed = { ...checked, pinnedVersion: pinnedVersion(share, node, isPinned) };
    if (loosens(share, changed, password)) requireConfirmedEmail(user);
    return { share: changed, node, password };
  }

  #end(tx: Transaction, user: User, share: Share, node: SharedItem | undefined): void {
    this.#options.rows.delete(share.id);
    // The shared node is being deleted; its shares emit no event.
    if (node === undefined) return;
    this.#options.events.emit(tx, "share.revoked", { accountId: user.id, share: summarizeShare(share, node) });
  }

  #makePrivate(tx: Transaction, user: User, share: Share, node: SharedItem | undefined): void {
    const { treeWriter, links, rows } = this.#options;
    if (node === undefined) {
      rows.delete(share.id);
      return;
    }
    treeWriter.by(user.viaDeviceId, () =>
      treeWriter.updateFile(tx, { accountId: user.id, publicId: node.publicId }, { isPublic: false }),
    );
    links.close(tx, node.id);
  }
}

function pinnedVersion(share: Share, node: SharedItem, isPinned: boolean | undefined): number | null {
  if (isPinned === undefined) return share.pinnedVersion;
  return isPinned && node.kind === "file" ? node.version : null;
}
