/**
 * An account with 1,000,000 files: building its search index, searches by words and filters without cached results, the
 * list of tags, and a tag for 1,000 files in one request.
 */
import { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { join } from "node:path";
import { type Bench, type Figure, measureLarder, record, type Row } from "../bench.ts";
import type { Larder, LarderSubject } from "../larder.ts";
import { load } from "../load.ts";
import { percentile } from "../measure.ts";
import { MARKERS } from "../seed.ts";
import { getTemplate } from "../server.ts";
import { type SeededAccount, SEEDED_FOLDER, seedLarder } from "./seeded.ts";

const SEARCHES_EACH = 100;
const BUILD_SECONDS_MAX = 900;

export const search: Row = {
  id: "search",
  title: "searches by words and filters, and tags, among 1,000,000 files",
  diskGib: () => 4,
  run: async (bench: Bench) => {
    const built = bench.figure({ task: "search index, built in the background", unit: "s", better: "lower" });
    const grown = bench.figure({ task: "search index, size", unit: "MB", better: "lower" });
    await measureSearches(bench, async (subject) => {
      const seeded = await seedLarder(bench, bench.options.quick ? 100_000 : 1_000_000, subject);
      describeFiles(seeded);
      await buildIndex(bench, subject, seeded, { built, grown });
      return seeded;
    });
  },
};

/** Gives the files types, tags, descriptions and dates, and marks them as not indexed. */
function describeFiles(seeded: SeededAccount): void {
  const database = new Database(join(seeded.directory, "data", "larder.db"), { readwrite: true, strict: true });
  database.run("PRAGMA cache_size = -262144");
  database.transaction(() => {
    const [account] = database
      .query<{ id: number }, []>("SELECT account_id AS id FROM nodes WHERE kind = 1 LIMIT 1")
      .all();
    database.run(
      `UPDATE nodes SET size_bytes = abs(id * 2654435761 % 20000000),
         modified_at = created_at - (id * 7919 % 94608000) * 1000,
         media_type = CASE WHEN name LIKE '%.jpg' OR name LIKE '%.png' THEN 'image/jpeg' WHEN name LIKE '%.mp4' THEN 'video/mp4'
           WHEN name LIKE '%.pdf' THEN 'application/pdf' ELSE 'text/plain' END,
         tags = CASE WHEN id % 18 = 0 THEN '["holiday"]' WHEN id % 25 = 1 THEN '["work"]' END,
         metadata = CASE WHEN id % 10 = 3 THEN json_object('description', 'A day out with everybody', 'place', 'lake ' || (id % 500)) END
       WHERE kind = 1`,
    );
    for (const [index, tag] of ["holiday", "work"].entries()) {
      database.run("INSERT INTO tags (id, account_id, key, name, count) VALUES (?1, ?2, ?3, ?3, 0)", [
        1001 + index,
        account?.id ?? 0,
        tag,
      ]);
      database.run("INSERT INTO node_tags SELECT ?1, id FROM nodes WHERE tags = json_array(?2)", [1001 + index, tag]);
    }
    database.run("UPDATE tags SET count = (SELECT count(*) FROM node_tags t WHERE t.tag_id = tags.id)");
    database.run("DELETE FROM search_fill");
  })();
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}

async function buildIndex(
  bench: Bench,
  subject: LarderSubject,
  seeded: SeededAccount,
  { built, grown }: { built: Figure; grown: Figure },
): Promise<void> {
  const path = join(seeded.directory, "data", "larder.db");
  const before = statSync(path).size;
  const larder = await bench.startLarder(subject, seeded);
  const startedMs = performance.now();
  const database = new Database(path, { readonly: true });
  const state = database.prepare<{ left: number }, []>("SELECT until_id - next_id + 1 AS left FROM search_fill");
  for (;;) {
    await Bun.sleep(500);
    if (state.get()?.left === 0) break;
    if (performance.now() - startedMs > BUILD_SECONDS_MAX * 1000)
      throw new Error("the search index was not built in time");
  }
  record(built, subject, (performance.now() - startedMs) / 1000);
  state.finalize();
  database.close();
  await larder.stop();
  record(grown, subject, (statSync(path).size - before) / 1e6);
}

async function measureSearches(bench: Bench, seed: (subject: LarderSubject) => Promise<SeededAccount>): Promise<void> {
  const words = [MARKERS.one, MARKERS.thousand, "beach", MARKERS.half];
  const queries = ["type:image tag:holiday", "size:>10MB modified:2026-01", `${MARKERS.half} -beach tag:work`];
  const figures = [...words, ...queries].map((q) => ({
    q,
    p50: bench.figure({ task: `search ${q}, p50`, unit: "ms", better: "lower" }),
    p99: bench.figure({
      task: `search ${q}, p99`,
      unit: "ms",
      better: "lower",
      targets: [{ against: "number", reach: words.includes(q) ? 5 : 20 }],
    }),
  }));
  const tags = bench.figure({ task: "list of tags, p99", unit: "ms", better: "lower" });
  const bulk = bench.figure({ task: "a tag for 1,000 files in one call", unit: "ms", better: "lower" });
  await measureLarder(bench, {
    figures: [...figures.flatMap(({ p50, p99 }) => [p50, p99]), tags, bulk],
    seed,
    prepare: async () => undefined,
    measure: async (larder, round) => {
      for (const { q, p50, p99 } of figures) await measureSearch(larder, q, p50, p99);
      const templates = [getTemplate("/api/files/tags", larder.headers)];
      const listed = await load(larder, { connections: 1, count: 200, templates });
      record(tags, larder.subject, listed.p99Ms);
      await measureBulk(larder, round, bulk);
    },
  });
}

/** Changes the account before each search, so that no cached result can be used. */
async function measureSearch(larder: Larder, q: string, p50: Figure, p99: Figure): Promise<void> {
  const head = `POST /api/files/folders HTTP/1.1\r\nHost: 127.0.0.1\r\n${larder.headers}Content-Type: application/json\r\n`;
  const change = { head, prefix: '{"name":"change ########","path":"/"}' };
  const times: number[] = [];
  for (let count = 0; count < SEARCHES_EACH; count += 1) {
    await load(larder, { connections: 1, count: 1, templates: [change] });
    const path = `/api/files/search?limit=100&q=${encodeURIComponent(q)}`;
    const found = await load(larder, { connections: 1, count: 1, templates: [getTemplate(path, larder.headers)] });
    times.push(found.maxMs);
  }
  times.sort((a, b) => a - b);
  record(p50, larder.subject, percentile(times, 0.5));
  record(p99, larder.subject, percentile(times, 0.99));
}

async function measureBulk(larder: Larder, round: number, figure: Figure): Promise<void> {
  const fileIds: string[] = [];
  for (let page = 1; page <= 10; page += 1) {
    const path = `/api/files?folder=/${SEEDED_FOLDER}&limit=100&page=${page}`;
    const listed = await load(larder, { connections: 1, count: 1, templates: [getTemplate(path, larder.headers)] });
    for (const [, id] of (listed.responses[0]?.body ?? "").matchAll(/"id":"(file_[^"]+)"/g)) if (id) fileIds.push(id);
  }
  const head = `POST /api/files/tags HTTP/1.1\r\nHost: 127.0.0.1\r\n${larder.headers}Content-Type: application/json\r\n`;
  const prefix = JSON.stringify({ fileIds, add: [`round ${round} ########`] });
  const tagged = await load(larder, { connections: 1, count: 1, templates: [{ head, prefix }] });
  record(figure, larder.subject, tagged.maxMs);
}
