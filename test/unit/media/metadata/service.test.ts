import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Digest, digestToBytes, toDigest } from "../../../../src/blobs/digest.ts";
import { migrate } from "../../../../src/db/migrate.ts";
import { type Db, openDatabase } from "../../../../src/db/open.ts";
import { Writer } from "../../../../src/db/transaction.ts";
import { MediaRows } from "../../../../src/features/media/metadata/queries.ts";
import { MediaInfoService } from "../../../../src/features/media/metadata/service.ts";
import { systemClock } from "../../../../src/lib/clock.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { eventually } from "../../../support/expect.ts";

let folder: string;
let db: Db;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "larder-metadata-"));
  db = openDatabase(join(folder, "larder.db"));
  migrate(db.sqlite, silentLog);
});

afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true });
});

test("reads a blob that was queued while the last look for work was committed", async () => {
  const rows = new MediaRows(db.sqlite);
  const writer = new Writer(db.sqlite, silentLog);
  const read: string[] = [];
  const service = new MediaInfoService({
    onLocated: () => {},
    rows,
    writer,
    clock: systemClock,
    log: silentLog,
    process: {
      request: async (source) => {
        read.push("path" in source ? source.path : "");
        return { reason: "not a photo" };
      },
      close: () => {},
    },
    findPath: async (digest) => digest,
    isLocal: () => true,
    onRead: () => {},
    isBusy: () => false,
    program: "test",
  });
  const digest: Digest = toDigest(new Bun.CryptoHasher("sha256").update("a photo").digest("hex"));
  const findOutdated = rows.enqueueOutdated.bind(rows);
  let queued: Promise<void> | undefined;
  rows.enqueueOutdated = (limit) => {
    // Commits together with the transaction that is running now.
    queued ??= writer.run((tx) => service.enqueue(tx, digestToBytes(digest), "image/jpeg"));
    return findOutdated(limit);
  };
  await service.start();
  await eventually("the photo is read", () => read.length > 0, 2_000);
  await queued;
  await eventually("its result is stored", () => !service.hasPending, 2_000);
  await service.stop();
  expect(read).toEqual([digest]);
});
