// davfs2, which mounts an account as a file system of Linux.
import { expect, test } from "bun:test";
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { digestOf, randomContent } from "../support/client.ts";
import { temporaryDirectory } from "../support/server.ts";
import { type ClientAccount, clientServer, newClientAccount, readServerTree } from "./support/account.ts";
import { describeWith, mustRun, runProgram } from "./support/programs.ts";

const server = clientServer();

/** Why this machine cannot mount; undefined if it can. */
const mountingFails = await whyMountingFails();

async function whyMountingFails(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "only root may mount";
  // The device exists in containers that may not open it.
  const { code, output } = await runProgram(["sh", "-c", "exec 3<>/dev/fuse"]);
  return code === 0 ? undefined : output.trim();
}

/** Mounts an account, calls `use` with the path, and unmounts, which sends everything that was written. */
async function mounted(account: ClientAccount, use: (path: string) => Promise<void>): Promise<void> {
  const directory = await temporaryDirectory();
  const [path, configuration] = [join(directory, "mounted"), join(directory, "davfs2.conf")];
  await mkdir(path);
  // Sends a closed file at once, instead of after ten seconds.
  await writeFile(configuration, "delay_upload 0\n");
  const url = `${server().url}/dav/`;
  const stdin = `${account.user}\n${account.password}\n`;
  try {
    await mustRun(["mount.davfs", "-o", `conf=${configuration},uid=0,gid=0`, url, path], { stdin });
    try {
      await use(path);
    } finally {
      await mustRun(["umount", path]);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

describeWith(
  "davfs2",
  ["mount.davfs"],
  () => {
    test("files are copied, renamed, read and removed, and unmounting sends the rest", async () => {
      const account = await newClientAccount(server());
      await account.client.stored("from the server", { name: "s.txt", fields: { folder: "/a" } });
      const large = randomContent(2 * 1024 * 1024);
      await mounted(account, async (path) => {
        expect(await readFile(join(path, "a/s.txt"), "utf8")).toBe("from the server");
        await mkdir(join(path, "new"));
        await writeFile(join(path, "new/large.bin"), large);
        await cp(join(path, "a/s.txt"), join(path, "new/copy #1.txt"));
        await rename(join(path, "new/copy #1.txt"), join(path, "new/renamed.txt"));
        await writeFile(join(path, "new/last.txt"), "written just before unmounting");
        await rm(join(path, "a/s.txt"));
        expect((await readdir(join(path, "new"))).sort()).toEqual(["large.bin", "last.txt", "renamed.txt"]);
      });
      const tree = await readServerTree(account);
      expect(tree.get("new/large.bin")?.content).toBe(digestOf(large));
      expect(tree.get("new/renamed.txt")?.content).toBe(digestOf("from the server"));
      expect(tree.get("new/last.txt")?.content).toBe(digestOf("written just before unmounting"));
      expect(tree.get("a/s.txt")).toBeUndefined();
    });

    test("an editor that saves by renaming a temporary file makes a new version of the same file", async () => {
      const account = await newClientAccount(server());
      const id = await account.client.storedId("first", { name: "letter.txt" });
      await mounted(account, async (path) => {
        await writeFile(join(path, ".letter.txt.swp"), "second");
        await rename(join(path, ".letter.txt.swp"), join(path, "letter.txt"));
        expect(await readFile(join(path, "letter.txt"), "utf8")).toBe("second");
      });
      const tree = await readServerTree(account);
      expect([...tree.keys()]).toEqual(["letter.txt"]);
      expect(tree.get("letter.txt")).toMatchObject({ id, content: digestOf("second") });
    });
  },
  mountingFails,
);
