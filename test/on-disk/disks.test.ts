import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { mkdir, readdir, rm, stat, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { checksumOf, Client, randomContent } from "../support/client.ts";
import { eventually, expectError, expectStatus } from "../support/expect.ts";
import { copyConsistently, makeExt4Image, mountExt4, mountTmpfs, mountingFails, run } from "../support/mounts.ts";
import { runLarder, startServer, temporaryDirectory } from "../support/server.ts";

if (mountingFails !== undefined) console.warn(`skipped: tests on file systems of their own: ${mountingFails}`);

describe.skipIf(mountingFails !== undefined)("a full disk", () => {
  test.each(["ext4", "tmpfs"])(
    "of %s rejects uploads completely, and everything else works",
    async (kind) => {
      const disk = kind === "ext4" ? await mountExt4(64) : await mountTmpfs(64);
      const server = await startServer({ dataDir: disk.path });
      try {
        const account = await server.signUp();
        const { client } = account;
        const stored = new Map<string, string>();
        let rejected = 0;
        // Smaller and smaller files, until the disk is completely full.
        for (const size of [8_000_000, 2_000_000, 200_000, 20_000])
          for (let index = 0; index < 12; index++) {
            const content = randomContent(size);
            const response = await client.upload(content, { name: `${size}-${index}` });
            if (response.status === 201) {
              stored.set(response.string("data.id"), checksumOf(content));
              continue;
            }
            expectError(response, 507, "disk_full");
            expect(response.at("error.code")).toBe("STORAGE_ERROR");
            rejected += 1;
            break;
          }
        expect(rejected).toBeGreaterThan(0);
        expect(stored.size).toBeGreaterThan(3);

        // At 100 %: reading, listing, deleting, and signing in still work.
        expect((await client.get("/api/files?limit=100")).list("data.files")).toHaveLength(stored.size);
        for (const [id, checksum] of stored)
          expect(checksumOf((await client.get(`/api/files/${id}/download`)).bytes)).toBe(checksum);
        const { email, password } = account;
        expectStatus(await server.visitor.post("/api/auth/signin", { email, password }), 200);
        const late = await Promise.all(
          Array.from({ length: 6 }, (_, index) => client.upload(randomContent(8_000_000), { name: `late-${index}` })),
        );
        for (const response of late) expectError(response, 507, "disk_full");
        await eventually("nothing is staged", async () => {
          const staged = await readdir(join(disk.path, "blobs", "incoming"), { recursive: true, withFileTypes: true });
          return !staged.some((entry) => entry.isFile());
        });
        const [first = ""] = stored.keys();
        expectStatus(await client.delete(`/api/files/${first}`), 200);
        stored.delete(first);
        expect((await server.larder(["gc", "--now"])).code).toBe(0);
        expectStatus(await client.upload(randomContent(4_000_000), { name: "fits again" }), 201);

        expect(await server.stop()).toBe(0);
        const database = new Database(join(disk.path, "larder.db"), { readonly: true });
        expect(database.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
        database.close();
        await server.start();
        for (const [id, checksum] of stored)
          expect(checksumOf((await client.get(`/api/files/${id}/download`)).bytes)).toBe(checksum);
      } finally {
        await server.kill9();
        await disk.unmount();
      }
    },
    120_000,
  );
});

describe.skipIf(mountingFails !== undefined)("a power cut", () => {
  test("loses nothing that was acknowledged; only bytes that reached the device count", async () => {
    const disk = await mountExt4(192);
    const folder = await temporaryDirectory();
    const copy = join(folder, "copy.img");
    const server = await startServer({ dataDir: disk.path });
    const acknowledged = new Map<string, string>();
    try {
      const account = await server.signUp();
      const replaced = await account.client.storedId("old", { name: "replaced" });
      await Promise.all(
        Array.from({ length: 6 }, async (_, worker) => {
          for (let index = 0; index < 12; index++) {
            const content = randomContent(index % 4 === 0 ? 700_000 : 1 + index * 997);
            const fields = { folder: `/w${worker}/deep` };
            const id = await account.client.storedId(content, { name: `${index}`, fields });
            acknowledged.set(id, checksumOf(content));
          }
        }),
      );
      expectStatus(await account.client.putContent(replaced, "new content"), 200);
      acknowledged.set(replaced, checksumOf("new content"));
      server.signal("SIGSTOP");
      await copyConsistently(disk.image, copy);
      await server.kill9();

      const after = await mountExt4(0, copy);
      const restarted = await startServer({ dataDir: after.path });
      try {
        const { email, password } = account;
        const signedIn = await restarted.visitor.post("/api/auth/signin", { email, password });
        expectStatus(signedIn, 200);
        const headers = { authorization: `Bearer ${account.token}` };
        const lost: string[] = [];
        for (const [id, checksum] of acknowledged) {
          const response = await restarted.visitor.get(`/api/files/${id}/download`, headers);
          if (response.status !== 200 || checksumOf(response.bytes) !== checksum)
            lost.push(`${id}: ${response.status}`);
        }
        expect(lost).toEqual([]);
        const listed = await restarted.visitor.get("/api/files?recursive=true&type=file&limit=100", headers);
        expect(listed.list("data.files")).toHaveLength(acknowledged.size);
      } finally {
        await restarted.kill9();
        await after.unmount();
      }
    } finally {
      await server.kill9();
      await disk.unmount();
      await rm(folder, { recursive: true });
    }
  }, 120_000);
});

describe.skipIf(mountingFails !== undefined)("blobs/ on a file system of its own", () => {
  test("accepts uploads of every size, has them after a restart, and frees their space", async () => {
    // Uploads were staged next to blobs/ and renamed into it. Each failed with 500, because a rename cannot cross file systems.
    const dataDir = await temporaryDirectory();
    const disk = await mountTmpfs(64, join(dataDir, "blobs"));
    const server = await startServer({ dataDir });
    try {
      expect((await stat(disk.path)).dev).not.toBe((await stat(dataDir)).dev);
      const { client } = await server.signUp();
      const stored = new Map<string, Uint8Array>();
      for (const size of [0, 1, 5_000, 300_000, 8_000_000]) {
        const content = randomContent(size);
        stored.set(await client.storedId(content, { name: `${size}` }), content);
      }
      const [replaced = ""] = stored.keys();
      const replacement = randomContent(2_000_000);
      expectStatus(await client.putContent(replaced, replacement), 200);
      stored.set(replaced, replacement);
      await server.restart();
      for (const [id, content] of stored)
        expect(checksumOf((await client.get(`/api/files/${id}/download`)).bytes)).toBe(checksumOf(content));
      const used = async () => {
        const { blocks, bfree, bsize } = await statfs(disk.path);
        return (blocks - bfree) * bsize;
      };
      expect(await used()).toBeGreaterThan(10_000_000);
      for (const id of stored.keys()) expectStatus(await client.delete(`/api/files/${id}`), 200);
      expect((await server.larder(["gc", "--now"])).code).toBe(0);
      // A file may stay open for a moment after its download.
      await eventually("the room is free", async () => (await used()) < 1_000_000);
    } finally {
      await server.kill9();
      await disk.unmount();
      await rm(dataDir, { recursive: true });
    }
  });
});

test.skipIf(mountingFails !== undefined)(
  "after a power cut, all reported files of an import are there, with blobs/ on a separate disk",
  async () => {
    // Only the disk of the data directory was synced, which did not have the blobs.
    const folder = await temporaryDirectory();
    const dataDir = join(folder, "data");
    const source = join(folder, "source");
    await mkdir(source);
    const contents = new Map<string, string>();
    for (let index = 0; index < 40; index++) {
      const content = randomContent(20_000 + index * 997);
      contents.set(`${index}`, checksumOf(content));
      await writeFile(join(source, `${index}`), content);
    }
    const image = await makeExt4Image(64, folder);
    const disk = await mountExt4(0, image, join(dataDir, "blobs"));
    const server = await startServer({ dataDir });
    const account = await server.signUp();
    expect(await server.stop()).toBe(0);
    expect((await runLarder(["import", source, "--user", account.email, "--data", dataDir])).code).toBe(0);
    const cut = join(folder, "cut.img");
    await copyConsistently(image, cut);
    await disk.unmount();
    const after = await mountExt4(0, cut, join(dataDir, "blobs"));
    try {
      await server.start();
      const client = new Client(server, account.token);
      const listed = await client.get("/api/files?limit=100");
      expect(listed.list("data.files")).toHaveLength(contents.size);
      for (const [index, id] of listed.strings("data.files", "id").entries()) {
        const got = await client.get(`/api/files/${id}/download`);
        expect(checksumOf(got.bytes)).toBe(contents.get(listed.strings("data.files", "name")[index] ?? "") ?? "");
      }
    } finally {
      await server.kill9();
      await after.unmount();
      await rm(folder, { recursive: true });
    }
  },
);

describe.skipIf(mountingFails !== undefined)("a read-only disk", () => {
  test("of the data stops the start with a message", async () => {
    const disk = await mountTmpfs(16);
    try {
      expect((await run(["mount", "-o", "remount,ro", disk.path])).code).toBe(0);
      const { code, stderr } = await runLarder(["serve", "--data", join(disk.path, "data"), "--port", "0"]);
      expect(code).toBe(2);
      expect(stderr).toContain(disk.path);
      expect(stderr).not.toMatch(/\n\s+at .+:\d+:\d+/);
    } finally {
      await disk.unmount();
    }
  });

  test("of everything else is accepted, as in a container", async () => {
    const disk = await mountTmpfs(64);
    const dataDir = join(disk.path, "data");
    await mkdir(dataDir);
    const readOnly = ["unshare", "--mount", "sh", "-c", 'mount -o remount,bind,ro / && exec "$@"', "sh"];
    if ((await run([...readOnly, "true"])).code !== 0) {
      console.warn("skipped: no mount namespace with a read-only root can be made here");
      await disk.unmount();
      return;
    }
    const server = await startServer({ dataDir, prefix: readOnly });
    try {
      const { client } = await server.signUp();
      await client.stored("x");
      expect(await client.names()).toEqual(["file.txt"]);
    } finally {
      await server.kill9();
      await disk.unmount();
    }
  });
});

describe.skipIf(mountingFails !== undefined)("a disk without a free byte", () => {
  test("after a crash, the server starts, reads, signs in, and deletes; uploads continue when there is space", async () => {
    const disk = await mountExt4(64);
    const server = await startServer({ dataDir: disk.path });
    try {
      const account = await server.signUp();
      const { client, email, password } = account;
      const content = randomContent(200_000);
      const id = await client.storedId(content, { name: "kept" });
      const deletedId = await client.storedId(randomContent(100_000), { name: "deleted" });
      await fillUp(disk.path);
      await server.kill9();
      await server.start();
      expect(checksumOf((await client.get(`/api/files/${id}/download`)).bytes)).toBe(checksumOf(content));
      expectStatus(await server.visitor.post("/api/auth/signin", { email, password }), 200);
      expectError(await client.upload(randomContent(500_000), { name: "refused" }), 507, "disk_full");
      expectStatus(await client.delete(`/api/files/${deletedId}`), 200);
      expect(await client.names()).toEqual(["kept"]);
      await rm(join(disk.path, "ballast"));
      expectStatus(await client.upload(content, { name: "again" }), 201);
      expect(await server.stop()).toBe(0);
    } finally {
      await server.kill9();
      await disk.unmount();
    }
  });

  test("stops a first start with a message", async () => {
    const disk = await mountExt4(16);
    try {
      await fillUp(disk.path);
      const { code, stderr } = await runLarder(["serve", "--data", join(disk.path, "data"), "--port", "0"]);
      expect(code).toBe(2);
      expect(stderr).toMatch(/full|no space|room/i);
      expect(stderr).not.toMatch(/\n\s+at .+:\d+:\d+/);
    } finally {
      await disk.unmount();
    }
  });
});

/** Fills a file system to the last byte. */
async function fillUp(path: string): Promise<void> {
  await run(["dd", "if=/dev/zero", `of=${join(path, "ballast")}`, "bs=64K"]);
  await run(["dd", "if=/dev/zero", `of=${join(path, "ballast")}`, "bs=512", "oflag=append", "conv=notrunc"]);
}
