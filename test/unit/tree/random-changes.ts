/** Random changes of a tree, and what listings show of it before and after. */
import type { Transaction } from "../../../src/db/transaction.ts";
import type { FileNode, FolderNode, NodeRef, TreeNode } from "../../../src/tree/model/types.ts";
import type { SeededRandom } from "../../support/random.ts";
import { blobOf, type TestTree } from "./support.ts";

/** A row of a node, as far as listings show it. */
export interface ShownRow {
  readonly id: number;
  readonly parent: number | null;
  readonly kind: number;
  readonly name: string;
  readonly size: number;
  readonly blob: number | null;
  readonly type: string | null;
  readonly date: number;
  readonly created: number;
  readonly stored: number | null;
  /** Properties of clients, as JSON. */
  readonly properties: string;
}

export function shownRows(tree: TestTree): Map<number, ShownRow> {
  const rows = tree.db.sqlite
    .query<ShownRow, []>(
      `SELECT id, parent_id AS parent, kind, name, size_bytes AS size, blob_id AS blob, media_type AS type, file_at AS date,
         created_at AS created, content_at AS stored,
         (SELECT json_group_array(p.name || ' ' || p.value) FROM node_properties p WHERE p.node_id = nodes.id) AS properties
       FROM nodes ORDER BY id`,
    )
    .all();
  return new Map(rows.map((row) => [row.id, row]));
}

const isSame = (a: ShownRow | undefined, b: ShownRow | undefined) => JSON.stringify(a) === JSON.stringify(b);

/** What each folder in a tree shows below it, as text, and its size. */
export function describeFolders(
  tree: TestTree,
  changesIn: ReadonlyMap<number, number>,
): Map<number, { shown: string; bytes: number }> {
  const children = new Map<number, ShownRow[]>();
  const rows = shownRows(tree);
  for (const row of rows.values()) {
    if (row.parent !== null && row.parent > 0) children.set(row.parent, [...(children.get(row.parent) ?? []), row]);
  }
  const described = new Map<number, { shown: string; bytes: number }>();
  const describeFolder = (id: number): { shown: string; bytes: number } => {
    let shown = `${changesIn.get(id) ?? 0}[`;
    let bytes = 0;
    for (const row of children.get(id) ?? []) {
      const below = row.kind === 0 ? describeFolder(row.id) : { shown: "", bytes: row.size };
      shown += `${JSON.stringify({ ...row, parent: null })} ${below.shown},`;
      bytes += below.bytes;
    }
    const found = { shown: `${shown}]`, bytes };
    described.set(id, found);
    return found;
  };
  for (const row of rows.values()) if (row.parent === null && row.name === "/") describeFolder(row.id);
  return described;
}

/** Random changes, and the number of shown changes directly in each folder: the difference of the rows. */
export class RandomChanges {
  readonly changesIn = new Map<number, number>();
  readonly #tree: TestTree;
  readonly #random: SeededRandom;
  readonly #accountId: number;
  readonly #otherAccountId: number;
  readonly #trashed: NodeRef[] = [];
  readonly #deleted: FileNode[] = [];

  /** @param otherAccountId receives some of the copies */
  constructor(tree: TestTree, random: SeededRandom, accountId: number, otherAccountId: number) {
    this.#tree = tree;
    this.#random = random;
    this.#accountId = accountId;
    this.#otherAccountId = otherAccountId;
  }

  /** One change, which may be rejected. */
  async step(): Promise<void> {
    const before = shownRows(this.#tree);
    await this.#change();
    this.#count(before);
  }

  /** A large copy in many transactions, with other changes in between. */
  async copyInSteps(): Promise<void> {
    const source = this.#pickFolder(this.#accountId);
    const target = this.#pickFolder(this.#accountId);
    const before = shownRows(this.#tree);
    const copying = this.#tree.write
      .copyLarge(this.#tree.writer, source, target.path, this.#copyOptions("rename"))
      .catch((error: unknown) => error);
    await Promise.resolve();
    this.#count(before);
    for (let i = 0; i < 3; i++) {
      await this.#tree.writer.run(() => undefined);
      const now = shownRows(this.#tree);
      if (this.#random.chance(0.3)) await this.#tree.write.refreshFolders([this.#accountId]);
      this.#count(now);
      await this.step();
    }
    // What the last transaction attaches is a change of the target.
    const last = shownRows(this.#tree);
    await copying;
    this.#count(last);
  }

  #count(before: ReadonlyMap<number, ShownRow>): void {
    const after = shownRows(this.#tree);
    for (const id of new Set([...before.keys(), ...after.keys()])) {
      const [was, is] = [before.get(id), after.get(id)];
      if (isSame(was, is)) continue;
      for (const parent of new Set([was?.parent, is?.parent])) if (parent) this.#changed(parent);
    }
  }

  #changed(folderId: number): void {
    this.changesIn.set(folderId, (this.changesIn.get(folderId) ?? 0) + 1);
  }

  #nodes(account: number): TreeNode[] {
    const ids = this.#tree.db.sqlite.query<{ id: number }, [number]>("SELECT id FROM nodes WHERE account_id = ?1");
    return ids.all(account).flatMap(({ id }) => this.#tree.read.findById(id) ?? []);
  }

  #pickFolder(account: number): FolderNode {
    return this.#random.pick(this.#nodes(account).filter((node) => node.kind === "folder"));
  }

  #pickFile(): FileNode | undefined {
    const files = this.#nodes(this.#accountId).filter((node) => node.kind === "file");
    return files.length === 0 ? undefined : this.#random.pick(files);
  }

  #pickBelowRoot(): TreeNode | undefined {
    const nodes = this.#nodes(this.#accountId).filter(({ parentId }) => parentId !== null);
    return nodes.length === 0 ? undefined : this.#random.pick(nodes);
  }

  #copyOptions(onConflict: "rename" | "version", account = this.#accountId) {
    return { accountId: account, onConflict, preserveMetadata: true, createdBy: this.#accountId, quotaBytes: null };
  }

  async #change(): Promise<void> {
    // Somebody may set the clock back.
    this.#tree.clock.advance(this.#random.chance(0.02) ? -10_000 : this.#random.below(3));
    const name = `${this.#random.pick(["a", "b", "c", "d", "e", "f"])}${this.#random.below(4)}`;
    const folder = this.#pickFolder(this.#accountId);
    const file = this.#pickFile();
    const node = this.#pickBelowRoot();
    const blob = blobOf(name, this.#random.below(1_000));
    const by = { createdBy: this.#accountId, quotaBytes: null };
    const { write } = this.#tree;
    const kinds: readonly (() => unknown)[] = [
      () => this.#tree.addFile(this.#accountId, folder.path, name, { blob, onConflict: "version" }),
      () =>
        this.#tree.addFile(this.#accountId, folder.path, name, {
          blob,
          onConflict: "rename",
          fileModifiedAt: "2001-02-03T04:05:06Z",
        }),
      () => this.#tree.addFolder(this.#accountId, folder.path, name),
      () => this.#tree.addFolder(this.#accountId, folder.path, name),
      () => file && this.#tree.run((tx) => write.replaceContent(tx, { file, blob, mediaType: "a/b", ...by })),
      () => node && this.#tree.run((tx) => this.#update(node, { name })(tx)),
      () => node && this.#tree.run((tx) => this.#update(node, { folderPath: folder.path })(tx)),
      () => node && this.#tree.run((tx) => this.#update(node, { name, folderPath: folder.path })(tx)),
      () => node && this.#tree.run((tx) => this.#update(node, { metadata: { note: name } })(tx)),
      () => file && this.#tree.run((tx) => write.updateFile(tx, file, { tags: [name], isPublic: true })),
      () => file && this.#tree.run((tx) => write.updateFile(tx, file, { fileModifiedAt: "2010-01-01T00:00:00+02:00" })),
      () => node && this.#tree.run((tx) => write.copy(tx, node, folder.path, this.#copyOptions("rename"))),
      () => node && this.#tree.run((tx) => write.copy(tx, node, folder.path, this.#copyOptions("version"))),
      () =>
        node && this.#tree.run((tx) => write.copy(tx, node, "/", this.#copyOptions("rename", this.#otherAccountId))),
      () => node && this.#trashed.push(this.#tree.run((tx) => write.trash(tx, node)).node),
      () => this.#trashed.length > 0 && this.#tree.run((tx) => write.restore(tx, this.#takeTrashed())),
      () => this.#trashed.length > 0 && this.#tree.run((tx) => write.restore(tx, this.#takeTrashed())),
      () => this.#trashed.length > 0 && this.#tree.run((tx) => write.purge(tx, this.#takeTrashed())),
      () => file && this.#delete(file),
      () => node?.kind === "folder" && this.#random.chance(0.3) && this.#tree.run((tx) => write.deleteFolder(tx, node)),
      () => this.#tree.run((tx) => write.reapSome(tx, this.#random.below(6))),
      () => file && this.#tree.run((tx) => write.restoreVersion(tx, file, 1, by)),
      () => file && this.#tree.run((tx) => write.restoreContent(tx, file, 1, by)),
      () => node && this.#tree.run((tx) => write.stepAside(tx, node)),
      () => node && this.#tree.run((tx) => write.restoreState(tx, node, { folder: folder.path, name }, undefined)),
      () => this.#recreate(folder.path, name),
      () => this.#tree.run((tx) => this.#recreateFolder(tx, folder.path, name)),
      () => this.#tree.run((tx) => this.#merge(tx, folder, name, blob)),
      () => node && this.#noteChange(node),
      () => node && this.#changeProperties(node),
      () => node && this.#changeProperties(node),
      () => node && this.#tree.run((tx) => write.move(tx, node, folder.path)),
      () => this.#changeUnseen(folder, file, name),
    ];
    try {
      await this.#random.pick(kinds)();
    } catch (error) {
      // A taken name, or a folder moved into itself: rolled back.
      if (!(error instanceof Error && "reason" in error) || error.reason === "database_error") throw error;
    }
  }

  #update(node: TreeNode, changes: { name?: string; folderPath?: string; metadata?: Record<string, string> }) {
    const { write } = this.#tree;
    const mediaType = changes.name === undefined ? undefined : "text/renamed";
    return (tx: Transaction): TreeNode =>
      node.kind === "file"
        ? write.updateFile(tx, node, { ...changes, mediaType })
        : write.updateFolder(tx, node, changes);
  }

  #takeTrashed(): NodeRef {
    const [taken] = this.#trashed.splice(this.#random.below(this.#trashed.length), 1);
    if (taken === undefined) throw new Error("the trash is empty");
    return taken;
  }

  #delete(file: FileNode): void {
    this.#tree.run((tx) => this.#tree.write.deleteFile(tx, file));
    this.#deleted.push(file);
  }

  #recreate(folder: string, name: string): void {
    const former = this.#deleted.pop();
    if (former === undefined) return;
    const { digest, sizeBytes, mediaType, version, createdAtMs, contentAtMs, id: nodeId, publicId } = former;
    const contents = [{ version, digest, sizeBytes, mediaType, createdAtMs: contentAtMs, createdBy: null }];
    const file = { createdAtMs, originalName: null, fileModifiedAt: null, capturedAt: null, contents };
    const labels = { tags: [], metadata: {}, isPublic: false };
    const lost = {
      accountId: this.#accountId,
      former: { nodeId, publicId },
      location: { folder, name },
      labels,
      file,
      version,
    };
    this.#tree.run((tx) => this.#tree.write.recreateFile(tx, { ...lost, quotaBytes: null }));
  }

  #recreateFolder(tx: Transaction, folder: string, name: string): void {
    const labels = { tags: [], metadata: { again: name }, isPublic: false };
    const former = { nodeId: 1_000_000, publicId: "fold_lost" };
    this.#tree.write.recreateFolder(tx, { accountId: this.#accountId, former, location: { folder, name }, labels });
  }

  #merge(tx: Transaction, folder: FolderNode, name: string, blob: ReturnType<typeof blobOf>): void {
    const times = { createdAtMs: 1_000, modifiedAtMs: 2_000, publicId: undefined, metadata: {} };
    const content = { version: 1, blob, mediaType: "a/b", createdAtMs: 1_500, createdBy: null };
    const own = { originalName: undefined, fileModifiedAt: undefined, capturedAt: undefined };
    const inside = this.#tree.write.mergeFolder(tx, { folder, name, ...times });
    const file = this.#tree.write.mergeFile(tx, {
      folder: inside,
      name,
      contents: [content],
      tags: [],
      ...times,
      ...own,
    });
    this.#tree.write.mergeContent(tx, file, { ...content, ...own, version: 2, createdAtMs: 3_000 });
  }

  /** Stores or removes a property; often one that has that value already. */
  #changeProperties(node: TreeNode): void {
    const name = `p${this.#random.below(2)}`;
    const value = this.#random.pick(["1", "2", null]);
    this.#tree.run((tx) => this.#tree.write.changeProperties(tx, node, [{ namespace: "n", name, value }]));
  }

  /** Changes of which listings show nothing: locks, versions, housekeeping and dry runs. */
  async #changeUnseen(folder: FolderNode, file: FileNode | undefined, name: string): Promise<void> {
    const { write, trials, clock } = this.#tree;
    const owner = { createdBy: this.#accountId, program: null, ownerXml: null };
    const lock = { ...owner, isExclusive: true, isDeep: false, durationMs: 1_000 };
    const laterMs = clock.nowMs() + 1;
    const page = { olderThanMs: laterMs, limit: 10, afterNodeId: 0 };
    const kinds: readonly (() => unknown)[] = [
      () => this.#tree.run(() => write.locks.end(write.locks.add(folder, lock).token)),
      () => file && file.version > 1 && this.#tree.run((tx) => write.deleteVersion(tx, file, file.version - 1)),
      () => this.#tree.run((tx) => write.pruneVersions(tx, { ...page, retainedVersions: () => 1 })),
      () => this.#tree.run((tx) => write.sweepJournal(tx, this.#accountId, laterMs, 0)),
      () => this.#tree.run((tx) => write.sweepHistory(tx, this.#accountId, laterMs, 10)),
      () => this.#tree.run((tx) => write.reserveBytes(tx, this.#accountId, 0, null)),
      () =>
        trials.run(async ({ tx, treeWriter }) => {
          treeWriter.createFolder(tx, { accountId: this.#accountId, parentPath: folder.path, name, metadata: {} });
          if (file !== undefined) treeWriter.deleteFile(tx, file);
        }),
    ];
    await this.#random.pick(kinds)();
  }

  #noteChange(node: TreeNode): void {
    this.#tree.run((tx) => this.#tree.write.noteShownChange(tx, node.id));
    if (node.parentId !== null) this.#changed(node.parentId);
  }
}
