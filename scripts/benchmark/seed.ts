/**
 * Fills a folder with many files by writing rows directly into the database of a stopped server, as 1,000,000 uploads
 * would take half an hour. The rows are copies of the folder's only file, with the same content and different names,
 * sizes and times. Only for directories that the benchmark removes, as the sizes are wrong.
 *
 * Usage: bun seed.ts DATA_DIRECTORY FOLDER_NAME COUNT
 *
 * `seed-growth.ts` uses this too: there, files beyond a maximum go to the folders whose names begin with "part ".
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { newId } from "../../src/lib/id.ts";
import { naturalKey } from "../../src/lib/natural-key.ts";
import { fold } from "../../src/lib/path.ts";

/** Words in the names of exactly one file, 1,000 files, and every second file. */
export const MARKERS = { one: "quixotic", thousand: "zephyr", half: "summer" };

/** Words in the names of many files. */
export const WORDS = [
  "beach",
  "invoice",
  "garden",
  "report",
  "party",
  "contract",
  "lake",
  "recipe",
  "kitchen",
  "notes",
];
const FOREIGN = ["größe", "été", "Пляж", "写真", "صور", "ñandú", "Ærø", "Ελλάδα", "한국", "🌊"];
const EXTENSIONS = ["jpg", "pdf", "png", "docx", "mp4", "txt"];

/** The name of file `index` of `count`: 28 characters on average, a tenth of them not ASCII, in random order. */
export function seededName(index: number, count: number): string {
  // Multiplying by an odd number scatters the indices over 32 bits without a collision.
  const scattered = Math.imul(index + 1, 2_654_435_761) >>> 0;
  const pick = (list: string[], salt: number) => list[(scattered >>> salt) % list.length] ?? "";
  const first = index % 10 === 3 ? pick(FOREIGN, 3) : pick(WORDS, 5);
  let marker = "";
  if (index % 2 === 0) marker = ` ${MARKERS.half}`;
  else if (index % Math.max(2, count / 1000) === 1) marker = ` ${MARKERS.thousand}`;
  else if (index === 7) marker = ` ${MARKERS.one}`;
  const name = `${first}${marker} ${scattered.toString(36).padStart(7, "0")}`;
  return `${name} ${pick(WORDS, 11)}.${pick(EXTENSIONS, 7)}`;
}

/** @param folderMax how many files go to the folder, and not to the parts */
export function seed(data: string, folderName: string, count: number, folderMax = count): void {
  const database = new Database(join(data, "larder.db"), { readwrite: true, strict: true });
  database.run("PRAGMA cache_size = -262144");
  database.run("PRAGMA foreign_keys = OFF");
  const folder = database
    .query<{ id: number; account_id: number }, [string]>("SELECT id, account_id FROM nodes WHERE kind = 0 AND name = ?")
    .get(folderName);
  if (folder === null) throw new Error(`no folder ${folderName} in ${data}`);
  const template = database
    .query<{ id: number; blob_id: number }, [number]>("SELECT id, blob_id FROM nodes WHERE parent_id = ? AND kind = 1")
    .get(folder.id);
  if (template === null) throw new Error(`the folder ${folderName} contains no file to copy`);
  const account = database
    .query<{ seq: number }, [number]>("SELECT seq FROM accounts WHERE id = ?")
    .get(folder.account_id);
  const lastId = database.query<{ id: number }, []>("SELECT max(id) AS id FROM nodes").get();
  if (account === null || lastId === null) throw new Error("the database has no account");

  const parts = database
    .query<{ id: number }, []>("SELECT id FROM nodes WHERE kind = 0 AND name LIKE 'part %' ORDER BY id")
    .all();
  const inFolders = new Map<number, number>();
  const parentOf = (index: number) => {
    const parent = (index < folderMax ? undefined : parts[index % parts.length]?.id) ?? folder.id;
    inFolders.set(parent, (inFolders.get(parent) ?? 0) + 1);
    return parent;
  };

  const own = [
    "id",
    "parent_id",
    "public_id",
    "name",
    "sort_key",
    "natural_key",
    "created_at",
    "modified_at",
    "seq",
    "created_seq",
    "size_bytes",
  ];
  const columns = database.query<{ name: string }, []>("SELECT name FROM pragma_table_info('nodes')").all();
  const copied = columns.map((column) => column.name).filter((name) => !own.includes(name));
  const insertNode = database.prepare(
    `INSERT INTO nodes (${[...own, ...copied].join(", ")})
      SELECT ${own.map((_, index) => `?${index + 1}`).join(", ")}, ${copied.join(", ")} FROM nodes WHERE id = ${template.id}`,
  );
  const insertName = database.prepare("INSERT INTO node_names (rowid, t) VALUES (?, ?)");
  const insertJournal = database.prepare("INSERT INTO journal (account_id, seq, node_id, at) VALUES (?, ?, ?, ?)");

  const now = Date.now();
  let bytes = 0;
  database.transaction(() => {
    for (let index = 0; index < count; index += 1) {
      const id = lastId.id + 1 + index;
      const seq = account.seq + 1 + index;
      const name = seededName(index, count);
      const sortKey = fold(name);
      const scattered = Math.imul(index + 1, 40_503) >>> 0;
      const sizeBytes = scattered % 5_000_000;
      const createdAt = now - (scattered % 100_000_000);
      insertNode.run(
        id,
        parentOf(index),
        newId("file", now),
        name,
        sortKey,
        naturalKey(name),
        createdAt,
        createdAt + (scattered % 9973),
        seq,
        seq,
        sizeBytes,
      );
      insertName.run(id, sortKey);
      insertJournal.run(folder.account_id, seq, id, now);
      bytes += sizeBytes;
      if (index % 100_000 === 99_999) console.error(`seeded ${index + 1}`);
    }
    database
      .prepare(
        "UPDATE accounts SET seq = seq + ?1, files = files + ?1, file_bytes = file_bytes + ?2, changed_at = ?4 WHERE id = ?3",
      )
      .run(count, bytes, folder.account_id, now);
    const updateFolder = database.prepare(
      "UPDATE folders SET child_files = child_files + ?1, children_rev = children_rev + ?1 WHERE node_id = ?2",
    );
    for (const [id, files] of inFolders) updateFolder.run(files, id);
    database.prepare("UPDATE blobs SET refs = refs + ?1 WHERE id = ?2").run(count, template.blob_id);
    database
      .prepare("UPDATE usage_types SET files = files + ?1, bytes = bytes + ?2 WHERE account_id = ?3")
      .run(count, bytes, folder.account_id);
    // Marks all rows as indexed, so that search indexing doesn't disturb the measurements. The search row resets this.
    database.run("INSERT OR REPLACE INTO search_cursors (account_id, seq) SELECT id, seq FROM accounts");
    database.run("INSERT OR IGNORE INTO search_fill (id, format, next_id, until_id) VALUES (1, 1, 1, 0)");
  })();
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}

if (import.meta.main) {
  const [data, folderName, count] = process.argv.slice(2);
  if (data === undefined || folderName === undefined)
    throw new Error("usage: seed.ts DATA_DIRECTORY FOLDER_NAME COUNT");
  seed(data, folderName, Number(count));
}
