/** The statement that finds all nodes of an account for a full object. */
import { afterEach, expect, test } from "bun:test";
import { nodeIdsOf } from "../../../../src/features/storage/store-journal/queries.ts";
import { seededRandom, seedsToRun } from "../../../support/random.ts";
import { RandomChanges } from "../../tree/random-changes.ts";
import { TestTree } from "../../tree/support.ts";

let tree: TestTree;
afterEach(() => tree.close());

/** What the statement returns, and what a scan of all nodes returns. */
async function idsOf(accountId: number): Promise<{ found: number[]; expected: number[] }> {
  const [found] = await tree.thread.read([nodeIdsOf(accountId)]);
  const scan = "SELECT id FROM nodes WHERE account_id = ? ORDER BY id";
  const expected = tree.db.sqlite.query<{ id: number }, [number]>(scan).all(accountId);
  return { found: [...found], expected: expected.map(({ id }) => id) };
}

test.each(seedsToRun([1, 2]))("all nodes of an account are found after random changes (seed %d)", async (seed) => {
  tree = new TestTree();
  const random = seededRandom(seed);
  const accounts = [tree.addAccount(), tree.addAccount()] as const;
  const changes = new RandomChanges(tree, random, ...accounts);
  for (let step = 0; step < 100; step++) {
    if (random.chance(0.05)) await changes.copyInSteps();
    else await changes.step();
    for (const id of accounts) {
      const { found, expected } = await idsOf(id);
      expect({ step, found }).toEqual({ step, found: expected });
    }
  }
});

test("nodes in the trash and below folders that were cut off from the tree are found", async () => {
  tree = new TestTree();
  const accounts = [tree.addAccount(), tree.addAccount()];
  for (const accountId of accounts) {
    for (const name of ["kept", "trashed", "cut off"]) tree.addFile(accountId, `/${name}/below`, "a.txt");
    tree.addFile(accountId, "/", "b.txt");
    const file = tree.addFile(accountId, "/", "c.txt");
    const [trashed, cutOff] = ["trashed", "cut off"].map((path) => tree.read.findFolderByPath(accountId, `/${path}`));
    if (trashed === undefined || cutOff === undefined) throw new Error("the folders are missing");
    tree.run((tx) => {
      tree.write.trash(tx, file);
      tree.write.trash(tx, trashed);
      tree.db.sqlite.run("UPDATE nodes SET parent_id = NULL WHERE id = ?", [cutOff.id]);
    });
  }
  for (const accountId of accounts) {
    const { found, expected } = await idsOf(accountId);
    expect(found).toHaveLength(12);
    expect(found).toEqual(expected);
  }
});

test("no table is scanned, so that an empty account costs nothing on a server with many files", () => {
  tree = new TestTree();
  const { sql, parameters } = nodeIdsOf(1);
  const statement = tree.db.sqlite.prepare<{ detail: string }, (typeof parameters)[number][]>(
    `EXPLAIN QUERY PLAN ${sql}`,
  );
  const scanned = statement.all(...parameters).filter(({ detail }) => /^SCAN (?!below|\()/.test(detail));
  statement.finalize();
  expect(scanned).toEqual([]);
});
