import { describe, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { cp, readdir, readFile, stat, truncate, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Client, checksumOf, randomContent } from "../support/client.ts";
import { blobPath, flipBit } from "../support/data-directory.ts";
import { expectError, expectStatus } from "../support/expect.ts";
import { runJob } from "../support/jobs.ts";
import { runLarder, temporaryDirectory, type TestServer, withServer } from "../support/server.ts";
import { stoppedServer } from "../support/stopped-server.ts";

/** The output of `larder verify --json`. */
interface Report {
  ok: boolean;
  contents: number;
  bytes: number;
  damaged: number;
  missing: number;
  snapshot: string | null;
  unlisted: { contents: number; bytes: number };
  foreign: number;
  findings: {
    kind: string;
    checksum: string | null;
    detail: string;
    files: { account: string; path: string; as: string }[];
  }[];
}

async function verify(args: string[]): Promise<{ code: number; report: Report }> {
  const { code, stdout, stderr } = await runLarder(["verify", "--json", ...args]);
  if (stdout === "") throw new Error(`verify said nothing: ${code} ${stderr}`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a script would do
  return { code, report: JSON.parse(stdout) as Report };
}

/** All names, sizes, and times below a folder. */
async function stateOf(folder: string): Promise<string[]> {
  // The check for a running server removes the lock journal of a killed one.
  const names = (await readdir(folder, { recursive: true })).filter((name) => name !== "larder.lock-journal").sort();
  return Promise.all(
    names.map(async (name) => {
      const { size, mtimeMs, mode } = await stat(join(folder, name));
      return `${name} ${size} ${mtimeMs} ${mode}`;
    }),
  );
}

type Contents = [present: Uint8Array, former: Uint8Array, trashed: Uint8Array];

/** A stopped server with a file, one of two versions, and one in the trash. */
const withStopped = stoppedServer<Contents>(async ({ client }) => {
  const [present, former, trashed] = [randomContent(300_000), randomContent(2_000), randomContent(1_000)];
  await client.stored(present, { name: "present.bin", fields: { folder: "/deep/er" } });
  const id = await client.storedId(former, { name: "changed.txt" });
  expectStatus(await client.putContent(id, "the second content"), 200);
  const trashId = await client.storedId(trashed, { name: "old.txt", fields: { folder: "/attic" } });
  expectStatus(await client.post("/api/files/trash", { fileIds: [trashId] }), 200);
  return [present, former, trashed];
});

/** The same server, running. */
async function withFiles(
  use: (server: TestServer, client: Client, contents: Contents, email: string) => Promise<void>,
): Promise<void> {
  await withStopped(async (server, { client, email }, contents) => {
    await server.start();
    await use(server, client, contents, email);
  });
}

describe("larder verify while the server runs", () => {
  test("exits 0 for an intact directory", async () => {
    await withFiles(async (server, client) => {
      const { code, report } = await verify(["--data", server.dataDir]);
      expect({ code, report }).toMatchObject({
        code: 0,
        report: { ok: true, contents: 4, bytes: 303_018, findings: [], unlisted: { contents: 0 }, foreign: 0 },
      });
      expectStatus(await client.get("/api/files"), 200);
      const text = await runLarder(["verify", "--data", server.dataDir]);
      expect(text.code).toBe(0);
      expect(text.stdout).toMatch(/^Verified 4 blobs.+against the database of the running server.+\n.+ is intact\.\n$/);
    });
  });

  test("names each damaged file with exit 1; it is not served until the same bytes are uploaded", async () => {
    await withFiles(async (server, client, [present, former, trashed], email) => {
      await flipBit(blobPath(server.dataDir, present));
      await truncate(blobPath(server.dataDir, former), 7);
      await unlink(blobPath(server.dataDir, trashed));
      const { code, report } = await verify(["--data", server.dataDir]);
      expect({ code, ...report }).toMatchObject({ code: 1, ok: false, damaged: 2, missing: 1 });
      const of = (content: Uint8Array) => report.findings.find(({ checksum }) => checksum === checksumOf(content));
      expect(of(present)).toMatchObject({
        kind: "damaged",
        files: [{ account: email, path: "/deep/er/present.bin", as: "present" }],
      });
      expect(of(former)).toMatchObject({ kind: "damaged", files: [{ path: "/changed.txt", as: "earlier" }] });
      expect(of(trashed)).toMatchObject({ kind: "missing", files: [{ as: "trash" }] });
      const id = (await client.get("/api/files?folder=/deep/er")).string("data.files.0.id");
      expectError(await client.get(`/api/files/${id}/download`), 500, "content_damaged");
      await client.stored(present, { name: "again" });
      expect(checksumOf((await client.get(`/api/files/${id}/download`)).bytes)).toBe(checksumOf(present));
      const text = await runLarder(["verify", "--data", server.dataDir]);
      expect(text.code).toBe(1);
      expect(text.stdout).toContain(`${email}: /changed.txt`);
      expect(text.stdout).toContain("larder heal --from");
    });
  });

  test("--quick compares only sizes, and neither it nor --read-only records anything", async () => {
    await withFiles(async (server, client, [present, former]) => {
      await flipBit(blobPath(server.dataDir, present));
      await truncate(blobPath(server.dataDir, former), 7);
      const quick = await verify(["--quick", "--data", server.dataDir]);
      expect({ code: quick.code, damaged: quick.report.damaged }).toEqual({ code: 1, damaged: 1 });
      const whole = await verify(["--read-only", "--data", server.dataDir]);
      expect({ code: whole.code, damaged: whole.report.damaged }).toEqual({ code: 1, damaged: 2 });
      const id = (await client.get("/api/files?folder=/deep/er")).string("data.files.0.id");
      expectStatus(await client.get(`/api/files/${id}/download`), 200);
    });
  });

  test("finds nothing wrong during uploads, changes, and deletions", async () => {
    await withServer({ hasAccounts: true }, async (server) => {
      const { client } = await server.signUp();
      const end = new AbortController();
      const work = (async () => {
        for (let round = 0; !end.signal.aborted; round++) {
          const id = await client.storedId(randomContent(20_000), { name: `${round}.bin` });
          if (round % 2 === 0) await client.delete(`/api/files/${id}`);
          else await client.putContent(id, randomContent(500));
        }
      })();
      for (let round = 0; round < 3; round++) {
        const { code, report } = await verify(["--data", server.dataDir]);
        expect({ code, findings: report.findings }).toEqual({ code: 0, findings: [] });
      }
      end.abort();
      await work;
    });
  });
});

describe("larder verify DIR", () => {
  test("writes nothing to a stopped, a crashed, or a copied directory", async () => {
    await withFiles(async (server, client, [present]) => {
      const admin = await server.addUser(["--admin"]);
      await runJob(admin.client, "snapshot");
      const copies = await temporaryDirectory();
      const live = join(copies, "live");
      await cp(server.dataDir, live, { recursive: true, preserveTimestamps: true });
      await client.stored("after the copy", { name: "late" });
      await server.kill9();
      const crashed = join(copies, "crashed");
      for (const directory of [live, server.dataDir]) {
        const before = await stateOf(directory);
        const { code, report } = await verify([directory]);
        expect({ code, findings: report.findings }).toEqual({ code: 0, findings: [] });
        expect(await stateOf(directory)).toEqual(before);
        expect(report.snapshot === null).toBe(directory !== live);
        expect(report.contents).toBe(directory === live ? 4 : 5);
      }
      await server.start();
      await server.stop();
      await cp(server.dataDir, crashed, { recursive: true, preserveTimestamps: true });
      await flipBit(blobPath(crashed, present));
      const before = await stateOf(crashed);
      const { code, report } = await verify([crashed]);
      expect({ code, damaged: report.damaged, contents: report.contents }).toEqual({
        code: 1,
        damaged: 1,
        contents: 5,
      });
      expect(await stateOf(crashed)).toEqual(before);
    });
  }, 120_000);

  test("exits 2 with the reason for another directory, or without an intact database", async () => {
    const empty = await temporaryDirectory();
    const { code, stderr } = await runLarder(["verify", empty]);
    expect(code).toBe(2);
    expect(stderr).toContain(empty);
    await withStopped(async (server) => {
      for (const name of await readdir(join(server.dataDir, "snapshots"))) {
        await unlink(join(server.dataDir, "snapshots", name));
      }
      await unlink(join(server.dataDir, "larder.db"));
      const lost = await runLarder(["verify", server.dataDir]);
      expect({ code: lost.code, says: lost.stderr.includes("No database found") }).toEqual({ code: 2, says: true });
      await writeFile(join(server.dataDir, "larder.db"), randomContent(9_000));
      const none = await runLarder(["verify", server.dataDir]);
      expect(none.code).toBe(2);
      expect(none.stderr).not.toMatch(/\n\s+at .+:\d+:\d+/);
    });
  });
});

describe("rows", () => {
  const breakages: [what: string, sql: string, says: RegExp][] = [
    ["a counter", "UPDATE accounts SET files = files + 1 WHERE files > 0", /counter accounts\.files/],
    ["a reference count", "UPDATE blobs SET refs = refs + 1", /counter blobs\.refs/],
    [
      "a sort key",
      "UPDATE nodes SET natural_key = 'other' WHERE name = 'present.bin'",
      /sorts the name of node \d+ is/,
    ],
    ["a folder's count", "UPDATE folders SET child_files = 9", /counter folders\.child_files/],
    [
      "a size",
      "UPDATE nodes SET size_bytes = 1 WHERE name = 'present.bin'",
      /size differs from the size of their blob/,
    ],
    ["a name", "UPDATE nodes SET name = 'a/b' WHERE name = 'present.bin'", /invalid names: file_/],
    ["a journal number", "UPDATE accounts SET seq = 1 WHERE seq > 1", /unknown sequence numbers/],
    [
      "a missing row",
      "DELETE FROM folders WHERE node_id IN (SELECT id FROM nodes WHERE name = 'er')",
      /without counters/,
    ],
    ["a reference", "UPDATE versions SET blob_id = 999999", /refers to a row of blobs that is not there/],
    [
      "a circle",
      "UPDATE nodes SET parent_id = (SELECT id FROM nodes WHERE name = 'er') WHERE name = 'deep'",
      /in a cycle/,
    ],
  ];

  test("each broken rule is found and reported with ids, without names", async () => {
    await withStopped(async (server) => {
      const copies = await temporaryDirectory();
      for (const [what, sql, says] of breakages) {
        const broken = join(copies, what.replaceAll(/\W/g, "-"));
        await cp(server.dataDir, broken, { recursive: true, preserveTimestamps: true });
        // The same file, not a copy.
        await unlink(join(broken, "larder.state"));
        const sqlite = new Database(join(broken, "larder.db"));
        sqlite.run("PRAGMA foreign_keys=OFF");
        sqlite.run("PRAGMA writable_schema=ON");
        sqlite.run(sql);
        sqlite.close();
        const { code, stdout, stderr } = await runLarder(["verify", "--json", broken]);
        expect({ what, code: code === 0 ? 0 : "found" }).toEqual({ what, code: "found" });
        expect({ what, says: stdout + stderr }).toEqual({ what, says: expect.stringMatching(says) });
      }
    });
  }, 120_000);

  test("a flipped bit that breaks no rule is found in a database that was closed properly", async () => {
    // SQLite has no checksums of its pages: a changed name in a row was "intact".
    await withFiles(async (server, client) => {
      await client.post("/api/folders", { name: "holiday", path: "/" });
      await server.stop();
      expect((await verify([server.dataDir])).code).toBe(0);
      const path = join(server.dataDir, "larder.db");
      const bytes = await readFile(path);
      const at = bytes.lastIndexOf("$argon2id$");
      bytes[at + 60] = (bytes[at + 60] ?? 0) ^ 1;
      await writeFile(path, bytes);
      for (const flags of [[server.dataDir], ["--data", server.dataDir]]) {
        const { code, report } = await verify(flags);
        expect({ code, details: report.findings.map(({ detail }) => detail) }).toEqual({
          code: 1,
          details: [expect.stringContaining("changed after Larder closed it")],
        });
      }
    });
  });

  test("a damaged page is found", async () => {
    await withFiles(async (server) => {
      await server.stop();
      const path = join(server.dataDir, "larder.db");
      const sqlite = new Database(path, { readonly: true });
      const { page } = sqlite
        .query<{ page: number }, []>("SELECT rootpage AS page FROM sqlite_schema WHERE name = 'nodes_modified'")
        .get() ?? { page: 0 };
      const { size } = sqlite.query<{ size: number }, []>("SELECT page_size AS size FROM pragma_page_size").get() ?? {
        size: 0,
      };
      sqlite.close();
      const bytes = await readFile(path);
      bytes.fill(0xee, (page - 1) * size + 8, page * size);
      await writeFile(path, bytes);
      const { code, report } = await verify([server.dataDir]);
      expect(code).toBe(1);
      expect(report.findings[0]?.detail).toMatch(/nodes_modified|page|tree/i);
      // The blobs are read nevertheless.
      expect({ contents: report.contents, damaged: report.damaged }).toEqual({ contents: 4, damaged: 0 });
      const noted = await runLarder(["verify", "--data", server.dataDir]);
      expect(noted.code).not.toBe(0);
      expect(noted.stdout + noted.stderr).not.toMatch(/\n\s+at .+:\d+:\d+/);
    });
  }, 120_000);
});
