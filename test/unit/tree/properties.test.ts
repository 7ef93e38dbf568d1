/** Properties that WebDAV clients store with files and folders. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { CopyOptions, NodeRef } from "../../../src/tree/model/types.ts";
import { blobOf, reasonOf, TestTree } from "./support.ts";

let tree: TestTree;
let accountId: number;
beforeEach(() => {
  tree = new TestTree();
  accountId = tree.addAccount();
});
afterEach(() => tree.close());

const set = (node: NodeRef, name: string, value: string | null, namespace = "urn:x") =>
  tree.run((tx) => tree.write.changeProperties(tx, node, [{ namespace, name, value }]));
const valuesOf = (id: number) =>
  tree.read
    .propertiesOf([id])
    .get(id)
    ?.map(({ value }) => value) ?? [];
const storedRows = () => tree.db.sqlite.query("SELECT count(*) FROM node_properties").values()[0]?.[0];
const optionsOf = (changes: Partial<CopyOptions> = {}): CopyOptions => ({
  onConflict: "version",
  preserveMetadata: true,
  createdBy: accountId,
  quotaBytes: null,
  ...changes,
});

test("are stored, replaced and removed by namespace and name", () => {
  const file = tree.addFile(accountId, "/", "a");
  set(file, "n", "<one/>");
  set(file, "n", "<other/>", "");
  set(file, "n", "<two/>");
  expect(tree.read.propertiesOf([file.id, file.id + 1000])).toEqual(
    new Map([
      [
        file.id,
        [
          { namespace: "", name: "n", value: "<other/>" },
          { namespace: "urn:x", name: "n", value: "<two/>" },
        ],
      ],
    ]),
  );
  set(file, "n", null);
  set(file, "missing", null);
  expect(valuesOf(file.id)).toEqual(["<other/>"]);
});

test("take at most 64 KiB a node; what exceeds the limit changes nothing", () => {
  const folder = tree.addFolder(accountId, "/", "f");
  const overhead = "urn:x".length + "n".length;
  const full = "ä".repeat((64 * 1024 - overhead) / 2);
  set(folder, "n", full);
  expect(reasonOf(() => set(folder, "m", ""))).toBe("quota_exceeded");
  expect(valuesOf(folder.id)).toEqual([full]);
  set(folder, "n", "<small/>");
  set(folder, "m", "<more/>");
});

test("stay with a node through rename, new content, trash and restore, and end with it", () => {
  const folder = tree.addFolder(accountId, "/", "f");
  const file = tree.addFile(accountId, "/f", "a");
  set(file, "n", "<a/>");
  set(folder, "n", "<f/>");
  tree.run((tx) => tree.write.updateFile(tx, file, { name: "b", folderPath: "/" }));
  tree.addFile(accountId, "/", "b", { onConflict: "version", blob: blobOf("next") });
  tree.run((tx) => tree.write.move(tx, file, "/f"));
  tree.run((tx) => tree.write.trash(tx, folder));
  tree.run((tx) => tree.write.restore(tx, folder));
  expect([valuesOf(file.id), valuesOf(folder.id)]).toEqual([["<a/>"], ["<f/>"]]);
  tree.run((tx) => tree.write.trash(tx, folder));
  tree.run((tx) => tree.write.purge(tx, folder));
  expect(storedRows()).toBe(0);
});

test("are deleted with the rows of a large deleted folder", () => {
  const folder = tree.addFolder(accountId, "/", "f");
  const files = Array.from({ length: 80 }, (_, i) => tree.addFile(accountId, "/f", `a${i}`));
  for (const file of files) set(file, "n", "<a/>");
  tree.run((tx) => tree.write.deleteFolder(tx, folder));
  while (tree.run((tx) => tree.write.reapSome(tx)) > 0);
  expect(storedRows()).toBe(0);
});

test("are copied with a folder and everything below it, also by a large copy and into another account", async () => {
  const otherId = tree.addAccount();
  const folder = tree.addFolder(accountId, "/", "f");
  const file = tree.addFile(accountId, "/f/g", "a");
  set(folder, "n", "<f/>");
  set(file, "n", "<a/>");
  const copies = [
    tree.run((tx) => tree.write.copy(tx, folder, "/to", optionsOf())).node,
    await tree.write.copyLarge(tree.writer, folder, "/large", optionsOf()),
    tree.run((tx) => tree.write.copy(tx, folder, "/", optionsOf({ accountId: otherId }))).node,
  ];
  for (const copy of copies) {
    const below = tree.read.findFileNamed(copy.accountId, `${copy.folder === "/" ? "" : copy.folder}/f/g`, "a");
    expect([valuesOf(copy.id), valuesOf(below?.id ?? 0)]).toEqual([["<f/>"], ["<a/>"]]);
  }
});

test("of a copy replace those of the file that it becomes a version of, and are left out with the metadata", () => {
  const source = tree.addFile(accountId, "/a", "x");
  const target = tree.addFile(accountId, "/b", "x");
  set(source, "n", "<new/>");
  set(target, "old", "<old/>");
  tree.run((tx) => tree.write.copy(tx, source, "/b", optionsOf({ preserveMetadata: false })));
  expect(valuesOf(target.id)).toEqual(["<old/>"]);
  tree.run((tx) => tree.write.copy(tx, source, "/b", optionsOf()));
  expect(valuesOf(target.id)).toEqual(["<new/>"]);
});
