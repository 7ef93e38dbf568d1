import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { checksumOf, randomContent } from "../support/client.ts";
import { withServer } from "../support/server.ts";

test("delete, collect and re-upload of the same bytes at once never lose a blob (D8)", async () => {
  await withServer({}, async (server) => {
    const { client } = await server.signUp();
    const contents = Array.from({ length: 4 }, (_, index) => randomContent(20_000 + index));
    const finished = new AbortController();
    let collections = 0;
    const collect = async () => {
      while (!finished.signal.aborted) {
        const { code } = await server.larder(["gc", "--now"]);
        expect(code).toBe(0);
        collections += 1;
      }
    };
    const collector = collect();
    const lost: string[] = [];
    const worker = async (content: Uint8Array, index: number) => {
      for (let round = 0; round < 60; round++) {
        const id = await client.storedId(content, { name: `${index}-${round}` });
        const answer = await client.get(`/api/files/${id}/download`);
        if (answer.status !== 200 || checksumOf(answer.bytes) !== checksumOf(content))
          lost.push(`${index}-${round}: ${answer.status}`);
        await client.delete(`/api/files/${id}`);
      }
    };
    // Each content has two workers: one deletes what the other has just stored.
    await Promise.all([...contents, ...contents].map((content, index) => worker(content, index)));
    const kept = await Promise.all(
      contents.map((content, index) => client.storedId(content, { name: `kept ${index}` })),
    );
    finished.abort();
    await collector;
    await server.larder(["gc", "--now"]);
    const entries = await readdir(join(server.dataDir, "blobs", "quarantine"));
    expect(entries).toEqual([]);
    expect(lost).toEqual([]);
    expect(collections).toBeGreaterThan(0);
    for (const [index, id] of kept.entries()) {
      const answer = await client.get(`/api/files/${id}/download`);
      expect(checksumOf(answer.bytes)).toBe(checksumOf(contents[index] ?? ""));
    }
  });
}, 120_000);
