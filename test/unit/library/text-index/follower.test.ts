// A change of a folder with a million files below it ended every step of the follower with a RangeError, for good.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Follower } from "../../../../src/features/library/text-index/follower.ts";
import { IndexTables } from "../../../../src/features/library/text-index/index-tables.ts";

const directory = mkdtempSync(join(tmpdir(), "larder-test-follower-"));
afterAll(() => rmSync(directory, { recursive: true }));

const FILES = 1_000_000;
const ACCOUNT = 1;
const FOLDER = 7;

test("a changed folder with a million files is looked at in parts", () => {
  const tables = new IndexTables(join(directory, "text-index.db"), "test", () => undefined);
  let seen = 0;
  const follower = new Follower(
    tables,
    {
      heads: () => new Map([[ACCOUNT, 1]]),
      changesAfter: (_accountId, seq) => (seq < 1 ? [{ seq: 1, nodeId: FOLDER }] : []),
      kindOf: () => "folder",
      *filesBelow() {
        while (seen < FILES) {
          seen += 1;
          yield { nodeId: FOLDER + seen, blobId: seen, digest: Buffer.alloc(32), mediaType: "image/png" };
        }
      },
      filesFrom: () => ({ files: [], nextId: undefined }),
      contentsOf: () => ({ now: undefined, earlier: [] }),
      exists: () => true,
      isLive: () => true,
    },
    "run",
  );
  tables.progress.setCursor(ACCOUNT, 0);
  // On a slow machine, the journal alone may use up the time of the first step.
  expect(follower.step()).toBe(true);
  if (seen === 0) expect(follower.step()).toBe(true);
  expect(seen).toBeGreaterThan(0);
  expect(seen).toBeLessThan(FILES);
  const before = seen;
  expect(follower.step()).toBe(true);
  expect(seen).toBeGreaterThan(before);
  tables.close();
});
