/** ETags and sizes of folders: they follow exactly the changes below them that listings show. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { FileNode, FolderNode, NodeRef, TreeNode } from "../../../src/tree/model/types.ts";
import { type SeededRandom, seededRandom, seedsToRun } from "../../support/random.ts";
import { blobOf, TestTree } from "./support.ts";

let tree: TestTree;
let accountId: number;
beforeEach(() => {
  tree = new TestTree();
  accountId = tree.addAccount();
});
afterEach(() => tree.close());

const settle = () => tree.write.settleFolders([accountId]);

/** A row of a node, as far as listings show it. */
interface ShownRow {
  readonly id: number;
  readonly parent: number | null;
  readonly kind: number;
  readonly name: string;
  readonly size: number;
  readonly version: number | null;
  readonly date: number;
}

function shownRows(): Map<number, ShownRow> {
  const rows = tree.db.sqlite
    .query<ShownRow, []>(
      "SELECT id, parent_id AS parent, kind, name, size_bytes AS size, version, file_at AS date FROM nodes ORDER BY id",
    )
    .all();
  return new Map(rows.map((row) => [row.id, row]));
}

const isSame = (a: ShownRow | undefined, b: ShownRow | undefined) => JSON.stringify(a) === JSON.stringify(b);

/** What each folder in a tree shows below it, as text, and its size. */
function describeFolders(changesIn: ReadonlyMap<number, number>): Map<number, { shown: string; bytes: number }> {
  const children = new Map<number, ShownRow[]>();
  const rows = shownRows();
  for (const row of rows.values()) {
    if (row.parent !== null && row.parent > 0) children.set(row.parent, [...(children.get(row.parent) ?? []), row]);
  }
  const described = new Map<number, { shown: string; bytes: number }>();
  const describeFolder = (id: number): { shown: string; bytes: number } => {
    let shown = `${changesIn.get(id) ?? 0}[`;
    let bytes = 0;
    for (const row of children.get(id) ?? []) {
      const below = row.kind === 0 ? describeFolder(row.id) : { shown: "", bytes: row.size };
      shown += `${row.id} ${row.name} ${row.size} ${row.version} ${row.date} ${below.shown},`;
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
class RandomChanges {
  readonly changesIn = new Map<number, number>();
  readonly #random: SeededRandom;
  readonly #otherAccountId: number;
  readonly #trashed: NodeRef[] = [];
  readonly #deleted: FileNode[] = [];

  constructor(random: SeededRandom, otherAccountId: number) {
    this.#random = random;
    this.#otherAccountId = otherAccountId;
  }

  async step(): Promise<void> {
    const before = shownRows();
    await this.#change();
    this.#count(before);
  }

  /** A large copy in many transactions, with other changes in between. */
  async copyInSteps(): Promise<void> {
    const source = this.#pickFolder(accountId);
    const target = this.#pickFolder(accountId);
    const before = shownRows();
    const copying = tree.write
      .copyLarge(tree.writer, source, target.path, this.#copyOptions("rename"))
      .catch((error: unknown) => error);
    await Promise.resolve();
    this.#count(before);
    for (let i = 0; i < 3; i++) {
      await tree.writer.run(() => undefined);
      const now = shownRows();
      if (this.#random.chance(0.3)) await settle();
      this.#count(now);
      await this.step();
    }
    // What the last transaction attaches is a change of the target.
    const last = shownRows();
    await copying;
    this.#count(last);
  }

  #count(before: ReadonlyMap<number, ShownRow>): void {
    const after = shownRows();
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
    const ids = tree.db.sqlite.query<{ id: number }, [number]>("SELECT id FROM nodes WHERE account_id = ?1");
    return ids.all(account).flatMap(({ id }) => tree.read.findById(id) ?? []);
  }

  #pickFolder(account: number): FolderNode {
    return this.#random.pick(this.#nodes(account).filter((node) => node.kind === "folder"));
  }

  #pickFile(): FileNode | undefined {
    const files = this.#nodes(accountId).filter((node) => node.kind === "file");
    return files.length === 0 ? undefined : this.#random.pick(files);
  }

  #pickBelowRoot(): TreeNode | undefined {
    const nodes = this.#nodes(accountId).filter(({ parentId }) => parentId !== null);
    return nodes.length === 0 ? undefined : this.#random.pick(nodes);
  }

  #copyOptions(onConflict: "rename" | "version", account = accountId) {
    return { accountId: account, onConflict, preserveMetadata: true, createdBy: accountId, quotaBytes: null };
  }

  async #change(): Promise<void> {
    tree.clock.advance(this.#random.below(3));
    const name = `${this.#random.pick(["a", "b", "c", "d", "e", "f"])}${this.#random.below(4)}`;
    const folder = this.#pickFolder(accountId);
    const file = this.#pickFile();
    const node = this.#pickBelowRoot();
    const blob = blobOf(name, this.#random.below(1_000));
    const by = { createdBy: accountId, quotaBytes: null };
    const { write } = tree;
    const kinds: readonly (() => unknown)[] = [
      () => tree.addFile(accountId, folder.path, name, { blob, onConflict: "version" }),
      () =>
        tree.addFile(accountId, folder.path, name, {
          blob,
          onConflict: "rename",
          fileModifiedAt: "2001-02-03T04:05:06Z",
        }),
      () => tree.addFolder(accountId, folder.path, name),
      () => tree.addFolder(accountId, folder.path, name),
      () => file && tree.run((tx) => write.replaceContent(tx, { file, blob, mediaType: "a/b", ...by })),
      () => node && tree.run((tx) => this.#update(node, { name })(tx)),
      () => node && tree.run((tx) => this.#update(node, { folderPath: folder.path })(tx)),
      () => node && tree.run((tx) => this.#update(node, { name, folderPath: folder.path })(tx)),
      () => node && tree.run((tx) => this.#update(node, { metadata: { note: name } })(tx)),
      () => file && tree.run((tx) => write.updateFile(tx, file, { tags: [name], isPublic: true })),
      () => file && tree.run((tx) => write.updateFile(tx, file, { fileModifiedAt: "2010-01-01T00:00:00+02:00" })),
      () => node && tree.run((tx) => write.copy(tx, node, folder.path, this.#copyOptions("rename"))),
      () => node && tree.run((tx) => write.copy(tx, node, folder.path, this.#copyOptions("version"))),
      () => node && tree.run((tx) => write.copy(tx, node, "/", this.#copyOptions("rename", this.#otherAccountId))),
      () => node && this.#trashed.push(tree.run((tx) => write.trash(tx, node)).node),
      () => this.#trashed.length > 0 && tree.run((tx) => write.restore(tx, this.#takeTrashed())),
      () => this.#trashed.length > 0 && tree.run((tx) => write.restore(tx, this.#takeTrashed())),
      () => this.#trashed.length > 0 && tree.run((tx) => write.purge(tx, this.#takeTrashed())),
      () => file && this.#delete(file),
      () => node?.kind === "folder" && this.#random.chance(0.3) && tree.run((tx) => write.deleteFolder(tx, node)),
      () => tree.run((tx) => write.reapSome(tx, this.#random.below(6))),
      () => file && tree.run((tx) => write.restoreVersion(tx, file, 1, by)),
      () => file && tree.run((tx) => write.restoreContent(tx, file, 1, by)),
      () => node && tree.run((tx) => write.stepAside(tx, node)),
      () => node && tree.run((tx) => write.restoreState(tx, node, { folder: folder.path, name }, undefined)),
      () => this.#recreate(folder.path, name),
      () => tree.run((tx) => this.#recreateFolder(tx, folder.path, name)),
      () => tree.run((tx) => this.#merge(tx, folder, name, blob)),
      () => node && this.#noteChange(node),
    ];
    try {
      await this.#random.pick(kinds)();
    } catch (error) {
      // A taken name, or a folder moved into itself: rolled back.
      if (!(error instanceof Error && "reason" in error)) throw error;
    }
  }

  #update(node: TreeNode, changes: { name?: string; folderPath?: string; metadata?: Record<string, string> }) {
    const { write } = tree;
    return (tx: Parameters<typeof write.updateFile>[0]): TreeNode =>
      node.kind === "file" ? write.updateFile(tx, node, changes) : write.updateFolder(tx, node, changes);
  }

  #takeTrashed(): NodeRef {
    const [taken] = this.#trashed.splice(this.#random.below(this.#trashed.length), 1);
    if (taken === undefined) throw new Error("the trash is empty");
    return taken;
  }

  #delete(file: FileNode): void {
    tree.run((tx) => tree.write.deleteFile(tx, file));
    this.#deleted.push(file);
  }

  #recreate(folder: string, name: string): void {
    const former = this.#deleted.pop();
    if (former === undefined) return;
    const { digest, sizeBytes, mediaType, version, createdAtMs, contentAtMs, id: nodeId, publicId } = former;
    const contents = [{ version, digest, sizeBytes, mediaType, createdAtMs: contentAtMs, createdBy: null }];
    const file = { createdAtMs, originalName: null, fileModifiedAt: null, capturedAt: null, contents };
    const labels = { tags: [], metadata: {}, isPublic: false };
    const lost = { accountId, former: { nodeId, publicId }, location: { folder, name }, labels, file, version };
    tree.run((tx) => tree.write.recreateFile(tx, { ...lost, quotaBytes: null }));
  }

  #recreateFolder(tx: Parameters<typeof tree.write.recreateFolder>[0], folder: string, name: string): void {
    const labels = { tags: [], metadata: { again: name }, isPublic: false };
    const former = { nodeId: 1_000_000, publicId: "fold_lost" };
    tree.write.recreateFolder(tx, { accountId, former, location: { folder, name }, labels });
  }

  #merge(
    tx: Parameters<typeof tree.write.mergeFile>[0],
    folder: FolderNode,
    name: string,
    blob: ReturnType<typeof blobOf>,
  ): void {
    const times = { createdAtMs: 1_000, modifiedAtMs: 2_000, publicId: undefined, metadata: {} };
    const content = { version: 1, blob, mediaType: "a/b", createdAtMs: 1_500, createdBy: null };
    const own = { originalName: undefined, fileModifiedAt: undefined, capturedAt: undefined };
    const inside = tree.write.mergeFolder(tx, { folder, name, ...times });
    const file = tree.write.mergeFile(tx, { folder: inside, name, contents: [content], tags: [], ...times, ...own });
    tree.write.mergeContent(tx, file, { ...content, ...own, version: 2, createdAtMs: 3_000 });
  }

  #noteChange(node: TreeNode): void {
    tree.run((tx) => tree.write.noteShownChange(tx, node.id));
    if (node.parentId !== null) this.#changed(node.parentId);
  }
}

test.each(seedsToRun([1, 2, 3]))(
  "after random changes, exactly the ETags above them differ, and all sizes are right (seed %d)",
  async (seed) => {
    const random = seededRandom(seed);
    const otherAccountId = tree.addAccount();
    const changes = new RandomChanges(random, otherAccountId);
    const seen = new Map<number, { etag: string; shown: string }>();
    const shownBy = new Map<string, string>();
    for (let batch = 0; batch < 60; batch++) {
      for (let i = random.below(7); i >= 0; i--) await changes.step();
      if (batch % 10 === 9) await changes.copyInSteps();
      await tree.write.settleFolders([accountId, otherAccountId]);
      expect(tree.write.settleFolders([accountId, otherAccountId])).toBeUndefined();
      const folders = describeFolders(changes.changesIn);
      const states = tree.read.folderStates([...folders.keys()]);
      for (const [id, { shown, bytes }] of folders) {
        const { etag = "", sizeBytes } = states.get(id) ?? {};
        const before = seen.get(id);
        if (before !== undefined) expect([id, before.etag !== etag]).toEqual([id, before.shown !== shown]);
        // The same ETag never stands for two states.
        expect(shownBy.get(etag) ?? shown).toBe(shown);
        expect([id, sizeBytes]).toEqual([id, bytes]);
        seen.set(id, { etag, shown });
        shownBy.set(etag, shown);
      }
      if (batch % 20 === 0) expect(await tree.read.recount(accountId)).toEqual([]);
    }
    expect(await tree.read.recount(accountId)).toEqual([]);
    expect(await tree.read.recount(otherAccountId)).toEqual([]);
  },
  60_000,
);
