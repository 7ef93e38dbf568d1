import { afterEach, expect, test } from "bun:test";
import { RemoteRows } from "../../../../src/features/storage/remote-store/queries.ts";
import { blobOf, TestTree } from "../../tree/support.ts";

let tree: TestTree;
afterEach(() => tree.close());

test("a local copy is not deleted if its object is found damaged during the request to the bucket", () => {
  tree = new TestTree();
  const rows = new RemoteRows(tree.db.sqlite);
  const { digest, sizeBytes } = blobOf("a");
  rows.add({ digest, sizeBytes, usedAtMs: 1, etag: "as it was stored" }, 1);
  expect(rows.listUnused(10, 10, 10)).toHaveLength(1);
  rows.markDamaged(digest, 2);
  expect(rows.dropCopy(digest, 1)).toBe(false);
  rows.noteWhole(digest, sizeBytes, 3);
  expect(rows.dropCopy(digest, 1)).toBe(true);
});
