// The Nextcloud and ownCloud desktop clients in their command-line form, where not everything is allowed: received shares,
// limited app passwords, too many deletions, another email address, and a server below a path.
import { afterAll, expect, test } from "bun:test";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { shareWith } from "../support/account-shares.ts";
import { digestOf, freshEmail, randomContent } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { type TestServer, withServer } from "../support/server.ts";
import {
  type ClientAccount,
  clientServer,
  newClientAccount,
  readServerTree,
  requestsDuring,
  withAppPassword,
} from "./support/account.ts";
import { describeWith } from "./support/programs.ts";
import { SMALL_CHUNKS, SYNC_PROGRAMS, SyncedFolder } from "./support/synced-folder.ts";

const SHARES = "Shared with me";
const server = clientServer();
const folders: SyncedFolder[] = [];

afterAll(async () => {
  for (const folder of folders) await folder.dispose();
});

/** Writes a file that the program sends in three chunks. @returns the digest of its content */
async function writeLarge(folder: SyncedFolder, path: string): Promise<string> {
  folder.env = SMALL_CHUNKS;
  const content = randomContent(500_000);
  await folder.write(path, content);
  return digestOf(content);
}

async function contentsOf(account: ClientAccount): Promise<string[]> {
  return [...(await readServerTree(account))].map(([path, { content }]) => `${path} ${content}`).sort();
}

for (const program of SYNC_PROGRAMS) {
  const newFolder = async (account: ClientAccount, on: TestServer = server()) => {
    const folder = await SyncedFolder.create(program, on, account);
    folders.push(folder);
    return folder;
  };

  describeWith(program, [program], () => {
    test("a received folder syncs in both directions", async () => {
      const [owner, guest] = [await newClientAccount(server()), await newClientAccount(server())];
      const shared = await owner.client.folderId("trips", "/above");
      await owner.client.stored("rome", { name: "rome.txt", fields: { folder: "/above/trips/days" } });
      await shareWith(owner.client, shared, guest.account, { permissions: "write" });
      const [one, two] = [await newFolder(owner), await newFolder(guest)];
      await one.sync();
      await two.sync();
      expect(await two.read(`${SHARES}/trips/days/rome.txt`)).toBe("rome");
      await two.write(`${SHARES}/trips/days/paris.txt`, "paris");
      const film = await writeLarge(two, `${SHARES}/trips/days/film & #1.mp4`);
      await two.sync();
      await one.sync();
      expect(await one.read("above/trips/days/paris.txt")).toBe("paris");
      expect((await one.tree()).get("above/trips/days/film & #1.mp4")?.content).toBe(film);
      // A change of the owner deep in the share reaches the guest, whose own folders have not changed.
      await one.write("above/trips/days/rome.txt", "rome, edited", new Date("2024-01-01T00:00:00Z"));
      await one.sync();
      await two.sync();
      expect(await two.read(`${SHARES}/trips/days/rome.txt`)).toBe("rome, edited");
      await two.remove(`${SHARES}/trips/days/rome.txt`);
      await two.sync();
      expect((await readServerTree(owner)).get("above/trips/days/rome.txt")).toBeUndefined();
      const settled = await requestsDuring(server(), async () => two.sync());
      expect(settled.filter(({ method, path }) => method === "GET" && path.includes("/trips/"))).toEqual([]);
      const idle = await requestsDuring(server(), async () => two.sync());
      expect(idle.filter(({ method }) => method === "PROPFIND").length).toBe(1);
    });

    test("a new right, a new share and a new name of a share reach the recipient, and nothing is received again", async () => {
      const [owner, guest] = [await newClientAccount(server()), await newClientAccount(server())];
      const id = await owner.client.folderId("plans");
      await owner.client.stored("plan", { name: "a.txt", fields: { folder: "/plans/deep" } });
      await guest.client.stored("the guest's own", { name: "own.txt" });
      const share = await shareWith(owner.client, id, guest.account, { permissions: "read" });
      const two = await newFolder(guest);
      await two.sync();
      expectStatus(await owner.client.patch(`/api/shares/${share}`, { permissions: "write" }), 200);
      await owner.client.stored("more", { name: "b.txt", fields: { folder: "/more" } });
      const more = (await readServerTree(owner)).get("more")?.id ?? "";
      await shareWith(owner.client, more, guest.account, { permissions: "write" });
      await two.sync();
      expect(await two.read(`${SHARES}/more/b.txt`)).toBe("more");
      // The client stores the permission of each file, so it must have read the folders below the share again.
      await two.write(`${SHARES}/plans/deep/a.txt`, "allowed, longer", new Date("2024-01-02T00:00:00Z"));
      await two.sync();
      expect((await readServerTree(owner)).get("plans/deep/a.txt")?.content).toBe(digestOf("allowed, longer"));
      expectStatus(await owner.client.put(`/api/files/folders/${id}`, { name: "plans 2" }), 200);
      const renamed = await requestsDuring(server(), async () => two.sync());
      expect(await two.read(`${SHARES}/plans 2/deep/a.txt`)).toBe("allowed, longer");
      expect(renamed.filter(({ method, path }) => method === "GET" && path.endsWith(".txt"))).toEqual([]);
    });

    test("changes in a folder that is shared for reading stay on the computer and change nothing on the server", async () => {
      const [owner, guest] = [await newClientAccount(server()), await newClientAccount(server())];
      const shared = await owner.client.folderId("read only");
      await owner.client.stored("original", { name: "a.txt", fields: { folder: "/read only" } });
      await owner.client.stored("other", { name: "b.txt", fields: { folder: "/read only" } });
      // Otherwise nextcloudcmd waits for an answer at the end of the share, because all files would go.
      await guest.client.stored("the guest's own", { name: "own.txt" });
      const share = await shareWith(owner.client, shared, guest.account, { permissions: "read" });
      const two = await newFolder(guest);
      await two.sync();
      const before = await contentsOf(owner);
      await two.write(`${SHARES}/read only/a.txt`, "edited by the guest", new Date("2024-01-01T00:00:00Z"));
      await two.write(`${SHARES}/read only/new.txt`, "new from the guest");
      await two.remove(`${SHARES}/read only/b.txt`);
      for (let run = 0; run < 2; run += 1) await two.trySync();
      expect(await contentsOf(owner)).toEqual(before);
      const local = new Set([...(await two.tree()).values()].map(({ content }) => content));
      for (const content of ["original", "other", "edited by the guest", "new from the guest"]) {
        expect(local).toContain(digestOf(content));
      }
      // The end of the share removes what the guest received.
      expectStatus(await owner.client.delete(`/api/shares/${share}`), 200);
      for (let run = 0; run < 2; run += 1) await two.trySync();
      const rest = await two.tree();
      expect(rest.get(`${SHARES}/read only/b.txt`)).toBeUndefined();
      expect(rest.get("own.txt")?.content).toBe(digestOf("the guest's own"));
      expect(await contentsOf(owner)).toEqual(before);
    });

    test("a read-only app password downloads, and loses no local change", async () => {
      const account = await newClientAccount(server());
      await account.client.stored("from the server", { name: "a.txt", fields: { folder: "/folder" } });
      const one = await newFolder(await withAppPassword(account.account, { access: "read" }));
      await one.sync();
      expect(await one.read("folder/a.txt")).toBe("from the server");
      const before = await contentsOf(account);
      await one.write("folder/a.txt", "edited here", new Date("2024-01-01T00:00:00Z"));
      await one.write("new.txt", "new here");
      for (let run = 0; run < 2; run += 1) await one.trySync();
      expect(await contentsOf(account)).toEqual(before);
      const local = new Set([...(await one.tree()).values()].map(({ content }) => content));
      for (const content of ["edited here", "new here"]) expect(local).toContain(digestOf(content));
    });

    test("an app password of one folder syncs only that folder", async () => {
      const account = await newClientAccount(server());
      await account.client.stored("visible", { name: "a.txt", fields: { folder: "/sync/deep" } });
      await account.client.stored("hidden", { name: "b.txt", fields: { folder: "/private" } });
      const one = await newFolder(await withAppPassword(account.account, { folder: "/sync" }));
      await one.sync();
      expect([...(await one.tree()).keys()]).toEqual(["deep", "deep/a.txt"]);
      await one.write("deep/c.txt", "new");
      const film = await writeLarge(one, "deep/film.mp4");
      await one.sync();
      const remote = await readServerTree(account);
      expect(remote.get("sync/deep/c.txt")?.content).toBe(digestOf("new"));
      expect(remote.get("sync/deep/film.mp4")?.content).toBe(film);
      // Without its folder, the app password opens nothing. An empty folder would make the client delete its files.
      const before = await one.tree();
      const fileIds = [remote.get("sync")?.id];
      expectStatus(await account.client.post("/api/files/trash", { fileIds }), 200);
      expect((await one.trySync()).code).not.toBe(0);
      expect(await one.tree()).toEqual(before);
      expectStatus(await account.client.post("/api/files/trash/restore", { fileIds }), 200);
      const requests = await requestsDuring(server(), async () => one.sync());
      expect(requests.filter(({ method, path }) => method === "PUT" || path.endsWith(".txt"))).toEqual([]);
      expect(await one.tree()).toEqual(before);
    });

    test("too many deletions and replacements wait for a person, and the next sync after the approval sends them", async () => {
      const env = { LARDER_MASS_CHANGE_FILES: "5", LARDER_MASS_CHANGE_PERCENT: "10", LARDER_LOG_REQUESTS: "all" };
      const each = async (change: (index: number) => Promise<void>) => {
        for (let index = 0; index < 15; index += 1) await change(index);
      };
      /** What is done to 15 of 20 files, and how many changes are admitted before the others wait. */
      const changes: [name: string, change: (one: SyncedFolder) => Promise<void>, admitted: number][] = [
        ["deletion of files", async (one) => each(async (index) => one.remove(`most/${index}.txt`)), 5],
        ["deletion of their folder, in one request", async (one) => one.remove("most"), 0],
        [
          "replacement",
          async (one) =>
            each(async (index) =>
              one.write(`most/${index}.txt`, `encrypted ${index}`, new Date("2025-01-01T00:00:00Z")),
            ),
          5,
        ],
      ];
      await withServer({ hasAccounts: true, env }, async (own) => {
        for (const [name, change, admitted] of changes) {
          const account = await newClientAccount(own);
          const one = await newFolder(account, own);
          for (let index = 0; index < 20; index += 1) {
            await one.write(`${index < 15 ? "most" : "rest"}/${index}.txt`, `content ${index}`);
          }
          await one.sync();
          const before = await readServerTree(account);
          await change(one);
          for (let run = 0; run < 2; run += 1) {
            await one.trySync();
            await one.forgetFailures();
          }
          const waiting = await readServerTree(account);
          const unchanged = [...before].filter(([path, { content }]) => waiting.get(path)?.content === content);
          expect([name, before.size - unchanged.length]).toEqual([name, admitted]);
          const [holdId = ""] = (await account.client.get("/api/users/holds")).strings("data.holds", "holdId");
          expectStatus(await account.client.post(`/api/users/holds/${holdId}`, { accept: true }), 200);
          await one.forgetFailures();
          await one.sync();
          const local = [...(await one.tree())].map(([path, { content }]) => `${path} ${content}`).sort();
          expect(await contentsOf(account)).toEqual(local);
        }
      });
    });

    test("another email address of the account does not disturb the sync", async () => {
      const account = await newClientAccount(server());
      const one = await newFolder(account);
      await one.write("folder/a.txt", "a");
      await one.sync();
      const { password } = account.account;
      const change = { email: freshEmail(), currentPassword: password };
      expectStatus(await account.client.put("/api/users/profile", change), 200);
      await one.write("folder/b.txt", "b");
      const film = await writeLarge(one, "folder/film.mp4");
      const requests = await requestsDuring(server(), async () => one.sync());
      const puts = requests.filter(({ method, path }) => method === "PUT" && !path.includes("/uploads/"));
      expect(puts.map(({ path }) => path.split("/").at(-1))).toEqual(["b.txt"]);
      expect(requests.filter(({ method, path }) => method === "GET" && path.endsWith(".txt"))).toEqual([]);
      const remote = await readServerTree(account);
      expect(remote.get("folder/b.txt")?.content).toBe(digestOf("b"));
      expect(remote.get("folder/film.mp4")?.content).toBe(film);
    });

    test("a server below a path is synced at its address with the path", async () => {
      await withServer({ hasAccounts: true, env: { LARDER_BASE_PATH: "/files" } }, async (own) => {
        const account = await newClientAccount(own);
        await account.client.stored("from the server", { name: "a b.txt", fields: { folder: "/x y" } });
        const one = await newFolder({ ...account, basePath: "/files" }, own);
        await one.write("local folder/é.txt", "from the computer");
        const film = await writeLarge(one, "local folder/film.mp4");
        await one.sync();
        expect(await one.read("x y/a b.txt")).toBe("from the server");
        await rename(join(one.path, "local folder/é.txt"), join(one.path, "x y/ä.txt"));
        await one.sync();
        const remote = await readServerTree(account);
        expect(remote.get("x y/ä.txt")?.content).toBe(digestOf("from the computer"));
        expect(remote.get("local folder/film.mp4")?.content).toBe(film);
      });
    });
  });
}
