import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { watch } from "node:fs";
import { cp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { Client, checksumOf, randomContent } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { mountExt4, mountTmpfs, mountingFails, run } from "../support/mounts.ts";
import { repositoryRoot, runLarder, temporaryDirectory, testCommand, withServer } from "../support/server.ts";

// Each starts several processes.
setDefaultTimeout(60_000);

if (mountingFails !== undefined) console.warn(`skipped: tests on file systems of their own: ${mountingFails}`);

/** Expects a copy of a backup to open and to have these files. */
async function expectOpens(dir: string, account: { email: string; password: string }, names: string[]): Promise<void> {
  const base = await temporaryDirectory();
  const copy = join(base, "copy");
  try {
    await cp(dir, copy, { recursive: true });
    await rm(join(copy, "lost+found"), { recursive: true, force: true });
    await withServer({ dataDir: copy }, async (opened) => {
      const { email, password } = account;
      const response = await opened.visitor.post("/api/auth/signin", { email, password });
      const client = new Client(opened, response.string("token"));
      expect((await client.names("/")).toSorted()).toEqual(names);
      expect(opened.log).not.toContain("missing");
    });
  } finally {
    await rm(base, { recursive: true });
  }
}

test("a restore that is killed at any moment leaves a directory that opens in one complete state or the other", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const { client, email, password } = await server.signUp();
    await client.storedId("first", { name: "first" });
    const base = await temporaryDirectory();
    try {
      await runLarder(["backup", join(base, "backup"), "--data", server.dataDir]);
      await client.storedId("second", { name: "second" });
      await server.stop();
      const taken = (await readdir(join(base, "backup", "snapshots"))).find((name) => name.endsWith(".db")) ?? "";
      for (const suffix of ["", ".sha256"])
        await cp(join(base, "backup", "snapshots", taken + suffix), join(server.dataDir, "snapshots", taken + suffix));
      // A restore changes the directory about 13 times: lock, database and mark.
      for (const changeCount of [2, 4, 6, 7, 9]) {
        const copy = join(base, `copy-${changeCount}`);
        // A directory of a stopped server opens without a restore.
        await cp(server.dataDir, copy, { recursive: true });
        const words = [...testCommand(), "restore", "--snapshot", taken, "--data", copy];
        const child = Bun.spawn(words, { cwd: repositoryRoot, stdout: "ignore", stderr: "ignore" });
        let changesSeen = 0;
        const watcher = watch(copy, () => {
          if (++changesSeen === changeCount) child.kill("SIGKILL");
        });
        await child.exited;
        watcher.close();
        await withServer({ dataDir: copy }, async (opened) => {
          const response = await opened.visitor.post("/api/auth/signin", { email, password });
          const names = (await new Client(opened, response.string("token")).names("/")).toSorted();
          expect([["first"], ["first", "second"]]).toContainEqual(names);
        });
      }
    } finally {
      await rm(base, { recursive: true });
    }
  });
}, 120_000);

/** Everything of an account that a backup must have: paths, files, versions, tags, the trash, and links. */
async function wholeStateOf(client: Client): Promise<unknown> {
  const files: unknown[] = [];
  const listed = await client.get("/api/files?recursive=true&limit=100");
  const kinds = listed.strings("data.files", "type");
  for (const [index, id] of listed.strings("data.files", "id").entries()) {
    const path = `data.files.${index}`;
    const location = [listed.at(`${path}.folder`), listed.at(`${path}.name`), listed.at(`${path}.tags`)];
    if (kinds[index] === "folder") files.push({ id, location });
    else {
      const { bytes } = await client.get(`/api/files/${id}/download`);
      const versions = (await client.get(`/api/files/${id}/versions`)).at("data.versions");
      const shares = (await client.get(`/api/files/${id}/shares`)).at("data.shares");
      files.push({ id, location, checksum: checksumOf(bytes), versions, shares });
    }
  }
  const trash = (await client.get("/api/files/trash")).at("data.files");
  // Download addresses contain the port of the server.
  return JSON.parse(JSON.stringify({ files, trash }).replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, ""));
}

test("three incremental backups with changes in between: each state can be restored", async () => {
  const base = await temporaryDirectory();
  try {
    await withServer({ hasAccounts: true }, async (server) => {
      const { client, email, password } = await server.signUp();
      const dir = join(base, "backup");
      const states: { snapshot: string; state: unknown; already: number }[] = [];
      const backUp = async () => {
        const { code, stdout } = await runLarder(["backup", dir, "--json", "--data", server.dataDir]);
        expect(code).toBe(0);
        const { snapshot, already }: { snapshot: string; already: number } = JSON.parse(stdout);
        states.push({ snapshot, already, state: await wholeStateOf(client) });
      };
      await client.folderId("Papers");
      const id = new Map<string, string>();
      for (const name of ["same", "edited", "renamed", "moved", "deleted", "trashed"]) {
        id.set(name, await client.storedId(`${name} at first`, { name }));
      }
      const idOf = (name: string) => id.get(name) ?? "";
      await backUp();

      expectStatus(await client.putContent(idOf("edited"), "edited then"), 200);
      expectStatus(await client.put(`/api/files/${idOf("renamed")}`, { name: "other name", tags: ["tax"] }), 200);
      expectStatus(
        await client.post("/api/files/move", { fileIds: [idOf("moved")], destinationFolder: "/Papers" }),
        200,
      );
      expectStatus(await client.delete(`/api/files/${idOf("deleted")}`), 200);
      expectStatus(await client.post("/api/files/trash", { fileIds: [idOf("trashed")] }), 200);
      expectStatus(await client.post(`/api/files/${idOf("same")}/shares`, {}), 201);
      await client.storedId(randomContent(300_000), { name: "second" });
      await backUp();

      expectStatus(await client.putContent(idOf("edited"), "edited last"), 200);
      expectStatus(await client.post("/api/files/trash/restore", { fileIds: [idOf("trashed")] }), 200);
      await client.storedId("again", { name: "deleted" });
      expectStatus(await client.delete(`/api/files/${idOf("renamed")}`), 200);
      await backUp();

      expect(states.map(({ already }) => already)).toEqual([0, 5, 6]);
      expect(new Set(states.map(({ state }) => JSON.stringify(state))).size).toBe(3);
      for (const [index, { snapshot, state }] of states.entries()) {
        const target = join(base, `state-${index}`);
        const restored = await runLarder(["restore", dir, "--snapshot", snapshot, "--data", target]);
        expect({ code: restored.code, stderr: restored.stderr }).toEqual({ code: 0, stderr: "" });
        await withServer({ dataDir: target }, async (opened) => {
          const response = await opened.visitor.post("/api/auth/signin", { email, password });
          expect(await wholeStateOf(new Client(opened, response.string("token")))).toEqual(state);
        });
        expect((await runLarder(["verify", "--data", target])).code).toBe(0);
      }
    });
  } finally {
    await rm(base, { recursive: true });
  }
}, 120_000);

describe.skipIf(mountingFails !== undefined)("the disk of a backup", () => {
  test.each(["ext4", "tmpfs"])(
    "of %s that fills up ends the backup with a clear message; the earlier backup opens, and with free space it continues",
    async (kind) => {
      const disk = kind === "ext4" ? await mountExt4(48) : await mountTmpfs(24);
      try {
        await withServer({ hasAccounts: true }, async (server) => {
          const account = await server.signUp();
          const { client } = account;
          await client.storedId("small", { name: "small" });
          const dir = join(disk.path, "backup");
          const backUp = () => runLarder(["backup", dir, "--data", server.dataDir]);
          expect((await backUp()).code).toBe(0);
          const ids: string[] = [];
          for (let index = 0; index < 12; index++)
            ids.push(await client.storedId(randomContent(4_000_000), { name: `large ${index}` }));
          const full = await backUp();
          expect(full.code).toBe(2);
          expect(full.stderr).toContain("disk space");
          expect(full.stderr).not.toMatch(/\n\s+at .+:\d+:\d+/);
          await expectOpens(dir, account, ["small"]);
          for (const id of ids.slice(2)) await client.delete(`/api/files/${id}`);
          // Frees space: copied blobs that are not needed are deleted with the snapshots that name them, so with none.
          const blobs = join(dir, "blobs", "sha256");
          for (const name of await readdir(blobs, { recursive: true, withFileTypes: true }))
            if (name.isFile() && Bun.file(join(name.parentPath, name.name)).size === 4_000_000)
              await rm(join(name.parentPath, name.name));
          const again = await backUp();
          expect([again.code, again.stderr]).toEqual([0, ""]);
          await expectOpens(dir, account, ["large 0", "large 1", "small"]);
        });
      } finally {
        await disk.unmount();
      }
    },
    120_000,
  );

  test("that is mounted read-only is reported, and a restore from it works", async () => {
    const disk = await mountExt4(32);
    try {
      await withServer({ hasAccounts: true }, async (server) => {
        const account = await server.signUp();
        const content = randomContent(100_000);
        const id = await account.client.storedId(content, { name: "one" });
        const dir = join(disk.path, "backup");
        expect((await runLarder(["backup", dir, "--data", server.dataDir])).code).toBe(0);
        expect((await run(["mount", "-o", "remount,ro", disk.path])).code).toBe(0);
        const rejected = await runLarder(["backup", dir, "--data", server.dataDir]);
        expect([rejected.code, rejected.stderr.includes("read-only")]).toEqual([2, true]);
        const drill = await runLarder(["backup", "--drill", dir, "--data", server.dataDir]);
        expect([drill.code, drill.stderr]).toEqual([0, ""]);
        const base = await temporaryDirectory();
        const target = join(base, "restored");
        expect((await runLarder(["restore", dir, "--data", target])).code).toBe(0);
        await withServer({ dataDir: target }, async (restored) => {
          const { email, password } = account;
          const response = await restored.visitor.post("/api/auth/signin", { email, password });
          const client = new Client(restored, response.string("token"));
          expect(checksumOf((await client.get(`/api/files/${id}/download`)).bytes)).toBe(checksumOf(content));
        });
        await rm(base, { recursive: true });
      });
    } finally {
      await disk.unmount();
    }
  });

  test("that fills up during a restore has nothing that looks like a data directory", async () => {
    const disk = await mountTmpfs(4);
    try {
      await withServer({ hasAccounts: true }, async (server) => {
        const { client } = await server.signUp();
        for (let index = 0; index < 4; index++) await client.storedId(randomContent(2_000_000), { name: `f${index}` });
        const target = join(disk.path, "restored");
        const { code, stderr } = await runLarder(["restore", server.dataDir, "--data", target]);
        expect([code, stderr.includes("disk space")]).toEqual([2, true]);
        const names = await readdir(target);
        expect(names).not.toContain("larder.db");
        expect(names).not.toContain("larder.state");
      });
    } finally {
      await disk.unmount();
    }
  });
});
