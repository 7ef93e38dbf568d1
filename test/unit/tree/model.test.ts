/** Random changes, compared with a plain model in memory: every listing, total and reference count must match. */
import { afterEach, expect, test } from "bun:test";
import { compareUtf8 } from "../../../src/lib/compare-utf8.ts";
import type { FileNode, FolderNode, SortField, SortOrder, TreeNode } from "../../../src/tree/model/types.ts";
import { naturalKey } from "../../../src/lib/natural-key.ts";
import { fold, joinPath } from "../../../src/lib/path.ts";
import { seededRandom, seedsToRun } from "../../support/random.ts";
import { blobOf, TestTree } from "./support.ts";

const SORTS: readonly SortField[] = ["name", "natural", "size", "createdAt", "modifiedAt", "fileModifiedAt"];
const DATES = ["2001-02-03T04:05:06Z", "2026-01-02T03:04:05.678+05:30", "1969-12-31T00:00:00Z", undefined];
const NAMES = [
  "a",
  "A",
  "b.txt",
  "B.TXT",
  "ä.jpg",
  "Straße",
  "STRASSE",
  "ΟΔΟΣ.md",
  "🦊.png",
  "漢字",
  "İstanbul",
  "c (1)",
  "c",
];

let tree: TestTree;
afterEach(() => tree.close());

const dateOf = ({ fileModifiedAt, contentAtMs }: FileNode) =>
  fileModifiedAt === null ? contentAtMs : Date.parse(fileModifiedAt);

/** The size of a file, or of all files below a folder. */
function bytesIn(nodes: ReadonlyMap<string, TreeNode>, node: TreeNode): number {
  if (node.kind === "file") return node.sizeBytes;
  const children = [...nodes.values()].filter(({ parentId }) => parentId === node.id);
  return children.reduce((sum, child) => sum + bytesIn(nodes, child), 0);
}

/** The expected listing: all children, folders first, then in the order of the sort. */
function expectedListing(
  nodes: ReadonlyMap<string, TreeNode>,
  folder: FolderNode,
  sort: SortField,
  order: SortOrder,
): string[] {
  const sign = order === "asc" ? 1 : -1;
  const value = (node: TreeNode): number => {
    if (sort === "size") return bytesIn(nodes, node);
    if (sort === "fileModifiedAt") return node.kind === "file" ? dateOf(node) : node.createdAtMs;
    return sort === "createdAt" ? node.createdAtMs : node.modifiedAtMs;
  };
  return [...nodes.values()]
    .filter((node) => node.parentId === folder.id)
    .sort((a, b) => {
      if (a.kind !== b.kind) return a.kind === "folder" ? -1 : 1;
      const byName = () => compareUtf8(fold(a.name), fold(b.name)) || compareUtf8(a.name, b.name);
      const naturally = () => compareUtf8(naturalKey(a.name), naturalKey(b.name)) || compareUtf8(a.name, b.name);
      const compared = sort === "name" ? byName() : sort === "natural" ? naturally() : value(a) - value(b);
      return sign * (compared || a.id - b.id);
    })
    .map((node) => node.publicId);
}

/** The model: every node that should exist, as last reported by the tree; paths follow from the parents. */
class Model {
  readonly nodes = new Map<string, TreeNode>();

  pathOf(node: TreeNode): string {
    if (node.parentId === null) return "/";
    const parent = [...this.nodes.values()].find(({ id }) => id === node.parentId);
    if (parent === undefined) throw new Error("the model lost a parent");
    return joinPath(this.pathOf(parent), node.name);
  }

  below(folder: TreeNode): TreeNode[] {
    const children = [...this.nodes.values()].filter(({ parentId }) => parentId === folder.id);
    return children.flatMap((child) => [child, ...(child.kind === "folder" ? this.below(child) : [])]);
  }
}

const expectReason = (change: () => unknown, reason: string) =>
  expect(change).toThrow(expect.objectContaining({ reason }));

test.each(seedsToRun([1, 2]))(
  "random changes equal those of a plain model (seed %d)",
  async (seed) => {
    tree = new TestTree();
    const accountId = tree.addAccount();
    const { read, write, clock } = tree;
    const random = seededRandom(seed);
    const model = new Model();
    const refresh = (publicId: string) => {
      const node = read.findNode(accountId, publicId);
      if (node === undefined) throw new Error("a node is gone that should be there");
      model.nodes.set(publicId, node);
    };
    refresh(read.getRoot(accountId).publicId);
    const versions = new Map<string, number[]>();
    const folders = () => [...model.nodes.values()].filter((node) => node.kind === "folder");
    const files = () => [...model.nodes.values()].filter((node) => node.kind === "file");
    const nameTakenBy = (parentId: number | null, name: string) =>
      [...model.nodes.values()].find((node) => node.parentId === parentId && node.name === name);
    const addFile = () => {
      const folder = random.pick(folders());
      const name = random.pick(NAMES);
      const taken = nameTakenBy(folder.id, name);
      const onConflict = random.pick(["rename", "version", "error"] as const);
      const content = random.pick(["x", "y", "z", "x"]);
      const blob = blobOf(content, random.below(3) * 100);
      const tags = random.chance(0.3) ? [random.pick(["Red", "blue"]), "all"] : [];
      const create = () =>
        tree.addFile(accountId, model.pathOf(folder), name, {
          blob,
          onConflict,
          tags,
          mediaType: random.pick(["a/b", "c/d"]),
          fileModifiedAt: random.pick(DATES),
        });
      if (taken !== undefined && (onConflict === "error" || (onConflict === "version" && taken.kind === "folder"))) {
        return expectReason(create, "name_taken");
      }
      const file = create();
      if (taken !== undefined && onConflict === "version") {
        expect(file.publicId).toBe(taken.publicId);
        versions.get(taken.publicId)?.push(taken.kind === "file" ? taken.sizeBytes : 0);
      } else versions.set(file.publicId, []);
      if (taken !== undefined && onConflict === "rename") {
        const free = Array.from({ length: 1_000 }, (_, i) => i + 1).find(
          (n) => nameTakenBy(folder.id, name.replace(/^(.+?)(\.[^.]*)?$/, `$1 (${n})$2`)) === undefined,
        );
        expect(file.name).toBe(name.replace(/^(.+?)(\.[^.]*)?$/, `$1 (${free})$2`));
      }
      return refresh(file.publicId);
    };
    const addFolder = () => {
      const parent = random.pick(folders());
      const name = random.pick(NAMES);
      const create = () =>
        tree.run((tx) => write.createFolder(tx, { accountId, parentPath: model.pathOf(parent), name, metadata: {} }));
      if (nameTakenBy(parent.id, name) !== undefined) return expectReason(create, "name_taken");
      return refresh(create().publicId);
    };
    const change = () => {
      const node = random.pick([...model.nodes.values()]);
      const target = random.pick(folders());
      const name = random.chance(0.5) ? random.pick(NAMES) : node.name;
      const changes = { name, folderPath: model.pathOf(target), metadata: { note: String(random.below(3)) } };
      const isInside = node.kind === "folder" && (target.id === node.id || model.below(node).includes(target));
      const apply = () =>
        tree.run(
          (tx): TreeNode =>
            node.kind === "file"
              ? write.updateFile(tx, node, { ...changes, fileModifiedAt: random.pick(DATES) })
              : write.updateFolder(tx, node, changes),
        );
      if (node.parentId === null || isInside) return expectReason(apply, "invalid_path");
      const taken = nameTakenBy(target.id, name);
      if (taken !== undefined && taken !== node) return expectReason(apply, "name_taken");
      const after = apply();
      expect(after.name).toBe(name);
      for (const { publicId } of [node, ...(node.kind === "folder" ? model.below(node) : [])]) refresh(publicId);
    };
    const copyNode = () => {
      const node = random.pick([...model.nodes.values()]);
      const target = random.pick(folders());
      if (node.kind === "folder" && model.below(node).length > 30) return;
      const options = { onConflict: "rename", preserveMetadata: true, createdBy: accountId, quotaBytes: null } as const;
      const apply = () => tree.run((tx) => write.copy(tx, node, model.pathOf(target), options)).node;
      const isInside = node.kind === "folder" && (target.id === node.id || model.below(node).includes(target));
      if (isInside) return expectReason(apply, "invalid_path");
      const copied = apply();
      refresh(copied.publicId);
      versions.set(copied.publicId, []);
      const takeOver = (from: FolderNode, into: FolderNode) => {
        const sources = [...model.nodes.values()].filter(({ parentId }) => parentId === from.id);
        for (const source of sources) {
          const path = joinPath(into.path, source.name);
          const publicId = tree.db.sqlite
            .query<{ public_id: string }, [number, string]>(
              "SELECT public_id FROM nodes WHERE parent_id = ? AND name = ?",
            )
            .get(into.id, source.name)?.public_id;
          expect(publicId, path).toBeString();
          refresh(publicId ?? "");
          const twin = model.nodes.get(publicId ?? "");
          if (source.kind === "folder" && twin?.kind === "folder") takeOver(source, twin);
          if (source.kind === "file" && twin?.kind === "file") {
            versions.set(twin.publicId, []);
            expect([twin.digest, twin.tags, twin.metadata]).toEqual([source.digest, source.tags, source.metadata]);
          }
        }
      };
      if (node.kind === "folder" && copied.kind === "folder") takeOver(node, copied);
    };
    const remove = () => {
      const node = random.pick([...model.nodes.values()]);
      if (node.parentId === null || (node.kind === "folder" && random.chance(0.6))) return;
      const gone = [node, ...(node.kind === "folder" ? model.below(node) : [])];
      tree.run((tx) => (node.kind === "file" ? write.deleteFile(tx, node) : write.deleteFolder(tx, node)));
      for (const { publicId } of gone) {
        model.nodes.delete(publicId);
        expect(read.findNode(accountId, publicId)).toBeUndefined();
      }
      if (random.chance(0.5)) while (tree.run((tx) => write.reapSome(tx)) > 0);
    };
    const undone = () => {
      const folder = random.pick(folders());
      expect(() =>
        tree.run((tx) => {
          write.ensureFolder(tx, accountId, joinPath(model.pathOf(folder), "undone"));
          if (folder.parentId !== null) write.updateFolder(tx, folder, { name: "renamed" });
          throw new Error("undone");
        }),
      ).toThrow("undone");
    };
    const steps = [addFile, addFile, addFile, addFile, addFolder, change, change, copyNode, remove, undone];
    for (let step = 0; step < 500; step++) {
      clock.advance(random.below(2));
      random.pick(steps)();
      if (step % 50 !== 49) continue;
      for (const folder of folders()) {
        const now = read.findFolder(accountId, folder.publicId);
        if (now === undefined) throw new Error("a folder is gone");
        const sort = random.pick(SORTS);
        const order = random.pick(["asc", "desc"] as const);
        const expected = expectedListing(model.nodes, now, sort, order);
        const page = await read.list({ accountId, folder: now, sort, order, offset: 0, limit: 10_000 });
        expect(page.nodes.map((node) => node.publicId)).toEqual(expected);
        expect([page.total, now.itemCount, now.path]).toEqual([expected.length, expected.length, model.pathOf(now)]);
        const offset = random.below(expected.length + 1);
        const few = await read.list({ accountId, folder: now, sort, order, offset, limit: 3 });
        expect(few.nodes.map((node) => node.publicId)).toEqual(expected.slice(offset, offset + 3));
        expect(read.findFolderByPath(accountId, now.path)?.id).toBe(now.id);
      }
      const all = files();
      const versionBytes = all
        .flatMap(({ publicId }) => versions.get(publicId) ?? [])
        .reduce((sum, bytes) => sum + bytes, 0);
      expect(read.usage(accountId)).toMatchObject({
        files: all.length,
        folders: folders().length - 1,
        fileBytes: all.reduce((sum, file) => sum + file.sizeBytes, 0),
        versionBytes,
      });
      expect(await read.recount(accountId)).toEqual([]);
      expect(await read.recountBlobs()).toEqual([]);
    }
    // The journal numbers every change once and contains the last change of every node.
    const head = read.headOf(accountId);
    const journal = tree.db.sqlite.query<{ n: number }, []>("SELECT count(*) AS n FROM journal").get()?.n;
    expect(journal).toBe(head);
    const unnumbered = tree.db.sqlite
      .query(
        "SELECT 1 FROM nodes n WHERE seq > 0 AND NOT EXISTS (SELECT 1 FROM journal j WHERE j.seq = n.seq AND j.node_id = n.id)",
      )
      .all();
    expect(unnumbered).toEqual([]);
  },
  120_000,
);
