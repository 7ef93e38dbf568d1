/**
 * Exports an account's files as plain files, in their current state or as they were at an earlier time. An export can
 * be repeated: files that have the same size and time already are skipped, and other files in the folder stay.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import type { BlobStore } from "../../../blobs/blob-store.ts";
import { type Digest, digestFromBytes } from "../../../blobs/digest.ts";
import { AppError, notFound } from "../../../errors.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import { errorCode } from "../../../lib/error.ts";
import { joinPath, ROOT_PATH } from "../../../lib/path.ts";
import type { FavoriteService } from "../../library/favorites/service.ts";
import type { HistoryService } from "../../library/history/service.ts";
import type { MediaInfoService } from "../../media/metadata/service.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode, TreeNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";
import { describeTargetError } from "./content-writer.ts";
import { ExportedAccount, type ExportedAccountOptions } from "./exported-account.ts";
import { ExportedSidecars } from "./exported-sidecars.ts";
import { labelsOf, modificationTimeOf } from "./exported-labels.ts";
import { MANIFEST_NAME, ManifestWriter, readManifest, VERSIONS_NAME } from "./manifest.ts";
import { probeTarget, type TargetLimits, TargetNames } from "./target-names.ts";
import { deleteUnfinished, makeFolder } from "./target-folders.ts";
import { TransferPool } from "./transfer-pool.ts";
import type {
  ExportReport,
  ExportRequest,
  SidecarJob,
  TransferProblem,
  TransferReason,
  WriteJob,
  WriteResult,
} from "./types.ts";

/** Dependencies of {@link Exporter}. */
interface ExporterOptions extends ExportedAccountOptions {
  readonly tree: TreeReader;
  readonly blobs: Pick<BlobStore, "pathOf" | "fetchLocal">;
  readonly history: Pick<HistoryService, "list">;
  readonly favorites: Pick<FavoriteService, "among">;
  readonly mediaInfo: Pick<MediaInfoService, "find">;
  /** The data directory. */
  readonly dataDir: string;
}

const BATCH_FILES = 64;
const BATCH_BYTES = 8 * 1024 * 1024;
const PAGE = 1_000;
const PROBLEMS_MAX = 10_000;
const POLL_MS = 2;
/** Bytes of the path of a folder on disk: systems take 4,096, and names of files come on top. */
const DISK_PATH_MAX = 3_700;
/** The folder that contains folders which are nested more deeply. */
const DEEP_NAME = "…";

/** A folder to be made. */
interface PlannedFolder {
  /** Index of its parent folder; -1 for the top. */
  readonly parent: number;
  readonly id: number;
  readonly name: string;
  /** Name on disk. */
  readonly target: string;
}

/** A file to be written. */
interface PlannedFile extends PlannedFolder {
  readonly sizeBytes: number;
  readonly modifiedAtMs: number;
  readonly digest: Digest;
}

/** A file of the batch that is sent to a thread. */
interface QueuedFile {
  readonly job: WriteJob;
  /** In the account. */
  readonly path: string;
  readonly isVersion: boolean;
}

/** Exports accounts. Reads the account and the store, and changes neither. */
export class Exporter {
  readonly #options: ExporterOptions;

  constructor(options: ExporterOptions) {
    this.#options = options;
  }

  /**
   * Exports a folder; durable on return. Files that were written before an error stay.
   * @throws AppError not_found; invalid_field if `atMs` is out of reach; disk_full | storage_error of the target
   */
  async run(user: User, request: ExportRequest): Promise<ExportReport> {
    fs.mkdirSync(request.target, { recursive: true });
    deleteUnfinished(request.target);
    const pool = new TransferPool(this.#options.dataDir, request.target);
    try {
      return await new ExportRun(this.#options, user, request, pool).run();
    } finally {
      pool.close();
    }
  }
}

class ExportRun {
  readonly #options: ExporterOptions;
  readonly #user: User;
  readonly #request: ExportRequest;
  readonly #pool: TransferPool;
  readonly #limits: TargetLimits;
  readonly #manifest: ManifestWriter | undefined;
  readonly #sidecars: ExportedSidecars | undefined;
  #account: ExportedAccount | undefined;
  readonly #startedMs = performance.now();
  readonly #counts = { files: 0, written: 0, writtenBytes: 0, unchanged: 0, folders: 0, versions: 0, problems: 0 };
  readonly #problems: TransferProblem[] = [];
  readonly #renamings: { path: string; writtenAs: string }[] = [];
  readonly #folders: PlannedFolder[] = [];
  readonly #files: PlannedFile[] = [];
  /** The names in the folder that is being planned. */
  #names: { readonly parent: number; readonly names: TargetNames } | undefined;
  #batch: QueuedFile[] = [];
  #batchBytes = 0;
  #writing = 0;
  #failure: unknown;
  #stopped: ExportReport["stopped"];

  constructor(options: ExporterOptions, user: User, request: ExportRequest, pool: TransferPool) {
    this.#options = options;
    this.#user = user;
    this.#request = request;
    this.#pool = pool;
    this.#limits = probeTarget(request.target);
    const now = toTimestamp(Date.now());
    if (!request.hasManifest) return;
    const { target, folder } = request;
    const earlier = readManifest(target)?.sidecars ?? new Set<string>();
    this.#sidecars = new ExportedSidecars({ mediaInfo: options.mediaInfo, target, earlier });
    this.#manifest = new ManifestWriter(target, folder, now);
  }

  async run(): Promise<ExportReport> {
    try {
      // Only the current state has albums and pins.
      const hasAccount = this.#manifest !== undefined && this.#request.atMs === undefined;
      if (hasAccount) this.#account = await ExportedAccount.read(this.#options, this.#user, this.#request);
      if (this.#request.atMs === undefined) await this.#planCurrent();
      else await this.#planPast(this.#request.atMs);
      await this.#writeAll();
      await this.#pool.sync();
    } catch (error) {
      this.#manifest?.discard();
      throw error;
    }
    if (this.#stopped === undefined) this.#manifest?.finish(this.#account?.describe(), this.#sidecars?.paths() ?? []);
    else this.#manifest?.discard();
    return {
      ...this.#counts,
      problemList: this.#problems,
      renamings: this.#renamings,
      sidecars: this.#sidecars?.report(),
      stopped: this.#stopped,
      durationMs: Math.round(performance.now() - this.#startedMs),
    };
  }

  /** Reads the current state, in one snapshot. */
  async #planCurrent(): Promise<void> {
    const folder = this.#options.tree.findFolderByPath(this.#user.id, this.#request.folder);
    if (folder === undefined) throw notFound(say`The folder "${this.#request.folder}" was not found.`);
    await this.#options.tree.walk([folder.id], (node, { parent }) => {
      const { id, name, sizeBytes, digest } = node;
      if (digest === null) return this.#addFolder(id, name, parent);
      this.#addFile(id, name, parent, {
        sizeBytes,
        digest: digestFromBytes(digest),
        modifiedAtMs: modificationTimeOf(node),
      });
      return -1;
    });
  }

  /** Reads an earlier state, folder by folder: it does not change while it is read. */
  async #planPast(atMs: number): Promise<void> {
    const pending = [{ path: this.#request.folder, number: this.#addFolder(0, ROOT_PATH, -1) }];
    for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
      for await (const { node, isContentAvailable } of this.#listPast(folder.path, atMs)) {
        const path = joinPath(folder.path, node.name);
        if (node.kind === "folder") pending.push({ path, number: this.#addFolder(node.id, node.name, folder.number) });
        else if (isContentAvailable)
          this.#addFile(node.id, node.name, folder.number, { ...node, modifiedAtMs: modificationTimeOf(node) });
        else this.#addProblem(path, "content_gone", "The version of that time no longer exists.");
      }
    }
  }

  async *#listPast(path: string, atMs: number) {
    for (let offset = 0; ; offset += PAGE) {
      const page = { sort: "name", order: "asc", offset, limit: PAGE } as const;
      const { nodes } = await this.#options.history.list(this.#user, path, atMs, page);
      yield* nodes;
      if (nodes.length < PAGE) return;
    }
  }

  #addFolder(id: number, name: string, parent: number): number {
    const target = parent < 0 ? "" : this.#nameFor(name, parent);
    return this.#folders.push({ id, name, parent, target }) - 1;
  }

  #addFile(
    id: number,
    name: string,
    parent: number,
    { sizeBytes, digest, modifiedAtMs }: Pick<PlannedFile, "sizeBytes" | "digest" | "modifiedAtMs">,
  ): void {
    this.#files.push({ id, name, parent, target: this.#nameFor(name, parent), sizeBytes, digest, modifiedAtMs });
  }

  #nameFor(name: string, parent: number): string {
    if (this.#names?.parent !== parent) {
      const { hasManifest, hasVersions } = this.#request;
      // An import skips both names. The manifest has the real one.
      const reserved = hasManifest ? [MANIFEST_NAME, VERSIONS_NAME] : hasVersions ? [VERSIONS_NAME] : [];
      this.#names = { parent, names: new TargetNames(this.#limits, parent === 0 ? [DEEP_NAME, ...reserved] : []) };
    }
    return this.#names.names.nameFor(name);
  }

  async #writeAll(): Promise<void> {
    const { target, folder, signal } = this.#request;
    /** Paths of each folder on disk and in the account; undefined if it could not be made. */
    const folders: ({ readonly disk: string; readonly path: string } | undefined)[] = [];
    for (const [number, planned] of this.#folders.entries()) {
      const parent = folders[planned.parent];
      if (number === 0) folders.push({ disk: target, path: folder });
      else if (parent === undefined) folders.push(undefined);
      else folders.push(this.#makeFolder(planned, parent));
    }
    for (const { parent, target: name } of this.#files) {
      const disk = folders[parent]?.disk;
      if (disk !== undefined) this.#sidecars?.noteFile(join(disk, name));
    }
    for (const file of this.#files) {
      if (signal.aborted) this.#stopped ??= "interrupted";
      if (this.#stopped !== undefined || this.#failure !== undefined) break;
      this.#counts.files++;
      const parent = folders[file.parent];
      if (parent !== undefined) await this.#writeFile(file, parent);
      this.#request.onProgress(this.#counts);
    }
    await this.#send();
    while (this.#writing > 0) await Bun.sleep(POLL_MS);
    if (this.#failure !== undefined) throw this.#failure;
    this.#request.onProgress(this.#counts);
  }

  #makeFolder(
    planned: PlannedFolder,
    parent: { disk: string; path: string },
  ): { disk: string; path: string } | undefined {
    let disk = join(parent.disk, planned.target);
    const path = joinPath(parent.path.length > DISK_PATH_MAX ? ROOT_PATH : parent.path, planned.name);
    try {
      if (Buffer.byteLength(disk) > DISK_PATH_MAX) {
        // Too deep for the system: such folders are made in a folder of their own, the same at every export.
        disk = join(this.#request.target, DEEP_NAME, `${planned.id} ${planned.target}`.slice(0, 100));
        makeFolder(join(this.#request.target, DEEP_NAME));
        this.#noteRenaming(path, disk);
      }
      makeFolder(disk);
    } catch (error) {
      this.#addProblem(path, "unwritable", describeTargetError(errorCode(error)));
      return undefined;
    }
    this.#counts.folders++;
    this.#describe(planned, path, disk);
    return { disk, path };
  }

  async #writeFile(file: PlannedFile, { disk, path: folder }: { disk: string; path: string }): Promise<void> {
    const path = joinPath(folder, file.name);
    const target = join(disk, file.target);
    const { node, isFavorite } = this.#describe(file, path, target);
    if (node?.kind !== "file") return this.#enqueue(file, target, path);
    const account = { isFavorite, albums: this.#account?.albumsOf(node.id) ?? [] };
    const sidecar = this.#sidecars?.jobFor(node, target, path, account);
    await this.#enqueue(file, target, path, { sidecar });
    if (this.#request.hasVersions && node.version > 1) await this.#writeVersions(node, target);
  }

  /** Writes earlier versions of a file, in a separate folder with the same folders. */
  async #writeVersions(file: FileNode, target: string): Promise<void> {
    const below = target.slice(this.#request.target.length);
    const folder = join(this.#request.target, VERSIONS_NAME, below);
    const path = joinPath(file.folder, file.name);
    const names = new TargetNames(this.#limits);
    for (const version of this.#options.tree.listVersions(file)) {
      if (version.version === file.version) continue;
      try {
        fs.mkdirSync(folder, { recursive: true });
      } catch (error) {
        this.#addProblem(path, "unwritable", describeTargetError(errorCode(error)));
        return;
      }
      const name = names.nameFor(`${version.version} ${file.name}`.slice(0, 200));
      const content = { ...version, modifiedAtMs: version.createdAtMs };
      await this.#enqueue(content, join(folder, name), path, { isVersion: true });
    }
  }

  /** Adds the tags, metadata and mark of a node to the manifest. @returns the node, if it was read, and its mark */
  #describe(
    planned: PlannedFolder,
    path: string,
    disk: string,
  ): { readonly node: TreeNode | undefined; readonly isFavorite: boolean } {
    const isRenamed = planned.target !== planned.name;
    if (isRenamed) this.#noteRenaming(path, disk);
    if (this.#manifest === undefined && !this.#request.hasVersions) return { node: undefined, isFavorite: false };
    const node = this.#options.tree.findByIds([planned.id])[0];
    const below = disk.slice(this.#request.target.length + 1);
    this.#account?.note(planned.id, below);
    const entry = { path: below, ...(isRenamed && { name: planned.name }) };
    const isFavorite = node !== undefined && this.#options.favorites.among(this.#user, [node]).has(node.id);
    const described = { ...entry, ...(node && labelsOf(node)), ...(isFavorite && ({ isFavorite } as const)) };
    if (Object.keys(described).length > 1) this.#manifest?.add(described);
    return { node, isFavorite };
  }

  #noteRenaming(path: string, writtenAs: string): void {
    if (this.#renamings.length < PROBLEMS_MAX) this.#renamings.push({ path, writtenAs });
  }

  async #enqueue(
    content: Pick<PlannedFile, "digest" | "sizeBytes" | "modifiedAtMs">,
    target: string,
    path: string,
    { isVersion = false, sidecar }: { isVersion?: boolean; sidecar?: SidecarJob | undefined } = {},
  ): Promise<void> {
    const { digest, sizeBytes, modifiedAtMs } = content;
    const { blobs } = this.#options;
    try {
      // Only the remote store may have it.
      await blobs.fetchLocal(digest);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.#addProblem(path, "content_damaged", error.message);
      return;
    }
    const { isRereading } = this.#request;
    const job = { source: blobs.pathOf(digest), digest, sizeBytes, modifiedAtMs, target, isRereading, sidecar };
    this.#batch.push({ job, path, isVersion });
    this.#batchBytes += sizeBytes;
    if (this.#batch.length >= BATCH_FILES || this.#batchBytes >= BATCH_BYTES) await this.#send();
  }

  /** Sends the batch to a thread, as soon as one can accept it. */
  async #send(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    this.#batchBytes = 0;
    while (!this.#pool.canAccept && this.#failure === undefined) await Bun.sleep(POLL_MS);
    if (batch.length === 0 || this.#failure !== undefined) return;
    this.#writing++;
    void this.#pool
      .exportFiles(batch.map(({ job }) => job))
      .then((results) => {
        for (const [index, result] of results.entries()) this.#countResult(batch[index], result);
      })
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => {
        this.#writing--;
      });
  }

  #countResult(item: QueuedFile | undefined, result: WriteResult): void {
    if (item === undefined) return;
    if ("reason" in result) this.#addProblem(item.path, result.reason, result.message);
    else if (item.isVersion) this.#counts.versions++;
    else if (result.written === "unchanged") this.#counts.unchanged++;
    else {
      this.#counts.written++;
      this.#counts.writtenBytes += item.job.sizeBytes;
    }
    const { sidecar } = item.job;
    if (sidecar === undefined || !("written" in result) || result.sidecar === undefined) return;
    this.#sidecars?.count(sidecar, item.path, result.sidecar);
  }

  #addProblem(path: string, reason: TransferReason, message: string): void {
    this.#counts.problems++;
    if (this.#problems.length < PROBLEMS_MAX) this.#problems.push({ path, reason, message });
  }
}
