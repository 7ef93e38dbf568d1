import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { cp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { backUp, eightFiles } from "../support/backup.ts";
import { checksumOf, Client, digestOf, randomContent } from "../support/client.ts";
import { blobPath, temporaryFolders } from "../support/data-directory.ts";
import { eventually } from "../support/expect.ts";
import { runInProcess } from "../support/in-process.ts";
import { TestS3 } from "../support/s3-server.ts";
import { repositoryRoot, runLarder, testCommand, withServer } from "../support/server.ts";

// Each starts several processes.
setDefaultTimeout(60_000);

const folder = temporaryFolders();
const withEightFiles = eightFiles();

/** The number of blobs in a data directory. */
async function countBlobs(data: string): Promise<number> {
  const names = await readdir(join(data, "blobs", "sha256"), { recursive: true });
  return names.filter((name) => /[0-9a-f]{64}$/.test(name)).length;
}

async function expectDownloads(client: Client, files: Map<string, Uint8Array>): Promise<void> {
  for (const [id, content] of files) {
    const response = await client.get(`/api/files/${id}/download`);
    expect([response.status, checksumOf(response.bytes)]).toEqual([200, checksumOf(content)]);
  }
}

describe("a backup", () => {
  test("of a server starts in another directory, with the state of its moment", async () => {
    await withServer({}, async (server) => {
      const { client, email, password } = await server.signUp();
      const files = new Map<string, Uint8Array>();
      await client.folderId("Photos");
      for (let index = 0; index < 12; index++) {
        const content = randomContent(index === 0 ? 3_000_000 : 1_000 * index);
        files.set(await client.storedId(content, { name: `f${index}`, fields: { folder: "/Photos" } }), content);
      }
      const dir = join(await folder(), "backup");
      const { code, summary } = await backUp(server.dataDir, dir, [], runLarder);
      expect({ code, ok: summary.ok, contents: summary.contents, new: summary.new }).toEqual({
        code: 0,
        ok: true,
        contents: 12,
        new: 12,
      });
      const late = await client.storedId("after the backup", { name: "late" });
      await withServer({ dataDir: dir }, async (copy) => {
        expect(copy.log).toContain("backup");
        expect(copy.log).toMatch(/Restored database:.*users.*1.*files.*12/);
        const response = await copy.visitor.post("/api/auth/signin", { email, password });
        expect(response.status).toBe(200);
        const same = new Client(copy, response.string("token"));
        await expectDownloads(same, files);
        expect(await same.names("/Photos")).toHaveLength(12);
        expect((await same.get(`/api/files/${late}`)).status).toBe(404);
      });
    });
  });

  test("of the same state again writes no blob", async () => {
    await withServer({ hasAccounts: true }, async (server) => {
      const { client } = await server.signUp();
      for (let index = 0; index < 5; index++) await client.storedId(randomContent(2_000), { name: `f${index}` });
      const dir = join(await folder(), "backup");
      await backUp(server.dataDir, dir);
      const { summary } = await backUp(server.dataDir, dir);
      expect([summary.contents, summary.already, summary.new, summary.newBytes]).toEqual([5, 5, 0, 0]);
      await client.storedId(randomContent(2_000), { name: "one more" });
      const third = await backUp(server.dataDir, dir);
      expect([third.summary.already, third.summary.new]).toEqual([5, 1]);
    });
  });

  test("of a stopped server with an unchanged database adds no snapshot", async () => {
    await withEightFiles(async (server) => {
      const dir = join(await folder(), "backup");
      const first = await backUp(server.dataDir, dir);
      const second = await backUp(server.dataDir, dir);
      expect([second.summary.snapshots, second.summary.snapshot]).toEqual([1, first.summary.snapshot]);
    });
  });

  test("of a killed server is complete", async () => {
    await withServer({ hasAccounts: true }, async (server) => {
      const { client } = await server.signUp();
      await client.storedId("one", { name: "one" });
      await server.kill9();
      const { summary } = await backUp(server.dataDir, join(await folder(), "backup"));
      expect([summary.contents, summary.new]).toEqual([1, 1]);
    });
  });

  test("shares no file with the data directory, even after an earlier one with --link", async () => {
    await withServer({ hasAccounts: true }, async (server) => {
      const { client } = await server.signUp();
      await client.storedId("linked", { name: "one" });
      // On the file system of the data directory, which is a temporary folder too.
      const dir = join(await folder(), "backup");
      const inodes = async (content: string) => {
        const [copy, own] = await Promise.all([dir, server.dataDir].map(async (one) => stat(blobPath(one, content))));
        return copy?.ino === own?.ino;
      };
      const first = await runLarder(["backup", dir, "--link", "--json", "--data", server.dataDir]);
      expect(JSON.parse(first.stdout)).toMatchObject({ linked: 1, copied: 0, unshared: 0 });
      expect(JSON.parse(first.stdout).warnings).toEqual([
        expect.stringContaining("A blob damaged there is damaged in this"),
      ]);
      expect(await inodes("linked")).toBe(true);
      await client.storedId("copied", { name: "two" });
      const { stdout } = await runLarder(["backup", dir, "--data", server.dataDir]);
      expect(stdout).toMatch(/^To (copy|clone): 2 blobs, 12 B/);
      expect(stdout).toContain("Replaced 1 hard link to");
      expect([await inodes("linked"), await inodes("copied")]).toEqual([false, false]);
      const third = await backUp(server.dataDir, dir);
      expect([third.summary.already, third.summary.new, third.summary.linked]).toEqual([2, 0, 0]);
      // With --link again, existing copies stay.
      const linked = await backUp(server.dataDir, dir, ["--link"]);
      expect([linked.summary.already, await inodes("linked")]).toEqual([2, false]);
    });
  });

  test("on the same file system repairs a blob that was damaged in place", async () => {
    await withServer({ hasAccounts: true }, async (server) => {
      const { client } = await server.signUp();
      const content = randomContent(40_000);
      const id = await client.storedId(content, { name: "one" });
      // On the file system of the data directory, which is a temporary folder too.
      const dir = join(await folder(), "backup");
      await backUp(server.dataDir, dir);
      const path = blobPath(server.dataDir, content);
      const damaged = Uint8Array.from(content);
      damaged[20_000] = (damaged[20_000] ?? 0) ^ 1;
      // In place: a new file would leave the other hard links as they were.
      await writeFile(path, damaged);
      expect((await server.larder(["verify"])).code).toBe(1);
      const healed = await server.larder(["heal", "--from", dir]);
      expect({ code: healed.code, stderr: healed.stderr }).toEqual({ code: 0, stderr: "" });
      await expectDownloads(client, new Map([[id, content]]));
      expect((await server.larder(["verify"])).code).toBe(0);
    });
  });

  test("reports a damaged blob by its file names and keeps its own good copy", async () => {
    await withServer({ hasAccounts: true }, async (server) => {
      const { client } = await server.signUp();
      await client.storedId("good bytes", { name: "good.txt" });
      const dir = join(await folder(), "backup");
      await backUp(server.dataDir, dir, ["--copy"]);
      await client.storedId("other bytes", { name: "other.txt" });
      for (const content of ["good bytes", "other bytes"]) {
        await writeFile(blobPath(server.dataDir, content), content.replace("bytes", "BYTES"));
      }
      const { code, summary } = await backUp(server.dataDir, dir, ["--copy"]);
      expect(code).toBe(1);
      expect(summary.lost).toEqual([
        { checksum: checksumOf("other bytes"), size: 11, why: "damaged", names: ["other.txt"] },
      ]);
      expect(await readFile(blobPath(dir, "good bytes"), "utf8")).toBe("good bytes");
      expect(existsSync(blobPath(dir, "other bytes"))).toBe(false);
    });
  });

  test("reports missing blobs, and opens without them", async () => {
    await withEightFiles(async (server) => {
      await rm(blobPath(server.dataDir, "gone"));
      const dir = join(await folder(), "backup");
      const { code, stderr } = await runLarder(["backup", dir, "--data", server.dataDir]);
      expect(code).toBe(1);
      expect(stderr).toContain("gone.txt");
      await withServer({ dataDir: dir }, async (copy) => {
        expect(copy.log).toContain("gone.txt");
        expect(copy.log).not.toContain("good.txt");
      });
    });
  });

  test("continues after an interruption, and the earlier one still opens", async () => {
    await withServer({ hasAccounts: true }, async (server) => {
      const { client } = await server.signUp();
      const dir = join(await folder(), "backup");
      await client.storedId("first", { name: "first" });
      const first = await backUp(server.dataDir, dir, ["--copy"]);
      for (let index = 0; index < 40; index++) await client.storedId(randomContent(200_000), { name: `f${index}` });
      // Killed after different numbers of blobs: none, one, some, and about when the snapshot is written.
      for (const contents of [0, 1, 15, 40]) {
        const child = Bun.spawn([...testCommand(), "backup", dir, "--copy", "--data", server.dataDir], {
          cwd: repositoryRoot,
          stdout: "ignore",
          stderr: "ignore",
        });
        await eventually(
          `the backup has more than ${contents} blobs or has ended`,
          async () => child.exitCode !== null || (await countBlobs(dir)) > contents,
          60_000,
          1,
        );
        child.kill("SIGKILL");
        await child.exited;
        const copy = join(await folder(), "copy");
        await cp(dir, copy, { recursive: true });
        await withServer({ dataDir: copy }, async (opened) => {
          expect(opened.log).not.toContain("missing");
        });
      }
      const { code, summary } = await backUp(server.dataDir, dir, ["--copy"]);
      expect([code, summary.contents, summary.lost]).toEqual([0, 41, []]);
      expect(summary.snapshot > first.summary.snapshot).toBe(true);
      const left = await readdir(join(dir, "blobs", "incoming"));
      expect(left).toEqual([]);
    });
  });

  test("keeps a number of snapshots, and --prune removes blobs that none of them needs", async () => {
    await withServer({ hasAccounts: true, env: { LARDER_GC_GRACE: "0s" } }, async (server) => {
      const { client } = await server.signUp();
      const dir = join(await folder(), "backup");
      const id = await client.storedId("short-lived", { name: "short" });
      await client.storedId("stays", { name: "stays" });
      await backUp(server.dataDir, dir);
      await client.delete(`/api/files/${id}`);
      for (let round = 0; round < 4; round++) {
        await client.storedId(`content ${round}`, { name: `r${round}` });
        await backUp(server.dataDir, dir, ["--keep", "3"]);
      }
      expect(existsSync(blobPath(dir, "short-lived"))).toBe(true);
      const { summary } = await backUp(server.dataDir, dir, ["--keep", "3", "--prune"]);
      expect(summary.snapshots).toBe(3);
      expect([existsSync(blobPath(dir, "stays")), existsSync(blobPath(dir, "short-lived"))]).toEqual([true, false]);
    });
  });

  test("during uploads, deletions, and garbage collection opens completely each time", async () => {
    await withServer({ hasAccounts: true, env: { LARDER_GC_GRACE: "0s" } }, async (server) => {
      const { client } = await server.signUp();
      const base = await folder();
      const dir = join(base, "backup");
      const over = new AbortController();
      const worker = async (number: number) => {
        for (let round = 0; !over.signal.aborted; round++) {
          const id = await client.storedId(randomContent(30_000), { name: `${number}-${round}` });
          if (round % 2 === 0) await client.delete(`/api/files/${id}`);
        }
      };
      const load = [worker(1), worker(2), worker(3)];
      const copies: { dataDir: string; snapshot: string }[] = [];
      for (let round = 0; round < 4; round++) {
        const made = backUp(server.dataDir, dir, ["--copy"], runLarder);
        while (Bun.peek.status(made) === "pending") await server.larder(["gc", "--now"]);
        const { code, summary } = await made;
        expect([code, summary.lost]).toEqual([0, []]);
        const dataDir = join(base, `copy-${round}`);
        await cp(dir, dataDir, { recursive: true });
        copies.push({ dataDir, snapshot: summary.snapshot });
      }
      over.abort();
      await Promise.all(load);
      for (const { dataDir, snapshot } of copies) {
        await withServer({ dataDir }, async (opened) => {
          expect(opened.log).not.toContain("missing");
          expect(opened.log).toContain(snapshot);
        });
      }
    });
  }, 120_000);

  test("contains the configuration, and the keys readable only by its user", async () => {
    await withServer({ hasAccounts: true, toml: 'signup = "open"\n' }, async (server) => {
      const dir = join(await folder(), "backup");
      await backUp(server.dataDir, dir, [], runLarder);
      const modes = await Promise.all(
        ["secrets", "secrets/jwt.json", "larder.toml"].map(async (name) => (await stat(join(dir, name))).mode & 0o777),
      );
      expect(modes).toEqual([0o700, 0o600, 0o600]);
      expect(await readFile(join(dir, "larder.toml"), "utf8")).toBe('signup = "open"\n');
      const { stdout } = await runLarder(["backup", dir, "--data", server.dataDir]);
      expect(stdout).toContain(join(dir, "secrets"));
    });
  });
});

test("blobs that only the bucket has are copied, so that the backup opens without the bucket", async () => {
  const s3 = await TestS3.start();
  try {
    await withServer({ hasAccounts: true, env: s3.settings }, async (server) => {
      const admin = await server.addUser(["--admin"]);
      const content = randomContent(50_000);
      const id = await admin.client.storedId(content, { name: "far.bin" });
      const moved = await server.larder(["blobs", "move", "--to", "s3"]);
      expect(moved.code).toBe(0);
      expect(await s3.has(digestOf(content))).toBe(true);
      // As the cache evicts it.
      await server.stop();
      await rm(blobPath(server.dataDir, content));
      const base = await folder();
      const dir = join(base, "backup");
      const { code, stdout, stderr } = await server.larder(["backup", dir, "--json"]);
      expect([code, stderr]).toEqual([0, ""]);
      expect(JSON.parse(stdout)).toMatchObject({ contents: 1, new: 1, lost: [] });
      const target = join(base, "restored");
      expect((await runInProcess(["restore", dir, "--data", target])).code).toBe(0);
      await withServer({ dataDir: target }, async (restored) => {
        const { email, password } = admin;
        const response = await restored.visitor.post("/api/auth/signin", { email, password });
        await expectDownloads(new Client(restored, response.string("token")), new Map([[id, content]]));
      });
      expect(await s3.has(digestOf(content))).toBe(true);
    });
  } finally {
    await s3.stop();
  }
});
