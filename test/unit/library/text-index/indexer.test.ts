// The work in the background ends with the server.
import { test } from "bun:test";
import { TextIndexer } from "../../../../src/features/library/text-index/indexer.ts";
import { TextRereader } from "../../../../src/features/library/text-index/text-rereader.ts";
import type { WaitingBlob } from "../../../../src/features/library/text-index/types.ts";
import { TextExtractor } from "../../../../src/features/media/documents/text-extractor.ts";
import { silentLog } from "../../../../src/lib/log.ts";

const blobOf = (blobId: number): WaitingBlob => ({
  blobId,
  digest: new Uint8Array(32).fill(blobId),
  mediaType: "text/html",
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
