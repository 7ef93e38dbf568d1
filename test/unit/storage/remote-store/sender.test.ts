import { afterEach, beforeEach, expect, test } from "bun:test";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { toDigest } from "../../../../src/blobs/digest.ts";
import type { S3Body, S3Client } from "../../../../src/blobs/s3/client.ts";
import { RemoteRows } from "../../../../src/features/storage/remote-store/queries.ts";
import { RemoteContents } from "../../../../src/features/storage/remote-store/remote-contents.ts";
import { RemovalGuard } from "../../../../src/features/storage/remote-store/removal-guard.ts";
import { BlobSender } from "../../../../src/features/storage/remote-store/sender.ts";
import { systemClock } from "../../../../src/lib/clock.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { digestOf, randomContent } from "../../../support/client.ts";
import { temporaryDirectory } from "../../../support/server.ts";
import { TestTree } from "../../tree/support.ts";

const content = randomContent(1_000);
const blob = { digest: toDigest(digestOf(content)), sizeBytes: content.length };
const { signal } = new AbortController();

let tree: TestTree;
let folder: string;
let rows: RemoteRows;
let sender: BlobSender;
let isLeased: boolean;
let removed: number;
let removals: RemovalGuard;
/** What happened, in order. */
let steps: string[];
/** Runs while the object is sent or deleted. */
let during: () => Promise<void> | void;

beforeEach(async () => {
  tree = new TestTree();
  folder = await temporaryDirectory();
  await writeFile(join(folder, "blob"), content);
  rows = new RemoteRows(tree.db.sqlite);
  [isLeased, removed, during] = [true, 0, () => {}];
  [removals, steps] = [new RemovalGuard(false), []];
  const client = {
    async put(_key: string, { md5 }: S3Body) {
      await during();
      return md5;
    },
    async remove() {
      removed++;
      await during();
    },
  } as unknown as S3Client;
  const parts = { client, rows, writer: tree.writer, clock: systemClock, log: silentLog };
  sender = new BlobSender({
    ...parts,
    objects: {
      prepareRemoval(_key, seconds) {
        steps.push(`signed for ${seconds} s`);
        return async () => void steps.push("sent");
      },
    },
    remote: new RemoteContents({ ...parts, prefix: "" }),
    blobs: { pathOf: () => join(folder, "blob"), isLeased: () => isLeased },
    isStore: true,
    isBusy: () => false,
    noteFaults: async () => {},
    removals,
  });
});
afterEach(async () => {
  tree.close();
  await rm(folder, { recursive: true, force: true });
});

/** The object of a deleted blob, which is about to be deleted. */
function markObject(): void {
  rows.add({ ...blob, usedAtMs: 1 }, 1);
  rows.markForDeletion(blob.digest, 2);
}

test("a marked object is not deleted between its transfer and the commit of the row that names it", async () => {
  markObject();
  let removing: Promise<boolean> | undefined;
  during = () => {
    // It waits for the transfer, and then runs before the row is written.
    removing = sender.remove(blob.digest);
  };
  await sender.sendLeased(blob, signal);
  expect(await removing).toBe(false);
  expect(removed).toBe(0);
  // The row of the transfer is in the next commit.
  await tree.writer.run(() => {});
  expect(rows.find(blob.digest)?.sizeBytes).toBe(blob.sizeBytes);
});

test("an object that was recorded while it was deleted counts as lost, so that it is sent again", async () => {
  markObject();
  isLeased = false;
  during = () => rows.add({ ...blob, usedAtMs: 3 }, 3);
  expect(await sender.remove(blob.digest)).toBe(true);
  expect(rows.find(blob.digest)).toBeUndefined();
});

test("a command's object has no row before the command records it", async () => {
  const sent = await sender.sendUnrecorded(blob, signal);
  expect(rows.isKnown(blob.digest)).toBe(false);
  await sender.record([sent]);
  expect(rows.find(blob.digest)?.etag).toBe(sent.etag);
});

test("the owner of a store with a replica signs a deletion before it confirms the lease, for one lease time", async () => {
  markObject();
  isLeased = false;
  const lease = { state: "valid" as const, confirm: async () => void steps.push("confirmed") };
  removals.enable({ lease, replica: { sync: async () => {} }, ttlMs: 10_000 });
  expect(await sender.remove(blob.digest)).toBe(true);
  expect(steps).toEqual(["signed for 10 s", "confirmed", "sent"]);
});
