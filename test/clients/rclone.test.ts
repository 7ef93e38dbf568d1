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
      const contents = { "a.txt": "a", "sub/b & c #1.txt": "b", "sub/deep/empty": "", "sub/large.bin": large };
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

      // A second sync sends nothing that is already there.
      await writeFile(join(from, "a.txt"), "changed a");
      await rm(join(from, "sub/deep/empty"));
      const requests = await requestsDuring(server(), async () => rclone("sync", from, "larder:backup"));
      const puts = requests.filter(({ method }) => method === "PUT").map(({ path }) => path.split("/").at(-1));
      // Without a vendor that accepts dates, rclone compares sizes and sends only what changed, too.
      expect(puts).toContain("a.txt");
      if (vendor !== "other") expect(puts).toEqual(["a.txt"]);
      expect((await readServerTree(account)).get("backup/sub/deep/empty")).toBeUndefined();

      await rclone("moveto", "larder:backup/sub", "larder:renamed");
      expect([...(await readServerTree(account)).keys()]).toContain("renamed/b & c #1.txt");
      await rclone("copyto", "larder:renamed/large.bin", "larder:copy.bin");
      expect((await readServerTree(account)).get("copy.bin")?.content).toBe(digestOf(large));

      await rclone("copy", "larder:renamed", back);
      expect(digestOf(await readFile(join(back, "large.bin")))).toBe(digestOf(large));
      if (vendor !== "other") expect((await stat(join(back, "large.bin"))).mtime).toEqual(modified);

      const about: Record<string, unknown> = JSON.parse(await rclone("about", "--json", "larder:"));
      expect(Number(about["used"])).toBeGreaterThanOrEqual(3 * 1024 * 1024);
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
