/** Random changes with a snapshot in memory after each: the history of any moment equals its snapshot. */
import { afterEach, expect, test } from "bun:test";
import type { PastNode } from "../../../src/tree/queries/past.ts";
import type { AccountMoment, PastListQuery } from "../../../src/tree/queries/past-sql.ts";
import type { FolderNode, TreeNode } from "../../../src/tree/model/types.ts";
import { compareUtf8 } from "../../../src/lib/compare-utf8.ts";
import { fold } from "../../../src/lib/path.ts";
import { seededRandom, seedsToRun } from "../../support/random.ts";
import { blobOf, TestTree } from "./support.ts";

const NAMES = ["a", "b.txt", "B.TXT", "ä.jpg", "🦊.png", "c (1)", "c", "d"];
const BY_NAME: PastListQuery = { sort: "name", order: "asc", offset: 0, limit: 100 };
const DEVICE = 7;

let tree: TestTree;
afterEach(() => tree.close());

/** Everything at one moment, by id. */
type Snapshot = ReadonlyMap<string, TreeNode>;

async function takeSnapshot(accountId: number): Promise<Snapshot> {
  const snapshot = new Map<string, TreeNode>();
  const walk = async (folder: FolderNode): Promise<void> => {
    const query = { accountId, folder, sort: "name", order: "asc", offset: 0, limit: 1_000 } as const;
    for (const node of (await tree.read.list(query)).nodes) {
      snapshot.set(node.publicId, node);
      if (node.kind === "folder") await walk(node);
    }
  };
  await walk(tree.read.getRoot(accountId));
  return snapshot;
}

/** The snapshot without nodes that were permanently deleted since, and everything below them. */
function withoutDeleted(snapshot: Snapshot, deleted: ReadonlySet<string>): TreeNode[] {
  const byRowId = new Map([...snapshot.values()].map((node) => [node.id, node]));
  const isShown = (node: TreeNode): boolean => {
    if (deleted.has(node.publicId)) return false;
    const parent = byRowId.get(node.parentId ?? 0);
    return parent === undefined || isShown(parent);
  };
  return [...snapshot.values()].filter(isShown);
}

/** The fields of a node that the history guarantees. */
function summary(node: TreeNode) {
  const { publicId, kind, name, folder } = node;
  if (node.kind === "folder") return { publicId, kind, name, folder, path: node.path };
  const { sizeBytes, digest, version, mediaType } = node;
  return { publicId, kind, name, folder, sizeBytes, digest, version, mediaType };
}

function sorted(nodes: readonly TreeNode[]) {
  return nodes.map(summary).sort((a, b) => compareUtf8(a.publicId, b.publicId));
}

async function readPast(moment: AccountMoment): Promise<PastNode[]> {
  const found: PastNode[] = [];
  const walk = async (path: string): Promise<void> => {
    const folder = await tree.read.past.findFolder(moment, path);
    if (folder === undefined) throw new Error(`There was no ${path}.`);
    const { nodes, total } = await tree.read.past.list(moment, folder, BY_NAME);
    expect(total).toBe(nodes.length);
    found.push(...nodes);
    for (const { node } of nodes) if (node.kind === "folder") await walk(node.path);
  };
  await walk("/");
  return found;
}

/** One random change by a person or a device. @returns ids that it deleted permanently */
function change(accountId: number, random: ReturnType<typeof seededRandom>, snapshot: Snapshot): readonly string[] {
  const nodes = [...snapshot.values()];
  const folders = nodes.filter((node) => node.kind === "folder");
  const folderPath = folders.length > 0 && random.chance(0.7) ? random.pick(folders).path : "/";
  const name = random.pick(NAMES);
  const deviceId = random.chance(0.5) ? DEVICE : undefined;
  const node = nodes.length > 0 ? random.pick(nodes) : undefined;
  const kind = random.below(13);
  const { entries } = tree.read.trash.byTime({ accountId, order: "desc", offset: 0, limit: 100 });
  const trashed = entries.length > 0 ? random.pick(entries).node : undefined;
  let gone: readonly string[] = [];
  tree.run((tx) =>
    tree.write.by(deviceId, () => {
      if (node === undefined || kind <= 1) {
        tree.write.createFile(tx, {
          accountId,
          createdBy: accountId,
          folderPath,
          name,
          blob: blobOf(`${name}${random.below(1_000)}`, 1 + random.below(50)),
          mediaType: "text/plain",
          tags: [],
          metadata: {},
          isPublic: false,
          onConflict: "rename",
          quotaBytes: null,
        });
      } else if (kind === 2) tree.write.ensureFolder(tx, accountId, `${folderPath === "/" ? "" : folderPath}/f${name}`);
      else if (kind === 3) tree.write.move(tx, node, folderPath);
      else if (kind <= 5 && node.kind === "file") {
        if (random.chance(0.4)) tree.write.updateFile(tx, node, { name, folderPath });
        else if (random.chance(0.3)) {
          const { version } = random.pick(tree.read.listVersions(node));
          tree.write.restoreVersion(tx, node, version, { createdBy: accountId, quotaBytes: null });
        } else {
          const blob = blobOf(`${random.below(1_000)}`, 1 + random.below(50));
          const content = { file: node, blob, mediaType: "image/png", createdBy: accountId, quotaBytes: null };
          tree.write.replaceContent(tx, content);
        }
      } else if (kind <= 6 && node.kind === "folder") tree.write.updateFolder(tx, node, { name: `f${name}` });
      else if (kind === 7 && random.chance(0.6)) {
        if (node.kind === "file") tree.write.deleteFile(tx, node);
        else tree.write.deleteFolder(tx, node);
        if (deviceId === undefined) gone = [node.publicId, ...below(snapshot, node)];
      } else if (kind === 8) {
        const options = {
          onConflict: "rename",
          preserveMetadata: true,
          createdBy: accountId,
          quotaBytes: null,
        } as const;
        tree.write.copy(tx, node, folderPath, options);
      } else if (kind === 9) tree.write.reapSome(tx, 3);
      else if (kind === 10) tree.write.trash(tx, node);
      else if (kind === 11 && trashed !== undefined) tree.write.restore(tx, trashed);
      else if (kind === 12 && trashed !== undefined && random.chance(0.3)) {
        gone = deviceId === undefined ? [trashed.publicId, ...belowInTrash(trashed)] : [];
        tree.write.purge(tx, trashed);
      }
    }),
  );
  return gone;
}

/** Ids of everything below a folder in the trash. */
function belowInTrash(folder: TreeNode): string[] {
  return tree.db.sqlite
    .query<{ public_id: string }, [number]>(
      `WITH RECURSIVE s(id, public_id) AS (SELECT id, public_id FROM nodes WHERE parent_id = ?1
         UNION ALL SELECT n.id, n.public_id FROM s JOIN nodes n ON n.parent_id = s.id) SELECT public_id FROM s`,
    )
    .all(folder.id)
    .map((row) => row.public_id);
}

function below(snapshot: Snapshot, folder: TreeNode): string[] {
  const direct = [...snapshot.values()].filter(({ parentId }) => parentId === folder.id);
  return direct.flatMap((node) => [node.publicId, ...below(snapshot, node)]);
}

test.each(seedsToRun([1, 2]))("the tree at each moment is what it was then (seed %i)", async (seed) => {
  tree = new TestTree();
  const accountId = tree.addAccount();
  const other = tree.addAccount();
  tree.addFile(other, "/fc", "another's");
  const random = seededRandom(seed);
  // A moment is the end of its millisecond.
  const pictures = new Map<number, Snapshot>();
  const deleted = new Set<string>();
  let snapshot: Snapshot = new Map();
  for (let step = 0; step < 120; step++) {
    if (random.chance(0.7)) tree.clock.advance(1 + random.below(5));
    try {
      for (const publicId of change(accountId, random, snapshot)) deleted.add(publicId);
    } catch (error) {
      // A taken name, or a folder moved into itself: nothing has changed.
      if (!(error instanceof Error && "reason" in error)) throw error;
    }
    snapshot = await takeSnapshot(accountId);
    pictures.set(tree.clock.nowMs(), snapshot);
  }
  for (const [atMs, was] of [...pictures].filter((_, index) => index % 3 === 0)) {
    const moment = tree.read.past.momentAt(accountId, atMs);
    const expected = withoutDeleted(was, deleted);
    const found = await readPast(moment);
    expect(sorted(found.map(({ node }) => node))).toEqual(sorted(expected));
    for (const node of expected) {
      if (node.kind !== "file") continue;
      const past = tree.read.past.findFile(moment, node.publicId);
      expect(past && summary(past.node)).toEqual(summary(node));
    }
  }
});

test.each(["name", "natural", "size", "createdAt", "modifiedAt"] as const)(
  "pages of the past are sorted by %s",
  async (sort) => {
    tree = new TestTree();
    const accountId = tree.addAccount();
    const random = seededRandom(9);
    for (let i = 0; i < 30; i++) {
      tree.clock.advance(random.below(3));
      const name = `${random.pick(NAMES)}${random.below(99)}`;
      tree.addFile(accountId, "/", name, { blob: blobOf(name, random.below(5)), onConflict: "rename" });
      if (random.chance(0.3)) tree.run((tx) => tree.write.ensureFolder(tx, accountId, `/f${i}`));
    }
    const folder = tree.read.getRoot(accountId);
    const moment = tree.read.past.momentAt(accountId, tree.clock.nowMs());
    for (const order of ["asc", "desc"] as const) {
      const query = { accountId, folder, sort, order, offset: 3, limit: 20 } as const;
      const now = await tree.read.list(query);
      const root = await tree.read.past.findFolder(moment, "/");
      const past = root && (await tree.read.past.list(moment, root, query));
      expect(past?.total).toBe(now.total);
      expect(past?.nodes.map(({ node }) => node.publicId)).toEqual(now.nodes.map((node) => node.publicId));
    }
    // All files were renamed since; the history still has the former names.
    const before = await tree.read.list({ accountId, folder, sort, order: "asc", offset: 0, limit: 100 });
    tree.clock.advance(10);
    for (const node of before.nodes) {
      const name = `x${node.publicId}`;
      tree.run((tx) =>
        node.kind === "file" ? tree.write.updateFile(tx, node, { name }) : tree.write.updateFolder(tx, node, { name }),
      );
      if (node.kind !== "file") continue;
      const content = { file: node, blob: blobOf("new", 77), mediaType: "a/b", createdBy: accountId, quotaBytes: null };
      tree.run((tx) => tree.write.replaceContent(tx, content));
    }
    const root = await tree.read.past.findFolder(moment, "/");
    const past = root && (await tree.read.past.list(moment, root, { sort, order: "asc", offset: 0, limit: 100 }));
    expect(past?.nodes.map(({ node }) => ({ ...summary(node), folder: fold(node.folder) }))).toEqual(
      before.nodes.map(summary),
    );
    if (sort === "modifiedAt") {
      expect(past?.nodes.map(({ node }) => node.modifiedAtMs)).toEqual(before.nodes.map((node) => node.modifiedAtMs));
    }
  },
);
