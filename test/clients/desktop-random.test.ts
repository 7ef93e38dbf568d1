// Random changes on two computers with the Nextcloud client, on one with the ownCloud client, and by the API. After all have
// synced, all have the same files: a folder whose ETag misses a change would leave one of them behind.
import { afterAll, expect, test } from "bun:test";
import { mkdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type SeededRandom, seededRandom, seedsToRun } from "../support/random.ts";
import { type ClientAccount, clientServer, newClientAccount, readServerTree } from "./support/account.ts";
import { describeWith, isLong } from "./support/programs.ts";
import { type LocalTree, SyncedFolder } from "./support/synced-folder.ts";

const server = clientServer();
const folders: SyncedFolder[] = [];
const steps = isLong ? 30 : 6;
/** The first two sync at the same time. */
const PROGRAMS = ["nextcloudcmd", "nextcloudcmd", "owncloudcmd"] as const;
/** Changes on each side between two syncs. */
const changesPerStep = 6;

afterAll(async () => {
  for (const folder of folders) await folder.dispose();
});

/** The paths of the files or folders of a tree. */
function pathsOf(tree: LocalTree, isFolder: boolean): string[] {
  return [...tree].filter(([, { content }]) => (content === "folder") === isFolder).map(([path]) => path);
}

/** A path for something new, often in an existing folder. */
function newPath(random: SeededRandom, tree: LocalTree): string {
  const folder = random.pick([
    "",
    ...pathsOf(tree, true),
    `f${random.below(4)}`,
    `f${random.below(4)}/g${random.below(3)}`,
  ]);
  return join(folder, `n${random.below(40)}.txt`);
}

let contents = 0;

/** A content that no other file has. Its length differs from the last one's, which some clients compare. */
function newContent(): string {
  contents += 1;
  return `content ${contents}${".".repeat(contents % 17)}`;
}

/** Changes something on a computer. */
async function changeLocally(random: SeededRandom, folder: SyncedFolder): Promise<void> {
  const tree = await folder.tree();
  const [files, directories] = [pathsOf(tree, false), pathsOf(tree, true)];
  const kind = random.below(10);
  if (kind < 4 || files.length === 0) {
    const path = newPath(random, tree);
    if (tree.get(path)?.content !== "folder") await folder.write(path, newContent());
  } else if (kind < 6)
    await folder.write(random.pick(files), newContent(), new Date(1_700_000_000_000 + contents * 60_000));
  else if (kind < 7) await folder.remove(random.pick(files));
  else if (kind < 9 || directories.length === 0) {
    const to = join(folder.path, newPath(random, tree).replace(".txt", `-${contents}.txt`));
    await mkdir(dirname(to), { recursive: true });
    await rename(join(folder.path, random.pick(files)), to);
  } else {
    const from = random.pick(directories);
    contents += 1;
    await rename(join(folder.path, from), join(folder.path, `moved-${contents}`));
  }
}

/** Changes something by the API. */
async function changeByApi(random: SeededRandom, account: ClientAccount): Promise<void> {
  const tree = [...(await readServerTree(account))];
  const files = tree.filter(([, { content }]) => content !== "folder");
  const directories = tree.filter(([, { content }]) => content === "folder");
  const kind = random.below(8);
  const folder = `/${random.pick(["", ...directories.map(([path]) => path), `api/deep/${random.below(3)}`])}`;
  if (kind < 3 || files.length === 0) {
    await account.client.stored(newContent(), { name: `api-${contents}.txt`, fields: { folder } });
    return;
  }
  const [, { id }] = random.pick(files);
  if (kind < 5) await account.client.putContent(id, newContent());
  else if (kind < 6) await account.client.post("/api/files/trash", { fileIds: [id] });
  else if (kind < 7 || directories.length === 0) {
    contents += 1;
    await account.client.put(`/api/files/${id}`, { folder, name: `moved by the api ${contents}.txt` });
  } else {
    contents += 1;
    const [, directory] = random.pick(directories);
    await account.client.put(`/api/files/folders/${directory.id}`, { name: `renamed by the api ${contents}` });
  }
}

/** What must be equal everywhere: not the conflict copies, which stay on their computer, and the folders with only these. */
function comparable(tree: Iterable<[string, { content: string }]>): string[] {
  const files = [...tree].filter(([path, { content }]) => content !== "folder" && !/conflict/i.test(path));
  return files.map(([path, { content }]) => `${path} ${content}`).sort();
}

describeWith("both desktop clients on one account", [...PROGRAMS], () => {
  for (const seed of seedsToRun([1])) {
    test(`random changes lead to equal files, seed ${seed}`, async () => {
      const random = seededRandom(seed);
      const account = await newClientAccount(server());
      const computers: SyncedFolder[] = [];
      for (const program of PROGRAMS) computers.push(await SyncedFolder.create(program, server(), account));
      folders.push(...computers);
      for (let step = 0; step < steps; step += 1) {
        for (let change = 0; change < changesPerStep; change += 1) {
          for (const computer of computers) if (random.chance(0.6)) await changeLocally(random, computer);
          if (random.chance(0.6)) await changeByApi(random, account);
        }
        // Sometimes two at once. Not owncloudcmd: it asks for each file that it has uploaded, and never ends if another
        // program has moved that file in between.
        if (random.chance(0.4)) await Promise.all(computers.slice(0, 2).map(async (computer) => computer.trySync()));
        else await random.pick(computers).trySync();
      }
      for (let run = 0; run < 4; run += 1) {
        for (const computer of computers) {
          await computer.forgetFailures();
          await computer.trySync();
        }
      }
      const remote = comparable(await readServerTree(account));
      expect(remote.length).toBeGreaterThan(0);
      for (const computer of computers) expect(comparable(await computer.tree())).toEqual(remote);
    }, 600_000);
  }
});
