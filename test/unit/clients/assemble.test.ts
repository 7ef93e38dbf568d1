import { afterAll, expect, test } from "bun:test";
import { linkSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Staging } from "../../../src/blobs/staging.ts";
import { SyncQueue } from "../../../src/blobs/sync-queue.ts";
import { assemble } from "../../../src/features/clients/chunked-uploads/assemble.ts";
import { type ClientChunk, MAIN_FILE } from "../../../src/features/clients/chunked-uploads/types.ts";
import { silentLog } from "../../../src/lib/log.ts";

const folder = mkdtempSync(join(tmpdir(), "larder-test-assemble-"));
const syncQueue = new SyncQueue(folder, silentLog);
const staging = new Staging({ directory: folder, syncQueue, log: silentLog });
const store = { staging, getOpen: () => undefined };
afterAll(() => {
  staging.close();
  syncQueue.close();
  rmSync(folder, { recursive: true });
});

/** Stages the bytes of chunks of two bytes each, and one byte of a chunk that was not complete. */
async function stage(publicId: string): Promise<ClientChunk[]> {
  const file = staging.open(publicId, 5);
  file.write(Buffer.from("aabbx"), 0);
  await file.sync();
  file.release();
  return [1, 2].map((number) => ({
    number,
    name: String(number),
    file: MAIN_FILE,
    offsetBytes: (number - 1) * 2,
    sizeBytes: 2,
  }));
}

const readStaged = (name: string) => Bun.file(staging.pathOf(name)).text();
const reserveDisk = () => () => undefined;

test("chunks in order are the main file itself, without what follows them", async () => {
  const chunks = await stage("cup_order");
  const { name, sizeBytes } = await assemble(store, { id: 1, publicId: "cup_order" }, chunks, reserveDisk);
  expect([name, sizeBytes, await readStaged(name)]).toEqual(["cup_order", 4, "aabb"]);
});

test("a main file that the store has taken over is copied instead of cut", async () => {
  const chunks = await stage("cup_taken");
  const blob = join(folder, "blob");
  linkSync(staging.pathOf("cup_taken"), blob);
  expect(staging.isTaken("cup_taken")).toBeTrue();
  const { name, discard } = await assemble(store, { id: 1, publicId: "cup_taken" }, chunks.slice(0, 1), reserveDisk);
  expect(name).toStartWith("cup_taken.");
  expect(await readStaged(name)).toBe("aa");
  expect(await Bun.file(blob).text()).toBe("aabbx");
  discard();
  expect(staging.sizeOf(name)).toBeUndefined();
});
