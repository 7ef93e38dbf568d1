/** Extracts an archive into a new folder: all of it or nothing. */
import type { BlobLease, BlobStore } from "../../../blobs/blob-store.ts";
import type { Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { FolderNode } from "../../../tree/model/types.ts";
import type { BuiltFile, FolderBuilder } from "../../../tree/operations/build-folder.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { Uploader } from "../../accounts/auth/principal.ts";
import { detectMediaType } from "../files/media-type.ts";
import { fileTooLarge, type StorageLimits } from "../files/storage-limits.ts";
import { actingDevice, type Permissions, type PermittedNode, type TreeLocation } from "../permissions/permissions.ts";
import { UserTreeWriter } from "../permissions/user-tree-writer.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";
import type { Extraction } from "./extraction.ts";
import { type ExtractionPlan, type PlannedFile, type PlannedFolder, planExtraction } from "./extraction-plan.ts";
import { readContent } from "./zip-content.ts";
import { readZipDirectory } from "./zip-directory.ts";

/** Dependencies of {@link Extractor}. */
export interface ExtractorOptions {
  readonly blobs: BlobStore;
  readonly writer: Writer;
  readonly treeWriter: TreeWriter;
  readonly permissions: Permissions;
  readonly limitsOf: (user: User) => StorageLimits;
  /** Reserves disk space. @returns a function that releases it @throws AppError disk_full */
  readonly reserveSpace: (bytes: number) => () => void;
  /** Called when rows remain to be deleted. */
  readonly onDetached: () => void;
}

/** Where an archive is extracted to. */
export interface ExtractionTarget {
  /** By default the folder of the archive. */
  readonly folderPath: string | undefined;
  /** A received share that the path is below. */
  readonly share: string | undefined;
  readonly name: string;
}

/** Files whose content is stored before their rows are written together, and how many at once. */
const FILES_PER_STEP = 64;
const CONCURRENT_FILES = 8;
const FOLDERS_PER_STEP = 100;
/** Approximate size of the database rows of a file or folder. */
const NODE_BYTES = 512;

/** Extracts archives. */
export class Extractor {
  readonly #options: ExtractorOptions;
  readonly #userTreeWriter: UserTreeWriter;

  constructor(options: ExtractorOptions) {
    this.#options = options;
    this.#userTreeWriter = new UserTreeWriter(options.treeWriter, (owner) => options.limitsOf(owner).plan);
  }

  /** The archive and the place to extract it to. @throws AppError not_found | share_permission | invalid_field */
  admit(user: User, fileId: string, { folderPath, share }: ExtractionTarget) {
    const { permissions } = this.#options;
    const archive = permissions.file(user, fileId, "read");
    return { archive, location: this.#locationOf(user, archive, folderPath, share) };
  }

  /**
   * Runs an extraction. The new folder appears when everything in it is durable; after an error, nothing of it does.
   * @throws the reason of the signal; what {@link admit} throws; AppError invalid_request | quota_exceeded |
   *   file_too_large | disk_full | locked | content_missing | content_damaged; what `uploader.confirm` throws
   */
  async run(
    { user, confirm }: Uploader,
    target: ExtractionTarget,
    extraction: Extraction,
    signal: AbortSignal,
  ): Promise<FolderNode> {
    const { blobs, limitsOf, reserveSpace, writer, treeWriter, onDetached } = this.#options;
    const { archive, location } = this.admit(user, extraction.fileId, target);
    const { digest, sizeBytes } = archive.node;
    const blob = { digest, sizeBytes };
    await blobs.fetchLocal(digest);
    const plan = await planExtraction(blobs, blob, await readZipDirectory(blobs, blob), target.name);
    signal.throwIfAborted();
    const { owner } = location;
    rejectLargeFiles(plan, limitsOf(owner));
    Object.assign(extraction, { files: plan.files.length, bytes: plan.fileBytes });
    const release = reserveSpace(plan.fileBytes + (plan.files.length + plan.folders.length) * NODE_BYTES);
    try {
      const building = treeWriter.buildFolder(writer, {
        accountId: owner.id,
        name: target.name,
        parentPath: location.path,
        files: plan.files.length,
        folders: plan.folders.length,
        fileBytes: plan.fileBytes,
        below: plan.folders[0]?.below ?? { levels: 0, bytes: 0 },
        createdBy: user.id,
        quotaBytes: limitsOf(owner).quotaBytes,
        deviceId: actingDevice(user, location),
        lockTokens: user.lockTokens,
        admit: () => {
          signal.throwIfAborted();
          confirm();
          const now = this.admit(user, extraction.fileId, target).location;
          if (now.path === location.path && now.owner.id === owner.id) return;
          throw new AppError(
            "not_found",
            say`The destination was moved during the extraction. Extract the archive again.`,
          );
        },
      });
      const builder = await this.#userTreeWriter.explainRejection(location, building);
      try {
        await this.#fill(builder, plan, { archive, extraction, signal });
        return location.view.show(await this.#userTreeWriter.explainRejection(location, builder.finish()));
      } catch (error) {
        builder.abandon();
        onDetached();
        throw error;
      }
    } finally {
      release();
    }
  }

  #locationOf(
    user: User,
    archive: PermittedNode<FileNode>,
    folderPath: string | undefined,
    share: string | undefined,
  ): TreeLocation {
    const { permissions } = this.#options;
    if (share !== undefined) return permissions.location(user, folderPath ?? "/", share);
    if (folderPath !== undefined) return permissions.location(user, folderPath, undefined);
    // A file that is shared alone has no folder that the recipient could write to.
    return permissions.locationInSameTree(user, archive, archive.node.folder);
  }

  async #fill(
    builder: FolderBuilder,
    { folders, files }: ExtractionPlan,
    work: { archive: PermittedNode<FileNode>; extraction: Extraction; signal: AbortSignal },
  ): Promise<void> {
    const ids = await makeFolders(builder, folders, work.signal);
    for (let from = 0; from < files.length; from += FILES_PER_STEP) {
      await this.#storeFiles(builder, files.slice(from, from + FILES_PER_STEP), ids, work);
    }
  }

  /** Stores the content of some files, then writes their rows. */
  async #storeFiles(
    builder: FolderBuilder,
    files: readonly PlannedFile[],
    ids: ReadonlyMap<PlannedFolder, number>,
    work: { archive: PermittedNode<FileNode>; extraction: Extraction; signal: AbortSignal },
  ): Promise<void> {
    const stored: { lease: BlobLease; file: BuiltFile }[] = [];
    let isNamed = false;
    try {
      const waiting = files.values();
      const store = async () => {
        for (const file of waiting) stored.push(await this.#storeFile(file, ids, work));
      };
      // All end before an error is passed on, so that every lease is released.
      const results = await Promise.allSettled(Array.from({ length: CONCURRENT_FILES }, store));
      for (const result of results) if (result.status === "rejected") throw result.reason;
      await builder.addFiles(stored.map(({ file }) => file));
      isNamed = true;
    } finally {
      for (const { lease } of stored) lease.release(isNamed);
    }
  }

  async #storeFile(
    { entry, range, name, parent }: PlannedFile,
    ids: ReadonlyMap<PlannedFolder, number>,
    {
      archive,
      extraction,
      signal,
    }: { readonly archive: PermittedNode<FileNode>; readonly extraction: Extraction; readonly signal: AbortSignal },
  ): Promise<{ lease: BlobLease; file: BuiltFile }> {
    const { blobs } = this.#options;
    const { digest, sizeBytes } = archive.node;
    const incoming = blobs.begin({
      limitBytes: entry.sizeBytes,
      tooLarge: () => new AppError("invalid_request", say`"${entry.name}" is larger than the archive says.`),
    });
    try {
      for await (const bytes of readContent(blobs, { digest, sizeBytes }, entry, range)) {
        signal.throwIfAborted();
        await incoming.write(bytes);
        extraction.bytesDone += bytes.length;
      }
      const mediaType = await detectMediaType(incoming.head, undefined, name);
      const lease = await incoming.commit();
      extraction.filesDone++;
      const { modifiedAtMs } = entry;
      const fileModifiedAt = modifiedAtMs === undefined ? undefined : new Date(modifiedAtMs).toISOString();
      return { lease, file: { parentId: ids.get(parent) ?? 0, name, blob: lease, mediaType, fileModifiedAt } };
    } finally {
      incoming.abort();
    }
  }
}

/** Creates all folders, each level after the one above it. @returns their row ids */
async function makeFolders(
  builder: FolderBuilder,
  folders: readonly PlannedFolder[],
  signal: AbortSignal,
): Promise<Map<PlannedFolder, number>> {
  const ids = new Map<PlannedFolder, number>();
  let step: PlannedFolder[] = [];
  const flush = async () => {
    const rows = step.map(({ parent, name, below }) => ({ parentId: idOf(parent), name, below }));
    const made = await builder.addFolders(rows);
    for (const [position, folder] of step.entries()) ids.set(folder, made[position] ?? 0);
    step = [];
  };
  const idOf = (folder: PlannedFolder | undefined) => (folder && ids.get(folder)) ?? builder.id;
  for (const folder of folders) {
    signal.throwIfAborted();
    if (folder.parent === undefined) {
      ids.set(folder, builder.id);
      continue;
    }
    if (step.length >= FOLDERS_PER_STEP || !ids.has(folder.parent)) await flush();
    step.push(folder);
  }
  if (step.length > 0) await flush();
  return ids;
}

/** @throws AppError file_too_large */
function rejectLargeFiles({ files }: ExtractionPlan, limits: StorageLimits): void {
  const { maxFileSizeBytes } = limits;
  if (maxFileSizeBytes === null) return;
  if (files.some(({ entry }) => entry.sizeBytes > maxFileSizeBytes)) throw fileTooLarge(limits, maxFileSizeBytes);
}
