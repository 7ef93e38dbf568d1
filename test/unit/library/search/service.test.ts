// Searches of several people: one of them must not make the others wait.
import { expect, test } from "bun:test";
import { openSearch, openSearchReader } from "../../../../src/features/library/search/open.ts";
import type { TextSearchRequest } from "../../../../src/features/library/text-index/text-search.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { TestTree } from "../../tree/support.ts";

test("the searches of one account run one after another, and do not delay those of others", async () => {
  const tree = new TestTree();
  const [busy, other] = [tree.addAccount(), tree.addAccount()];
  const reader = openSearchReader(tree.path, silentLog);
  const release = Promise.withResolvers<void>();
  let [running, runningMax] = [0, 0];
  const find = async (request: TextSearchRequest) => {
    if (request.scopes[0]?.accountId === busy) {
      runningMax = Math.max(runningMax, ++running);
      await release.promise;
      running--;
    }
    return { own: [], received: [], state: "complete" as const };
  };
  const texts = {
    isEnabled: true,
    revision: 0,
    readUntilMs: () => 0,
    find,
    snippets: () => Promise.resolve(new Map()),
    complete: () => Promise.resolve([]),
    state: () => Promise.resolve({ state: "ready", percent: 100 } as const),
  };
  const { sqlite } = tree.db;
  const { search } = openSearch({ sqlite, reader, writer: tree.writer, tree: tree.read, log: silentLog, texts });
  const begin = (accountId: number, n: number, signal?: AbortSignal) =>
    search.search({
      accountId,
      q: `content:word${n}`,
      folderPath: undefined,
      received: [],
      offset: 0,
      limit: 1,
      ...(signal && { signal }),
    });
  const aborted = new AbortController();
  const accepted = [begin(busy, 0), begin(busy, 1, aborted.signal).catch(String)];
  for (let n = 2; n < 17; n++) accepted.push(begin(busy, n));
  expect(await begin(busy, 17).catch((error: unknown) => error)).toMatchObject({ reason: "overloaded" });
  expect((await begin(other, 0)).total).toBe(0);
  aborted.abort("left");
  release.resolve();
  const results = await Promise.all(accepted);
  expect(results[1]).toBe("left");
  expect([results.length, runningMax]).toEqual([17, 1]);
  reader.close();
  tree.close();
});
