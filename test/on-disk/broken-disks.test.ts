import { describe, expect, test } from "bun:test";
import { rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ApiResponse, checksumOf, Client, randomContent } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import {
  makeExt4Image,
  makeReadOnly,
  mountExt4,
  mountingFails,
  mountTmpfs,
  repairExt4,
  run,
} from "../support/mounts.ts";
import { startServer, temporaryDirectory, type TestServer } from "../support/server.ts";

if (mountingFails !== undefined) console.warn(`skipped: tests on disks that break: ${mountingFails}`);

/** Sends every kind of write request. @returns the responses by request */
async function tryEveryWrite(client: Client, id: string): Promise<Map<string, ApiResponse>> {
  const attempts: Record<string, () => Promise<ApiResponse>> = {
    "a small upload": () => client.upload(randomContent(100), { name: "small" }),
    "a large upload": () => client.upload(randomContent(3_000_000), { name: "large" }),
    "new content": () => client.putContent(id, randomContent(5_000)),
    "a folder": () => client.post("/api/files/folders", { name: "folder", path: "/" }),
    "a new name": () => client.put(`/api/files/${id}`, { name: "renamed" }),
    "the trash": () => client.post("/api/files/trash", { fileIds: [id] }),
    deletion: () => client.delete(`/api/files/${id}`),
  };
  const responses = new Map<string, ApiResponse>();
  for (const [what, attempt] of Object.entries(attempts)) responses.set(what, await attempt());
  return responses;
}

async function storeSome(client: Client, count: number, size: number): Promise<Map<string, string>> {
  const stored = new Map<string, string>();
  for (let index = 0; index < count; index++) {
    const content = randomContent(size);
    stored.set(await client.storedId(content, { name: `${size}-${index}` }), checksumOf(content));
  }
  return stored;
}

async function expectAllThere(client: Client, stored: Map<string, string>): Promise<void> {
  for (const [id, checksum] of stored) {
    const response = await client.get(`/api/files/${id}/download`);
    expect([id, response.status, checksumOf(response.bytes)]).toEqual([id, 200, checksum]);
  }
}

/** Expects a server error in the envelope, without paths of the server. */
function expectServerFault(what: string, response: ApiResponse, dataDir: string): void {
  expect([what, response.status >= 500, response.at("success")]).toEqual([what, true, false]);
  expect(["STORAGE_ERROR", "DATABASE_ERROR", "SERVICE_UNAVAILABLE"]).toContain(response.string("error.code"));
  expect(response.text).not.toContain(dataDir);
}

/** Stops a server on a disk that may not even accept its last log lines. */
async function endOnBrokenDisk(server: TestServer): Promise<void> {
  const isEnded = await Promise.race([server.stop().then(() => true), Bun.sleep(10_000).then(() => false)]);
  if (!isEnded) await server.kill9();
}

/** Expects that, after the repair of the disk, all acknowledged files are there, and that writing works. */
async function expectAllAfterRepair(image: string, token: string, stored: Map<string, string>): Promise<void> {
  await repairExt4(image);
  const disk = await mountExt4(0, image);
  const server = await startServer({ dataDir: disk.path });
  try {
    const client = new Client(server, token);
    await expectAllThere(client, stored);
    expectStatus(await client.upload("again", { name: "again" }), 201);
  } finally {
    await server.kill9();
    await disk.unmount();
  }
}

/** The part of the device that can be read after its end is lost. */
const READABLE_BYTES = 48 * 1024 * 1024;
const DEVICE_MIB = 96;

describe.skipIf(mountingFails !== undefined)("a disk that breaks while the server runs", () => {
  test("by becoming read-only: writes are rejected with a message, reads continue, and nothing acknowledged is lost", async () => {
    const folder = await temporaryDirectory();
    const image = await makeExt4Image(96, folder);
    const disk = await mountExt4(0, image);
    const server = await startServer({ dataDir: disk.path });
    const { client, token } = await server.signUp();
    const stored = await storeSome(client, 4, 50_000);
    const [first = ""] = stored.keys();
    await makeReadOnly(disk);
    for (const [what, response] of await tryEveryWrite(client, first)) expectServerFault(what, response, disk.path);
    await expectAllThere(client, stored);
    expect((await client.get("/api/files?limit=100")).list("data.files")).toHaveLength(stored.size);
    expectStatus(await server.visitor.get("/health/live"), 200);
    const ready = await server.visitor.get("/health/ready");
    expectStatus(ready, 503);
    expect(ready.string("reason")).toContain("Cannot write to");
    await endOnBrokenDisk(server);
    await disk.unmount();
    await expectAllAfterRepair(image, token, stored);
    await rm(folder, { recursive: true });
  });

  test("by failing writes: files that are not durable are rejected, and nothing acknowledged is lost", async () => {
    // The file system has space, but the device does not: further writes and syncs fail with EIO.
    const device = await mountTmpfs(24);
    const image = await makeExt4Image(256, device.path);
    const disk = await mountExt4(0, image);
    const server = await startServer({ dataDir: disk.path });
    const { client, token } = await server.signUp();
    const stored = await storeSome(client, 3, 20_000);
    let refused = 0;
    for (let index = 0; index < 40 && refused < 4; index++) {
      const content = randomContent(1_500_000);
      const response = await client.upload(content, { name: `large-${index}` });
      if (response.status === 201) stored.set(response.string("data.id"), checksumOf(content));
      else {
        expectServerFault("a large upload", response, disk.path);
        refused += 1;
      }
    }
    expect(refused).toBe(4);
    await endOnBrokenDisk(server);
    await disk.unmount();
    // The device works again.
    expect((await run(["mount", "-o", "remount,size=400m", device.path])).code).toBe(0);
    await expectAllAfterRepair(image, token, stored);
    await device.unmount();
  });

  test("by failing reads: a file is sent completely or visibly fails; it is back when the disk works again", async () => {
    const folder = await temporaryDirectory();
    const image = await makeExt4Image(DEVICE_MIB, folder);
    const dataDir = join(folder, "data");
    const disk = await mountExt4(0, image, join(dataDir, "blobs"));
    const server = await startServer({ dataDir });
    try {
      const { client } = await server.signUp();
      const stored = await storeSome(client, 60, 1_000_000);
      const sizeBytes = (await stat(image)).size;
      const whole = join(folder, "whole.img");
      // From now on, nothing may be written, not even access times: a write would extend the image again, and its holes would
      // be read as zeros. A device with wrong data is another fault than one that fails. The remount fails while the server
      // writes its journal, every two seconds.
      await eventually(
        "nothing is being written",
        async () => (await run(["mount", "-o", "remount,ro", disk.path])).code === 0,
      );
      expect((await run(["cp", "--sparse=always", image, whole])).code).toBe(0);
      // The end of the device cannot be read.
      await truncate(image, READABLE_BYTES);
      await dropCaches();
      let failed = 0;
      for (const [id, checksum] of stored) {
        const response = await client.get(`/api/files/${id}/download`).catch(() => undefined);
        const isWhole = response?.status === 200 && checksumOf(response.bytes) === checksum;
        if (isWhole) continue;
        failed += 1;
        // Cut off within its bytes, or rejected with a message.
        if (response !== undefined) expectServerFault("a download", response, dataDir);
      }
      expect((await stat(image)).size).toBe(READABLE_BYTES);
      expect(failed).toBeGreaterThan(0);
      expect(failed).toBeLessThan(stored.size);
      expect((await client.get("/api/files?limit=100")).list("data.files")).toHaveLength(stored.size);
      expectStatus(await server.visitor.get("/health/live"), 200);
      // The bytes are readable again, as after a loose cable.
      expect(
        (await run(["dd", `if=${whole}`, `of=${image}`, `bs=${READABLE_BYTES}`, "skip=1", "seek=1", "conv=notrunc"]))
          .code,
      ).toBe(0);
      await truncate(image, sizeBytes);
      await dropCaches();
      for (const [id, checksum] of stored) {
        const response = await client.get(`/api/files/${id}/download`);
        expect([id, response.status, checksumOf(response.bytes)]).toEqual([id, 200, checksum]);
      }
    } finally {
      await endOnBrokenDisk(server);
      await disk.unmount();
      await rm(folder, { recursive: true });
    }
  });
});

/** Drops the page cache of the kernel, so that it reads the device again. */
async function dropCaches(): Promise<void> {
  await writeFile("/proc/sys/vm/drop_caches", "3");
}
