import { describe, expect, test } from "bun:test";
import { cp, readFile, readdir, rename, rm, stat, symlink, truncate, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { checksumOf, digestOf, randomContent } from "../support/client.ts";
import { blobPath } from "../support/data-directory.ts";
import { expectStatus } from "../support/expect.ts";
import { describeImage, jpegPhoto } from "../support/images.ts";
import { runLarder, sharedServer, withServer } from "../support/server.ts";

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** All paths below a folder, in a fixed order. */
async function entriesOf(folder: string): Promise<string[]> {
  return (await readdir(folder, { recursive: true })).sort();
}

/** Expects a failed start: exit code 2 with an explanation. */
async function expectRejectedStart(dataDir: string): Promise<string> {
  const { code, stderr, stdout } = await runLarder(["serve", "--data", dataDir, "--port", "0"]);
  expect({ code, listening: stdout.includes("listening on") }).toEqual({ code: 2, listening: false });
  expect(stderr).toContain(dataDir);
  expect(stderr).not.toMatch(/\n\s+at .+:\d+:\d+/);
  return stderr;
}

describe("a data directory whose parts do not belong together is rejected", () => {
  test("a database without its blob folder", async () => {
    await withServer({ hasAccounts: true }, async (server) => {
      const { client } = await server.signUp();
      await client.stored("content");
      await server.stop();
      const blobs = join(server.dataDir, "blobs");
      await rename(blobs, `${blobs}-away`);
      await expectRejectedStart(server.dataDir);
      expect(await exists(blobs)).toBe(false);
      await rename(`${blobs}-away`, blobs);
      await server.start();
      expect(await client.names()).toEqual(["file.txt"]);
    });
  });

  test("a database next to an empty blob folder, as without a mounted disk", async () => {
    await withServer({ hasAccounts: true }, async (server) => {
      const { client } = await server.signUp();
      await client.stored("content");
      await server.stop();
      const blobs = join(server.dataDir, "blobs");
      await rename(blobs, `${blobs}-away`);
      await cp(join(server.dataDir, "thumbs"), blobs, { recursive: true });
      await expectRejectedStart(server.dataDir);
      expect(await readdir(blobs)).toEqual([]);
    });
  });

  test("a database next to the blobs of another store", async () => {
    await withServer({}, async (server) => {
      await withServer({ hasAccounts: true }, async (other) => {
        await (await server.signUp()).client.stored("mine");
        await (await other.signUp()).client.stored("theirs");
        await server.stop();
        await other.stop();
        await rm(join(server.dataDir, "blobs"), { recursive: true });
        await cp(join(other.dataDir, "blobs"), join(server.dataDir, "blobs"), { recursive: true });
        const before = await entriesOf(join(server.dataDir, "blobs"));
        await expectRejectedStart(server.dataDir);
        expect(await entriesOf(join(server.dataDir, "blobs"))).toEqual(before);
      });
    });
  });

  test("a store without its database", async () => {
    await withServer({ hasAccounts: true }, async (server) => {
      await (await server.signUp()).client.stored("content");
      await server.stop();
      for (const suffix of ["", "-wal", "-shm"]) await rm(join(server.dataDir, `larder.db${suffix}`), { force: true });
      const before = await entriesOf(join(server.dataDir, "blobs"));
      await expectRejectedStart(server.dataDir);
      expect(await exists(join(server.dataDir, "larder.db"))).toBe(false);
      expect(await entriesOf(join(server.dataDir, "blobs"))).toEqual(before);
    });
  });

  test("a file that is not a database", async () => {
    await withServer({ hasAccounts: true }, async (server) => {
      await server.stop();
      for (const suffix of ["-wal", "-shm"]) await rm(join(server.dataDir, `larder.db${suffix}`), { force: true });
      await writeFile(
        join(server.dataDir, "larder.db"),
        "this is no database, and it is long enough to look like one".repeat(100),
      );
      const before = await readFile(join(server.dataDir, "larder.db"));
      await expectRejectedStart(server.dataDir);
      expect(await readFile(join(server.dataDir, "larder.db"))).toEqual(before);
    });
  });
});

test("a store that vanishes while the server runs is an error; nothing is created in its place, and it comes back complete", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const { client } = await server.signUp();
    const content = randomContent(100_000);
    const id = await client.storedId(content, { name: "before.bin" });
    const blobs = join(server.dataDir, "blobs");
    await rename(blobs, `${blobs}-away`);
    const upload = await client.upload(randomContent(1000), { name: "during.bin" });
    expect([500, 503, 507]).toContain(upload.status);
    expect(["STORAGE_ERROR", "SERVICE_UNAVAILABLE"]).toContain(upload.string("error.code"));
    const put = await client.putContent(id, "during");
    expect([500, 503, 507]).toContain(put.status);
    const download = await client.get(`/api/files/${id}/download`);
    expect(download.status).toBeGreaterThanOrEqual(500);
    const ready = await server.visitor.get("/health/ready");
    expect(ready.status).toBe(503);
    expect(Number(ready.header("retry-after"))).toBeGreaterThan(0);
    expectStatus(await server.visitor.get("/health/live"), 200);
    expect(await client.names()).toEqual(["before.bin"]);
    expect(await exists(blobs)).toBe(false);
    await rename(`${blobs}-away`, blobs);
    expect(digestOf((await client.get(`/api/files/${id}/download`)).bytes)).toBe(digestOf(content));
    expectStatus(await client.upload("after", { name: "after.txt" }), 201);
    expectStatus(await server.visitor.get("/health/ready"), 200);
  });
});

test("a blob folder that was replaced by another is not written to", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const { client } = await server.signUp();
    await client.stored("content");
    const blobs = join(server.dataDir, "blobs");
    await rename(blobs, `${blobs}-away`);
    await cp(join(server.dataDir, "thumbs"), blobs, { recursive: true });
    const upload = await client.upload(randomContent(1000), { name: "during.bin" });
    expect([500, 503, 507]).toContain(upload.status);
    const files = await readdir(blobs, { recursive: true, withFileTypes: true });
    expect(files.filter((entry) => entry.isFile())).toEqual([]);
    expect(await client.names()).toEqual(["file.txt"]);
  });
});

describe("a damaged blob is not trusted", () => {
  const shared = sharedServer({ hasAccounts: true });

  test("a truncated one is replaced by the next upload of the same bytes", async () => {
    const server = shared();
    const { client } = await server.signUp();
    const content = randomContent(100_000);
    const id = await client.storedId(content, { name: "a" });
    await truncate(blobPath(server.dataDir, content), 50_000);
    const again = await client.storedId(content, { name: "b" });
    for (const one of [id, again])
      expect(checksumOf((await client.get(`/api/files/${one}/download`)).bytes)).toBe(checksumOf(content));
  });

  test("a missing one is replaced too", async () => {
    const server = shared();
    const { client } = await server.signUp();
    const content = randomContent(100_000);
    const id = await client.storedId(content, { name: "a" });
    await unlink(blobPath(server.dataDir, content));
    expect((await client.get(`/api/files/${id}/download`)).status).toBeGreaterThanOrEqual(500);
    await client.stored(content, { name: "b" });
    expect(checksumOf((await client.get(`/api/files/${id}/download`)).bytes)).toBe(checksumOf(content));
  });

  test("one with a wrong checksum is replaced, although its size is right", async () => {
    const server = shared();
    const { client } = await server.signUp();
    const content = randomContent(100_000);
    const id = await client.storedId(content, { name: "a" });
    const rotten = Buffer.from(content);
    rotten[50_000] = (rotten[50_000] ?? 0) ^ 1;
    const path = blobPath(server.dataDir, content);
    await unlink(path);
    await writeFile(path, rotten);
    const check = await client.get(`/api/files/${id}/checksum`);
    expectStatus(check, 200);
    expect(check.at("data")).toMatchObject({ stored: checksumOf(content), actual: checksumOf(rotten), ok: false });
    await client.stored(content, { name: "b" });
    expect((await client.get(`/api/files/${id}/checksum`)).at("data.ok")).toBe(true);
    expect(checksumOf((await client.get(`/api/files/${id}/download`)).bytes)).toBe(checksumOf(content));
  });

  test("a truncated one is never sent as a complete file", async () => {
    const server = shared();
    const { client } = await server.signUp();
    const content = randomContent(100_000);
    const id = await client.storedId(content, { name: "a" });
    await truncate(blobPath(server.dataDir, content), 50_000);
    const response = await client.get(`/api/files/${id}/download`).catch(() => undefined);
    if (response !== undefined) expect(response.status).toBeGreaterThanOrEqual(500);
  });

  test("a symbolic link in the store is not followed", async () => {
    const server = shared();
    const { client } = await server.signUp();
    const content = randomContent(1000);
    const id = await client.storedId(content, { name: "a" });
    const outside = join(server.dataDir, "..", `${digestOf(content).slice(0, 12)}-outside`);
    await writeFile(outside, "o".repeat(1000));
    try {
      const path = blobPath(server.dataDir, content);
      await unlink(path);
      await symlink(outside, path);
      const response = await client.get(`/api/files/${id}/download`).catch(() => undefined);
      if (response !== undefined) {
        expect(response.status).toBeGreaterThanOrEqual(500);
        expect(response.text).not.toContain("ooo");
      }
      await client.stored(content, { name: "b" });
      expect(await readFile(outside, "utf8")).toBe("o".repeat(1000));
      expect(checksumOf((await client.get(`/api/files/${id}/download`)).bytes)).toBe(checksumOf(content));
    } finally {
      await unlink(outside);
    }
  });
});

test("thumbs/ may be deleted while the server is stopped", async () => {
  await withServer({ hasAccounts: true }, async (server) => {
    const { client } = await server.signUp();
    const id = await client.storedId(await jpegPhoto(900, 600), { name: "p.jpg" });
    expectStatus(await client.get(`/api/files/${id}/download?thumbnail=small`), 200);
    await server.stop();
    await rm(join(server.dataDir, "thumbs"), { recursive: true });
    await server.start();
    const response = await client.get(`/api/files/${id}/download?thumbnail=small`);
    expect(await describeImage(response.bytes)).toMatchObject({ format: "webp", width: 128 });
  });
});
