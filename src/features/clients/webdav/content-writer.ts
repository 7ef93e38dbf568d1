/** Stores content that a client sends to an address: a new file, or the next version of the one that is there. */
import { AppError } from "../../../errors.ts";
import type { Transaction } from "../../../db/transaction.ts";
import type { AppPasswordPrincipal, Uploader } from "../../accounts/auth/principal.ts";
import type { User } from "../../accounts/users/types.ts";
import { invariant } from "../../../lib/invariant.ts";
import { type FileService, isAuthenticationOld, type PendingUpload } from "../../library/files/service.ts";
import type { CreationHooks } from "../../uploads/tus/types.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import type { Address } from "./address.ts";
import type { ChangeGuard } from "./change-guard.ts";
import { type ClientTree, type FolderItem, type Resource, locationOf, requireWrite } from "./client-tree.ts";
import type { Conditions } from "./conditions.ts";
import { missingFolder, movedAway, sharesOnly, WebDavError } from "../errors.ts";
import type { LockService } from "../locks/service.ts";

/** Dependencies of {@link ContentWriter}. */
export interface ContentWriterOptions {
  readonly clientTree: ClientTree;
  readonly files: Pick<FileService, "finishUpload" | "finishReplacement">;
  readonly changeGuard: ChangeGuard;
  /** Whether to store the files that macOS adds to folders and files. */
  readonly acceptsMacosFiles: boolean;
  readonly locks: Pick<LockService, "requireUnlocked">;
}

/** What a client wants to store, and where. */
export interface ContentTarget {
  readonly principal: AppPasswordPrincipal;
  readonly address: Address;
  readonly conditions: Conditions;
  /** The page that people open to accept many changes at once. */
  readonly settingsUrl: string;
}

/** What is known of the content apart from its bytes. */
export interface ContentFacts {
  readonly declaredType: string | undefined;
  /** The file's own date, ISO 8601. */
  readonly fileModifiedAt: string | undefined;
  /** Called in the transaction that stores it. */
  readonly hooks?: CreationHooks | undefined;
}

/** The account that gets the file, and the name it gets there. */
export interface CheckedTarget {
  readonly owner: User;
  readonly name: string;
  /** The folder that gets a new file. */
  readonly folder: FolderItem | undefined;
  /** The file that gets a new version. */
  readonly replaced: FileNode | undefined;
}

/** Resource forks, and the settings of a folder's window. */
const MACOS_FILE = /^(?:\._.*|\.DS_Store)$/;

/** Stores content for WebDAV, in one request or in chunks. */
export class ContentWriter {
  readonly #options: ContentWriterOptions;

  constructor(options: ContentWriterOptions) {
    this.#options = options;
  }

  /**
   * Checks whether content may be stored at an address. Called before the body is read, and again in the transaction.
   * @throws AppError not_found | share_permission | precondition_failed | locked; WebDavError 405 for a folder, 409 if
   *   the folder above is missing
   */
  checkTarget({ principal, address, conditions }: ContentTarget): CheckedTarget {
    const resource = this.#options.clientTree.find(principal, address);
    const checked = toCheckedTarget(resource);
    this.checkName(checked.name);
    conditions.check(resource);
    conditions.checkForm(resource, address);
    const changed = checked.replaced ?? checked.folder?.node;
    if (changed !== undefined) this.#options.locks.requireUnlocked(changed, conditions.lockTokens);
    return checked;
  }

  /** @throws WebDavError 403 for a name that the settings of this server refuse */
  checkName(name: string): void {
    if (this.#options.acceptsMacosFiles || !MACOS_FILE.test(name)) return;
    throw new WebDavError(403, say`This server does not store the files that macOS adds to folders.`);
  }

  /**
   * Stores the received bytes. The pending upload ends, also on failure. The same content again makes no version, and
   * is not counted as a replacement.
   * @param known what {@link checkTarget} found when the upload began
   * @throws as {@link checkTarget} and {@link FileService.finishUpload}; AppError confirmation_required
   */
  async finish(
    target: ContentTarget,
    { user, confirm }: Uploader,
    pendingUpload: PendingUpload,
    facts: ContentFacts,
    known?: CheckedTarget,
  ): Promise<{ readonly file: FileNode; readonly isNew: boolean }> {
    const { changeGuard } = this.#options;
    // What was found a moment ago is checked again only in the transaction.
    const checked = known !== undefined && !isAuthenticationOld(pendingUpload) ? known : this.checkTarget(target);
    const { replaced } = checked;
    if (replaced !== undefined && replaced.digest !== pendingUpload.incoming.digest()) {
      await changeGuard.countContent(target.principal, replaced, target.settingsUrl);
    }
    const sender = { user: { ...user, lockTokens: target.conditions.lockTokens }, confirm };
    return replaced === undefined
      ? this.#create(target, sender, pendingUpload, facts, checked)
      : this.#replace(target, sender, pendingUpload, facts, replaced);
  }

  async #create(
    target: ContentTarget,
    sender: Uploader,
    pendingUpload: PendingUpload,
    { declaredType, fileModifiedAt, hooks }: ContentFacts,
    { folder, name }: CheckedTarget,
  ): Promise<{ file: FileNode; isNew: boolean }> {
    invariant(folder !== undefined, "a new file is stored in a folder");
    const { share, path: folderPath } = locationOf(folder);
    // A file that appears in the meantime gets a version, unless the conditions of the request forbid it.
    const onConflict = "version" as const;
    const labels = { tags: [], metadata: {}, isPublic: false, capturedAt: undefined, checksum: undefined };
    const fields = { ...labels, folderPath, onConflict, fileModifiedAt };
    const { file } = await this.#options.files.finishUpload(
      sender,
      pendingUpload,
      { fileName: name, declaredType },
      fields,
      {
        share,
        before: (tx) => {
          const { folder: now, replaced } = this.checkTarget(target);
          if ((now?.node.id ?? replaced?.parentId) !== folder.node.id) throw movedAway();
          hooks?.before(tx);
        },
        ...(hooks && { onDone: hooks.onDone }),
      },
    );
    return { file, isNew: file.version === 1 };
  }

  async #replace(
    target: ContentTarget,
    sender: Uploader,
    pendingUpload: PendingUpload,
    { hooks, ...facts }: ContentFacts,
    { publicId: fileId }: FileNode,
  ): Promise<{ file: FileNode; isNew: boolean }> {
    const replacement = {
      ...facts,
      fileId,
      reusesSame: true,
      before: (tx: Transaction) => {
        if (this.checkTarget(target).replaced?.publicId !== fileId) throw movedAway();
        hooks?.before(tx);
      },
      ...(hooks && { onDone: hooks.onDone }),
    } as const;
    const stored = this.#options.files.finishReplacement(sender, pendingUpload, replacement, () => undefined);
    const file = await stored.catch((error: unknown) => {
      // Another request has deleted the file since. The client can create it again.
      throw error instanceof AppError && error.reason === "not_found" ? movedAway() : error;
    });
    return { file, isNew: false };
  }
}

function toCheckedTarget(resource: Resource): CheckedTarget {
  if (resource.kind === "missing_parent") throw missingFolder();
  if (resource.kind === "free") {
    if (resource.parent.kind === "shares") throw sharesOnly();
    requireWrite(resource.parent);
    return { owner: resource.parent.owner, name: resource.name, folder: resource.parent, replaced: undefined };
  }
  if (resource.kind === "shares" || resource.node.kind === "folder") {
    throw new WebDavError(405, say`There is a folder with this name. A file can't replace it.`);
  }
  requireWrite(resource);
  return { owner: resource.owner, name: resource.node.name, folder: undefined, replaced: resource.node };
}
