// A search waits for files that are read again only for a while, and the next one finds what was read.
import { expect, test } from "bun:test";
import type { ExtractedText } from "../../../../src/features/media/documents/types.ts";
import { TextRereader } from "../../../../src/features/library/text-index/text-rereader.ts";
import { TextSearch } from "../../../../src/features/library/text-index/text-search.ts";
import type { IndexCalls, WaitingBlob } from "../../../../src/features/library/text-index/types.ts";
import { toIndexWord } from "../../../../src/features/library/text-index/fold.ts";
import { silentLog } from "../../../../src/lib/log.ts";

const LATE_MS = performance.now() + 60_000;

const blobOf = (blobId: number): WaitingBlob => ({
  blobId,
  digest: new Uint8Array(32).fill(blobId),
  mediaType: "text/html",
});

async function* partsOf(text: string): AsyncGenerator<string> {
  yield text;
}

/** An index whose thread has none of these texts until they are restored. */
function createSearch(blobIds: readonly number[], { isSame = true } = {}) {
  const restored = new Set<number>();
  const reads: { readonly id: number; readonly end: (more?: { isRepeatable?: boolean; limit?: string }) => void }[] =
    [];
  let cleared = 0;
  let began = Promise.withResolvers<void>();
  const unread = () => blobIds.filter((id) => !restored.has(id)).map(blobOf);
  const calls: Pick<IndexCalls, "find" | "restore"> = {
    find: () => ({ own: [...restored], received: [], unread: unread() }),
    restore: (digest) => {
      if (isSame) restored.add(digest[0] ?? 0);
      return isSame;
    },
  };
  const thread = {
    // oxlint-disable-next-line typescript/no-explicit-any -- the real one takes the parameters of each call
    call: async (name: string, parameters: readonly any[]): Promise<any> =>
      name === "find" ? calls.find(parameters[0]) : calls.restore(parameters[0], parameters[1]),
    clear: async () => void cleared++,
  };
  const extractor = {
    extract: (digest: string) => {
      const { promise, resolve } = Promise.withResolvers<ExtractedText>();
      const end = ({ isRepeatable = true, limit }: { isRepeatable?: boolean; limit?: string } = {}) =>
        resolve(
          limit === undefined
            ? { kind: "text", text: partsOf("text"), isTruncated: false, isRepeatable, readMs: 1 }
            : { kind: "none", reason: limit },
        );
      reads.push({ id: Number.parseInt(digest.slice(0, 2), 16), end });
      began.resolve();
      began = Promise.withResolvers();
      return promise;
    },
  };
  const rereader = new TextRereader({ thread, extractor, onCleared: () => {}, log: silentLog });
  const indexer = { status: () => Promise.reject(new Error("unused")), revision: 0 };
  const search = new TextSearch({ thread, indexer, rereader, isEnabled: () => true, log: silentLog });
  const find = (untilMs: number) => {
    const words = [{ inText: toIndexWord("a phrase", true), elsewhere: null }];
    return search.find({ scopes: [], words, limit: 10, untilMs });
  };
  const nextRead = async () => {
    if (reads.length === 0) await began.promise;
    return reads.shift();
  };
  return { find, nextRead, reads, cleared: () => cleared, rereader };
}

test("a search ends in time, and the next one finds what was read after that", async () => {
  const { find, nextRead, rereader } = createSearch([1, 2]);
  expect(await find(performance.now() + 5)).toMatchObject({ own: [], state: "reading" });
  const late = find(LATE_MS);
  for (const id of [1, 2]) {
    const read = await nextRead();
    expect(read?.id).toBe(id);
    read?.end();
  }
  expect(await late).toMatchObject({ own: [1, 2], state: "complete" });
  await rereader.stop();
});

test("files are read one at a time, and each once for all searches", async () => {
  const { find, nextRead, reads, rereader } = createSearch([1, 2]);
  const searches = [find(LATE_MS), find(LATE_MS)];
  const first = await nextRead();
  expect(reads).toEqual([]);
  first?.end();
  (await nextRead())?.end();
  for (const found of await Promise.all(searches)) expect(found.own).toEqual([1, 2]);
  expect(reads).toEqual([]);
  await rereader.stop();
});

test("a text that is not the same any more is not waited for again, and the index is built again once", async () => {
  const { find, nextRead, cleared, rereader } = createSearch([1, 2], { isSame: false });
  const found = find(LATE_MS);
  for (let read = 0; read < 2; read++) (await nextRead())?.end();
  expect(await found).toMatchObject({ own: [], state: "complete" });
  expect(await find(LATE_MS)).toMatchObject({ own: [], state: "complete" });
  expect(cleared()).toBe(1);
  await rereader.stop();
});

test.each([
  ["was cut off for lack of time", { isRepeatable: false }],
  ["could not be read within the limits", { limit: "it took too long" }],
])("a text that %s is no other text", async (_name, end) => {
  const { find, nextRead, cleared, rereader } = createSearch([1]);
  const found = find(LATE_MS);
  (await nextRead())?.end(end);
  expect(await found).toMatchObject({ own: [], state: "complete" });
  expect(cleared()).toBe(0);
  await rereader.stop();
});
