// The Nextcloud and ownCloud desktop clients in their command-line form, after the server was restored from a backup: files
// that are newer than the backup are on the computers only, and no client deletes or overwrites them.
import { afterAll, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { backUp } from "../support/backup.ts";
import { digestOf } from "../support/client.ts";
import { dispose, runLarder, startServer, temporaryDirectory, type TestServer } from "../support/server.ts";
import { newClientAccount, readServerTree, requestsDuring } from "./support/account.ts";
import { describeWith, isLong } from "./support/programs.ts";
import { SYNC_PROGRAMS, SyncedFolder } from "./support/synced-folder.ts";

const env = { LARDER_LOG_REQUESTS: "all", LARDER_LOG: "json" };
const servers: TestServer[] = [];
const folders: SyncedFolder[] = [];
const directories: string[] = [];

afterAll(async () => {
  for (const folder of folders) await folder.dispose();
  for (const server of servers) await dispose(server);
  for (const directory of directories) await rm(directory, { recursive: true, force: true });
});

/** Starts a server that has the same port after a restart: the programs regard another port as another account. */
async function startFixedServer(): Promise<TestServer> {
  const server = await startServer({ hasAccounts: true, env });
  servers.push(server);
  await server.restart({ args: ["--port", String(server.port)] });
  return server;
}

/** Restores a backup to a new directory, and starts a server there with the port of the stopped server. */
async function restoreTo(port: number, backup: string): Promise<TestServer> {
  const dataDir = await temporaryDirectory();
  const { code, stderr } = await runLarder(["restore", backup, "--data", dataDir]);
  if (code !== 0) throw new Error(`restore ended with ${code}: ${stderr}`);
  const server = await startServer({ dataDir, env, args: ["--port", String(port)] });
  servers.push(server);
  return server;
}

for (const program of SYNC_PROGRAMS) {
  describeWith(program, [program], () => {
    test("a restored backup continues the sync, and what is newer than the backup comes back", async () => {
      const server = await startFixedServer();
      const account = await newClientAccount(server);
      const one = await SyncedFolder.create(program, server, account);
      folders.push(one);
      for (let index = 0; index < 10; index += 1) await one.write(`old/${index}.txt`, `old ${index}`);
      await one.write("edited.txt", "before the backup", new Date("2024-01-01T00:00:00Z"));
      await one.sync();
      const directory = await temporaryDirectory();
      directories.push(directory);
      const backup = join(directory, "backup");
      expect((await backUp(server.dataDir, backup)).code).toBe(0);
      await one.write("edited.txt", "after the backup", new Date("2024-02-02T00:00:00Z"));
      await one.write("new/folder/file.txt", "only on the computer");
      await one.write("new.txt", "also only there");
      await one.sync();
      const before = await one.tree();
      await server.stop();

      const restored = await restoreTo(server.port, backup);
      // Takes the row ids of what the backup does not have.
      for (let index = 0; index < 5; index += 1) await account.client.folderId(`by the API ${index}`);
      await account.client.stored("by the API", { name: "api.txt", fields: { folder: "/by the API 0" } });
      const requests = await requestsDuring(restored, async () => one.sync());
      // What the backup has is neither uploaded nor downloaded again.
      expect(requests.filter(({ method, path }) => method !== "PROPFIND" && path.includes("/old/"))).toEqual([]);
      await one.sync();
      const tree = await one.tree();
      for (const path of ["new/folder/file.txt", "new.txt", "old/0.txt"]) {
        expect([path, tree.get(path)]).toEqual([path, before.get(path)]);
      }
      // The backup has an older content of this file. The newer one stays next to it, as after a conflict.
      const edits = [...tree].filter(([path]) => path.startsWith("edited"));
      expect(edits.map(([, { content }]) => content).sort()).toEqual(
        [digestOf("before the backup"), digestOf("after the backup")].sort(),
      );
      const remote = await readServerTree(account);
      expect(remote.get("new/folder/file.txt")?.content).toBe(digestOf("only on the computer"));
      expect(remote.get("new.txt")?.content).toBe(digestOf("also only there"));
      // The folders of the API got the numbers that the backup does not have. They were not mixed with those.
      expect([...remote.keys()].filter((path) => /^by the API \d\//.test(path))).toEqual(["by the API 0/api.txt"]);
      expect(await one.read("by the API 0/api.txt")).toBe("by the API");
    });

    if (isLong)
      test("a rebuilt database continues the sync with a new app password", async () => {
        const server = await startFixedServer();
        const account = await newClientAccount(server);
        const one = await SyncedFolder.create(program, server, account);
        folders.push(one);
        for (let index = 0; index < 10; index += 1) await one.write(`${index}/deep/${index}.txt`, `old ${index}`);
        await one.sync();
        await one.remove("3");
        await one.sync();
        const before = await one.tree();
        await server.stop();
        expect((await server.larder(["rebuild", "--force"])).code).toBe(0);
        await server.start();
        const created = await server.larder(["user", "app-password", account.user, "--name", "new"]);
        expect(created.code).toBe(0);
        const requests = await requestsDuring(server, async () => {
          expect((await one.trySync(created.stdout.trim())).code).toBe(0);
        });
        expect(
          requests.filter(({ method, path }) => /^(?:PUT|DELETE|MOVE)$/.test(method) || path.endsWith(".txt")),
        ).toEqual([]);
        expect(await one.tree()).toEqual(before);
      });
  });
}
