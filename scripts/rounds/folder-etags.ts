/** Measures what the ETags and sizes of folders cost. See the script of this name. */
import type { Database } from "bun:sqlite";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "../../src/db/migrate.ts";
import { openDatabase } from "../../src/db/open.ts";
import { Reader } from "../../src/db/reader.ts";
import { type Transaction, Writer } from "../../src/db/transaction.ts";
import { toDigest } from "../../src/blobs/digest.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { naturalKey } from "../../src/lib/natural-key.ts";
import { silentLog } from "../../src/lib/log.ts";
import { TreeStore } from "../../src/tree/tables/store.ts";
import { TreeWriter } from "../../src/tree/writer.ts";

const ACCOUNT = 1;
const TOPS = 50;
const CHAINS = 50;
const LEVELS = 19;
const ROUNDS = 30;
const FILES_PER_ROUND = 64;
const COPY = { onConflict: "rename", preserveMetadata: false, createdBy: ACCOUNT, quotaBytes: null } as const;
const LABELS = { tags: [], metadata: {}, isPublic: false } as const;
const BLOB = { digest: toDigest("ab".repeat(32)), sizeBytes: 1_000, crc32: 0 };

const directory = mkdtempSync(join(tmpdir(), "larder-folder-etags-"));
const path = join(directory, "larder.db");
const db = openDatabase(path);
migrate(db.sqlite, silentLog);
const writer = new Writer(db.sqlite, silentLog);
const reader = new Reader(path, silentLog);
const store = new TreeStore({ sqlite: db.sqlite, reader, writer, clock: systemClock, log: silentLog });
const treeWriter = new TreeWriter(store);
const { states } = store.nodes;
const mark = states.mark.bind(states);

/** The designs: the column of the decision, and what happens in the transaction of each change. */
const DESIGNS = {
  neither: { mark: () => {}, inTransaction: () => {} },
  "all folders above at once": { mark, inTransaction: () => void states.refreshSome(ACCOUNT) },
  "marked, then refreshed": { mark, inTransaction: () => {} },
};

/** CPU in microseconds, and bytes of the write-ahead log. */
interface Cost {
  readonly cpuUs: number;
  readonly logBytes: number;
}

const folderPaths: string[] = [];
let created = 0;

function createFile(tx: Transaction, folderPath: string) {
  const content = { blob: BLOB, mediaType: "image/jpeg", quotaBytes: null, createdBy: ACCOUNT };
  const name = `new ${created++}`;
  const file = { ...LABELS, ...content, accountId: ACCOUNT, folderPath, name, onConflict: "error" } as const;
  return treeWriter.createFile(tx, file).file;
}

function seed(sqlite: Database, files: number): void {
  sqlite.run(`INSERT INTO users (public_id, email, email_key, name, role, plan, password_hash, created_at)
    VALUES ('a', 'a', 'a', 'A', 'user', 'free', '', 0)`);
  writer.runNow((tx) => {
    sqlite.run("INSERT INTO accounts (id, root_id) VALUES (?, 0)", [ACCOUNT]);
    treeWriter.createAccountRoot(tx, ACCOUNT);
  });
  for (let top = 0; top < TOPS; top++) {
    writer.runNow((tx) => {
      for (let chain = 0; chain < CHAINS; chain++) {
        const names = Array.from({ length: LEVELS }, (_, level) => `level ${level} of ${chain}`);
        const deepest = `/top ${top}/${names.join("/")}`;
        treeWriter.ensureFolder(tx, ACCOUNT, deepest);
        folderPaths.push(deepest);
      }
    });
  }
  const { node } = writer.runNow((tx) => treeWriter.copy(tx, createFile(tx, "/"), "/", COPY));
  const columns = sqlite.query<{ name: string }, []>("SELECT name FROM pragma_table_info('nodes')").all();
  const own = ["id", "public_id", "parent_id", "name", "sort_key", "natural_key"];
  const copied = columns.map(({ name }) => name).filter((name) => !own.includes(name));
  const folders = sqlite.query<{ id: number }, []>("SELECT node_id AS id FROM folders ORDER BY 1").all();
  const insert =
    sqlite.prepare(`INSERT INTO nodes (public_id, parent_id, name, sort_key, natural_key, ${copied.join(", ")})
    SELECT ?1, ?2, ?1, ?1, ?3, ${copied.join(", ")} FROM nodes WHERE id = ${node.id}`);
  sqlite.transaction(() => {
    for (let i = 0; i < files; i++) {
      const name = `photo ${Math.imul(i, 2_654_435_761) >>> 0}`;
      insert.run(name, folders[i % folders.length]?.id ?? 0, naturalKey(name));
    }
    sqlite.run("INSERT INTO node_names (rowid, t) SELECT id, sort_key FROM nodes WHERE id > ?1", [node.id]);
    sqlite.run(`UPDATE folders SET bytes = NULL, tree_bytes = NULL, child_files =
      (SELECT count(*) FROM nodes INDEXED BY nodes_size WHERE parent_id = node_id AND kind = 1)`);
  })();
}

/** Runs the work with an empty write-ahead log. */
async function measure(work: () => Promise<unknown>): Promise<Cost> {
  db.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { cpuUs: user + system, logBytes: statSync(`${path}-wal`).size };
}

/** Medians, per item. */
function describe(costs: readonly Cost[], items: number): string {
  const middle = (values: number[]) => (values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0) / items;
  const [cpuUs, bytes] = [middle(costs.map((cost) => cost.cpuUs)), middle(costs.map((cost) => cost.logBytes))];
  return `${cpuUs.toFixed(1)} µs, ${(bytes / 1024).toFixed(1)} KiB`;
}

const randomFolder = () => folderPaths[Math.floor(Math.random() * folderPaths.length)] ?? "/";

/** The cost of new files in each design, in rounds of all designs in turn. */
async function measureWrites(title: string, pickFolder: () => string, perCommit: number): Promise<void> {
  const costs = new Map<string, Cost[]>(Object.keys(DESIGNS).map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, design] of Object.entries(DESIGNS)) {
      states.mark = design.mark;
      const write = (folder: string) =>
        writer.run((tx) => {
          createFile(tx, folder);
          design.inTransaction();
        });
      const cost = await measure(async () => {
        for (let i = 0; i < FILES_PER_ROUND; i += perCommit) {
          await Promise.all(Array.from({ length: perCommit }, () => write(pickFolder())));
        }
      });
      costs.get(name)?.push(cost);
      await treeWriter.refreshFolders([ACCOUNT]);
    }
  }
  console.log(title);
  for (const [name, measured] of costs) console.log(`  ${name}: ${describe(measured, FILES_PER_ROUND)} a file`);
}

/** The cost of updating the ETags after new files in some folders. */
async function measureRequests(title: string, changes: number, rounds: number): Promise<void> {
  const costs: Cost[] = [];
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < changes; i++) await writer.run((tx) => createFile(tx, randomFolder()));
    costs.push(await measure(async () => treeWriter.refreshFolders([ACCOUNT])));
  }
  console.log(`${title}: ${describe(costs, 1)}`);
}

const files = Number(process.argv[2] ?? 1_000_000);
seed(db.sqlite, files);
console.log(`${files} files in ${TOPS * (1 + CHAINS * LEVELS) + 1} folders`);
const filling = await measure(() => treeWriter.refreshEverything(new AbortController().signal));
console.log(`sizes of all folders: ${describe([filling], 1)}`);
for (const perCommit of [1, 16]) {
  await measureWrites(`into one folder, ${perCommit} per commit`, () => folderPaths[0] ?? "/", perCommit);
  await measureWrites(`into random folders, ${perCommit} per commit`, randomFolder, perCommit);
}
states.mark = mark;
const IDLE = 100_000;
const idle = await measure(async () => {
  for (let i = 0; i < IDLE; i++) if (treeWriter.refreshFolders([ACCOUNT]) !== undefined) throw new Error("not idle");
});
console.log(`request after no change: ${describe([idle], IDLE)}`);
await measureRequests("request after one change at depth 20", 1, 200);
await measureRequests("request after changes in 1,000 folders", 1_000, 5);
reader.close();
db.close();
rmSync(directory, { recursive: true });
