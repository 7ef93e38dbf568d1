/**
 * The only access to shares: every public route resolves its token here, and nothing else turns a token or an id of
 * such a request into a node. A token names a share, and the share names its node or its album by id. An item below a
 * shared folder is accepted if its chain of parent ids leads to that folder; paths are only displayed. A file of a shared
 * album is accepted if it is in the album now. The checks, in this order: the
 * share exists (404), its owner's account is enabled and its node or album exists (404), it has not expired (410), its password
 * was entered (401), downloads are left (410). So a locked share reveals only that it is locked or has expired.
 */
import { AppError, notFound } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { joinPath, ROOT_PATH } from "../../../lib/path.ts";
import type { AlbumService } from "../../library/albums/service.ts";
import type { PasswordHasher } from "../../accounts/users/passwords.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode, FolderNode, TreeNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import type { UserService } from "../../accounts/users/service.ts";
import type { User } from "../../accounts/users/types.ts";
import type { PasswordGrants } from "./password-grants.ts";
import type { ShareRows } from "./queries.ts";
import { type ShareStatistics, usedUp } from "./statistics.ts";
import type { ShareTargets } from "./targets.ts";
import type { OpenedShare, Share } from "./types.ts";

/** Dependencies of {@link ShareAccess}. */
interface ShareAccessOptions {
  readonly rows: ShareRows;
  readonly grants: PasswordGrants;
  readonly statistics: ShareStatistics;
  readonly tree: TreeReader;
  readonly targets: ShareTargets;
  readonly albums: Pick<AlbumService, "isItem">;
  readonly users: Pick<UserService, "findById">;
  readonly passwords: Pick<PasswordHasher, "verify">;
  readonly clock: Clock;
}

/** What a request presents, a token and perhaps a grant, and what it is for. */
export interface LinkRequest {
  readonly token: string;
  readonly grant: string | undefined;
  /** `download` may continue after all downloads are taken; the sender checks that. `upload` adds a file. */
  readonly purpose: "describe" | "list" | "download" | "upload";
  /**
   * Whether the grant was already checked for this request. It may then expire while bytes arrive, but a new password
   * still ends it.
   */
  readonly hasBegun?: boolean;
}

/** Resolves tokens. Everything except {@link unlock} is synchronous and may be called inside a transaction. */
export class ShareAccess {
  readonly #options: ShareAccessOptions;

  constructor(options: ShareAccessOptions) {
    this.#options = options;
  }

  /** @throws AppError not_found | share_expired | password_required | share_used_up | share_permission */
  open({ token, grant, purpose, hasBegun = false }: LinkRequest): OpenedShare {
    const { grants, clock } = this.#options;
    const opened = this.find(token);
    const { share, owner } = opened;
    const validAtMs = hasBegun ? 0 : clock.nowMs();
    if (share.passwordHash !== null && !grants.isValid(share, grant, validAtMs)) throw passwordRequired();
    if (purpose !== "download" && this.isUsedUp(share)) throw usedUp();
    const isDropBox = share.kind === "upload";
    if (isDropBox && (purpose === "list" || purpose === "download")) {
      throw new AppError(
        "share_permission",
        say`This link is a drop box and has no files to show. Upload a file with POST …/upload.`,
      );
    }
    if (!isDropBox && purpose === "upload") {
      throw new AppError("share_permission", say`You can't upload files to this link. It is for viewing only.`);
    }
    // A dropped file belongs to the owner, whose role may no longer allow writing.
    if (isDropBox && owner.role === "viewer") {
      throw new AppError("share_permission", say`This drop box no longer accepts files. Ask the sender.`);
    }
    return opened;
  }

  /** Whether all allowed downloads are taken. */
  isUsedUp(share: Share): boolean {
    return share.maxDownloads !== null && this.#options.statistics.countsOf(share).downloads >= share.maxDownloads;
  }

  /** The share of a token, before its password is checked. @throws AppError not_found | share_expired */
  find(token: string): OpenedShare {
    const share = this.#options.rows.findByToken(token);
    const opened = share === undefined || share.kind === "account" ? undefined : this.#openNode(token, share);
    if (opened === undefined) throw new AppError("not_found", LINK_NOT_FOUND);
    if (this.#isExpired(opened.share)) {
      throw new AppError("share_expired", say`This link has expired. Ask the sender for a new link.`);
    }
    return opened;
  }

  /**
   * Issues a grant if the password is right, or if the share has none.
   * @returns undefined if the password is wrong
   * @throws AppError not_found | share_expired | overloaded
   */
  async unlock(token: string, password: string): Promise<{ grant: string; expiresAtMs: number } | undefined> {
    const { grants, passwords, clock } = this.#options;
    const { share } = this.find(token);
    const isRight = share.passwordHash === null || (await passwords.verify(password, share.passwordHash));
    // For the state before the check: if the share changed during it, the grant is invalid.
    return isRight ? grants.issue(share, clock.nowMs()) : undefined;
  }

  /** The requested file: the shared one, or one in the shared folder or album. @throws AppError not_found */
  file(opened: OpenedShare, fileId: string | undefined): FileNode {
    const { node } = opened;
    if (node.kind === "file") {
      if (fileId !== undefined && fileId !== node.publicId) throw notFound(say`This file was not found.`);
      return node;
    }
    const file = fileId === undefined ? undefined : this.#within(opened, fileId);
    if (file?.kind !== "file") throw notFound(say`This file was not found.`);
    return file;
  }

  /** A file or folder in the shared folder or album. @throws AppError not_found | not_a_folder */
  entry(opened: OpenedShare, id: string): TreeNode {
    if (opened.node.kind === "file")
      throw new AppError("not_a_folder", say`This link is for a single file, not a folder.`);
    const found = this.#within(opened, id);
    if (found === undefined) throw notFound(say`One of the files was not found.`);
    return found;
  }

  /** The folder at a path within the shared folder, whose own path is `/`. @throws AppError not_found | not_a_folder */
  folder({ node, share }: OpenedShare, path: string): FolderNode {
    const { tree } = this.#options;
    if (node.kind === "file") throw new AppError("not_a_folder", say`This link is for a single file, not a folder.`);
    if (node.kind === "album") throw notFound(say`This folder was not found.`);
    if (path === ROOT_PATH) return node;
    const fullPath = node.path === ROOT_PATH ? path : joinPath(node.path, path.slice(1));
    const folder = tree.findFolderByPath(share.accountId, fullPath);
    if (folder === undefined || !tree.isWithin(folder, node.id)) throw notFound(say`This folder was not found.`);
    return folder;
  }

  /** The share of a token between accounts, if it is open and for this account. */
  findReceived(token: string, user: User): OpenedShare | undefined {
    const share = this.#options.rows.findByToken(token);
    if (share?.kind !== "account" || this.#isExpired(share)) return undefined;
    if (!this.#options.rows.isFor(share.id, user.id)) return undefined;
    return this.#openNode(token, share);
  }

  #openNode(token: string, share: Share): OpenedShare | undefined {
    const { tree, targets, users } = this.#options;
    const owner = users.findById(share.accountId);
    if (owner === undefined || owner.disabledAtMs !== null) return undefined;
    const { nodeId, pinnedVersion } = share;
    const node =
      nodeId === null || pinnedVersion === null ? targets.find(share) : tree.findFileAt(nodeId, pinnedVersion);
    return node?.accountId === share.accountId ? { token, share, node, owner } : undefined;
  }

  #within({ node, share }: OpenedShare, publicId: string): TreeNode | undefined {
    const { tree, albums } = this.#options;
    const found = tree.findNode(share.accountId, publicId);
    if (node.kind === "album") return found?.kind === "file" && albums.isItem(node, found) ? found : undefined;
    return found !== undefined && tree.isWithin(found, node.id) ? found : undefined;
  }

  #isExpired(share: Share): boolean {
    return share.expiresAtMs !== null && share.expiresAtMs <= this.#options.clock.nowMs();
  }
}

const LINK_NOT_FOUND = say`This link was not found. Check that it is complete, or ask the sender for a new link.`;

function passwordRequired(): AppError {
  return new AppError(
    "password_required",
    say`This link requires a password. Send it to …/unlock, then send the returned grant as X-Share-Grant.`,
  );
}
