import { afterEach, beforeEach, expect, test } from "bun:test";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { identifyFile, isSameFile } from "../../../src/db/file-identity.ts";
import { mountingFails, run } from "../../support/mounts.ts";

let folder: string;
let path: string;

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), "larder-identity-"));
  path = join(folder, "file");
  fs.writeFileSync(path, "one");
});

afterEach(() => fs.rmSync(folder, { recursive: true }));

function identity(of = path) {
  const found = identifyFile(of);
  if (found === undefined) throw new Error(`${of} is not there`);
  return found;
}

test("the identity of a file survives writing, renaming and moving", () => {
  const first = identity();
  expect(isSameFile(first, identity())).toBe(true);
  fs.appendFileSync(path, "two");
  fs.chmodSync(path, 0o600);
  fs.utimesSync(path, new Date(0), new Date(0));
  expect(isSameFile(first, identity())).toBe(true);
  fs.renameSync(path, `${path}-moved`);
  expect(isSameFile(first, identity(`${path}-moved`))).toBe(true);
  expect(identifyFile(path)).toBeUndefined();
});

test("a copy has another identity, even with the path and inode of the original", async () => {
  const first = identity();
  await run(["cp", "-a", path, `${path}-copy`]);
  expect(isSameFile(first, identity(`${path}-copy`))).toBe(false);
  let hadInode = false;
  for (let attempt = 0; attempt < 20 && !hadInode; attempt++) {
    fs.rmSync(path);
    await run(["cp", "-a", `${path}-copy`, path]);
    hadInode = identity().inode === first.inode;
    expect(isSameFile(first, identity())).toBe(false);
  }
});

test("the birth time decides if it is known, because device numbers can change at a restart", () => {
  const known = { device: "1", inode: "7", bornNs: "123" };
  expect(isSameFile(known, { device: "2", inode: "7", bornNs: "123" })).toBe(true);
  expect(isSameFile(known, { device: "1", inode: "7", bornNs: "124" })).toBe(false);
  expect(isSameFile(known, { device: "1", inode: "7", bornNs: null })).toBe(true);
  expect(isSameFile(known, { device: "1", inode: "8", bornNs: null })).toBe(false);
  expect(isSameFile(known, { device: "2", inode: "7", bornNs: null })).toBe(false);
});

test.skipIf(mountingFails !== undefined)(
  "another time that a file system gives for the birth is not taken for it",
  async () => {
    const [image, mounted] = [join(folder, "image"), join(folder, "mounted")];
    fs.writeFileSync(image, "");
    fs.truncateSync(image, 4 * 1024 * 1024);
    fs.mkdirSync(mounted);
    // Inodes too small to store a creation time.
    expect((await run(["mkfs.ext4", "-q", "-F", "-I", "128", image])).code).toBe(0);
    expect((await run(["mount", "-o", "loop", image, mounted])).code).toBe(0);
    try {
      const old = join(mounted, "file");
      fs.writeFileSync(old, "one");
      const first = identity(old);
      expect(first.bornNs).toBeNull();
      expect(first.device).toMatch(/^\/dev\/loop\d+$/);
      fs.utimesSync(old, new Date(0), new Date(0));
      fs.appendFileSync(old, "two");
      expect(isSameFile(first, identity(old))).toBe(true);
    } finally {
      await run(["umount", mounted]);
    }
  },
);
