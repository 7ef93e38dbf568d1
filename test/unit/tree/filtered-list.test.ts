/** Searches, compared with a naive filter over the same files, on the main thread and in the reading thread. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { compareUtf8 } from "../../../src/lib/compare-utf8.ts";
import type { FileNode, FindQuery, TreeNode } from "../../../src/tree/model/types.ts";
import { fold } from "../../../src/lib/path.ts";
import { seededRandom } from "../../support/random.ts";
import { TestTree } from "./support.ts";

const WORDS = [
  "Straße",
  "STRASSE",
  "ΣΊΣΥΦΟΣ",
  "σίσυφος",
  "İzmir",
  "ısı",
  "🦊🐻",
  "漢字かな",
  "café",
  "CAFÉ",
  'a"b',
  "50%_x",
  "plain",
];
const QUERIES = [
  "strasse",
  "straße",
  "SISYPHOS",
  "σίσυφοσ",
  "i̇zmir",
  "ı",
  "🦊",
  "🐻 ",
  "漢",
  "漢字",
  "漢字か",
  "é",
  "cafe",
  '"',
  "%",
  "_x",
  "plain 1",
  "AIN",
  "zz",
];
const TYPES = ["image/png", "image/jpeg", "text/plain; charset=utf-8", "Text/Plain"];

/** How many files carry a tag, if not every second one. */
const SHARES: Readonly<Record<string, number>> = { seldom: 0.02, few: 0.08 };

let tree: TestTree;
let accountId: number;
let nodes: TreeNode[];

beforeAll(() => {
  tree = new TestTree();
  accountId = tree.addAccount();
  const other = tree.addAccount();
  const random = seededRandom(3);
  const folders = ["/", "/straße", "/straße/b", "/straße/b/c", "/d", "/d/漢字"];
  tree.run((tx) => {
    for (const path of folders) tree.write.ensureFolder(tx, accountId, path);
  });
  // One commit for all: separate ones would take seconds on a busy disk.
  tree.run(() => {
    for (let i = 0; i < 2_600; i++) {
      const name = `${random.pick(WORDS)} ${random.below(30)} ${i}`;
      const tags = ["Red", "blue", "seldom", "few"].filter((tag) => random.chance(SHARES[tag] ?? 0.5));
      tree.addFile(accountId, random.pick(folders), name, { tags, mediaType: random.pick(TYPES) });
      if (i % 50 === 0) tree.addFile(other, "/", name);
    }
  });
  // Not found by any search, although their rows still exist.
  for (let i = 0; i < 80; i++) tree.addFile(accountId, "/gone", `plain ${i}`, { tags: ["red"] });
  const gone = tree.read.findFolderByPath(accountId, "/gone");
  if (gone !== undefined) tree.run((tx) => tree.write.deleteFolder(tx, gone));
  nodes = tree.db.sqlite
    .query<{ public_id: string }, [number]>("SELECT public_id FROM nodes WHERE account_id = ? AND name <> '/'")
    .all(accountId)
    .flatMap(({ public_id }) => tree.read.findNode(accountId, public_id) ?? []);
});
afterAll(() => tree.close());

function naive(query: FindQuery): string[] {
  const { folder, search, tags = [], tagMode = "all", mediaTypePattern, kind, recursive, sort, order } = query;
  const isInside = ({ folder: path }: TreeNode) =>
    path === folder.path || (recursive && (folder.path === "/" || path.startsWith(`${folder.path}/`)));
  const carries = (file: FileNode) => {
    const own = file.tags.map((tag) => tag.toLowerCase());
    return tagMode === "any" ? tags.some((tag) => own.includes(tag)) : tags.every((tag) => own.includes(tag));
  };
  const isOfType = (file: FileNode) => {
    const type = file.mediaType.toLowerCase().replace(/;.*/, "");
    if (mediaTypePattern === undefined) return true;
    return mediaTypePattern.endsWith("/*") ? type.startsWith(mediaTypePattern.slice(0, -1)) : type === mediaTypePattern;
  };
  const sign = order === "asc" ? 1 : -1;
  return nodes
    .filter((node) => isInside(node) && (kind === undefined || node.kind === kind))
    .filter((node) => search === undefined || fold(node.name).includes(fold(search)))
    .filter((node) =>
      node.kind === "file" ? (tags.length === 0 || carries(node)) && isOfType(node) : !tags.length && !mediaTypePattern,
    )
    .sort((a, b) => {
      if (a.kind !== b.kind) return a.kind === "folder" ? -1 : 1;
      const byName = () => compareUtf8(fold(a.name), fold(b.name)) || compareUtf8(a.name, b.name);
      const bySize = () => (a.kind === "file" ? a.sizeBytes : 0) - (b.kind === "file" ? b.sizeBytes : 0);
      return sign * ((sort === "name" ? byName() : bySize()) || a.id - b.id);
    })
    .map(({ publicId }) => publicId);
}

async function expectAlike(query: Omit<FindQuery, "accountId" | "offset" | "limit">): Promise<void> {
  const expected = naive({ ...query, accountId, offset: 0, limit: 1 });
  for (const [offset, limit] of [
    [0, 100],
    [40, 7],
    [1_020, 50],
  ] as const) {
    const page = await tree.read.find({ ...query, accountId, offset, limit });
    expect(page.total).toBe(expected.length);
    expect(page.nodes.map(({ publicId }) => publicId)).toEqual(expected.slice(offset, offset + limit));
  }
}

test.each(QUERIES)("a search for %p finds what contains it, upper and lower case alike", async (search) => {
  const top = tree.read.getRoot(accountId);
  const inner = tree.read.findFolderByPath(accountId, "/straße");
  if (inner === undefined) throw new Error("unreachable");
  for (const folder of [top, inner]) {
    for (const recursive of [true, false]) {
      await expectAlike({ folder, search, recursive, sort: "name", order: "asc" });
      await expectAlike({ folder, search, recursive, sort: "size", order: "desc" });
      await expectAlike({ folder, search, recursive, kind: "folder", sort: "name", order: "desc" });
    }
  }
});

test("tags, media types and searches narrow each other", async () => {
  const folder = tree.read.getRoot(accountId);
  for (const sort of ["name", "size"] as const) {
    const base = { folder, sort, order: "asc", recursive: true } as const;
    await expectAlike({ ...base, tags: ["red"] });
    await expectAlike({ ...base, tags: ["red", "blue"] });
    await expectAlike({ ...base, tags: ["seldom", "blue"], search: "plain" });
    await expectAlike({ ...base, tags: ["seldom"], recursive: false });
    await expectAlike({ ...base, tags: ["red", "seldom"], tagMode: "any" });
    await expectAlike({ ...base, tags: ["few", "seldom"], tagMode: "any" });
    await expectAlike({ ...base, tags: ["few", "seldom"], tagMode: "any", search: "plain", order: "desc" });
    await expectAlike({ ...base, tags: ["red", "unknown"], tagMode: "any" });
    await expectAlike({ ...base, tags: ["red", "unknown"] });
    await expectAlike({ ...base, mediaTypePattern: "image/*" });
    await expectAlike({ ...base, mediaTypePattern: "text/plain", search: "é" });
    await expectAlike({ ...base, mediaTypePattern: "text/plain", kind: "folder" });
    await expectAlike({ ...base });
  }
});

test("later pages come from the cache until something changes", async () => {
  const folder = tree.read.getRoot(accountId);
  const query = {
    accountId,
    folder,
    search: "a",
    sort: "name",
    order: "asc",
    recursive: true,
    offset: 0,
    limit: 10,
  } as const;
  const before = await tree.read.find(query);
  const added = tree.addFile(accountId, "/d", "0 aaa");
  nodes.push(added);
  const after = await tree.read.find(query);
  expect(after.total).toBe(before.total + 1);
  expect(after.nodes.some(({ id }) => id === added.id)).toBe(true);
});

test("the reading thread restarts after it died", async () => {
  tree.thread.close();
  const folder = tree.read.getRoot(accountId);
  await expectAlike({ folder, search: "i", recursive: true, sort: "size", order: "asc" });
});
