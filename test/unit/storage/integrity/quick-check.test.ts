import { expect, test } from "bun:test";
import { rows } from "../../../../src/db/reader.ts";
import { quickCheck } from "../../../../src/features/storage/integrity/quick-check.ts";
import { TestTree } from "../../tree/support.ts";

test("a search index that others wrote since the last check is not damaged", async () => {
  const tree = new TestTree();
  try {
    const { sqlite } = tree.db;
    const insert = sqlite.query("INSERT INTO search_text (rowid, facets, name) VALUES (?, '', ?)");
    for (let round = 0; round < 5; round++) {
      await tree.thread.read([rows("SELECT rowid FROM search_text WHERE search_text MATCH 'common' LIMIT 1")]);
      // Many transactions, so that FTS5 merges segments.
      for (let id = round * 100; id < round * 100 + 100; id++) insert.run(id, `word${id} common`);
      expect(await quickCheck(tree.thread)).toEqual([]);
    }
  } finally {
    tree.close();
  }
});
