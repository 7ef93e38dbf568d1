import { expect, test } from "bun:test";
import type { BlobStore } from "../../../../src/blobs/blob-store.ts";
import { AppError } from "../../../../src/errors.ts";
import { ContentReceiver } from "../../../../src/features/storage/imports/content-receiver.ts";
import { say } from "../../../../src/translations/say.ts";
import type { SourceFile } from "../../../../src/features/storage/imports/source.ts";

const CHUNK = new Uint8Array(1024 * 1024);

/** A server that sends more than it has said, without end. */
const ENDLESS: SourceFile = {
  key: "a",
  version: "1",
  path: "a.bin",
  sizeBytes: 10,
  modifiedMs: undefined,
  details: {},
  open: async () =>
    (async function* () {
      for (;;) yield CHUNK;
    })(),
};

async function receive(freeBytes: number, quotaBytes: number | null): Promise<unknown> {
  let storedBytes = 0;
  const blobs = {
    begin: ({ limitBytes, tooLarge }: Parameters<BlobStore["begin"]>[0]) => ({
      write: async (bytes: Uint8Array) => {
        storedBytes += bytes.length;
        if (storedBytes > limitBytes) throw tooLarge();
        if (storedBytes > freeBytes + 200 * CHUNK.length) throw new Error("The disk is full.");
      },
      abort: () => {},
    }),
  };
  const receiver = new ContentReceiver({
    // oxlint-disable-next-line no-unsafe-type-assertion -- as far as it is needed
    blobs: blobs as unknown as BlobStore,
    reserveSpace: (bytes) => {
      if (bytes + storedBytes > freeBytes) throw new AppError("disk_full", say`The disk is full.`);
      return () => {};
    },
    limits: { plan: "free", maxFileSizeBytes: null, quotaBytes },
    rest: async () => {},
  });
  const { signal } = new AbortController();
  return receiver.receive(ENDLESS, "a.bin", signal, () => {}).catch((error: unknown) => error);
}

test("a file without end stops before it fills the disk", async () => {
  // Only the announced size was reserved, and the rest was written until the disk was full.
  expect(await receive(50 * CHUNK.length, null)).toMatchObject({ reason: "disk_full" });
});

test("a file that is larger than the quota is not read to its end", async () => {
  expect(await receive(Infinity, 5 * CHUNK.length)).toMatchObject({ reason: "quota_exceeded" });
});
