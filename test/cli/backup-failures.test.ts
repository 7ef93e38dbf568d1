// Backups on damaged disks, backups that are rejected, and the test of a backup (--drill).
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { open, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { backUp, eightFiles } from "../support/backup.ts";
import { checksumOf } from "../support/client.ts";
import { blobPath, temporaryFolders } from "../support/data-directory.ts";
import { eventually } from "../support/expect.ts";
import { runInProcess } from "../support/in-process.ts";
import { repositoryRoot, runLarder, sharedServer, testCommand, withServer } from "../support/server.ts";

// Each starts several processes.
setDefaultTimeout(60_000);

const folder = temporaryFolders();
const withEightFiles = eightFiles();

describe("a backup on a disk that lost data", () => {
  test("copies truncated blobs again", async () => {
    await withEightFiles(async (server, _, content) => {
      const dir = join(await folder(), "backup");
      for (const flags of [["--copy"], []]) {
        await backUp(server.dataDir, dir, flags);
        // As after fsck. A new file, so that no other hard link is truncated too.
        await rm(blobPath(dir, content));
        await writeFile(blobPath(dir, content), content.subarray(0, 10_000));
        const { code, summary } = await backUp(server.dataDir, dir, flags);
        expect([code, summary.already, summary.new, summary.lost]).toEqual([0, 7, 1, []]);
        expect(checksumOf(await readFile(blobPath(dir, content)))).toBe(checksumOf(content));
      }
      await rm(blobPath(dir, content));
      await writeFile(blobPath(dir, content), "cut");
      await rm(blobPath(server.dataDir, content));
      const { code, summary } = await backUp(server.dataDir, dir);
      expect([code, summary.lost.map(({ why }) => why)]).toEqual([1, ["missing"]]);
    });
  });

  test("writes a snapshot again if its digest is missing or different, although the database did not change", async () => {
    await withEightFiles(async (server) => {
      const dir = join(await folder(), "backup");
      for (const spoil of [rm, async (path: string) => writeFile(path, "")]) {
        const { summary } = await backUp(server.dataDir, dir);
        await spoil(join(dir, "snapshots", `${summary.snapshot}.sha256`));
        const again = await backUp(server.dataDir, dir);
        expect(existsSync(join(dir, "snapshots", `${again.summary.snapshot}.sha256`))).toBe(true);
        const { stdout } = await runInProcess(["restore", "--json", "--data", dir]);
        expect(JSON.parse(stdout).snapshots[0]).toMatchObject({ name: again.summary.snapshot, whole: true });
      }
    });
  });

  test("reports a damaged snapshot with --prune, and keeps its blobs", async () => {
    await withServer({ hasAccounts: true }, async (server) => {
      const { client } = await server.signUp();
      await client.storedId("one", { name: "one" });
      const dir = join(await folder(), "backup");
      const first = await backUp(server.dataDir, dir);
      await client.storedId("two", { name: "two" });
      await backUp(server.dataDir, dir);
      const old = join(dir, "snapshots", first.summary.snapshot);
      const bytes = await readFile(old);
      await writeFile(old, bytes.fill(0x5a, 8_192));
      await writeFile(join(dir, "blobs", "sha256", "stray"), "foreign");
      const { code, stdout, stderr } = await runLarder(["backup", dir, "--prune", "--data", server.dataDir]);
      expect({ code, stdout, stderr }).toMatchObject({
        code: 0,
        stderr: expect.stringContaining(first.summary.snapshot),
      });
      expect(existsSync(blobPath(dir, "one"))).toBe(true);
    });
  });
});

describe("--drill", () => {
  test("restores a backup to a temporary directory, downloads files, and changes nothing", async () => {
    await withEightFiles(async (server) => {
      const base = await folder();
      const dir = join(base, "backup");
      await backUp(server.dataDir, dir, ["--copy"]);
      const before = (await readdir(dir, { recursive: true })).toSorted();
      const { code, stdout } = await runLarder(["backup", "--drill", dir, "--json", "--data", server.dataDir]);
      expect(JSON.parse(stdout)).toMatchObject({ ok: true, users: 1, files: 8, fetched: 8, failures: [], missing: 0 });
      expect(code).toBe(0);
      expect((await readdir(dir, { recursive: true })).toSorted()).toEqual(before);
      expect(await readdir(base)).toEqual(["backup"]);
      // Without a directory: the current state.
      const now = await runLarder(["backup", "--drill", "--sample", "3", "--data", server.dataDir]);
      expect([now.code, now.stdout.includes("3 files")]).toEqual([0, true]);
    });
  });

  test("finds a flipped bit and a missing blob, and names their files", async () => {
    await withEightFiles(async (server, _, content) => {
      const dir = join(await folder(), "backup");
      await backUp(server.dataDir, dir, ["--copy"]);
      const path = blobPath(dir, content);
      const bytes = await readFile(path);
      bytes[50_000] = (bytes[50_000] ?? 0) ^ 1;
      await writeFile(path, bytes);
      await rm(blobPath(dir, "gone"));
      const { code, stdout } = await runLarder(["backup", "--drill", dir, "--data", server.dataDir]);
      expect(code).toBe(1);
      expect(stdout).toContain("flipped.bin");
      expect(stdout).toContain("gone.txt");
      expect(stdout).not.toContain("good.txt");
    });
  });

  test("that is interrupted leaves no keys, no blobs, and no server", async () => {
    await withEightFiles(async (server) => {
      const base = await folder();
      const dir = join(base, "backup");
      await backUp(server.dataDir, dir, ["--copy"]);
      // During the preparation, and after the server took its lock.
      for (const sign of ["larder.state", "larder.lock"]) {
        const words = [...testCommand(), "backup", "--drill", dir, "--data", server.dataDir];
        const child = Bun.spawn(words, { cwd: repositoryRoot, stdout: "ignore", stderr: "pipe" });
        const isThere = async () =>
          (await readdir(base)).some((name) => name.includes("-drill-") && existsSync(join(base, name, sign)));
        await eventually(
          `${sign} exists or the drill has ended`,
          async () => child.exitCode !== null || isThere(),
          60_000,
          1,
        );
        child.kill("SIGTERM");
        expect([await child.exited, await new Response(child.stderr).text()]).toEqual([
          2,
          expect.stringContaining("interrupted"),
        ]);
        expect(await readdir(base)).toEqual(["backup"]);
        const { stdout } = Bun.spawnSync(["sh", "-c", "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '"]);
        expect(stdout.toString()).not.toContain(`${dir}-drill-`);
      }
    });
  });
});

describe("a backup is rejected", () => {
  const server = sharedServer();

  test("of a database that its server is still creating", async () => {
    const dataDir = await folder();
    await writeFile(join(dataDir, "larder.db"), "");
    const { code, stderr } = await runLarder(["backup", join(await folder(), "b"), "--data", dataDir]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("is still empty. Start the server")]);
  });

  test("into a directory with other files, which stay as they are", async () => {
    const { dataDir } = server();
    const dir = await folder();
    await writeFile(join(dir, "thesis.txt"), "mine");
    const { code, stderr } = await runLarder(["backup", dir, "--data", dataDir]);
    expect(code).toBe(2);
    expect(stderr).toContain("not empty");
    expect(await readdir(dir)).toEqual(["thesis.txt"]);
  });

  test("into the backup of another server", async () => {
    await withServer({ hasAccounts: true }, async (other) => {
      const dir = join(await folder(), "backup");
      await backUp(server().dataDir, dir);
      const { code, stderr } = await runLarder(["backup", dir, "--data", other.dataDir]);
      expect(code).toBe(2);
      expect(stderr).toContain("another");
    });
  });

  test("into a data directory, into a directory inside the other, and without a directory", async () => {
    const { dataDir } = server();
    const inside = await runLarder(["backup", join(dataDir, "b"), "--data", dataDir]);
    const same = await runInProcess(["backup", dataDir, "--data", dataDir]);
    const none = await runInProcess(["backup", "--data", dataDir]);
    const link = join(await folder(), "link");
    await symlink(dataDir, link);
    const linked = await runInProcess(["backup", join(link, "b"), "--data", dataDir]);
    expect([inside.code, same.code, none.code, linked.code]).toEqual([2, 2, 2, 2]);
    expect(existsSync(join(dataDir, "b"))).toBe(false);
  });

  test("during another backup to the same directory", async () => {
    const { dataDir } = server();
    const dir = join(await folder(), "backup");
    await backUp(dataDir, dir);
    const lock = new Database(join(dir, "larder.lock"));
    lock.run("BEGIN EXCLUSIVE");
    const { code, stderr } = await runLarder(["backup", dir, "--data", dataDir]);
    lock.close();
    expect([code, stderr.includes("is using")]).toEqual([2, true]);
  });

  test("of a damaged database; the earlier backup stays, and the message says how to restore it", async () => {
    await withServer({ hasAccounts: true }, async (server) => {
      const dir = join(await folder(), "backup");
      await backUp(server.dataDir, dir);
      await server.stop();
      const database = await open(join(server.dataDir, "larder.db"), "r+");
      await database.write(Buffer.alloc(300_000, 0x5a), 0, 300_000, 40_960);
      await database.close();
      for (const target of [[dir], ["-"], ["--drill"]]) {
        const { code, stderr } = await runLarder(["backup", ...target, "--data", server.dataDir]);
        expect(code).toBe(2);
        expect(stderr).toMatch(/larder\.db is damaged.*larder restore --data/s);
        expect(stderr).not.toContain("Unexpected error");
      }
      await withServer({ dataDir: dir }, async (copy) => expect(copy.log).toContain("Restored database:"));
    });
  });

  test("without a data directory", async () => {
    const { code, stderr } = await runInProcess(["backup", await folder(), "--data", "/nonexistent/larder"]);
    expect(code).toBe(2);
    expect(stderr).toContain("/nonexistent/larder");
  });
});
