/** The number of an account's shares, with few and with many nodes in the trash. */
import { afterEach, expect, test } from "bun:test";
import { ShareRows } from "../../../../src/features/sharing/shares/queries.ts";
import { seededRandom, seedsToRun } from "../../../support/random.ts";
import { TestTree } from "../../tree/support.ts";

let tree: TestTree;
afterEach(() => tree.close());

function addShare(accountId: number, nodeId: number | null, albumId: number | null): void {
  tree.db.sqlite.run(
    `INSERT INTO shares (public_id, account_id, node_id, album_id, kind, nonce, token_hash, created_at)
     VALUES (?1, ?2, ?3, ?4, 'read', randomblob(16), randomblob(32), 0)`,
    [crypto.randomUUID(), accountId, nodeId, albumId],
  );
}

function addAlbum(accountId: number): number {
  const insert = tree.db.sqlite.query<{ id: number }, [string, number]>(
    `INSERT INTO albums (public_id, account_id, name, sort_key, created_at, modified_at)
     VALUES (?1, ?2, 'album', 'album', 0, 0) RETURNING id`,
  );
  return insert.get(crypto.randomUUID(), accountId)?.id ?? 0;
}

test.each(seedsToRun([1, 2]))("as many shares are counted as are listed (seed %d)", (seed) => {
  tree = new TestTree();
  const { pick, below, chance } = seededRandom(seed);
  const rows = new ShareRows(tree.db.sqlite);
  const accounts = [tree.addAccount(), tree.addAccount()];
  const albums = new Map(accounts.map((id) => [id, addAlbum(id)]));
  const all = { order: "asc", offset: 0, limit: 1_000 } as const;
  for (let step = 0; step < 60; step++) {
    const accountId = pick(accounts);
    const file = tree.addFile(accountId, pick(["/", "/a", "/a/b"]), `${step}`);
    for (let shares = below(3); shares > 0; shares--) addShare(accountId, file.id, null);
    if (chance(0.1)) addShare(accountId, null, albums.get(accountId) ?? 0);
    if (chance(0.4)) tree.run((tx) => tree.write.trash(tx, file));
    const folder = chance(0.1) ? tree.read.findFolderByPath(accountId, "/a") : undefined;
    if (folder !== undefined) {
      addShare(accountId, folder.id, null);
      tree.run((tx) => tree.write.trash(tx, folder));
    }
    for (const id of accounts) {
      const listed = rows.ofAccount(id, all).length;
      expect({ step, counted: rows.countOfAccount(id) }).toEqual({ step, counted: listed });
      const setTrash = "UPDATE accounts SET trash_nodes = trash_nodes + ? WHERE id = ?";
      tree.db.sqlite.run(setTrash, [10_000, id]);
      expect({ step, counted: rows.countOfAccount(id) }).toEqual({ step, counted: listed });
      tree.db.sqlite.run(setTrash, [-10_000, id]);
    }
  }
});
