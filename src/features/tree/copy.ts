/** Copies. No byte is written: a copy names the same contents, which count once for every file that names them. */
import type { Transaction } from "../../db/transaction.ts";
import { AppError, notFound } from "../../errors.ts";
import { newId } from "../../lib/id.ts";
import { joinPath } from "../../lib/path.ts";
import { placeFile, resolveName } from "./create.ts";
import { sumBelow } from "./delete.ts";
import { ensureFolderId, folderRow } from "./make-folder.ts";
import { nameTaken } from "./names.ts";
import { FILE, parseTags } from "./rows.ts";
import type { TreeStore } from "./store.ts";
import type { CopyOptions, FileNode, FolderNode, NodeRef, TreeNode } from "./types.ts";
import { refuseInside, refuseLongPath } from "./update.ts";

/** Files and folders that one copy may have; it is one transaction, which nobody else may wait for too long. */
export const COPY_NODES_MAX = 20_000;

/** @see TreeWriter.copy */
export function copy(
  store: TreeStore,
  tx: Transaction,
  ref: NodeRef,
  destinationPath: string,
  options: CopyOptions,
): { node: TreeNode; isNew: boolean } {
  const node = store.findNode(ref);
  if (node === undefined) throw notFound("The file or folder");
  if (node.kind === "folder") return { node: copyFolder(store, tx, node, destinationPath, options), isNew: true };
  const { file, isNew } = copyFile(
    store,
    tx,
    node,
    ensureFolderId(store, tx, node.accountId, destinationPath),
    options,
  );
  return { node: file, isNew };
}

function copyFile(
  store: TreeStore,
  tx: Transaction,
  file: FileNode,
  folderId: number,
  options: CopyOptions,
): { file: FileNode; isNew: boolean } {
  store.blobs.share(file.blobId, store.clock.nowMs());
  return placeFile(store, tx, {
    ...options,
    accountId: file.accountId,
    folderId,
    name: file.name,
    content: { blobId: file.blobId, sizeBytes: file.sizeBytes, mediaType: file.mediaType },
    mediaType: file.mediaType,
    tags: options.preserveMetadata ? file.tags : [],
    metadata: options.preserveMetadata ? file.metadata : {},
    originalName: file.originalName,
    fileModifiedAt: file.fileModifiedAt ?? undefined,
    capturedAt: file.capturedAt ?? undefined,
    isPublic: false,
  });
}

function copyFolder(
  store: TreeStore,
  tx: Transaction,
  folder: FolderNode,
  destinationPath: string,
  options: CopyOptions,
): FolderNode {
  refuseInside(folder, destinationPath);
  const { accountId } = folder;
  const sums = sumBelow(store, accountId, folder.id);
  const nodes = sums.files + sums.folders;
  if (nodes > COPY_NODES_MAX) {
    throw new AppError(
      "invalid_request",
      `The folder holds ${nodes} files and folders; one copy takes at most ${COPY_NODES_MAX}. Copy its folders one by one.`,
      { limit: COPY_NODES_MAX, actual: nodes },
    );
  }
  const parentId = ensureFolderId(store, tx, accountId, destinationPath);
  const name = resolveName(store, tx, parentId, folder.name, options.onConflict);
  if (typeof name !== "string") throw nameTaken(folder.name);
  refuseLongPath(joinPath(destinationPath, name));
  const { files, folders, fileBytes } = sums;
  const last = store.accounts.take(accountId, { numbers: nodes, files, folders, fileBytes }, options.quotaBytes);
  const copier = new SubtreeCopier(store, accountId, last - nodes, options);
  const id = copier.copy(tx, folder.id, parentId, name);
  copier.finish();
  store.paths.freeze();
  return store.getFolder(id);
}

interface SourceRow {
  readonly id: number;
  readonly kind: number;
  readonly name: string;
  readonly size_bytes: number;
  readonly media_type: string | null;
  readonly blob_id: number | null;
  readonly original_name: string | null;
  readonly file_modified_at: string | null;
  readonly captured_at: string | null;
  readonly tags: string | null;
  readonly metadata: string | null;
}

/** Rows read at once. */
const SLICE = 500;

/** Copies folder by folder, a slice of children at a time. */
class SubtreeCopier {
  readonly #store: TreeStore;
  readonly #accountId: number;
  readonly #options: CopyOptions;
  readonly #nowMs: number;
  readonly #types = new Map<string, { files: number; bytes: number }>();
  #seq: number;
  readonly #source;
  readonly #children;

  /** @param seq the journal number before the first that was taken for the copy */
  constructor(store: TreeStore, accountId: number, seq: number, options: CopyOptions) {
    this.#store = store;
    this.#accountId = accountId;
    this.#options = options;
    this.#nowMs = store.clock.nowMs();
    this.#seq = seq;
    const select = `SELECT id, kind, name, size_bytes, media_type, blob_id, original_name, file_modified_at, captured_at,
      tags, metadata, sort_key FROM nodes`;
    this.#source = store.sqlite.query<SourceRow, [number]>(`${select} WHERE id = ?1`);
    this.#children = store.sqlite.query<SourceRow & { sort_key: string }, [number, number, string, string, number]>(
      `${select} INDEXED BY nodes_name WHERE parent_id = ?1 AND kind = ?2 AND (sort_key, name) > (?3, ?4)
       ORDER BY sort_key, name LIMIT ?5`,
    );
  }

  /** Copies a folder with all below it. @returns the row id of the copy */
  copy(tx: Transaction, sourceId: number, parentId: number, name: string): number {
    const source = this.#source.get(sourceId);
    const rootId = this.#store.nodes.insert(tx, this.#folderRow(source?.metadata ?? null, parentId, name));
    this.#store.accounts.record(this.#accountId, this.#seq, rootId);
    const waiting = [{ sourceId, copyId: rootId }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { sourceId: from, copyId: into } = next;
      let folders = 0;
      let files = 0;
      for (const child of this.#childrenOf(from)) {
        const id = this.#copyRow(child, into);
        if (child.kind === FILE) files++;
        else {
          folders++;
          waiting.push({ sourceId: child.id, copyId: id });
        }
      }
      this.#store.nodes.setCounts(into, folders, files);
    }
    return rootId;
  }

  /** Writes what was added up. */
  finish(): void {
    for (const [type, { files, bytes }] of this.#types) {
      this.#store.accounts.countType(this.#accountId, type, files, bytes);
    }
  }

  *#childrenOf(folderId: number): Generator<SourceRow> {
    for (const kind of [0, 1]) {
      let after = { sort_key: "", name: "" };
      for (;;) {
        const rows = this.#children.all(folderId, kind, after.sort_key, after.name, SLICE);
        yield* rows;
        const last = rows.at(-1);
        if (last === undefined || rows.length < SLICE) break;
        after = last;
      }
    }
  }

  #copyRow(source: SourceRow, parentId: number): number {
    const { preserveMetadata } = this.#options;
    const metadata = preserveMetadata ? source.metadata : null;
    const id =
      source.kind === FILE
        ? this.#insertFile(source, parentId, metadata)
        : this.#store.nodes.insertUncounted(this.#folderRow(metadata, parentId, source.name));
    this.#store.accounts.record(this.#accountId, this.#seq, id);
    return id;
  }

  #insertFile(source: SourceRow, parentId: number, metadata: string | null): number {
    const tags = this.#options.preserveMetadata ? source.tags : null;
    const id = this.#store.nodes.insertUncounted({
      publicId: newId("file", this.#nowMs),
      accountId: this.#accountId,
      parentId,
      kind: FILE,
      name: source.name,
      createdAtMs: this.#nowMs,
      modifiedAtMs: this.#nowMs,
      seq: ++this.#seq,
      sizeBytes: source.size_bytes,
      mediaType: source.media_type,
      blobId: source.blob_id,
      contentBy: this.#options.createdBy,
      originalName: source.original_name,
      fileModifiedAt: source.file_modified_at,
      capturedAt: source.captured_at,
      isPublic: false,
      tags,
      metadata,
    });
    if (source.blob_id !== null) this.#store.blobs.share(source.blob_id, this.#nowMs);
    this.#store.tags.add(this.#accountId, id, parseTags(tags));
    const type = source.media_type ?? "";
    const sum = this.#types.get(type) ?? { files: 0, bytes: 0 };
    this.#types.set(type, { files: sum.files + 1, bytes: sum.bytes + source.size_bytes });
    return id;
  }

  #folderRow(metadata: string | null, parentId: number, name: string) {
    return { ...folderRow(this.#accountId, parentId, name, this.#nowMs, ++this.#seq), metadata };
  }
}
