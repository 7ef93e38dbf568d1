// The indexer reads the texts of removed files again, so that their words can be removed from the index.
import { expect, test } from "bun:test";
import { TextIndexer } from "../../../../src/features/library/text-index/indexer.ts";
import type { IndexThread } from "../../../../src/features/library/text-index/index-thread.ts";
import type { WaitingBlob } from "../../../../src/features/library/text-index/types.ts";
import { silentLog } from "../../../../src/lib/log.ts";

const blobOf = (blobId: number): WaitingBlob => ({
  blobId,
  digest: new Uint8Array(32).fill(blobId),
  mediaType: "text/html",
});

/** An indexer whose index waits for the texts of removed files. Those of some can't be read. */
function createIndexer(removed: number[], unavailable: readonly number[]) {
  const log: string[] = [];
  const idle = Promise.withResolvers<void>();
  const unread = new Set(removed);
  let added: WaitingBlob | undefined = blobOf(9);
  const calls: Readonly<Record<string, (parameter: unknown) => unknown>> = {
    follow: () => ({ isMore: false, hasTraces: false, unread: [...unread].map(blobOf) }),
    next: () => {
      if (added === undefined && unread.size === 0) idle.resolve();
      return added;
    },
    skip: () => {
      log.push("added 9");
      added = undefined;
    },
    postpone: (blobId) => {
      log.push(`postponed ${String(blobId)}`);
      unread.delete(Number(blobId));
    },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- returns what each call declares
  const thread = {
    call: (name: string, parameters: readonly unknown[]) => Promise.resolve(calls[name]?.(parameters[0])),
  } as unknown as IndexThread;
  const rereader = {
    read: ({ blobId }: WaitingBlob) => {
      if (unavailable.includes(blobId)) return Promise.reject(new Error("The bucket does not respond."));
      log.push(`removed ${blobId}`);
      unread.delete(blobId);
      return Promise.resolve(true);
    },
    stop: () => Promise.resolve(),
  };
  const extractor = { extract: () => Promise.resolve({ kind: "none" as const, reason: "it is empty" }) };
  const options = { thread, extractor, rereader, isEnabled: () => true, changeMark: () => "", log: silentLog };
  return { indexer: new TextIndexer(options), log, idle: idle.promise };
}

test("removed texts that can't be read now wait, and no others wait for them", async () => {
  const { indexer, log, idle } = createIndexer([1, 2, 3], [2]);
  indexer.start();
  await idle;
  expect(log).toEqual(["removed 1", "postponed 2", "removed 3", "added 9"]);
  await indexer.stop();
});
