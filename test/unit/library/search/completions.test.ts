/** Named words of a prefix find the same as the prefix. */
import { expect, test } from "bun:test";
import { openWords, selectCompletions, toCompletions } from "../../../../src/features/library/search/completions.ts";
import { matchExpression, TIERS } from "../../../../src/features/library/search/match.ts";
import { openSearch, openSearchReader } from "../../../../src/features/library/search/open.ts";
import { parseQuery } from "../../../../src/features/library/search/parse-query.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { seededRandom, seedsToRun } from "../../../support/random.ts";
import { TestTree } from "../../tree/support.ts";
import { NO_TEXTS } from "../../../support/no-texts.ts";

const WORDS = ["sum", "summer", "Summers", "SUMÉ", "img_2024", "img_2025-x", "sun", "été", "写真", "a'b", 'q"uo'];
const STARTS = ["su", "sum", "SUMM", "img", "img_20", "img-2024", "w1", "wo", "word", "ét", "写", "a'b", "-su", "zz"];

test.each(seedsToRun([1]))(
  "the words of the index that begin with a word replace its prefix (seed %d)",
  async (seed) => {
    const { pick, below, chance } = seededRandom(seed);
    const tree = new TestTree();
    const reader = openSearchReader(tree.path, silentLog);
    const accountId = tree.addAccount();
    tree.run(() => {
      for (let i = 0; i < 200; i++) {
        const text = () => (chance(0.5) ? `word${below(60)}` : pick(WORDS));
        const metadata = chance(0.3) ? { description: text() } : {};
        const name = `${text()} ${text()} ${i}`.replaceAll("/", "");
        tree.addFile(accountId, "/", name, { tags: chance(0.3) ? [text()] : [], metadata });
      }
    });
    const { sqlite } = tree.db;
    const options = { sqlite, reader, writer: tree.writer, tree: tree.read, log: silentLog, texts: NO_TEXTS };
    await openSearch(options).indexer.drain();
    const select = sqlite.query<{ id: number }, [string]>(
      "SELECT rowid AS id FROM search_text WHERE search_text MATCH ?1 ORDER BY rowid",
    );
    const named = { few: 0, many: 0 };
    for (let round = 0; round < 200; round++) {
      const q = [pick(STARTS), ...(chance(0.5) ? [pick(STARTS), `name:${pick(STARTS)}`.replace(":-", ":")] : [])].join(
        " ",
      );
      const terms = parseQuery(q);
      const words = openWords(terms);
      const completions = toCompletions(words, await reader.read(words.map(selectCompletions)));
      for (const word of words) named[completions.has(word) ? "few" : "many"]++;
      const columns = pick(TIERS);
      const found = select.all(matchExpression(terms, [], columns, completions));
      expect({ q, found }).toEqual({ q, found: select.all(matchExpression(terms, [], columns)) });
    }
    expect(named.few).toBeGreaterThan(0);
    expect(named.many).toBeGreaterThan(0);
    reader.close();
    tree.close();
  },
);
