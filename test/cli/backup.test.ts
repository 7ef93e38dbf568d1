import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cp, open, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { checksumOf, Client, digestOf, randomContent } from "../support/client.ts";
import { runInProcess } from "../support/in-process.ts";
import { TestS3 } from "../support/s3-server.ts";
import {
  repositoryRoot,
  runLarder,
  sharedServer,
  temporaryDirectory,
  testCommand,
  withServer,
} from "../support/server.ts";
import { stoppedServer } from "../support/stopped-server.ts";

// Each starts several processes.
setDefaultTimeout(60_000);

const folders: string[] = [];

/** A temporary directory, removed after the test. */
async function folder(): Promise<string> {
  const made = await temporaryDirectory();
  folders.push(made);
  return made;
}

afterEach(async () => {
  for (const made of folders.splice(0)) await rm(made, { recursive: true, force: true });
});

interface Summary {
  ok: boolean;
  contents: number;
  already: number;
  new: number;
  linked: number;
  copied: number;
  unshared: number;
  newBytes: number;
  pruned: number;
  snapshots: number;
  snapshot: string;
  lost: { checksum: string; size: number; why: string; names: string[] }[];
}

async function backUp(
  data: string,
  dir: string,
  flags: string[] = [],
  run: typeof runLarder = runInProcess,
): Promise<{ code: number; summary: Summary }> {
  const { code, stdout, stderr } = await run(["backup", dir, "--json", ...flags, "--data", data]);
  if (stdout === "") throw new Error(`backup ended with ${code}: ${stderr}`);
  const summary: Summary = JSON.parse(stdout);
  return { code, summary };
}

function blobPath(data: string, content: string | Uint8Array): string {
  const digest = digestOf(content);
  return join(data, "blobs", "sha256", digest.slice(0, 2), digest.slice(2, 4), digest);
}

/** The number of blobs in a data directory. */
async function countContents(data: string): Promise<number> {
  const names = await readdir(join(data, "blobs", "sha256"), { recursive: true });
  return names.filter((name) => /[0-9a-f]{64}$/.test(name)).length;
}

async function expectDownloads(client: Client, files: Map<string, Uint8Array>): Promise<void> {
  for (const [id, content] of files) {
    const response = await client.get(`/api/files/${id}/download`);
    expect([response.status, checksumOf(response.bytes)]).toEqual([200, checksumOf(content)]);
  }
}

/** A stopped server with eight files: good.txt, gone.txt, flipped.bin with the given content, and five more. */
const withEightFiles = stoppedServer(async ({ client }) => {
  const flipped = randomContent(100_000);
  await client.storedId(flipped, { name: "flipped.bin" });
  await client.storedId("gone", { name: "gone.txt" });
  await client.storedId("good", { name: "good.txt" });
  for (let index = 0; index < 5; index++) await client.storedId(randomContent(5_000), { name: `f${index}` });
  return flipped;
});

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
      // Next to the data, and so on its file system.
      const dir = join(server.dataDir, "..", `${server.dataDir.split("/").at(-1)}-backup`);
      folders.push(dir);
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
      const dir = join(server.dataDir, "..", `${server.dataDir.split("/").at(-1)}-backup`);
      folders.push(dir);
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
        while (child.exitCode === null && (await countContents(dir)) <= contents) await Bun.sleep(1);
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
        while (child.exitCode === null && !(await isThere())) await Bun.sleep(1);
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
