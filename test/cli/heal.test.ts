import { describe, expect, test } from "bun:test";
import { cp, mkdir, readdir, readFile, rm, truncate, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Client, checksumOf, digestOf, randomContent } from "../support/client.ts";
import { blobPath, flipBit } from "../support/data-directory.ts";
import { expectError } from "../support/expect.ts";
import { runLarder, temporaryDirectory, type TestServer, withServer } from "../support/server.ts";

/** A server with three files and a good copy of its directory; then one blob is damaged, one truncated, and one missing. */
async function withDamage(
  use: (server: TestServer, client: Client, contents: Uint8Array[], ids: string[], copy: string) => Promise<void>,
): Promise<void> {
  await withServer({}, async (server) => {
    const { client } = await server.signUp();
    const contents = [randomContent(300_000), randomContent(20_000), randomContent(2_000_000)];
    const ids: string[] = [];
    for (const [index, content] of contents.entries()) {
      ids.push(await client.storedId(content, { name: `file-${index}.bin`, fields: { folder: "/box" } }));
    }
    const copy = join(await temporaryDirectory(), "copy");
    await cp(server.dataDir, copy, { recursive: true });
    const [damaged, short, missing] = contents.map((content) => blobPath(server.dataDir, content));
    await flipBit(damaged ?? "");
    await truncate(short ?? "", 19_999);
    await unlink(missing ?? "");
    await use(server, client, contents, ids, copy);
  });
}

async function expectWhole(client: Client, contents: Uint8Array[], ids: string[]): Promise<void> {
  for (const [index, id] of ids.entries()) {
    const { bytes } = await client.get(`/api/files/${id}/download`);
    expect(checksumOf(bytes)).toBe(checksumOf(contents[index] ?? ""));
  }
}

const heal = (server: TestServer, ...args: string[]) => runLarder(["heal", "--data", server.dataDir, ...args]);

describe("larder heal", () => {
  test("takes good blobs from a copy while the server runs, which serves them immediately", async () => {
    await withDamage(async (server, client, contents, ids, copy) => {
      expect((await server.larder(["verify"])).code).toBe(1);
      for (const id of ids) expect((await client.get(`/api/files/${id}/download`)).status).toBe(500);
      const { code, stdout } = await heal(server, "--from", copy);
      expect(stdout).toEndWith("Repaired 3 blobs; none are damaged or missing now.\n");
      expect(code).toBe(0);
      await expectWhole(client, contents, ids);
      expect((await server.larder(["verify"])).code).toBe(0);
      // The damaged bytes are retained.
      const quarantined = (await readdir(join(server.dataDir, "blobs/quarantine"))).sort();
      const [damaged, short] = contents.map((content) => `damaged-${digestOf(content)}`);
      expect(quarantined).toEqual([damaged ?? "", short ?? ""].sort());
      expect(await readdir(join(server.dataDir, "blobs/incoming"))).toEqual([]);
      const again = await heal(server, "--from", copy);
      expect({ code: again.code, says: again.stdout.includes("No damaged or missing blobs") }).toEqual({
        code: 0,
        says: true,
      });
    });
  }, 120_000);

  test("repairs a stopped server from a folder of plain files with any names", async () => {
    await withDamage(async (server, client, contents, ids) => {
      expect((await server.larder(["verify"])).code).toBe(1);
      await server.stop();
      const folder = await temporaryDirectory();
      await mkdir(join(folder, "old disk/photos"), { recursive: true });
      for (const [index, content] of contents.entries()) {
        await writeFile(join(folder, "old disk/photos", `IMG_${index}`), content);
        await writeFile(join(folder, `same size as ${index}`), randomContent(content.length));
      }
      const unsearched = await heal(server, "--from", folder);
      expect(unsearched.code).toBe(1);
      const { code, stdout } = await heal(server, "--from", folder, "--search", "--json");
      const result: unknown = JSON.parse(stdout);
      expect({ code, result }).toMatchObject({ code: 0, result: { ok: true, missing: [], bad: [] } });
      await server.start();
      await expectWhole(client, contents, ids);
    });
  }, 120_000);

  test("never uses a bad copy: it tries the next directory, and names missing blobs", async () => {
    await withDamage(async (server, client, contents, ids, copy) => {
      expect((await server.larder(["verify"])).code).toBe(1);
      const [first, second, third] = contents.map((content) => blobPath(copy, content));
      const other = join(await temporaryDirectory(), "other");
      await cp(copy, other, { recursive: true });
      await flipBit(first ?? "");
      await truncate(second ?? "", 5);
      await rm(blobPath(other, contents[1] ?? new Uint8Array()));
      await rm(third ?? "");
      await rm(blobPath(other, contents[2] ?? new Uint8Array()));
      const before = await readFile(blobPath(server.dataDir, contents[1] ?? new Uint8Array()));
      const { code, stdout } = await heal(server, "--from", copy, "--from", other);
      expect(code).toBe(1);
      expect(stdout).toContain(`bad copy ${first}`);
      expect(stdout).toContain(`bad copy ${second}`);
      expect(stdout).toContain("/box/file-1.bin");
      expect(stdout).toContain("/box/file-2.bin");
      expect(stdout).toContain("Repaired 1 blob; found no good copy of 2.");
      await expectWhole(client, contents.slice(0, 1), ids.slice(0, 1));
      expect(await readFile(blobPath(server.dataDir, contents[1] ?? new Uint8Array()))).toEqual(before);
      expectError(await client.get(`/api/files/${ids[1]}/download`), 500, "content_damaged");
      expectError(await client.get(`/api/files/${ids[2]}/download`), 500, "content_missing");
    });
  }, 120_000);

  test("exits 2 without a directory, or if it does not exist", async () => {
    await withServer({}, async (server) => {
      for (const args of [[], ["--from", join(server.dataDir, "nowhere")]]) {
        const { code, stderr } = await heal(server, ...args);
        expect({ code, isExplained: stderr.trim() !== "" }).toEqual({ code: 2, isExplained: true });
        expect(stderr).not.toMatch(/\n\s+at .+:\d+:\d+/);
      }
    });
  });
});
