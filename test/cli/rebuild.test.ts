import { expect, test } from "bun:test";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { digestOf } from "../support/client.ts";
import { runLarder, temporaryDirectory, withServer } from "../support/server.ts";

test("rebuild rejects a running server, an existing database, and an intact snapshot", async () => {
  await withServer({}, async (server) => {
    const anna = await server.addUser(["--admin"]);
    await anna.client.stored("1");
    const running = await server.larder(["rebuild"]);
    expect([running.code, running.stderr]).toEqual([2, expect.stringContaining("already running")]);
    await server.stop();
    const database = join(server.dataDir, "larder.db");
    const before = digestOf(await readFile(database));
    const there = await server.larder(["rebuild"]);
    expect([there.code, there.stderr]).toEqual([2, expect.stringContaining("--force")]);
    expect(digestOf(await readFile(database))).toBe(before);

    const over = await server.larder(["rebuild", "--force", "--json"]);
    expect(over.code).toBe(0);
    expect(JSON.parse(over.stdout)).toMatchObject({
      accounts: [{ email: anna.email, role: "admin", files: 1, folders: 0 }],
      missing: 0,
      damaged: [],
    });
    // The old database is retained.
    const [aside = ""] = await readdir(join(server.dataDir, "set-aside"));
    expect(digestOf(await readFile(join(server.dataDir, "set-aside", aside, "larder.db")))).toBe(before);

    // The former name of --force.
    const text = await server.larder(["rebuild", "--over"]);
    expect([text.code, text.stderr]).toEqual([0, ""]);
    expect(text.stdout).toContain(`Rebuilt the database: ${database}\n`);
    expect(text.stdout).toContain(`Moved the previous database to ${join(server.dataDir, "set-aside")}`);

    await rm(database);
    const snapshot = await server.larder(["rebuild"]);
    expect([snapshot.code, snapshot.stderr]).toEqual([2, expect.stringContaining("larder restore --snapshot ")]);
  });
}, 120_000);

test("rebuild --newer rejects a running server and other options, and reports that there is nothing newer", async () => {
  await withServer({}, async (server) => {
    const anna = await server.addUser(["--admin"]);
    await anna.client.stored("1");
    const running = await server.larder(["rebuild", "--newer"]);
    expect([running.code, running.stderr]).toEqual([2, expect.stringContaining("already running")]);
    await server.stop();
    for (const flags of [["--newer", "--force"], ["--user", anna.email], ["--dry-run"]]) {
      const refused = await server.larder(["rebuild", ...flags]);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("--newer")]);
    }
    const nobody = await server.larder(["rebuild", "--newer", "--user", "nobody@example.org"]);
    expect([nobody.code, nobody.stderr]).toEqual([1, expect.stringContaining("nobody@example.org")]);
    const nothing = await server.larder(["rebuild", "--newer", "--user", anna.email]);
    expect([nothing.code, nothing.stdout, nothing.stderr]).toEqual([
      0,
      expect.stringContaining("no changes newer"),
      "",
    ]);
  });
}, 120_000);

test("rebuild creates nothing without a store, or without a journal", async () => {
  const directory = await temporaryDirectory();
  try {
    const nothing = await runLarder(["rebuild", "--data", directory]);
    expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringContaining(".larder-store is missing")]);
    await mkdir(join(directory, "blobs"));
    await writeFile(join(directory, "blobs", ".larder-store"), "an-identity\n");
    const silent = await runLarder(["rebuild", "--data", directory]);
    expect([silent.code, silent.stderr]).toEqual([2, expect.stringContaining("larder restore --help")]);
    expect((await readdir(directory)).filter((name) => name.startsWith("larder.db"))).toEqual([]);
    const absent = await runLarder(["rebuild", "--data", join(directory, "absent")]);
    expect([absent.code, absent.stderr]).toEqual([2, expect.stringContaining("does not exist")]);
  } finally {
    await rm(directory, { recursive: true });
  }
}, 120_000);
