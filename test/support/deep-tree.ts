import { Database } from "bun:sqlite";

/** A chain of nested folders. */
export interface DeepChain {
  /** Public ids, from the top down. */
  readonly folders: readonly string[];
}

/**
 * Creates a chain of nested folders, all with the same name, by writing database rows. Earlier releases allowed such
 * depths through moves; the current one allows at most 256 levels. No server may have the database open.
 * @param bottomFile public id of one of the account's files, to be moved into the last folder
 */
export function deepenTree(
  database: string | Database,
  accountId: number,
  levels: number,
  { name = "d", bottomFile }: { name?: string; bottomFile?: string } = {},
): DeepChain {
  const sqlite = typeof database === "string" ? new Database(database) : database;
  const insertNode = sqlite.prepare<{ id: number }, [string, number, number, string, number]>(
    `INSERT INTO nodes (public_id, account_id, parent_id, kind, name, sort_key, created_at, modified_at, seq, created_seq,
       size_bytes) VALUES (?1, ?2, ?3, 0, ?4, ?4, 0, 0, ?5, ?5, 0) RETURNING id`,
  );
  const insertFolder = sqlite.prepare(
    `INSERT INTO folders (node_id, child_folders, path_seq, levels_below, bytes_below) VALUES (?1, ?2, ?3, ?4, ?5)`,
  );
  const insertName = sqlite.prepare("INSERT INTO node_names (rowid, t) VALUES (?1, ?2)");
  const insertJournal = sqlite.prepare("INSERT INTO journal (account_id, seq, node_id, at) VALUES (?1, ?2, ?3, 0)");
  const folders: string[] = [];
  sqlite.transaction(() => {
    const account = sqlite
      .query<{ root: number; seq: number }, [number]>("SELECT root_id AS root, seq FROM accounts WHERE id = ?1")
      .get(accountId);
    let parent = account?.root ?? 0;
    let seq = account?.seq ?? 0;
    const below = (left: number) => [left, left * (name.length + 1)] as const;
    sqlite.run(
      `UPDATE folders SET child_folders = child_folders + 1, children_rev = children_rev + 1,
         levels_below = max(levels_below, ?2), bytes_below = max(bytes_below, ?3) WHERE node_id = ?1`,
      [parent, ...below(levels)],
    );
    for (let level = 1; level <= levels; level++) {
      const publicId = `fold_${String(accountId).padStart(6, "0")}${name}${String(level).padStart(13, "0")}`;
      const { id } = insertNode.get(publicId, accountId, parent, name, ++seq) ?? { id: 0 };
      insertFolder.run(id, level < levels ? 1 : 0, seq, ...below(levels - level));
      insertName.run(id, name);
      insertJournal.run(accountId, seq, id);
      folders.push(publicId);
      parent = id;
    }
    sqlite.run("UPDATE accounts SET seq = ?2, folders = folders + ?3 WHERE id = ?1", [accountId, seq, levels]);
    if (bottomFile !== undefined) {
      sqlite.run(
        `UPDATE folders SET child_files = child_files - 1, children_rev = children_rev + 1
         WHERE node_id = (SELECT parent_id FROM nodes WHERE public_id = ?1)`,
        [bottomFile],
      );
      sqlite.run("UPDATE nodes SET parent_id = ?2, seq = ?3 WHERE public_id = ?1", [bottomFile, parent, ++seq]);
      sqlite.run(
        "INSERT INTO journal (account_id, seq, node_id, at) SELECT ?1, ?2, id, 0 FROM nodes WHERE public_id = ?3",
        [accountId, seq, bottomFile],
      );
      sqlite.run("UPDATE accounts SET seq = ?2 WHERE id = ?1", [accountId, seq]);
      sqlite.run("UPDATE folders SET child_files = child_files + 1 WHERE node_id = ?1", [parent]);
    }
  })();
  if (typeof database === "string") sqlite.close();
  return { folders };
}
