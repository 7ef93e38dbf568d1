/**
 * Writers and readers act in random order. In the end, each reader's map equals the tree, independent of what was
 * written between two pages.
 *
 * Each page is checked: no id is listed twice in it, and positions in the journal only increase. A node is listed again
 * only if it has changed since, and a known node is never `created`. An unknown node is `created`, with one exception.
 * It may be `updated` if it changed after the run began, and either a folder was moved since the node was created or
 * the run is long: its position when the reader passed it is then unknown. A time instead of a token is inclusive:
 * everything written at that time or later is listed, some of it twice.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { SyncTokens } from "../../../../src/features/mobile/sync/cursor.ts";
import { type SyncResult, SyncService } from "../../../../src/features/mobile/sync/service.ts";
import type { FolderNode, TreeNode } from "../../../../src/tree/model/types.ts";
import { seededRandom, seedsToRun } from "../../../support/random.ts";
import { blobOf, reasonOf, TestTree } from "../../tree/support.ts";

const SEEDS = seedsToRun(Array.from({ length: 40 }, (_, index) => index + 1));
const STEPS = 70;
/** More files than are purged at once when their folder is deleted. */
const BIG_FOLDER_FILES = 90;
const NAMES = ["a", "B", "b", "ä", "c", "dd", "E", "f"];
/** The number of journal ranges that a position can have. */
const RANGES_KNOWN = 12;

type Random = ReturnType<typeof seededRandom>;

let tree: TestTree;
let tokens: SyncTokens;
let sync: SyncService;
beforeAll(() => {
  tree = new TestTree();
  tokens = new SyncTokens(new Uint8Array(32));
  sync = new SyncService({
    tree: tree.read,
    tokens,
    clock: tree.clock,
    devices: { lastSyncAt: () => undefined, noteSync: () => {} },
    hurryDeletions: () => {},
    deletionsWaitMs: 0,
  });
});
afterAll(() => tree.close());

/** The state of a node that a client saves. */
function stateOf(node: TreeNode): string {
  const { kind, folder, name, metadata } = node;
  return JSON.stringify([kind, folder, name, node.kind === "file" ? node.digest : metadata]);
}

/** All nodes of an account, read from the database. */
function allOf(accountId: number, wantsFolders: boolean): Map<string, string> {
  const rows = tree.db.sqlite
    .query<{ id: number }, [number]>("SELECT id FROM nodes WHERE account_id = ?1 AND parent_id IS NOT NULL")
    .all(accountId);
  const nodes = tree.store.findByIds(rows.map(({ id }) => id));
  return new Map(
    nodes.flatMap((node) => (wantsFolders || node.kind === "file" ? [[node.publicId, stateOf(node)] as const] : [])),
  );
}

/** The journal number at which a node is listed: its last change, or the last move of a folder above it. */
function positionOf(node: TreeNode): number {
  const row = tree.db.sqlite
    .query<{ position: number }, [number]>(
      `WITH RECURSIVE up(id, parent) AS (SELECT id, parent_id FROM nodes WHERE id = ?1 UNION ALL
         SELECT n.id, n.parent_id FROM up JOIN nodes n ON n.id = up.parent)
       SELECT max(path_seq) AS position FROM up JOIN folders ON node_id = up.id`,
    )
    .get(node.id);
  return Math.max(node.seq, row?.position ?? 0);
}

/** The history of an account that the checks need. */
interface History {
  readonly accountId: number;
  /** The journal number of the last rename or move of a folder. */
  lastFolderMoveSeq: number;
  /** Readers that send a time instead of a token; it is adjusted when the clock goes back. */
  readonly timeReaders: Set<Reader>;
}

/** The pages from the first one to the last one, which has no more. */
interface Run {
  /** The positions of the listed nodes. */
  readonly positions: Map<string, number>;
  /** The journal's head when it began. */
  readonly headSeq: number;
  readonly beganAtMs: number;
  pages: number;
}

/** A device that reads the changes and saves them. */
class Reader {
  readonly known = new Map<string, string>();
  readonly #history: History;
  readonly #wantsFolders: boolean;
  readonly #isByTime: boolean;
  /** The time at the beginning of the last complete run, for readers by time. */
  sinceMs: number | undefined;
  #token: string | undefined;
  #run: Run | undefined;

  constructor(history: History, wantsFolders: boolean, isByTime: boolean) {
    this.#history = history;
    this.#wantsFolders = wantsFolders;
    this.#isByTime = isByTime;
  }

  /** @returns whether there is more to come */
  async readPage(limit: number): Promise<boolean> {
    const { accountId } = this.#history;
    this.#run ??= {
      positions: new Map(),
      headSeq: tree.read.headOf(accountId),
      pages: 0,
      beganAtMs: tree.clock.nowMs(),
    };
    this.#run.pages++;
    const isFirstByTime = this.#isByTime && this.#run.pages === 1;
    const response = await sync.changes({
      accountId,
      deviceId: 1,
      syncToken: isFirstByTime ? undefined : this.#token,
      lastSyncMs: isFirstByTime ? this.sinceMs : undefined,
      limit,
      wantsFolders: this.#wantsFolders,
    });
    this.#token = response.nextSyncToken;
    if (response.mustReset) {
      expect(response).toMatchObject({ entries: [], hasMore: false });
      this.#reset();
      return true;
    }
    expect(response.entries.length).toBeLessThanOrEqual(limit);
    this.#apply(response, this.#run);
    if (!response.hasMore) {
      this.sinceMs = this.#run.beganAtMs;
      this.#run = undefined;
    }
    return response.hasMore;
  }

  /** Reads all pages while nobody writes, and compares the result with the tree. */
  async finish(): Promise<void> {
    for (let pages = 0; await this.readPage(1 + (pages % 6) + 3 * Math.max(0, pages - 12)); pages++) {
      tree.run((tx) => tree.write.reapSome(tx, 30));
      expect(pages).toBeLessThan(1_000);
    }
    const all = allOf(this.#history.accountId, this.#wantsFolders);
    expect(Object.fromEntries(this.known)).toEqual(Object.fromEntries(all));
  }

  #reset(): void {
    this.known.clear();
    this.sinceMs = undefined;
    this.#token = undefined;
    this.#run = undefined;
  }

  #apply({ entries }: SyncResult, run: Run): void {
    const ids = entries.map((entry) => (entry.change === "deleted" ? entry.publicId : entry.node.publicId));
    expect(new Set(ids).size, "different ids in one page").toBe(ids.length);
    let lastPosition = 0;
    for (const entry of entries) {
      if (entry.change === "deleted") {
        this.known.delete(entry.publicId);
        continue;
      }
      const { node, change } = entry;
      const position = positionOf(node);
      expect(position).toBeGreaterThanOrEqual(lastPosition);
      lastPosition = position;
      // A node is listed again in this run only if it has changed since.
      expect(position).toBeGreaterThan(run.positions.get(node.publicId) ?? 0);
      run.positions.set(node.publicId, position);
      if (!this.#isByTime) this.#checkChange(node, change, position, run);
      this.known.set(node.publicId, stateOf(node));
    }
  }

  #checkChange(node: TreeNode, change: string, position: number, run: Run): void {
    const isKnown = this.known.has(node.publicId);
    if (change === "created") expect(isKnown).toBeFalse();
    else if (!isKnown) {
      expect(position).toBeGreaterThan(run.headSeq);
      expect(this.#history.lastFolderMoveSeq > createdSeqOf(node) || run.pages > RANGES_KNOWN).toBeTrue();
    }
  }
}

function createdSeqOf(node: TreeNode): number {
  const find = tree.db.sqlite.query<{ seq: number }, [number]>("SELECT created_seq AS seq FROM nodes WHERE id = ?1");
  return find.get(node.id)?.seq ?? 0;
}

/** The nodes of an account, by age. */
function nodesOf(accountId: number): TreeNode[] {
  const rows = tree.db.sqlite
    .query<{ id: number }, [number]>("SELECT id FROM nodes WHERE account_id = ?1 AND parent_id IS NOT NULL ORDER BY id")
    .all(accountId);
  return tree.store.findByIds(rows.map(({ id }) => id));
}

/** A random change. If the tree rejects it, the transaction is rolled back. */
function write(history: History, random: Random): void {
  const { accountId } = history;
  const nodes = nodesOf(accountId);
  const files = nodes.filter((node) => node.kind === "file");
  const folders = nodes.filter((node): node is FolderNode => node.kind === "folder");
  const name = `${random.pick(NAMES)}${random.below(6)}`;
  const somePath = () => (folders.length === 0 || random.chance(0.3) ? "/" : random.pick(folders).path);
  const kind = random.below(100);
  const isMove = kind >= 58 && kind < 80 && folders.length > 0;
  const reason = reasonOf(() => {
    if (kind < 22 || nodes.length === 0) tree.addFile(accountId, somePath(), name);
    else if (kind < 30) tree.addFolder(accountId, somePath(), name);
    else if (kind < 32) addBigFolder(accountId, somePath(), name);
    else if (kind < 44 && files.length > 0) {
      const file = random.pick(files);
      tree.addFile(accountId, file.folder, file.name, { blob: blobOf(`${random.below(1e9)}`), onConflict: "version" });
    } else if (kind < 51 && files.length > 0) {
      tree.run((tx) => tree.write.updateFile(tx, random.pick(files), { name }));
    } else if (kind < 58 && files.length > 0) {
      tree.run((tx) => tree.write.move(tx, random.pick(files), somePath()));
    } else if (isMove && kind < 66) tree.run((tx) => tree.write.updateFolder(tx, random.pick(folders), { name }));
    else if (isMove && kind < 76) tree.run((tx) => tree.write.move(tx, random.pick(folders), somePath()));
    else if (isMove) {
      tree.run((tx) => tree.write.updateFolder(tx, random.pick(folders), { metadata: { description: name } }));
    } else if (kind < 88 && files.length > 0) tree.run((tx) => tree.write.deleteFile(tx, random.pick(files)));
    else if (kind < 94 && folders.length > 0) tree.run((tx) => tree.write.deleteFolder(tx, random.pick(folders)));
    else if (kind < 97 && folders.length > 0) {
      const options = { onConflict: "rename", preserveMetadata: true, createdBy: accountId, quotaBytes: null } as const;
      tree.run((tx) => tree.write.copy(tx, random.pick(folders), "/", options));
    } else {
      tree.run((tx) => {
        for (const file of files.slice(0, 3)) tree.write.updateFile(tx, file, { name: `${file.name} rolled back` });
        for (const folder of folders.slice(0, 1)) tree.write.deleteFolder(tx, folder);
        throw new Error("rolled back");
      });
    }
  });
  if (reason === undefined && isMove) history.lastFolderMoveSeq = tree.read.headOf(accountId);
}

function addBigFolder(accountId: number, parentPath: string, name: string): void {
  tree.run((tx) => {
    const folder = tree.write.createFolder(tx, { accountId, parentPath, name, metadata: {} });
    const common = { accountId, createdBy: accountId, folderPath: folder.path, mediaType: "text/plain", tags: [] };
    const rest = { metadata: {}, isPublic: false, onConflict: "error", quotaBytes: null } as const;
    for (let n = 0; n < BIG_FOLDER_FILES; n++) {
      tree.write.createFile(tx, { ...common, ...rest, name: `${n}`, blob: blobOf(`${n}`) });
    }
  });
}

/** Advances the clock, or rarely sets it back; readers by time then use the earlier time. */
function moveClock(history: History, random: Random): void {
  tree.clock.advance(random.chance(0.1) ? -random.below(50) : random.below(3));
  const nowMs = tree.clock.nowMs();
  for (const reader of history.timeReaders) {
    if (reader.sinceMs !== undefined) reader.sinceMs = Math.min(reader.sinceMs, nowMs);
  }
}

async function playRound(random: Random): Promise<void> {
  const accountId = tree.addAccount();
  const history: History = { accountId, lastFolderMoveSeq: 0, timeReaders: new Set() };
  const readers = Array.from({ length: 4 }, (_, index) => new Reader(history, index % 2 === 0, index > 2));
  for (const reader of readers.slice(3)) history.timeReaders.add(reader);
  const busy = 0.3 + random.below(6) / 10;
  for (let step = 0; step < STEPS; step++) {
    moveClock(history, random);
    if (random.chance(busy)) write(history, random);
    else if (random.chance(0.15)) tree.run((tx) => tree.write.reapSome(tx, 1 + random.below(20)));
    else if (random.chance(0.02)) sweepAll(accountId, tree.clock.nowMs());
    else if (random.chance(0.03)) await random.pick(readers).finish();
    else await random.pick(readers).readPage(1 + random.below(6));
  }
  for (const reader of readers) await reader.finish();
}

function sweepAll(accountId: number, olderThanMs: number): void {
  for (let after = 0; ; ) {
    const from = after;
    after = tree.run((tx) => tree.write.sweepJournal(tx, accountId, olderThanMs, from));
    if (after === 0) return;
  }
}

test(
  "in the end each reader has the state of the tree, independent of writes between pages",
  async () => {
    for (const seed of SEEDS) {
      try {
        await playRound(seededRandom(seed));
      } catch (error) {
        throw new Error(`Round with seed ${seed} (LARDER_TEST_SEED=${seed})`, { cause: error });
      }
    }
  },
  60_000 + SEEDS.length * 600,
);
