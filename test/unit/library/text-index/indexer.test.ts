// The indexer reads the texts of removed files again, so that their words can be removed from the index. It ends with the
// server.
import { expect, test } from "bun:test";
import { TextIndexer } from "../../../../src/features/library/text-index/indexer.ts";
import type { IndexThread } from "../../../../src/features/library/text-index/index-thread.ts";
import { TextRereader } from "../../../../src/features/library/text-index/text-rereader.ts";
import type { WaitingBlob } from "../../../../src/features/library/text-index/types.ts";
import { TextExtractor } from "../../../../src/features/media/documents/text-extractor.ts";
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

test("a stop waits for no file, also if a search waits for the file that is read in the background", async () => {
  const began = Promise.withResolvers<void>();
  const extractor = new TextExtractor({
    process: {
      // As the real one: a request ends early only if its signal aborts.
      request: (_request, signal) => {
        began.resolve();
        return new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => reject(signal.reason));
        });
      },
      close: () => {},
    },
    findPath: () => Promise.resolve("/file"),
    isBusy: () => false,
    log: silentLog,
  });
  const results: Readonly<Record<string, unknown>> = {
    follow: { isMore: false, hasTraces: false, unread: [] },
    next: blobOf(1),
  };
  const thread = {
    // oxlint-disable-next-line typescript/no-explicit-any -- each call has its own result
    call: async (name: string): Promise<any> => results[name],
    clear: async () => {},
  };
  const isWaiting = Promise.withResolvers<void>();
  const extractForSearch: TextExtractor["extract"] = (...parameters) => {
    isWaiting.resolve();
    return extractor.extract(...parameters);
  };
  const rereader = new TextRereader({
    thread,
    extractor: { extract: extractForSearch },
    onCleared: () => {},
    log: silentLog,
  });
  const indexer = new TextIndexer({
    thread,
    extractor,
    rereader,
    isEnabled: () => true,
    changeMark: () => "",
    log: silentLog,
  });
  indexer.start();
  await began.promise;
  const search = rereader.readUntil([blobOf(2)], performance.now() + 60_000);
  await isWaiting.promise;
  await indexer.stop();
  await search;
});
