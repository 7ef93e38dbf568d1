// A new file waited until all older ones were read: for hours after the first start, or if one account had slow files.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { IndexTables } from "../../../../src/features/library/text-index/index-tables.ts";

const directory = mkdtempSync(join(tmpdir(), "larder-test-progress-"));
afterAll(() => rmSync(directory, { recursive: true }));

const waiting = (blobId: number) => ({ blobId, digest: Buffer.alloc(32, blobId % 256), mediaType: "text/plain" });

test("a new file does not wait for all older ones, and these do not wait for new ones", () => {
  const { progress, ...tables } = open();
  for (let blobId = 1; blobId <= 1_000; blobId++) progress.enqueue(waiting(blobId));
  const read = () => {
    const blobId = progress.next()?.blobId ?? 0;
    progress.dequeue(blobId);
    return blobId;
  };
  expect([read(), read()]).toContain(1);
  progress.enqueue(waiting(5_000));
  expect([read(), read()]).toContain(5_000);
  const later = Array.from({ length: 10 }, (_, at) => {
    progress.enqueue(waiting(6_000 + at));
    return read();
  });
  expect(later.filter((blobId) => blobId < 5_000).length).toBe(5);
  tables.close();
});

test("files that could not be read wait for all others", () => {
  const { progress, ...tables } = open();
  for (const blobId of [1, 2, 3]) progress.enqueue(waiting(blobId));
  const failed = progress.next()?.blobId ?? 0;
  progress.postpone(failed);
  const others: number[] = [];
  for (let at = 0; at < 2; at++) {
    const blobId = progress.next()?.blobId ?? 0;
    others.push(blobId);
    progress.dequeue(blobId);
  }
  expect(others).not.toContain(failed);
  expect(progress.next()?.blobId).toBe(failed);
  for (let attempt = 1; attempt < 5; attempt++) progress.postpone(failed);
  expect(progress.next()).toBeUndefined();
  tables.close();
});

function open(): { progress: IndexTables["progress"]; close: () => void } {
  const tables = new IndexTables(join(directory, `${crypto.randomUUID()}.db`), "test", () => undefined);
  return { progress: tables.progress, close: () => tables.close() };
}
