import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { chown, cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Database } from "bun:sqlite";
import { checksumOf, Client, digestOf, randomContent } from "../support/client.ts";
import { blobPath, temporaryFolders } from "../support/data-directory.ts";
import { makeGroup, shareWithGroup } from "../support/groups.ts";
import { runInProcess } from "../support/in-process.ts";
import { registerDevice } from "../support/mobile.ts";
import {
  repositoryRoot,
  runLarder,
  temporaryDirectory,
  TestServer,
  testCommand,
  withServer,
} from "../support/server.ts";
import { stoppedServer } from "../support/stopped-server.ts";

// Each starts several processes.
setDefaultTimeout(60_000);

const folder = temporaryFolders();

async function restore(
  args: string[],
  run: typeof runLarder = runInProcess,
): Promise<{ code: number; result: Record<string, unknown>; stderr: string }> {
  const { code, stdout, stderr } = await run(["restore", "--json", ...args]);
  if (stdout === "") throw new Error(`restore ended with ${code}: ${stderr}`);
  return { code, result: JSON.parse(stdout), stderr };
}

async function snapshotNames(data: string): Promise<string[]> {
  return (await readdir(join(data, "snapshots"))).filter((name) => name.endsWith(".db")).toSorted();
}

async function signIn(server: TestServer, email: string, password: string): Promise<Client> {
  const response = await server.visitor.post("/api/auth/signin", { email, password });
  expect(response.status).toBe(200);
  return new Client(server, response.string("token"));
}

/** Runs a command with files as input and output. @returns its exit code */
async function pipe(args: string[], input: string, output: string): Promise<number> {
  const child = Bun.spawn([...testCommand(), ...args], {
    cwd: repositoryRoot,
    stdin: Bun.file(input),
    stdout: Bun.file(output),
    stderr: "ignore",
  });
  return child.exited;
}

/** A stopped server with two states: a snapshot with `first`, and the current database with `second` too. */
const twoStates = stoppedServer(async ({ client }, server) => {
  await client.storedId("first", { name: "first.txt" });
  const dir = join(await temporaryDirectory(), "backup");
  expect((await runInProcess(["backup", dir, "--data", server.dataDir])).code).toBe(0);
  await client.storedId("second", { name: "second.txt" });
  const [name = ""] = await snapshotNames(dir);
  for (const suffix of ["", ".sha256"])
    await cp(join(dir, "snapshots", name + suffix), join(server.dataDir, "snapshots", name + suffix));
  await rm(join(dir, ".."), { recursive: true });
});

const goodContent = "what stands nowhere else";

/** A stopped server with two files, good.txt and bad.txt. */
const withTwoFiles = stoppedServer(async ({ client }) => {
  await client.storedId(goodContent, { name: "good.txt" });
  await client.storedId("bad!", { name: "bad.txt" });
});

/** A backup of the server. */
async function backUp({ dataDir }: TestServer, ...flags: string[]): Promise<string> {
  const dir = join(await folder(), "backup");
  expect((await runInProcess(["backup", dir, ...flags, "--data", dataDir])).code).toBe(0);
  return dir;
}

describe("without a source", () => {
  test("the snapshots are listed with their counts and missing blobs", async () => {
    await twoStates(async ({ dataDir }) => {
      const { code, result } = await restore(["--data", dataDir]);
      expect(code).toBe(0);
      const states = result["snapshots"] as Record<string, unknown>[];
      expect(states.find(({ label }) => label === "backup")).toMatchObject({
        whole: true,
        users: 1,
        files: 1,
        missing: 0,
      });
      await rm(blobPath(dataDir, "first"));
      const [name = ""] = await snapshotNames(dataDir);
      await writeFile(join(dataDir, "snapshots", name), "torn", { flag: "a" });
      const again = (await restore(["--data", dataDir])).result["snapshots"] as Record<string, unknown>[];
      expect(again.find((state) => state["name"] === name)).toMatchObject({ whole: false, files: null });
      expect(again.filter(({ missing }) => missing === 1)).toHaveLength(again.length - 1);
      const { stdout } = await runLarder(["restore", "--data", dataDir]);
      expect(stdout).toContain(name);
    });
  });

  test("a snapshot can be restored, and then the state before the restore", async () => {
    await twoStates(async (server, { email, password }) => {
      const name = (await snapshotNames(server.dataDir)).find((one) => one.includes("backup")) ?? "";
      const { code, result } = await restore(["--snapshot", name, "--data", server.dataDir], runLarder);
      expect([code, result["users"], result["files"], result["missing"]]).toEqual([0, 1, 1, 0]);
      await server.start();
      const past = await signIn(server, email, password);
      expect(await past.names("/")).toEqual(["first.txt"]);
      await server.stop();
      const back = await restore(["--snapshot", String(result["keptAs"]), "--data", server.dataDir]);
      expect(back.code).toBe(0);
      await server.start();
      const present = await signIn(server, email, password);
      expect((await present.names("/")).toSorted()).toEqual(["first.txt", "second.txt"]);
      expect(existsSync(String(result["setAside"]))).toBe(true);
    });
  });

  test("sync tokens from before the restore are rejected", async () => {
    await twoStates(async (server, { email, password }) => {
      await server.start();
      const { client } = await registerDevice(server, { email, password });
      const token = (await client.get("/api/mobile/sync/status")).string("data.nextSyncToken");
      const ask = () => client.get(`/api/mobile/sync/status?syncToken=${encodeURIComponent(token)}`);
      expect((await ask()).status).toBe(200);
      await server.stop();
      await restore(["--database", join(server.dataDir, "larder.db"), "--data", server.dataDir]);
      await server.start();
      expect((await ask()).status).toBe(400);
    });
  });

  test("--sign-out ends the sessions of the snapshot", async () => {
    await twoStates(async (server, { client }) => {
      const name = (await snapshotNames(server.dataDir)).find((one) => one.includes("backup")) ?? "";
      await restore(["--snapshot", name, "--data", server.dataDir]);
      await server.start();
      expect((await client.get("/api/files")).status).toBe(200);
      await server.stop();
      const { result } = await restore(["--snapshot", name, "--sign-out", "--data", server.dataDir]);
      expect(Number(result["signedOut"])).toBeGreaterThan(0);
      await server.start();
      expect((await client.get("/api/files")).status).toBe(401);
    });
  });

  test("a running server and a wrong name are rejected, and nothing changes", async () => {
    await twoStates(async (server) => {
      const wrong = await runInProcess(["restore", "--snapshot", "nonsense", "--data", server.dataDir]);
      expect([wrong.code, wrong.stderr.includes("nonsense")]).toEqual([2, true]);
      await server.start();
      const running = await runLarder(["restore", "--snapshot", "newest", "--data", server.dataDir]);
      expect(running.code).toBe(2);
      expect(running.stderr).toContain("running");
    });
  });

  test("a database file is restored if it is intact and of this store, and otherwise rejected", async () => {
    await twoStates(async (server, { email, password }) => {
      const saved = join(await folder(), "kept.db");
      await cp(join(server.dataDir, "larder.db"), saved);
      const bytes = await readFile(saved);
      const broken = join(await folder(), "broken.db");
      await writeFile(
        broken,
        Buffer.concat([bytes.subarray(0, 8192), Buffer.alloc(40_960, 7), bytes.subarray(49_152)]),
      );
      const before = digestOf(await readFile(join(server.dataDir, "larder.db")));
      const refused = await runLarder(["restore", "--database", broken, "--data", server.dataDir]);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain("damaged");
      await withTwoFiles(async (other) => {
        const database = join(other.dataDir, "larder.db");
        const foreign = await runInProcess(["restore", "--database", database, "--data", server.dataDir]);
        expect(foreign.code).toBe(2);
        expect(foreign.stderr).toContain("store");
      });
      expect(digestOf(await readFile(join(server.dataDir, "larder.db")))).toBe(before);
      await rm(join(server.dataDir, "larder.db"));
      expect((await runLarder(["restore", "--database", saved, "--data", server.dataDir])).code).toBe(0);
      await server.start();
      const client = await signIn(server, email, password);
      expect(await client.names("/")).toHaveLength(2);
    });
  });

  test("the database of a crashed directory itself is restored, with its log", async () => {
    await withServer({ hasAccounts: true }, async (server) => {
      const { client, email, password } = await server.signUp();
      await client.storedId("in the log", { name: "log.txt" });
      await server.kill9();
      const copy = join(await folder(), "copy");
      await cp(server.dataDir, copy, { recursive: true });
      expect((await runInProcess(["restore", "--database", join(copy, "larder.db"), "--data", copy])).code).toBe(0);
      await withServer({ dataDir: copy }, async (opened) => {
        const same = await signIn(opened, email, password);
        expect(await same.names("/")).toEqual(["log.txt"]);
      });
    });
  });

  test("queued messages of an old snapshot are not sent again", async () => {
    await twoStates(async ({ dataDir }) => {
      const old = "larder-2020-01-01T00-00-00-000Z-backup.db";
      const [name = ""] = await snapshotNames(dataDir);
      const path = join(dataDir, "snapshots", old);
      await cp(join(dataDir, "snapshots", name), path);
      const database = new Database(path);
      database.run(
        `INSERT INTO mails (kind, recipient, recipient_key, message_id, subject, text, html, state, created_at, due_at, expires_at)
         VALUES ('notice', 'a@example.org', 'a@example.org', 'm1', 's', 'secret link', '', 'waiting', 1, 1, 9e12)`,
      );
      database.close();
      await writeFile(`${path}.sha256`, `${digestOf(await readFile(path))}  ${old}\n`);
      const { result } = await restore(["--snapshot", old, "--data", dataDir]);
      expect(result["givenUp"]).toMatchObject({ mails: 1 });
      const restored = new Database(join(dataDir, "larder.db"), { readonly: true });
      expect(restored.query("SELECT state, text FROM mails").all()).toEqual([{ state: "expired", text: "" }]);
      restored.close();
    });
  });
});

describe("from a source", () => {
  test("everything is restored from a backup, from the directory of a running server, and from a plain copy", async () => {
    await withServer({}, async (server) => {
      const { client, email, password } = await server.signUp();
      const big = randomContent(2_000_000);
      const id = await client.storedId(big, { name: "big.bin" });
      await client.putContent(id, "second version");
      const base = await folder();
      expect((await runInProcess(["backup", join(base, "backup"), "--data", server.dataDir])).code).toBe(0);
      const check = async (source: string) => {
        const target = join(await folder(), "restored");
        const { code, result } = await restore([source, "--data", target], runLarder);
        expect(code).toBe(0);
        expect(result).toMatchObject({ ok: true, users: 1, files: 1, contents: 2 });
        await withServer({ dataDir: target }, async (restored) => {
          const same = await signIn(restored, email, password);
          expect((await same.get(`/api/files/${id}/download`)).text).toBe("second version");
          const first = await same.get(`/api/files/${id}/versions/1/download`);
          expect(checksumOf(first.bytes)).toBe(checksumOf(big));
        });
      };
      await check(join(base, "backup"));
      await check(server.dataDir);
      await server.stop();
      await cp(server.dataDir, join(base, "copy"), { recursive: true });
      await check(join(base, "copy"));
    });
  });

  test("a damaged blob is reported by its file names, and not copied", async () => {
    await withTwoFiles(async (server) => {
      const dir = await backUp(server, "--copy");
      await writeFile(blobPath(dir, "bad!"), "BAD!");
      const target = join(await folder(), "restored");
      const { code, stdout, stderr } = await runLarder(["restore", dir, "--data", target]);
      expect(code).toBe(1);
      expect(stderr).toContain("bad.txt");
      expect(stderr).not.toContain("good.txt");
      expect(stdout).toContain("1 user, 2 files");
      expect(existsSync(blobPath(target, "bad!"))).toBe(false);
    });
  });

  test("a directory that is not empty is rejected, and an interrupted restore continues", async () => {
    await withTwoFiles(async (server) => {
      const dir = await backUp(server);
      const target = await folder();
      await writeFile(join(target, "mine.txt"), "mine");
      const refused = await runLarder(["restore", dir, "--data", target]);
      expect([refused.code, refused.stderr.includes("not empty")]).toEqual([2, true]);
      expect((await runInProcess(["restore", dir, "--data", server.dataDir])).code).toBe(2);
      const begun = await folder();
      await mkdir(join(begun, "blobs"));
      await cp(join(dir, "blobs", ".larder-store"), join(begun, "blobs", ".larder-store"));
      expect((await runInProcess(["restore", dir, "--data", begun])).code).toBe(0);
    });
  });

  test("--user restores one account, and nothing of the others", async () => {
    await withServer({ env: { LARDER_SHOW_PEOPLE: "on" } }, async (server) => {
      const anna = await server.signUp();
      const bert = await server.signUp();
      await anna.client.storedId("anna's", { name: "anna.txt" });
      await bert.client.storedId("bert's secret", { name: "bert.txt" });
      await anna.client.storedId("of both", { name: "both.txt" });
      await bert.client.storedId("of both", { name: "both.txt" });
      const admin = await server.addUser(["--admin"]);
      const group = await makeGroup(admin, "Conspiracy", [anna, bert]);
      await shareWithGroup(anna.client, await anna.client.folderId("Plans"), group);
      const invited = await admin.client.post("/api/admin/invites", { email: "carla@example.org" });
      expect(invited.status).toBe(201);
      const dir = join(await folder(), "backup");
      await writeFile(join(server.dataDir, "larder.toml"), `logLevel = "info"\n`, { mode: 0o600 });
      await runInProcess(["backup", dir, "--data", server.dataDir]);
      const target = join(await folder(), "restored");
      const { code, result } = await restore([dir, "--user", anna.email, "--data", target], runLarder);
      expect(code).toBe(0);
      expect(result).toMatchObject({ users: 1, files: 2, missing: 0, contents: 2, onlyUser: { erased: 2 } });
      expect(existsSync(blobPath(target, "bert's secret"))).toBe(false);
      expect(existsSync(blobPath(target, "of both"))).toBe(true);
      const database = await readFile(join(target, "larder.db"));
      expect(database.includes("bert.txt")).toBe(false);
      for (const name of [bert.email, "carla@example.org", "Conspiracy"]) {
        expect([name, database.includes(name)]).toEqual([name, false]);
      }
      // Neither the keys, which would allow to sign in to the original server as any user, nor links of other accounts.
      for (const key of ["jwt", "link", "vapid"])
        expect([key, existsSync(join(target, "secrets", `${key}.json`))]).toEqual([key, false]);
      expect(existsSync(join(target, "larder.toml"))).toBe(false);
      await withServer({ dataDir: target }, async (restored) => {
        const same = await signIn(restored, anna.email, anna.password);
        expect((await same.names("/")).toSorted()).toEqual(["Plans", "anna.txt", "both.txt"]);
        expect((await same.get("/api/admin/stats")).status).toBe(200);
      });
      const unknown = await runInProcess(["restore", dir, "--user", "nobody@example.org", "--data", await folder()]);
      expect(unknown.code).toBe(2);
    });
  });

  test("a tar archive is restored by restore -, and by tar", async () => {
    await withServer({ hasAccounts: true }, async (server) => {
      const { client, email, password } = await server.signUp();
      const big = randomContent(3_000_001);
      const id = await client.storedId(big, { name: "big.bin" });
      await client.storedId("", { name: "empty" });
      const base = await folder();
      const archive = join(base, "larder.tar");
      const written = await pipe(["backup", "-", "--data", server.dataDir], "/dev/null", archive);
      expect(written).toBe(0);
      const byRestore = join(base, "restored");
      expect(await pipe(["restore", "-", "--data", byRestore], archive, "/dev/null")).toBe(0);
      const byTar = join(base, "by-tar");
      await mkdir(byTar, { mode: 0o700 });
      expect(await Bun.spawn(["tar", "-xf", archive, "-C", byTar]).exited).toBe(0);
      for (const dataDir of [byRestore, byTar]) {
        await withServer({ dataDir }, async (restored) => {
          const same = await signIn(restored, email, password);
          expect(checksumOf((await same.get(`/api/files/${id}/download`)).bytes)).toBe(checksumOf(big));
          expect((await same.names("/")).toSorted()).toEqual(["big.bin", "empty"]);
        });
      }
    });
  });

  test("an archive in place of a directory is rejected, with the command that restores it", async () => {
    const base = await folder();
    const archive = join(base, "larder.tar");
    await Bun.write(archive, "any bytes");
    const { code, stderr } = await runInProcess(["restore", archive, "--data", join(base, "restored")]);
    expect(code).toBe(2);
    expect(stderr).toBe(
      `${archive} is a file. Specify the directory of a backup, or send a tar archive to standard input: ` +
        "larder restore - --data DIR < larder.tar\n",
    );
  });

  test("a truncated archive and another file are rejected; changed bytes are reported", async () => {
    await withTwoFiles(async (server) => {
      const base = await folder();
      const archive = join(base, "larder.tar");
      await pipe(["backup", "-", "--data", server.dataDir], "/dev/null", archive);
      const bytes = await readFile(archive);
      for (const length of [0, 100, 2_000, bytes.length - 2_048]) {
        const cut = join(base, `cut-${length}.tar`);
        await writeFile(cut, bytes.subarray(0, length));
        expect(await pipe(["restore", "-", "--data", join(base, `from-${length}`)], cut, "/dev/null")).toBe(2);
      }
      const changed = join(base, "changed.tar");
      const at = bytes.indexOf(goodContent);
      bytes[at] = 0x57;
      await writeFile(changed, bytes);
      expect(await pipe(["restore", "-", "--data", join(base, "from-changed")], changed, "/dev/null")).toBe(1);
    });
  });

  const isRoot = process.getuid?.() === 0;

  test.skipIf(!isRoot)("the restored directory opens as another user, with another path and host name", async () => {
    await withTwoFiles(async (server, { email, password }) => {
      const dir = await backUp(server, "--copy");
      const target = join(await folder(), "elsewhere");
      expect((await runInProcess(["restore", dir, "--data", target])).code).toBe(0);
      await chown(join(target, ".."), 65_534, 65_534);
      for (const name of ["", ...(await readdir(target, { recursive: true }))])
        await chown(join(target, name), 65_534, 65_534);
      const prefix = [
        "unshare",
        "--uts",
        "sh",
        "-c",
        'hostname elsewhere && exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"',
        "sh",
      ];
      await withServer({ dataDir: target, prefix }, async (restored) => {
        const same = await signIn(restored, email, password);
        const id = (await same.get("/api/files?search=good")).string("data.files.0.id");
        expect((await same.get(`/api/files/${id}/download`)).text).toBe(goodContent);
      });
    });
  });
});
