import { newId } from "../../lib/id.ts";
import { invariant } from "../../lib/invariant.ts";
import { folderRow } from "./make-folder.ts";
import { FILE, FOLDER, parseTags } from "../model/rows.ts";
import type { TreeStore } from "../tables/store.ts";
import type { CopyOptions } from "../model/types.ts";

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

/** The options of a copy whose account is known. */
type OwnedCopyOptions = CopyOptions & { readonly accountId: number };

/** Nodes copied between two pauses. */
const STEP = 100;

/**
 * Copies everything below a folder into an empty copy of it, folder by folder, and pauses after every hundred nodes.
 * Each step runs inside a transaction. Writes journal rows and media type totals; the caller changes the totals of the
 * account.
 * @param isStaged whether the copy stays invisible until it is complete
 * @returns the number of nodes created, including the copy itself
 */
export function* copyBelow(
  store: TreeStore,
  options: OwnedCopyOptions,
  sourceId: number,
  copyId: number,
  isStaged = false,
): Generator<void, { files: number; folders: number; fileBytes: number }> {
  const copier = new RowCopier(store, options, isStaged ? -copyId : undefined);
  const queued = [{ from: sourceId, into: copyId }];
  const totals = { files: 0, folders: 1, fileBytes: 0 };
  let copied = 0;
  for (let next = queued.pop(); next !== undefined; next = queued.pop()) {
    const { from, into } = next;
    const count = { folders: 0, files: 0, bytes: 0 };
    for (const child of childrenOf(store, from)) {
      const id = copier.copy(child, into);
      if (child.kind === FILE) {
        count.files++;
        count.bytes += child.size_bytes;
      } else {
        count.folders++;
        queued.push({ from: child.id, into: id });
      }
      if (++copied % STEP === 0) yield;
    }
    store.nodes.children.set(options.accountId, into, count);
    totals.files += count.files;
    totals.folders += count.folders;
    totals.fileBytes += count.bytes;
  }
  return totals;
}

/** The children of a folder, read in slices, so that reading can continue in a later transaction. */
function* childrenOf(store: TreeStore, folderId: number): Generator<SourceRow> {
  const slice = store.sqlite.query<SourceRow & { sort_key: string }, [number, number, string, string, number]>(
    `SELECT id, kind, name, size_bytes, media_type, blob_id, original_name, file_modified_at, captured_at, tags, metadata,
       sort_key FROM nodes INDEXED BY nodes_name
     WHERE parent_id = ?1 AND kind = ?2 AND (sort_key, name) > (?3, ?4) ORDER BY sort_key, name LIMIT ?5`,
  );
  for (const kind of [FOLDER, FILE]) {
    let after = { sort_key: "", name: "" };
    for (;;) {
      const rows = slice.all(folderId, kind, after.sort_key, after.name, STEP);
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined || rows.length < STEP) break;
      after = last;
    }
  }
}

/** Copies single rows. */
class RowCopier {
  readonly #store: TreeStore;
  readonly #options: OwnedCopyOptions;
  readonly #createdSeq;

  constructor(store: TreeStore, options: OwnedCopyOptions, createdSeq: number | undefined) {
    this.#store = store;
    this.#options = options;
    this.#createdSeq = createdSeq;
  }

  /** @returns the row id of the copy, which its folder does not count yet */
  copy(source: SourceRow, parentId: number): number {
    const store = this.#store;
    const nowMs = store.clock.nowMs();
    const seq = store.accounts.take(this.#options.accountId, {});
    const metadata = this.#options.preserveMetadata ? source.metadata : null;
    const id =
      source.kind === FILE
        ? this.#copyFile(source, parentId, metadata, nowMs, seq)
        : store.nodes.insertUncounted({
            ...folderRow(this.#options.accountId, parentId, source.name, nowMs, seq),
            createdSeq: this.#createdSeq,
            metadata,
            below: store.nodes.heights.boundBelow(source.id),
          });
    store.accounts.record(this.#options.accountId, seq, id);
    if (this.#options.preserveMetadata) store.properties.copy(source.id, id);
    return id;
  }

  #copyFile(source: SourceRow, parentId: number, metadata: string | null, nowMs: number, seq: number): number {
    const { blob_id: blobId, media_type: mediaType, size_bytes: sizeBytes } = source;
    invariant(blobId !== null && mediaType !== null, "a file has a blob and a type");
    const store = this.#store;
    const tags = this.#options.preserveMetadata ? source.tags : null;
    const id = store.nodes.insertUncounted({
      publicId: newId("file", nowMs),
      accountId: this.#options.accountId,
      parentId,
      kind: FILE,
      name: source.name,
      createdAtMs: nowMs,
      modifiedAtMs: nowMs,
      seq,
      createdSeq: this.#createdSeq,
      sizeBytes,
      mediaType,
      blobId,
      contentBy: this.#options.createdBy,
      contentDeviceId: store.actorDeviceId,
      originalName: source.original_name,
      fileModifiedAt: source.file_modified_at,
      capturedAt: source.captured_at,
      isPublic: false,
      tags,
      metadata,
    });
    store.blobs.share(blobId, nowMs);
    store.accounts.countType(this.#options.accountId, mediaType, 1, sizeBytes);
    store.tags.add(this.#options.accountId, id, parseTags(tags));
    return id;
  }
}
