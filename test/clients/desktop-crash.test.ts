// The Nextcloud and ownCloud desktop clients in their command-line form: after a kill of the program or of the server in the
// middle of a sync, the next syncs lead to equal sides.
import { afterEach, expect, test } from "bun:test";
import { randomContent } from "../support/client.ts";
import { eventually } from "../support/expect.ts";
import { dispose, startServer, type TestServer } from "../support/server.ts";
import { type ClientAccount, newClientAccount, readServerTree, requestsDuring } from "./support/account.ts";
import { describeWith, isLong } from "./support/programs.ts";
import { SYNC_PROGRAMS, SyncedFolder } from "./support/synced-folder.ts";

const MIB = 1024 * 1024;
/** Kills in one test. */
const rounds = isLong ? 20 : 1;
/** Longest duration of a test in milliseconds. */
const testMsMax = rounds * 120_000;
const running: { server?: TestServer; folders: SyncedFolder[] } = { folders: [] };

afterEach(async () => {
  for (const folder of running.folders.splice(0)) await folder.dispose();
  if (running.server !== undefined) await dispose(running.server);
  delete running.server;
});

/** Starts a server that keeps its port when it starts again: the programs regard another port as another account. */
async function startFixedServer(): Promise<TestServer> {
  running.server = await startServer({ hasAccounts: true, env: { LARDER_LOG_REQUESTS: "all", LARDER_LOG: "json" } });
  await running.server.restart({ args: ["--port", String(running.server.port)] });
  return running.server;
}

async function newFolder(program: (typeof SYNC_PROGRAMS)[number], account: ClientAccount): Promise<SyncedFolder> {
  if (running.server === undefined) throw new Error("no server is running");
  const folder = await SyncedFolder.create(program, running.server, account);
  running.folders.push(folder);
  return folder;
}

/** Writes small files and one of several chunks. */
async function fill(folder: SyncedFolder, round: number): Promise<void> {
  for (let index = 0; index < 40; index += 1)
    await folder.write(`r${round}/${index % 3}/${index}.txt`, `${round} ${index}`);
  await folder.write(`r${round}/large.bin`, randomContent(12 * MIB));
}

/** Waits until the server has received this many uploads since a position in its log. */
async function waitForUploads(server: TestServer, from: number, count: number): Promise<void> {
  await eventually(`${count} uploads`, () => server.log.slice(from).split('"method":"PUT"').length > count, 30_000, 2);
}

/** Syncs until both computers and the server are equal, at most five times. */
async function settle(account: ClientAccount, computers: SyncedFolder[]): Promise<void> {
  for (let run = 0; run < 5; run += 1) {
    for (const computer of computers) {
      await computer.forgetFailures();
      await computer.trySync();
    }
    const trees = await Promise.all(computers.map(async (computer) => computer.tree()));
    if (trees.every((tree) => Bun.deepEquals(tree, trees[0]))) break;
  }
  const [first, ...others] = await Promise.all(computers.map(async (computer) => computer.tree()));
  for (const other of others) expect(other).toEqual(first ?? new Map());
  const remote = [...(await readServerTree(account))].map(([path, { content }]) => `${path} ${content}`);
  expect(remote.sort()).toEqual([...(first ?? [])].map(([path, { content }]) => `${path} ${content}`).sort());
}

for (const program of SYNC_PROGRAMS) {
  describeWith(program, [program], () => {
    test(
      "a program that is killed in the middle of a sync continues",
      async () => {
        const server = await startFixedServer();
        const account = await newClientAccount(server);
        const [one, two] = [await newFolder(program, account), await newFolder(program, account)];
        for (let round = 0; round < rounds; round += 1) {
          await fill(one, round);
          const local = await one.tree();
          const from = server.log.length;
          const child = one.start();
          await waitForUploads(server, from, 5 + 11 * (round % 3));
          child.kill("SIGKILL");
          await child.exited;
          // Reading is cut too.
          const reader = two.start();
          const download = /"method":"GET","path":"[^"]*\.txt"/;
          await eventually(
            "a download",
            () => reader.exitCode !== null || download.test(server.log.slice(from)),
            30_000,
            2,
          );
          reader.kill("SIGKILL");
          await reader.exited;
          await settle(account, [one, two]);
          expect(await one.tree()).toEqual(local);
        }
      },
      testMsMax,
    );

    test(
      "a server that is killed in the middle of a sync loses nothing that it confirmed",
      async () => {
        const server = await startFixedServer();
        const account = await newClientAccount(server);
        const [one, two] = [await newFolder(program, account), await newFolder(program, account)];
        for (let round = 0; round < rounds; round += 1) {
          await fill(one, round);
          const local = await one.tree();
          const from = server.log.length;
          const child = one.start();
          await waitForUploads(server, from, 5 + 11 * (round % 3));
          await server.kill9();
          await child.exited;
          await server.start();
          await settle(account, [one, two]);
          expect(await one.tree()).toEqual(local);
        }
        // A restart changes no id and no ETag: one question, and no file again.
        await one.sync();
        await server.kill9();
        await server.start();
        const idle = await requestsDuring(server, async () => one.sync());
        const others = idle.filter(({ path }) => !/^\/(?:status\.php|ocs\/)/.test(path));
        expect(others.map(({ method }) => method)).toEqual(["PROPFIND"]);
      },
      testMsMax,
    );
  });
}
