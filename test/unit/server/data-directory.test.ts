import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StartupError } from "../../../src/config/startup-error.ts";
import { makeWorkingFolders, openDataDirectory } from "../../../src/server/data/data-directory.ts";

const root = mkdtempSync(join(tmpdir(), "larder-data-"));
const data = join(root, "deep", "data");

beforeEach(() => rmSync(join(root, "deep"), { recursive: true, force: true }));
afterAll(() => rmSync(root, { recursive: true }));

describe("the data directory", () => {
  test("is created for this user alone, with only the requested folders in it", () => {
    const paths = openDataDirectory(data);
    expect(statSync(data).mode & 0o777).toBe(0o700);
    expect([paths.blobs, paths.secrets, paths.uploads].map((path) => existsSync(path))).toEqual([false, false, false]);
    makeWorkingFolders(paths);
    const modes = [paths.uploads, paths.thumbs, paths.snapshots].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o700, 0o700, 0o700]);
  });

  test("that exists keeps its mode", () => {
    mkdirSync(data, { recursive: true });
    chmodSync(data, 0o755);
    openDataDirectory(data);
    expect(statSync(data).mode & 0o777).toBe(0o755);
  });

  test("must not be a file, nor have a file where a folder belongs", () => {
    mkdirSync(join(root, "deep"));
    writeFileSync(data, "");
    expect(() => openDataDirectory(data)).toThrow(StartupError);
    rmSync(data);
    mkdirSync(data);
    writeFileSync(join(data, "uploads"), "");
    expect(() => openDataDirectory(data)).toThrow(`${data}/uploads must be a directory`);
  });

  // Root may write everywhere, so another user must try.
  test.skipIf(process.getuid?.() !== 0)(
    "that can't be written is reported with its owner, the current user and the command",
    () => {
      mkdirSync(data, { recursive: true });
      chmodSync(root, 0o755);
      chmodSync(data, 0o755);
      const script = `
      process.setgid(1234); process.setuid(1234);
      const { openDataDirectory } = await import(${JSON.stringify(join(import.meta.dir, "../../../src/server/data/data-directory.ts"))});
      for (const path of ${JSON.stringify([data, join(data, "new")])}) {
        try { openDataDirectory(path); console.log("opened"); } catch (error) { console.log(error.name, error.message); }
      }`;
      const { stdout, stderr } = Bun.spawnSync([process.execPath, "-e", script], { stdout: "pipe", stderr: "pipe" });
      const said = stdout.toString() + stderr.toString();
      for (const words of [
        "StartupError",
        `${data} belongs to 0:0, mode 755`,
        "runs as  1234:1234",
        `chown -R 1234:1234 ${data}\n`,
        `Cannot write to ${data}/new`,
        // It was the owner of the folder above: all of /mnt for a backup to /mnt/larder.
        `install -d -m 700 -o 1234 -g 1234 ${data}/new`,
      ]) {
        expect(said).toContain(words);
      }
    },
  );
});
