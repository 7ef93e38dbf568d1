import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, link, mkdir, readdir, rm, stat, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Account } from "../support/client.ts";
import { eventually } from "../support/expect.ts";
import { runInProcess } from "../support/in-process.ts";
import { mountingFails, mountTmpfs, run } from "../support/mounts.ts";
import {
  cleanEnv,
  dispose,
  repositoryRoot,
  sharedServer,
  startServer,
  temporaryDirectory,
  type TestServer,
  testCommand,
  withServer,
} from "../support/server.ts";
import { makeTree, readTree } from "../support/trees.ts";

const server = sharedServer({ hasAccounts: true });
let folder = "";
let made = 0;

beforeAll(async () => {
  folder = await temporaryDirectory();
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe("folders that are too deep", () => {
  test("are named and skipped, and the rest is imported", async () => {
    const account = await server().signUp();
    const path = await source({
      "a.txt": "1",
      [`${"d/".repeat(256)}kept.txt`]: "2",
      [`${"d/".repeat(258)}lost.txt`]: "3",
    });
    const dry = await runImport(account, path, ["--dry-run"]);
    expect({ code: dry.code, reasons: Object.values(dry.reasons) }).toEqual({ code: 1, reasons: ["bad_name"] });
    const { code, report, reasons } = await runImport(account, path);
    expect(code).toBe(1);
    expect(reasons).toEqual({ [`${"d/".repeat(256)}d`]: "bad_name" });
    expect(report).toMatchObject({ imported: 2, folders: 256, problems: 1 });
  });

  test("more files than the plan allows stop the import, with exit 1", async () => {
    await withServer({ hasAccounts: true, env: { LARDER_PLANS_ENTERPRISE_MAX_NODES: "3" } }, async (own) => {
      const account = await own.signUp();
      const path = await source({ "a/1": "1", "a/2": "2", "a/3": "3", "a/4": "4" });
      for (const flags of [["--dry-run"], []]) {
        const { code, reasons } = await runImport(account, path, flags, own);
        expect([code, Object.values(reasons)[0]]).toEqual([1, "quota_exceeded"]);
      }
      expect((await account.client.get("/api/users/usage")).json).toMatchObject({ data: { storage: { files: 2 } } });
    });
  });
});

/** Creates a folder with these files. */
async function source(files: Record<string, string>): Promise<string> {
  const path = join(folder, `source-${++made}`);
  await makeTree(path, files);
  return path;
}

interface ImportResult {
  code: number;
  report: Record<string, unknown>;
  reasons: Record<string, unknown>;
  stderr: string;
}

/** Runs an import. @returns its report, with `reasons` by file name */
async function runImport(
  account: Pick<Account, "email">,
  path: string,
  flags: string[] = [],
  on: TestServer = server(),
): Promise<ImportResult> {
  const { code, stdout, stderr } = await on.larder(["import", path, "--user", account.email, "--json", ...flags]);
  if (stdout === "") throw new Error(`import ${path}: ${code} ${stderr}`);
  const report: Record<string, unknown> = JSON.parse(stdout);
  const list = report["list"] as { path: string; reason: string }[];
  const reasons = Object.fromEntries(list.map(({ path: name, reason }) => [name.slice(path.length + 1), reason]));
  return { code, report, reasons, stderr };
}

async function exportAll(
  account: Pick<Account, "email">,
  flags: string[] = [],
  on: TestServer = server(),
): Promise<string> {
  const path = join(folder, `export-${++made}`);
  const { code, stderr } = await on.larder(["export", "--user", account.email, "--to", path, ...flags]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return path;
}

describe("import", () => {
  test("while the server runs: files, folders, and times are there immediately, and can be downloaded", async () => {
    const account = await server().signUp();
    const path = await source({ "a.txt": "one", "photos/b.txt": "two", "photos/2026/c.txt": "three", "empty/": "" });
    const { code, report } = await runImport(account, path, ["--folder", "/from disk"]);
    expect(code).toBe(0);
    expect(report).toMatchObject({ ok: true, imported: 3, importedBytes: 11, folders: 4, problems: 0 });
    const listed = await account.client.get(`/api/files?folder=${encodeURIComponent("/from disk")}&limit=100`);
    expect(listed.strings("data.files", "name")).toEqual(["empty", "photos", "a.txt"]);
    const id = listed.string("data.files.2.id");
    const info = await account.client.get(`/api/files/${id}`);
    expect(info.at("data")).toMatchObject({
      size: 3,
      mimeType: "text/plain",
      version: 1,
      fileModifiedAt: "2020-01-01T00:00:00.123Z",
    });
    expect((await account.client.get(`/api/files/${id}/download`)).text).toBe("one");
    expect((await account.client.get("/api/users/usage")).at("data.storage.used")).toBe(11);
  });

  test("without a server, and the next start has everything", async () => {
    await withServer({ hasAccounts: true }, async (own) => {
      const account = await own.signUp();
      await own.stop();
      const path = await source({ "a.txt": "one", "b/c.txt": "two" });
      expect((await runImport(account, path, [], own)).report).toMatchObject({ ok: true, imported: 2 });
      await own.start();
      const { client } = account;
      expect(await client.names("/b")).toEqual(["c.txt"]);
      const found = await client.get("/api/files?search=a.txt");
      expect(found.strings("data.files", "name")).toEqual(["a.txt"]);
    });
  });

  test("that is repeated changes nothing, and reads no file", async () => {
    const account = await server().signUp();
    const path = await source({ "a.txt": "one", "b/c.txt": "two" });
    await runImport(account, path);
    expect((await runImport(account, path)).report).toMatchObject({ imported: 0, unchanged: 2, folders: 0 });
    // The same bytes with another time are unchanged too.
    await utimes(join(path, "a.txt"), new Date(), new Date());
    expect((await runImport(account, path)).report).toMatchObject({ imported: 0, unchanged: 2, problems: 0 });
    expect((await runImport(account, path, ["--checksum"])).report).toMatchObject({ imported: 0, unchanged: 2 });
  });

  test("notices with --checksum a change of the same size and time", async () => {
    const account = await server().signUp();
    const path = await source({ "a.txt": "one" });
    await runImport(account, path);
    const { mtime } = await stat(join(path, "a.txt"));
    await writeFile(join(path, "a.txt"), "two");
    await utimes(join(path, "a.txt"), mtime, mtime);
    expect((await runImport(account, path)).report).toMatchObject({ unchanged: 1 });
    expect(await runImport(account, path, ["--checksum"])).toMatchObject({
      code: 1,
      reasons: { "a.txt": "other_content" },
    });
    const taken = await runImport(account, path, ["--checksum", "--on-conflict", "version"]);
    expect(taken.report).toMatchObject({ imported: 1, versions: 1 });
  });

  test("of a different file at an existing path: skips and reports it, stores a version, or renames it once", async () => {
    const account = await server().signUp();
    const id = await account.client.storedId("as it was", { name: "a.txt" });
    const path = await source({ "a.txt": "as on disk", "b.txt": "new" });
    const skipped = await runImport(account, path);
    expect(skipped).toMatchObject({ code: 1, reasons: { "a.txt": "other_content" }, report: { imported: 1 } });
    expect((await account.client.get(`/api/files/${id}/download`)).text).toBe("as it was");

    expect((await runImport(account, path, ["--on-conflict", "rename"])).report).toMatchObject({
      imported: 1,
      renamed: 1,
    });
    expect((await runImport(account, path, ["--on-conflict", "rename"])).report).toMatchObject({
      imported: 0,
      unchanged: 2,
    });
    expect(await account.client.names()).toEqual(["a.txt", "a (1).txt", "b.txt"].sort());

    expect((await runImport(account, path, ["--on-conflict", "version"])).report).toMatchObject({
      imported: 1,
      versions: 1,
    });
    expect((await account.client.get(`/api/files/${id}/download`)).text).toBe("as on disk");
    expect((await account.client.get(`/api/files/${id}/versions`)).list("data.versions")).toHaveLength(2);
  });

  test("reports a folder at the path of a file, or a file at the path of a folder, and imports the rest", async () => {
    const account = await server().signUp();
    await account.client.folderId("thing");
    await account.client.storedId("x", { name: "dir" });
    const path = await source({ thing: "a file", "dir/below/a.txt": "one", "fine.txt": "two" });
    const { code, report, reasons } = await runImport(account, path);
    expect({ code, imported: report["imported"] }).toEqual({ code: 1, imported: 1 });
    expect(reasons).toEqual({ thing: "name_taken", dir: "name_taken" });
  });

  test("skips symbolic links, pipes, and sockets, and reports them", async () => {
    const account = await server().signUp();
    const path = await source({ "a.txt": "one" });
    await symlink("/etc/passwd", join(path, "passwd"));
    await symlink("/etc", join(path, "etc"));
    await symlink("nowhere", join(path, "dangling"));
    await run(["mkfifo", join(path, "pipe")]);
    const socket = Bun.listen({ unix: join(path, "socket"), socket: { data: () => {} } });
    const { code, report, reasons } = await runImport(account, path);
    socket.stop(true);
    expect({ code, imported: report["imported"], leftOut: report["leftOut"] }).toEqual({
      code: 0,
      imported: 1,
      leftOut: 5,
    });
    expect(Object.keys(reasons).sort()).toEqual(["dangling", "etc", "passwd", "pipe", "socket"]);
    expect(await account.client.names()).toEqual(["a.txt"]);
  });

  test("reports names that are not allowed, and changes them with --rename", async () => {
    const account = await server().signUp();
    const path = await source({ "back\\slash.txt": "one", "line\nbreak": "two", "fine.txt": "three" });
    const refused = await runImport(account, path);
    expect(refused).toMatchObject({ code: 1, reasons: { "back\\slash.txt": "bad_name", "line\nbreak": "bad_name" } });
    const renamed = await runImport(account, path, ["--rename"]);
    expect(renamed.report).toMatchObject({ ok: true, imported: 2, unchanged: 1 });
    expect((await account.client.names()).sort()).toEqual(["back_slash.txt", "fine.txt", "line_break"]);
    expect((await runImport(account, path, ["--rename"])).report).toMatchObject({ imported: 0, unchanged: 3 });
  });

  test("normalizes names, and reports one of two files that then have the same name", async () => {
    const account = await server().signUp();
    const path = await source({ ["é.txt".normalize("NFD")]: "one" });
    expect((await runImport(account, path)).report).toMatchObject({ ok: true, imported: 1 });
    expect(await account.client.names()).toEqual(["é.txt".normalize("NFC")]);
    await writeFile(join(path, "é.txt".normalize("NFC")), "two");
    expect((await runImport(account, path)).report).toMatchObject({ ok: false, problems: 1 });
  });

  test.skipIf(process.getuid?.() !== 0)("reports files that it may not read, and continues", async () => {
    const own = await startServer({
      dataDir: await makeOwned(join(folder, "owned")),
      prefix: ["setpriv", "--reuid=65534", "--clear-groups"],
    });
    try {
      const account = await own.signUp();
      const path = await source({ "secret.txt": "one", "closed/a.txt": "two", "open.txt": "three" });
      await chmod(join(path, "secret.txt"), 0o600);
      await chmod(join(path, "closed"), 0o700);
      await chmod(folder, 0o755);
      const asRoot = await own.larder(["import", path, "--user", account.email]);
      expect(asRoot).toMatchObject({ code: 2, stderr: expect.stringContaining("65534") });
      const command = [...testCommand(), "import", path, "--user", account.email, "--json"];
      const child = Bun.spawn(["setpriv", "--reuid=65534", "--clear-groups", ...command], {
        cwd: repositoryRoot,
        env: cleanEnv({ LARDER_DATA: own.dataDir }),
        stdout: "pipe",
        stderr: "inherit",
      });
      const report: unknown = JSON.parse(await new Response(child.stdout).text());
      expect(report).toMatchObject({ ok: false, imported: 1, problems: 2 });
    } finally {
      await dispose(own);
    }
  });

  // It printed an unexpected error with a stack trace. So do folders below a home directory, for the user of a service.
  test("names a folder that can't be opened", async () => {
    const { email } = await server().signUp();
    const path = join(await source({ "a.txt": "one" }), "a.txt", "below");
    for (const args of [
      ["import", path, "--user", email],
      ["backup", path],
    ]) {
      const { code, stderr } = await runInProcess(args, { env: server().commandEnv });
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`${path} can't be opened (`) });
      expect(stderr).not.toMatch(/\n\s+at /);
    }
  });

  test("stops at the quota: it keeps the files that fit, and continues when the quota is raised", async () => {
    const { email } = await server().signUp();
    await runInProcess(["user", "set", email, "--quota", "25"], { env: server().commandEnv });
    const path = await source({ "a.txt": "0123456789", "b.txt": "123456789-", "c.txt": "23456789--" });
    const { code, report } = await runImport({ email }, path);
    expect(code).toBe(1);
    expect(report).toMatchObject({ stopped: "quota_exceeded", imported: 2 });
    await runInProcess(["user", "set", email, "--quota", "none"], { env: server().commandEnv });
    expect((await runImport({ email }, path)).report).toMatchObject({ ok: true, imported: 1, unchanged: 2 });
  });

  test("as a dry run changes nothing, and prints what it would do", async () => {
    const account = await server().signUp();
    const path = await source({ "a.txt": "one", "b/c.txt": "two" });
    expect((await runImport(account, path, ["--dry-run"])).report).toMatchObject({
      dryRun: true,
      imported: 2,
      importedBytes: 6,
    });
    expect(await account.client.names()).toEqual([]);
  });

  test("shares the bytes with the source by --link, and keeps them when the source is deleted", async () => {
    const account = await server().signUp();
    const path = join(server().dataDir, "..", `linked-${process.pid}`);
    await makeTree(path, { "a.txt": "linked content" });
    try {
      expect((await runImport(account, path, ["--link"])).report).toMatchObject({
        ok: true,
        linked: 1,
      });
      expect((await stat(join(path, "a.txt"))).nlink).toBe(2);
    } finally {
      await rm(path, { recursive: true });
    }
    const id = (await account.client.get("/api/files")).string("data.files.0.id");
    expect((await account.client.get(`/api/files/${id}/download`)).text).toBe("linked content");
  });

  test("stores equal files once, also hard links in the source", async () => {
    const account = await server().signUp();
    const path = await source({ "a.txt": "the very same bytes" });
    for (let copy = 1; copy <= 30; copy++) await link(join(path, "a.txt"), join(path, `copy-${copy}.txt`));
    expect((await runImport(account, path)).report).toMatchObject({ ok: true, imported: 31 });
    expect((await runImport(account, path, ["--checksum"])).report).toMatchObject({
      unchanged: 31,
    });
  });

  test("rejects wrong options with a message", async () => {
    const { email } = await server().signUp();
    const path = await source({});
    const rows: [string[], number][] = [
      [["import", path], 2],
      [["import", "--user", email], 2],
      [["import", path, "--user", "nobody@example.org"], 1],
      [["import", join(path, "nothing"), "--user", email], 1],
      [["import", server().dataDir, "--user", email], 2],
      [["import", join(server().dataDir, "blobs"), "--user", email], 2],
      [["import", path, "--user", email, "--on-conflict", "guess"], 2],
      [["import", path, "--user", email, "--folder", "relative"], 1],
    ];
    expect((await server().larder(["import", path, "--user", email, "--on-conflict", "guess"])).code).toBe(2);
    for (const [args, expectedCode] of rows) {
      const { code, stderr } = await runInProcess(args, { env: server().commandEnv });
      expect({ args, code, hasMessage: stderr.trim() !== "" }).toEqual({ args, code: expectedCode, hasMessage: true });
    }
  });

  test("skips the data directory if it is in the source", async () => {
    const parent = join(folder, "parent");
    await makeTree(parent, { "a.txt": "one", "data/": "" });
    await withServer({ dataDir: join(parent, "data") }, async (own) => {
      const account = await own.signUp();
      const { code, report } = await runImport(account, parent, [], own);
      expect({ code, imported: report["imported"], leftOut: report["leftOut"] }).toEqual({
        code: 0,
        imported: 1,
        leftOut: 1,
      });
    });
  });
});

describe("an import that is killed", () => {
  const fileCount = 600;

  test("leaves only whole files; the next import adds the rest, and the copy is exact", async () => {
    await withServer({ hasAccounts: true }, async (own) => {
      const account = await own.signUp();
      const files: Record<string, string> = {};
      // Ten batches of rows.
      for (let number = 0; number < fileCount; number++) {
        files[`d${number % 30}/f${number}.txt`] = `content ${number} `.repeat(1 + ((number * 3) % 900));
      }
      const path = await source(files);
      for (const contents of [1, 100, 250]) await killImport(own, account.email, path, await growsBy(own, contents));
      // Between the batches: some rows are written, and the server stores uploads.
      const statuses: number[] = [];
      const over = new AbortController();
      const uploading = (async () => {
        while (!over.signal.aborted) statuses.push((await account.client.upload("x")).status);
      })();
      await killImport(own, account.email, path, async () => {
        const listed = await account.client.get("/api/files?folder=/d0");
        return listed.at("data.files.0.name") !== undefined;
      });
      over.abort();
      await uploading;
      expect(new Set(statuses)).toEqual(new Set([201]));
      const stored = (await account.client.get("/api/users/usage")).number("data.storage.files");
      expect(stored - statuses.length).toBeGreaterThan(0);
      expect(stored - statuses.length).toBeLessThan(fileCount);
      await own.stop();
      for (const contents of [1, 100]) await killImport(own, account.email, path, await growsBy(own, contents));
      expect((await runImport(account, path, [], own)).report).toMatchObject({ ok: true, problems: 0 });
      await own.start();
      const copy = await readTree(await exportAll(account, ["--checksum"], own));
      for (const name of [...copy.keys()].filter((key) => key.startsWith("file"))) copy.delete(name); // the uploads
      expect(copy).toEqual(await readTree(path));
      expect(await readdir(join(own.dataDir, "blobs", "incoming"))).toEqual([]);
    });
  }, 180_000);
});

/**
 * Starts an import and kills it at a moment, or lets it finish if that moment does not come. The import runs for a few
 * milliseconds at a time, and waits while the moment is checked: otherwise a fast import ends before it is killed.
 */
async function killImport(own: TestServer, email: string, path: string, isTime: () => Promise<boolean>): Promise<void> {
  const child = Bun.spawn([...testCommand(), "import", path, "--user", email], {
    cwd: repositoryRoot,
    env: cleanEnv({ LARDER_DATA: own.dataDir }),
    stdout: "ignore",
    stderr: "ignore",
  });
  const isDue = async () => {
    child.kill("SIGSTOP");
    const isNow = child.exitCode !== null || (await isTime());
    if (!isNow) child.kill("SIGCONT");
    return isNow;
  };
  await eventually("the moment to kill the import", isDue, 60_000, 2);
  child.kill("SIGKILL");
  await child.exited;
}

/** Returns a check whether the store has this many more blobs than now. */
async function growsBy(own: TestServer, contents: number): Promise<() => Promise<boolean>> {
  const before = await countBlobs(own);
  return async () => (await countBlobs(own)) >= before + contents;
}

async function countBlobs(own: TestServer): Promise<number> {
  const entries = await readdir(join(own.dataDir, "blobs", "sha256"), { recursive: true }).catch(() => []);
  return entries.filter((name) => name.length > 60).length;
}

describe("an import into a full disk", () => {
  test.skipIf(mountingFails !== undefined)(
    "reports it, keeps complete files, and continues when there is space",
    async () => {
      const small = await mountTmpfs(48);
      try {
        const dataDir = join(small.path, "data");
        await mkdir(dataDir);
        await withServer({ dataDir, hasAccounts: true, env: { LARDER_MIN_FREE_SPACE: "1MB" } }, async (own) => {
          const account = await own.signUp();
          const path = await source({});
          for (let number = 0; number < 30; number++) {
            await writeFile(join(path, `f${number}.bin`), crypto.getRandomValues(new Uint8Array(64 * 1024)));
            await truncate(join(path, `f${number}.bin`), 2_000_000 + number);
          }
          const full = await own.larder(["import", path, "--user", account.email]);
          expect({ code: full.code, isExplained: /free (?:up|some) space/i.test(full.stderr) }).toEqual({
            code: 2,
            isExplained: true,
          });
          await run(["mount", "-o", "remount,size=200m", small.path]);
          expect((await runImport(account, path, [], own)).report).toMatchObject({ ok: true, problems: 0 });
          expect(await readTree(await exportAll(account, [], own))).toEqual(await readTree(path));
        });
      } finally {
        await small.unmount();
      }
    },
  );
});

async function makeOwned(path: string): Promise<string> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o755);
  await run(["chown", "65534", path]);
  return path;
}
