import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StartupError } from "../../../../src/config/startup-error.ts";
import { readTar } from "../../../../src/features/storage/backup/tar.ts";
import { writeHeader } from "../../../../src/features/storage/backup/tar-format.ts";

let root = "";
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "larder-tar-"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Sets the kind and the size of a header, and its checksum. */
function changed(header: Uint8Array, kind: string, octalSize: string): Buffer {
  const block = Buffer.from(header);
  block.write(octalSize, 124);
  block.write(kind, 156);
  block.fill(0x20, 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

async function* buffersOf(head: Uint8Array, count: number, onBytes: () => void): AsyncGenerator<Uint8Array> {
  yield head;
  for (let buffer = 0; buffer < count; buffer++) {
    onBytes();
    yield new Uint8Array(64 * 1024);
  }
}

test("an extended header of many GiB is rejected before it is read", async () => {
  const head = changed(writeHeader({ name: "larder.toml", sizeBytes: 0, kind: "file" }, 0), "x", "70000000000\0");
  let buffers = 0;
  const reading = readTar(
    buffersOf(head, 100, () => buffers++),
    root,
  );
  await expect(reading).rejects.toThrow(StartupError);
  await expect(reading).rejects.toThrow("extended header");
  expect(buffers).toBe(0);
});

test.each(["../larder.toml", "/etc/larder.toml", "secrets/../../x", "larder.db", "blobs/sha256/aa/bb/cc"])(
  "a member with the path %p is rejected",
  async (name) => {
    const head = writeHeader({ name, sizeBytes: 0, kind: "file" }, 0);
    await expect(
      readTar(
        buffersOf(head, 1, () => {}),
        root,
      ),
    ).rejects.toThrow("an entry that a backup does not have");
    expect(readdirSync(root)).toEqual([]);
  },
);
