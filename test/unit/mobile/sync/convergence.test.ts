/**
 * Writers and readers in random order: whatever is written between two pages, and wherever a reader stops, in the end each
 * reader's map is the tree.
 *
 * Promised, and held here: no id twice in one answer; places only go up; what a reader meets again has changed since;
 * nothing that it knows is told as created. What it does not know is told as created unless it changed again after the run
 * began, and a folder was renamed or moved since it was made, or the run is long (see `#settle`): where it stood when the
 * reader passed is then not to be known. A time instead of a token is inclusive: all that was written at that time of the
 * clock or later comes, and some of it twice.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { SyncTokens } from "../../../../src/features/mobile/sync/cursor.ts";
import { type SyncResult, SyncService } from "../../../../src/features/mobile/sync/service.ts";
import type { FolderNode, TreeNode } from "../../../../src/tree/model/types.ts";
import { seededRandom, seedsToRun } from "../../../support/random.ts";
import { blobOf, reasonOf, TestTree } from "../../tree/support.ts";

const SEEDS = seedsToRun(Array.from({ length: 40 }, (_, index) => index + 1));
const STEPS = 70;
/** More files than are taken apart on the spot when their folder is deleted. */
const BIG_FOLDER_FILES = 90;
const NAMES = ["a", "B", "b", "ä", "c", "dd", "E", "f"];
/** So many stretches of a run are told apart. */
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

/** What a client keeps of a node. */
function stateOf(node: TreeNode): string {
  const { kind, folder, name, metadata } = node;
  return JSON.stringify([kind, folder, name, node.kind === "file" ? node.digest : metadata]);
}

/** All that an account has, as the database tells it. */
function allOf(accountId: number, wantsFolders: boolean): Map<string, string> {
  const rows = tree.db.sqlite
    .query<{ id: number }, [number]>("SELECT id FROM nodes WHERE account_id = ?1 AND parent_id IS NOT NULL")
    .all(accountId);
  const nodes = tree.store.findByIds(rows.map(({ id }) => id));
  return new Map(
    nodes.flatMap((node) => (wantsFolders || node.kind === "file" ? [[node.publicId, stateOf(node)] as const] : [])),
  );
}

/** The journal number at which a node is met: its own last change, or the last move of a folder above. */
function placeOf(node: TreeNode): number {
  const row = tree.db.sqlite
    .query<{ place: number }, [number]>(
      `WITH RECURSIVE up(id, parent) AS (SELECT id, parent_id FROM nodes WHERE id = ?1 UNION ALL
         SELECT n.id, n.parent_id FROM up JOIN nodes n ON n.id = up.parent)
       SELECT max(path_seq) AS place FROM up JOIN folders ON node_id = up.id`,
    )
    .get(node.id);
  return Math.max(node.seq, row?.place ?? 0);
}

/** What happened in an account, for what is promised about it. */
interface History {
  readonly accountId: number;
  /** Journal numbers of folders' renames and moves. */
  lastFolderMoveSeq: number;
  /** Earliest time that the clock has shown since the times asked with; a reader that asks by time heeds it. */
  readonly timeReaders: Set<Reader>;
}

/** From the first page to the one without more. */
interface Run {
  /** Where what was met in it had its place. */
  readonly places: Map<string, number>;
  /** The journal's head when it began. */
  readonly headSeq: number;
  readonly beganAtMs: number;
  pages: number;
}

/** One device: pages through the changes, and keeps what it was told. */
class Reader {
  readonly known = new Map<string, string>();
  readonly #history: History;
  readonly #wantsFolders: boolean;
  readonly #isByTime: boolean;
  /** Clock at the beginning of the last whole run; a reader by time asks with it. */
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
      places: new Map(),
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
      this.#beginAnew();
      return true;
    }
    expect(response.entries.length).toBeLessThanOrEqual(limit);
    this.#take(response, this.#run);
    if (!response.hasMore) {
      this.sinceMs = this.#run.beganAtMs;
      this.#run = undefined;
    }
    return response.hasMore;
  }

  /** Reads to the end while nobody writes, and compares with the tree. */
  async finish(): Promise<void> {
    for (let pages = 0; await this.readPage(1 + (pages % 6) + 3 * Math.max(0, pages - 12)); pages++) {
      tree.run((tx) => tree.write.reapSome(tx, 30));
      expect(pages).toBeLessThan(1_000);
    }
    const all = allOf(this.#history.accountId, this.#wantsFolders);
    expect(Object.fromEntries(this.known)).toEqual(Object.fromEntries(all));
  }

  #beginAnew(): void {
    this.known.clear();
    this.sinceMs = undefined;
    this.#token = undefined;
    this.#run = undefined;
  }

  #take({ entries }: SyncResult, run: Run): void {
    const ids = entries.map((entry) => (entry.change === "deleted" ? entry.publicId : entry.node.publicId));
    expect(new Set(ids).size, "different ids in one answer").toBe(ids.length);
    let lastPlace = 0;
    for (const entry of entries) {
      if (entry.change === "deleted") {
        this.known.delete(entry.publicId);
        continue;
      }
      const { node, change } = entry;
      const place = placeOf(node);
      expect(place).toBeGreaterThanOrEqual(lastPlace);
      lastPlace = place;
      // Met again in this run only if it has changed since.
      expect(place).toBeGreaterThan(run.places.get(node.publicId) ?? 0);
      run.places.set(node.publicId, place);
      if (!this.#isByTime) this.#checkChange(node, change, place, run);
      this.known.set(node.publicId, stateOf(node));
    }
  }

  #checkChange(node: TreeNode, change: string, place: number, run: Run): void {
    const isKnown = this.known.has(node.publicId);
    if (change === "created") expect(isKnown).toBeFalse();
    else if (!isKnown) {
      expect(place).toBeGreaterThan(run.headSeq);
      expect(this.#history.lastFolderMoveSeq > createdSeqOf(node) || run.pages > RANGES_KNOWN).toBeTrue();
    }
  }
}

function createdSeqOf(node: TreeNode): number {
  const find = tree.db.sqlite.query<{ seq: number }, [number]>("SELECT created_seq AS seq FROM nodes WHERE id = ?1");
  return find.get(node.id)?.seq ?? 0;
}

/** Nodes of an account as a writer finds them. */
function nodesOf(accountId: number): TreeNode[] {
  const rows = tree.db.sqlite
    .query<{ id: number }, [number]>("SELECT id FROM nodes WHERE account_id = ?1 AND parent_id IS NOT NULL ORDER BY id")
    .all(accountId);
  return tree.store.findByIds(rows.map(({ id }) => id));
}

/** One random deed; what the tree refuses is a deed undone, which leaves nothing behind. */
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
        for (const file of files.slice(0, 3)) tree.write.updateFile(tx, file, { name: `${file.name} undone` });
        for (const folder of folders.slice(0, 1)) tree.write.deleteFolder(tx, folder);
        throw new Error("undone");
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

/** The clock goes on, seldom back, and then readers by time ask from there. */
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
  "in the end every reader has what is there, whatever was written between two pages",
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
