// The Nextcloud and ownCloud desktop clients in their command-line form: where two sides change the same file, and with names
// that are hard to write into an address, no content is lost.
import { afterAll, expect, test } from "bun:test";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { digestOf } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import {
  type ClientAccount,
  clientServer,
  newClientAccount,
  readServerTree,
  requestsDuring,
} from "./support/account.ts";
import { describeWith } from "./support/programs.ts";
import { SYNC_PROGRAMS, SyncedFolder } from "./support/synced-folder.ts";

const server = clientServer();
const folders: SyncedFolder[] = [];

afterAll(async () => {
  for (const folder of folders) await folder.dispose();
});

/** Names with characters that addresses, XML or shells use for something else. */
const HOSTILE_NAMES = [
  "100%.txt",
  "%41.txt",
  "%2F and %00.txt",
  "a#b.txt",
  "a+b & c.txt",
  "x;y=z,@$!.txt",
  "(round) [square] {curly}.txt",
  "quote' and `tick`.txt",
  "emoji 😀 👩‍👩‍👧 ✈️.txt",
  "Größe, Ελλάδα, 写真, صور.txt",
  ".hidden",
  "two  spaces.txt",
  "&amp;.txt",
  // Names that Windows does not allow.
  "what?.txt",
  'double " quote.txt',
  "a<b>c.txt",
  "a:b.txt",
  "a|b*.txt",
  "trailing dot.",
  "CON",
  // The programs write a download to a name with eleven more bytes.
  `${"n".repeat(240)}.txt`,
  "ü".repeat(122),
];

/** Names that begin or end with a space. nextcloudcmd downloads but does not upload them. */
const SPACED_NAMES = ["trailing space ", " leading space.txt"];

/** Names that no program downloads, or that no server stores. A program may leave them alone, but must not lose what has them. */
const SKIPPED_NAMES = [`${"n".repeat(251)}.txt`, `${"ü".repeat(127)}x`];
const LOCAL_NAMES = ["back\\slash.txt", "tab\there.txt"];

/** The contents of all files in both computers and on the server. */
async function allContents(account: ClientAccount, computers: SyncedFolder[]): Promise<Set<string>> {
  const trees = await Promise.all(computers.map(async (computer) => computer.tree()));
  const remote = await readServerTree(account);
  return new Set([...trees, remote].flatMap((tree) => [...tree.values()].map(({ content }) => content)));
}

/** The contents of all versions of the files on the server. */
async function serverVersions(account: ClientAccount): Promise<string[]> {
  const files = [...(await readServerTree(account)).values()];
  const lists = await Promise.all(files.map(async ({ id }) => account.client.get(`/api/files/${id}/versions`)));
  return lists.flatMap((list) => list.strings("data.versions", "checksum")).map((sum) => sum.replace("sha256:", ""));
}

/** Path → content, sorted by path. */
function contentsByPath(tree: Iterable<readonly [string, { content: string }]>): Map<string, string> {
  const pairs = [...tree].map(([path, { content }]) => [path, content] as const);
  return new Map(pairs.sort(([a], [b]) => (a < b ? -1 : 1)));
}

for (const program of SYNC_PROGRAMS) {
  const newFolder = async (account: ClientAccount) => {
    const folder = await SyncedFolder.create(program, server(), account);
    folders.push(folder);
    return folder;
  };

  describeWith(program, [program], () => {
    test("of two edits of a file, the first stays and the second becomes a conflict copy", async () => {
      const account = await newClientAccount(server());
      const [one, two] = [await newFolder(account), await newFolder(account)];
      await one.write("plan.txt", "base", new Date("2020-01-01T00:00:00Z"));
      await one.sync();
      await two.sync();
      await one.write("plan.txt", "edit of one", new Date("2020-01-02T00:00:00Z"));
      await two.write("plan.txt", "edit of two, longer", new Date("2020-01-03T00:00:00Z"));
      await one.sync();
      await two.sync();
      await one.sync();
      expect(await two.read("plan.txt")).toBe("edit of one");
      expect(await one.read("plan.txt")).toBe("edit of one");
      const local = [...(await two.tree())].filter(([path]) => /conflict/i.test(path));
      expect(local.map(([, { content }]) => content)).toEqual([digestOf("edit of two, longer")]);
      const remote = await readServerTree(account);
      expect([...remote.keys()]).toEqual(["plan.txt"]);
      expect(remote.get("plan.txt")).toMatchObject({ content: digestOf("edit of one"), version: 2 });
    });

    test("an edit by the API between listing and upload ends in a conflict, not in an overwritten file", async () => {
      const account = await newClientAccount(server());
      const one = await newFolder(account);
      await one.write("z/plan.txt", "base", new Date("2020-01-01T00:00:00Z"));
      await one.sync();
      const id = (await readServerTree(account)).get("z/plan.txt")?.id ?? "";
      // The client lists everything, then sends these one after another, and the edited file last.
      for (let index = 0; index < 30; index += 1) await one.write(`a/${index}.txt`, `new ${index}`);
      await one.write("z/plan.txt", "edit on the computer", new Date("2020-01-02T00:00:00Z"));
      one.env = { OWNCLOUD_MAX_PARALLEL: "1" };
      const requests = await requestsDuring(server(), async () => {
        const from = server().log.length;
        const child = one.start();
        await eventually(
          "an upload",
          () => /"method":"PUT","path":"[^"]*\/a\//.test(server().log.slice(from)),
          30_000,
          2,
        );
        expectStatus(await account.client.putContent(id, "edit in the page"), 200);
        await child.exited;
      });
      const sent = requests.filter(({ method, path }) => method === "PUT" && path.endsWith("/plan.txt"));
      expect(sent[0]?.status).toBe(412);
      expect((await readServerTree(account)).get("z/plan.txt")).toMatchObject({
        content: digestOf("edit in the page"),
        version: 2,
      });
      await one.forgetFailures();
      await one.sync();
      const contents = await allContents(account, [one]);
      expect(contents).toContain(digestOf("edit in the page"));
      expect(contents).toContain(digestOf("edit on the computer"));
      expect(await one.read("z/plan.txt")).toBe("edit in the page");
    });

    test("an edit survives a deletion on the other side, in both directions", async () => {
      const account = await newClientAccount(server());
      const [one, two] = [await newFolder(account), await newFolder(account)];
      for (const path of ["deleted by one.txt", "deleted by two.txt", "folder/edited.txt"])
        await one.write(path, "base");
      await one.sync();
      await two.sync();
      await one.remove("deleted by one.txt");
      await one.remove("folder");
      await one.write("deleted by two.txt", "edit of one", new Date("2022-01-01T00:00:00Z"));
      await two.remove("deleted by two.txt");
      await two.write("deleted by one.txt", "edit of two", new Date("2022-01-01T00:00:00Z"));
      await two.write("folder/edited.txt", "edit in a deleted folder", new Date("2022-01-01T00:00:00Z"));
      await one.sync();
      for (let run = 0; run < 2; run += 1) {
        await two.sync();
        await one.sync();
      }
      const contents = await allContents(account, [two]);
      for (const edit of ["edit of one", "edit of two", "edit in a deleted folder"]) {
        expect(contents).toContain(digestOf(edit));
      }
      expect(await one.tree()).toEqual(await two.tree());
    });

    test("hostile names of files and folders arrive unchanged in both directions", async () => {
      const account = await newClientAccount(server());
      const [one, two] = [await newFolder(account), await newFolder(account)];
      for (const name of HOSTILE_NAMES) {
        await one.write(name, `local ${name}`);
        await one.write(`in folders/${name}/x`, `in ${name}`);
        await account.client.stored(`remote ${name}`, {
          name,
          fields: { folder: `/from the server/${name.slice(0, 60)}` },
        });
      }
      await one.sync();
      await two.sync();
      await one.sync();
      const names = new Set((await readServerTree(account)).keys());
      for (const name of HOSTILE_NAMES) {
        expect(names).toContain(name);
        expect(names).toContain(`in folders/${name}/x`);
      }
      expect(await two.tree()).toEqual(await one.tree());
      expect(await two.read(`from the server/100%.txt/100%.txt`)).toBe("remote 100%.txt");
      expect([...(await one.tree()).keys()].sort()).toEqual([...names].sort());
    });

    test("files whose names a client may skip are not lost", async () => {
      const account = await newClientAccount(server());
      const one = await newFolder(account);
      const named = [...SPACED_NAMES, ...SKIPPED_NAMES];
      for (const name of [...named, ...LOCAL_NAMES]) await one.write(`local/${name}`, `local ${name}`);
      for (const name of named) await account.client.stored(`remote ${name}`, { name, fields: { folder: "/remote" } });
      // A skipped name must not stop the others.
      await one.write("local/other.txt", "other");
      for (let run = 0; run < 2; run += 1) await one.trySync();
      const [local, remote] = [await one.tree(), await readServerTree(account)];
      for (const name of [...named, ...LOCAL_NAMES]) {
        expect(local.get(`local/${name}`)?.content).toBe(digestOf(`local ${name}`));
      }
      for (const name of named) expect(remote.get(`remote/${name}`)?.content).toBe(digestOf(`remote ${name}`));
      for (const name of SPACED_NAMES) {
        expect(local.get(`remote/${name}`)?.content).toBe(digestOf(`remote ${name}`));
        if (program === "owncloudcmd") expect(remote.get(`local/${name}`)?.content).toBe(digestOf(`local ${name}`));
      }
      expect(remote.get("local/other.txt")?.content).toBe(digestOf("other"));
    });

    // A folder is replaced only by the API: both programs sometimes hang after they have deleted one, before they send the file.
    test("a file that becomes a folder, and a folder that becomes a file, lose nothing", async () => {
      const account = await newClientAccount(server());
      const [one, two] = [await newFolder(account), await newFolder(account)];
      await one.write("file", "a file");
      await one.write("api file", "a file, for the API");
      await one.write("api folder/in it.txt", "in the folder");
      // Otherwise nextcloudcmd waits for an answer, because all files would go.
      await one.write("unchanged", "unchanged");
      await one.sync();
      await two.sync();
      await one.remove("file");
      await one.write("file/in it.txt", "in the new folder");
      const before = await readServerTree(account);
      const fileIds = ["api file", "api folder"].map((path) => before.get(path)?.id);
      expectStatus(await account.client.post("/api/files/trash", { fileIds }), 200);
      await account.client.stored("by the API", { name: "in it.txt", fields: { folder: "/api file" } });
      await account.client.stored("a file by the API", { name: "api folder" });
      for (let run = 0; run < 2; run += 1) for (const computer of [one, two]) await computer.sync();
      const expected = new Map([
        ["api file", "folder"],
        ["api file/in it.txt", digestOf("by the API")],
        ["api folder", digestOf("a file by the API")],
        ["file", "folder"],
        ["file/in it.txt", digestOf("in the new folder")],
        ["unchanged", digestOf("unchanged")],
      ]);
      expect(contentsByPath(await readServerTree(account))).toEqual(expected);
      for (const computer of [one, two]) {
        // A computer may have a conflict copy of the folder that was replaced.
        const others = [...(await computer.tree())].filter(([path]) => !/conflict/i.test(path));
        expect(contentsByPath(others)).toEqual(expected);
      }
    });

    test("names are renamed to other capitals without an upload, and stay two files where they differ only in these", async () => {
      const account = await newClientAccount(server());
      const [one, two] = [await newFolder(account), await newFolder(account)];
      for (const path of ["readme.txt", "photos/a.jpg", "by the api.txt", "same.txt", "Same.txt"]) {
        await one.write(path, `content of ${path}`);
      }
      await one.sync();
      await two.sync();
      await rename(join(one.path, "readme.txt"), join(one.path, "README.txt"));
      await rename(join(one.path, "photos"), join(one.path, "Photos"));
      const { id = "" } = (await readServerTree(account)).get("by the api.txt") ?? {};
      expectStatus(await account.client.put(`/api/files/${id}`, { name: "By the API.txt" }), 200);
      const requests = await requestsDuring(server(), async () => {
        for (let run = 0; run < 2; run += 1) for (const computer of [one, two]) await computer.sync();
      });
      const moved = requests.filter(
        ({ method, path }) => /^(?:PUT|DELETE|MOVE)$/.test(method) || (method === "GET" && path.endsWith(".txt")),
      );
      expect(moved.map(({ method }) => method)).toEqual(["MOVE", "MOVE"]);
      expect([...(await one.tree()).keys()]).toEqual([
        "By the API.txt",
        "Photos",
        "Photos/a.jpg",
        "README.txt",
        "Same.txt",
        "same.txt",
      ]);
      expect(await two.tree()).toEqual(await one.tree());
      expect(contentsByPath(await readServerTree(account))).toEqual(contentsByPath(await one.tree()));
    });

    test("the two Unicode forms of a name in one folder lose nothing", async () => {
      const account = await newClientAccount(server());
      const one = await newFolder(account);
      const [composed, decomposed] = ["caf\u00e9.txt", "cafe\u0301.txt"];
      await writeFile(join(one.path, composed), "composed");
      await writeFile(join(one.path, decomposed), "decomposed, longer");
      const both = [digestOf("composed"), digestOf("decomposed, longer")];
      // The program uploads both at once. If the decomposed name arrives first, its content is the version before.
      const storedContents = async () => [...(await allContents(account, [one])), ...(await serverVersions(account))];
      for (let run = 0; run < 3; run += 1) {
        await one.trySync();
        const contents = await storedContents();
        for (const content of both) expect(contents).toContain(content);
      }
      expect([...(await readServerTree(account)).keys()]).toEqual([composed]);
      // An edit by the API of the file that the server has replaces its content on both sides, and nothing else.
      const { id = "", content: uploaded = "" } = (await readServerTree(account)).get(composed) ?? {};
      expect((await account.client.putContent(id, "edit in the page")).status).toBe(200);
      for (let run = 0; run < 2; run += 1) await one.trySync();
      const contents = await storedContents();
      const others = both.filter((content) => content !== uploaded);
      for (const content of [digestOf("edit in the page"), ...others]) expect(contents).toContain(content);
    });

    test("a file whose name is decomposed is edited and renamed as one file", async () => {
      const account = await newClientAccount(server());
      const [one, two] = [await newFolder(account), await newFolder(account)];
      const decomposed = "u\u0308bung.txt";
      await one.write(decomposed, "first");
      await one.sync();
      await one.sync();
      const [name = ""] = [...(await one.tree()).keys()];
      await one.write(name, "second, longer", new Date("2024-01-01T00:00:00Z"));
      await one.sync();
      await two.sync();
      const remote = await readServerTree(account);
      expect([...remote.keys()]).toEqual([decomposed.normalize("NFC")]);
      expect([...remote.values()].map(({ content }) => content)).toEqual([digestOf("second, longer")]);
      expect([...(await two.tree()).values()].map(({ content }) => content)).toEqual([digestOf("second, longer")]);
    });
  });
}
