// The Nextcloud and ownCloud desktop clients in their command-line form: changes on one side reach the other exactly, and
// with no more requests than necessary.
import { afterAll, expect, test } from "bun:test";
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { digestOf, randomContent } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import {
  type ClientAccount,
  clientServer,
  type LoggedRequest,
  newClientAccount,
  readServerTree,
  requestsDuring,
} from "./support/account.ts";
import { describeWith } from "./support/programs.ts";
import { type LocalTree, SYNC_PROGRAMS, SyncedFolder } from "./support/synced-folder.ts";

const MIB = 1024 * 1024;
const server = clientServer();
const folders: SyncedFolder[] = [];

afterAll(async () => {
  for (const folder of folders) await folder.dispose();
});

/** Expects that the server has exactly the files and folders of a local tree. */
async function expectOnServer(account: ClientAccount, local: LocalTree): Promise<void> {
  const remote = [...(await readServerTree(account))].map(([path, { content }]) => [path, content] as const);
  const expected = [...local].map(([path, { content }]) => [path, content] as const);
  expect(new Map(remote.sort(byPath))).toEqual(new Map(expected.sort(byPath)));
}

function byPath([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : 1;
}

function countOf(requests: LoggedRequest[], method: string): number {
  return requests.filter((request) => request.method === method).length;
}

for (const program of SYNC_PROGRAMS) {
  const newFolder = async (account: ClientAccount) => {
    const folder = await SyncedFolder.create(program, server(), account);
    folders.push(folder);
    return folder;
  };

  describeWith(program, [program], () => {
    test("a first sync unites both sides, with exact dates, empty files and empty folders", async () => {
      const account = await newClientAccount(server());
      const fileModifiedAt = "2019-05-06T07:08:09.000Z";
      await account.client.stored("from the server", { name: "s.txt", fields: { folder: "/a/b", fileModifiedAt } });
      await account.client.stored("", { name: "empty on the server", fields: { folder: "/a", fileModifiedAt } });
      await account.client.folderId("empty folder on the server");
      const one = await newFolder(account);
      await one.write("a/local.txt", "from the computer", new Date("2001-02-03T04:05:06Z"));
      await one.write("b/old", "before 1980", new Date("1975-01-01T00:00:01Z"));
      await one.write("b/empty", "", new Date("2024-02-29T23:59:59Z"));
      await mkdir(join(one.path, "empty folder/in it"), { recursive: true });

      await one.sync();
      const tree = await one.tree();
      const seconds = Date.parse(fileModifiedAt) / 1000;
      expect(tree.get("a/b/s.txt")).toEqual({ content: digestOf("from the server"), seconds });
      expect(tree.get("a/empty on the server")).toEqual({ content: digestOf(""), seconds });
      expect(tree.get("empty folder on the server")).toEqual({ content: "folder", seconds: 0 });
      await expectOnServer(account, tree);
      const remote = await readServerTree(account);
      for (const [path, { content, seconds: localSeconds }] of tree) {
        if (content === "folder") continue;
        const file = await account.client.get(`/api/files/${remote.get(path)?.id ?? ""}`);
        expect([path, Date.parse(file.string("data.fileModifiedAt"))]).toEqual([path, localSeconds * 1000]);
      }

      const two = await newFolder(account);
      await two.sync();
      expect(await two.tree()).toEqual(tree);
    });

    test("an edit, a deletion and a rename reach another computer", async () => {
      const account = await newClientAccount(server());
      const [one, two] = [await newFolder(account), await newFolder(account)];
      await one.write("kept/edited.txt", "first");
      await one.write("kept/deleted.txt", "gone soon");
      await one.write("kept/before.txt", "renamed");
      await one.write("folder/deep/file.txt", "gone with its folder");
      await one.sync();
      await two.sync();
      const before = await readServerTree(account);

      await one.write("kept/edited.txt", "second, longer", new Date("2022-02-02T02:02:02Z"));
      await one.remove("kept/deleted.txt");
      await rename(join(one.path, "kept/before.txt"), join(one.path, "kept/after.txt"));
      await one.remove("folder");
      await one.sync();
      await two.sync();
      expect(await two.tree()).toEqual(await one.tree());
      expect(await two.read("kept/edited.txt")).toBe("second, longer");
      const after = await readServerTree(account);
      expect(after.get("kept/edited.txt")).toMatchObject({ id: before.get("kept/edited.txt")?.id ?? "", version: 2 });
      expect(after.get("kept/after.txt")?.id).toBe(before.get("kept/before.txt")?.id ?? "");
      // What a program deletes is in the trash.
      const trash = await account.client.get("/api/files/trash?limit=100");
      expect(trash.strings("data.files", "name")).toContainAllValues(["deleted.txt", "folder"]);
    });

    test("a moved folder with 50 files is moved on the server, without an upload or a download", async () => {
      const account = await newClientAccount(server());
      const [one, two] = [await newFolder(account), await newFolder(account)];
      for (let index = 0; index < 50; index += 1) await one.write(`from/photos/${index}.jpg`, `photo ${index}`);
      await mkdir(join(one.path, "to"));
      await one.sync();
      await two.sync();
      const before = await readServerTree(account);
      await rename(join(one.path, "from/photos"), join(one.path, "to/pictures"));
      const sent = await requestsDuring(server(), async () => one.sync());
      expect({ PUT: countOf(sent, "PUT"), MOVE: countOf(sent, "MOVE") }).toEqual({ PUT: 0, MOVE: 1 });
      const received = await requestsDuring(server(), async () => two.sync());
      expect(countOf(received, "PROPFIND")).toBeGreaterThan(0);
      expect(received.filter(({ method, path }) => method === "GET" && path.includes(".jpg"))).toEqual([]);
      expect(await two.tree()).toEqual(await one.tree());
      const after = await readServerTree(account);
      for (let index = 0; index < 50; index += 1) {
        expect(after.get(`to/pictures/${index}.jpg`)).toEqual(before.get(`from/photos/${index}.jpg`));
      }
    });

    test("changes by the API deep in the tree are found, without reading other folders", async () => {
      const account = await newClientAccount(server());
      const one = await newFolder(account);
      const deep = Array.from({ length: 20 }, (_, level) => `level ${level + 1}`).join("/");
      const id = await account.client.storedId("v1", { name: "x.txt", fields: { folder: `/${deep}` } });
      await account.client.storedId("other", { name: "y.txt", fields: { folder: "/z/y/x" } });
      await one.sync();
      expect((await account.client.putContent(id, "v2 by the API")).status).toBe(200);
      const changed = await requestsDuring(server(), async () => one.sync());
      expect(await one.read(`${deep}/x.txt`)).toBe("v2 by the API");
      // The root and the twenty folders of the path.
      expect(countOf(changed, "PROPFIND")).toBe(21);
      // An earlier version, as people restore it in the page.
      expectStatus(await account.client.post(`/api/files/${id}/versions/1/restore`), 200);
      await one.sync();
      expect(await one.read(`${deep}/x.txt`)).toBe("v1");
      expect((await account.client.put(`/api/files/${id}`, { folder: "/z/y", name: "moved.txt" })).status).toBe(200);
      const moved = await requestsDuring(server(), async () => one.sync());
      expect(await one.read("z/y/moved.txt")).toBe("v1");
      expect(moved.filter(({ method, path }) => method === "GET" && path.endsWith(".txt"))).toEqual([]);
      expect((await account.client.delete(`/api/files/${id}`)).status).toBe(200);
      await one.sync();
      await expectOnServer(account, await one.tree());
      // A whole folder goes to the trash, and comes back with what is below it.
      const folderId = (await readServerTree(account)).get("z/y")?.id ?? "";
      expectStatus(await account.client.post("/api/files/trash", { fileIds: [folderId] }), 200);
      await one.sync();
      expect([...(await one.tree()).keys()]).not.toContain("z/y");
      expectStatus(await account.client.post("/api/files/trash/restore", { fileIds: [folderId] }), 200);
      await one.sync();
      expect(await one.read("z/y/x/y.txt")).toBe("other");
      await expectOnServer(account, await one.tree());
    });

    test("an idle sync sends its own questions and exactly one PROPFIND", async () => {
      const account = await newClientAccount(server());
      const one = await newFolder(account);
      for (let index = 0; index < 10; index += 1) await one.write(`folder ${index}/file`, String(index));
      await one.sync();
      // The first sync after uploads may read the changed folders again.
      await one.sync();
      const idle = await requestsDuring(server(), async () => one.sync());
      const others = idle.filter(({ path }) => !/^\/(?:status\.php|ocs\/)/.test(path));
      expect(others.map(({ method, status }) => `${method} ${status}`)).toEqual(["PROPFIND 207"]);
      expect(idle.at(-1)).toEqual(others[0]);
      expect(idle.length).toBeLessThanOrEqual(4);
    });

    const count = 500;
    test(`${count} small files arrive whole on both sides`, async () => {
      const account = await newClientAccount(server());
      const [one, two] = [await newFolder(account), await newFolder(account)];
      for (let index = 0; index < count; index += 1) {
        await one.write(
          `small/${index % 7}/${index}.txt`,
          `content ${index}`,
          new Date(1_600_000_000_000 + index * 1000),
        );
      }
      await one.sync();
      await expectOnServer(account, await one.tree());
      await two.sync();
      expect(await two.tree()).toEqual(await one.tree());
    });

    test("a file of 60 MB arrives in chunks, whole and with its date", async () => {
      const account = await newClientAccount(server());
      const [one, two] = [await newFolder(account), await newFolder(account)];
      const content = randomContent(60 * MIB);
      await one.write("videos/film.mp4", content, new Date("2023-03-03T03:03:03Z"));
      const sent = await requestsDuring(server(), async () => one.sync());
      const isChunk = ({ path }: LoggedRequest) => path.includes("/uploads/");
      expect(countOf(sent.filter(isChunk), "PUT")).toBeGreaterThanOrEqual(2);
      expect(countOf(sent.filter(isChunk), "MOVE")).toBe(1);
      expect(sent.filter((request) => request.method === "PUT" && !isChunk(request))).toEqual([]);
      expect((await readServerTree(account)).get("videos/film.mp4")?.content).toBe(digestOf(content));
      // A second version of the same file, also in chunks.
      content[0] = (content[0] ?? 0) ^ 1;
      await one.write("videos/film.mp4", content, new Date("2023-04-04T04:04:04Z"));
      await one.sync();
      expect((await readServerTree(account)).get("videos/film.mp4")).toMatchObject({
        content: digestOf(content),
        version: 2,
      });
      await two.sync();
      expect(await two.tree()).toEqual(await one.tree());
    });

    test("a wrong password ends the sync at once and locks nobody out", async () => {
      const account = await newClientAccount(server());
      const one = await newFolder(account);
      await one.write("a.txt", "a");
      await one.sync();
      await one.write("b.txt", "b");
      for (let index = 0; index < 3; index += 1) {
        const requests = await requestsDuring(server(), async () => {
          expect((await one.trySync("wrong-password")).code).not.toBe(0);
        });
        // owncloudcmd tries the password six times, with two requests each.
        expect(requests.length).toBeLessThanOrEqual(15);
        const admitted = requests.filter(({ status }) => status !== 401 && status !== 429);
        expect(
          admitted.filter(({ path }) => !/^\/(?:status\.php|ocs\/v1\.php\/cloud\/capabilities)$/.test(path)),
        ).toEqual([]);
      }
      expect([...(await readServerTree(account)).keys()]).toEqual(["a.txt"]);
      // The person signs in, and a computer at the same address syncs with the right password.
      const { email, password } = account.account;
      expect((await server().visitor.post("/api/auth/signin", { email, password })).status).toBe(200);
      await one.sync();
      await expectOnServer(account, await one.tree());
    });
  });
}
