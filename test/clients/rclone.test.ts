// rclone, with each of the kinds of server that it distinguishes ("vendor").
import { afterAll, expect, test } from "bun:test";
import { mkdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { digestOf, randomContent } from "../support/client.ts";
import { temporaryDirectory } from "../support/server.ts";
import {
  type ClientAccount,
  clientServer,
  newClientAccount,
  readServerTree,
  requestsDuring,
} from "./support/account.ts";
import { describeWith, mustRun, runProgram } from "./support/programs.ts";

const server = clientServer();
const directories: string[] = [];

afterAll(async () => {
  for (const directory of directories) await rm(directory, { recursive: true, force: true });
});

/** A remote named `larder`, created with the command that the settings page shows. Returns the variables for it. */
async function remoteOf(account: ClientAccount, vendor: string, path: string): Promise<Record<string, string>> {
  const env = { RCLONE_CONFIG: join(await newDirectory(), "rclone.conf") };
  const fields = [`url=${server().url}${path}`, `vendor=${vendor}`, `user=${account.user}`, `pass=${account.password}`];
  await mustRun(["rclone", "config", "create", "larder", "webdav", ...fields, "--obscure"], { env });
  return env;
}

async function newDirectory(): Promise<string> {
  const directory = await temporaryDirectory();
  directories.push(directory);
  return directory;
}

const VENDORS: [vendor: string, path: (user: string) => string][] = [
  ["other", () => "/dav/"],
  ["nextcloud", (user) => `/remote.php/dav/files/${encodeURIComponent(user)}`],
  ["owncloud", () => "/remote.php/webdav/"],
];

describeWith("rclone", ["rclone"], () => {
  for (const [vendor, pathOf] of VENDORS) {
    test(`copies, syncs, checks, moves and counts as vendor ${vendor}`, async () => {
      const account = await newClientAccount(server());
      const env = await remoteOf(account, vendor, pathOf(account.user));
      const rclone = async (...words: string[]) => mustRun(["rclone", "--retries", "1", ...words], { env });
      const [from, back] = [await newDirectory(), await newDirectory()];
      await mkdir(join(from, "sub/deep"), { recursive: true });
      const large = randomContent(3 * 1024 * 1024);
      const contents = {
        "a.txt": "a",
        "sub/b & c #1.txt": "b",
        "sub/deep/é 😀 100%?.txt": "c",
        "sub/deep/empty": "",
        "sub/large.bin": large,
      };
      const modified = new Date("2020-01-02T03:04:05Z");
      for (const [path, content] of Object.entries(contents)) {
        await writeFile(join(from, path), content);
        await utimes(join(from, path), modified, modified);
      }

      await rclone("copy", from, "larder:backup");
      const tree = await readServerTree(account);
      for (const [path, content] of Object.entries(contents)) {
        expect(tree.get(`backup/${path}`)?.content).toBe(digestOf(content));
      }
      await rclone("check", "--download", from, "larder:backup");
      await rclone("check", from, "larder:backup");
      if (vendor !== "other") {
        const listed = await rclone("lsf", "--recursive", "--files-only", "--format", "pt", "larder:backup");
        for (const path of Object.keys(contents)) expect(listed).toContain(`${path};2020-01-02 03:04:05\n`);
      }

      // A second sync sends nothing that is already there.
      await writeFile(join(from, "a.txt"), "changed a");
      const differing = ["check", "--download", from, "larder:backup"];
      expect((await runProgram(["rclone", "--retries", "1", ...differing], { env })).code).toBe(1);
      await rm(join(from, "sub/deep/empty"));
      const requests = await requestsDuring(server(), async () => rclone("sync", from, "larder:backup"));
      const puts = requests.filter(({ method }) => method === "PUT").map(({ path }) => path.split("/").at(-1));
      // Without a vendor that accepts dates, rclone compares only sizes.
      expect(puts).toEqual(["a.txt"]);
      expect((await readServerTree(account)).get("backup/sub/deep/empty")).toBeUndefined();

      // The server moves and copies. Nothing is sent or fetched.
      const before = await readServerTree(account);
      const moving = await requestsDuring(server(), async () => {
        await rclone("move", "larder:backup/sub", "larder:renamed");
        await rclone("copyto", "larder:renamed/large.bin", "larder:copy.bin");
      });
      expect(moving.filter(({ method }) => method === "MOVE").length).toBe(1);
      expect(moving.filter(({ method }) => method === "COPY").length).toBe(1);
      expect(moving.filter(({ method }) => method === "PUT" || method === "GET")).toEqual([]);
      const after = await readServerTree(account);
      for (const path of ["b & c #1.txt", "deep/é 😀 100%?.txt", "large.bin"]) {
        expect(after.get(`renamed/${path}`)).toEqual(before.get(`backup/sub/${path}`));
      }
      expect(after.get("copy.bin")?.content).toBe(digestOf(large));

      await rclone("copy", "larder:renamed", back);
      expect(digestOf(await readFile(join(back, "large.bin")))).toBe(digestOf(large));
      if (vendor !== "other") expect((await stat(join(back, "large.bin"))).mtime).toEqual(modified);

      const about: Record<string, unknown> = JSON.parse(await rclone("about", "--json", "larder:"));
      // With the first version of a.txt, which has one byte.
      const usedBytes = [...after.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 1);
      expect(about["used"]).toBe(usedBytes);
      expect(about["total"]).toBe(usedBytes + Number(about["free"]));
      await rclone("purge", "larder:renamed");
      expect([...(await readServerTree(account)).keys()].filter((path) => path.startsWith("renamed"))).toEqual([]);
    });
  }

  test("a wrong password is an error and stores nothing", async () => {
    const account = await newClientAccount(server());
    const env = await remoteOf({ ...account, password: "wrong" }, "other", "/dav/");
    const from = await newDirectory();
    await writeFile(join(from, "a.txt"), "a");
    const { code } = await runProgram(["rclone", "--retries", "1", "copy", from, "larder:x"], { env });
    expect(code).not.toBe(0);
    expect(await readServerTree(account)).toEqual(new Map());
  });
});
