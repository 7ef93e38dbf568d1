import { describe, expect, test } from "bun:test";
import { AppError } from "../../../../src/errors.ts";
import { matchExpression } from "../../../../src/features/library/search/match.ts";
import { parseQuery, TERMS_MAX } from "../../../../src/features/library/search/parse-query.ts";
import { seededRandom } from "../../../support/random.ts";
import { Database } from "bun:sqlite";

/** A parsed query in short form. */
function understood(q: string): string[] {
  return parseQuery(q).map((term) => {
    const range = "min" in term ? ` ${term.min}..${term.max}` : "from" in term ? ` ${term.from}..${term.to}` : "";
    const phrase = "isPhrase" in term && term.isPhrase ? "!" : "";
    return `${term.isExcluded ? "-" : ""}${term.key}:${range === "" ? term.value : ""}${range.trim()}${phrase}`;
  });
}

describe("parseQuery", () => {
  test.each([
    ["beach  house", ["text:beach", "text:house"]],
    ['"beach house" -wet -"very wet"', ["text:beach house!", "-text:wet", "-text:very wet!"]],
    ["TYPE:Image -type:application/pdf type:image/*", ["type:image", "-type:application/pdf", "type:image"]],
    ['tag:"two words" -tag:x', ["tag:two words", "-tag:x"]],
    ['name:"a b" name:c', ["name:a b!", "name:c"]],
    ["ext:.JPG in:a/b/ is:Public camera:canon", ["ext:jpg", "in:/a/b", "is:public", "camera:canon"]],
    ["is:Favorite -is:favorite", ["is:favorite", "-is:favorite"]],
    ["size:>10MB", ["size:10485761..null"]],
    ["size:>=1.5k", ["size:1536..null"]],
    ["size:<1GB", ["size:null..1073741823"]],
    ["size:<=7", ["size:null..7"]],
    ["size:1MB..5MiB", ["size:1048576..5242880"]],
    ["size:..1T", ["size:null..1099511627776"]],
    ["modified:2026", ["modified:2026-01-01..2026-12-31"]],
    ["created:2024-02", ["created:2024-02-01..2024-02-29"]],
    ["taken:2023-02", ["taken:2023-02-01..2023-02-28"]],
    ["taken:>2026-01", ["taken:2026-02-01..null"]],
    ["taken:<2026-01-01", ["taken:null..2025-12-31"]],
    ["taken:>=2026-01-31", ["taken:2026-01-31..null"]],
    ["taken:2025..2026-03", ["taken:2025-01-01..2026-03-31"]],
    ["12:30 größe:x", ["text:12:30", "text:größe:x"]],
    ['"unclosed phrase', ["text:unclosed phrase!"]],
    ["beach * - -- ( )", ["text:beach"]],
  ])("%j", (q, expected) => {
    expect(understood(q)).toEqual(expected);
  });

  test("any text is parsed or rejected, naming q; the index accepts every parsed query", () => {
    const database = new Database(":memory:");
    database.run(
      `CREATE VIRTUAL TABLE search_text USING fts5(facets, name, tags, description, metadata, content='',
         contentless_delete=1, tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co So'")`,
    );
    database.run("INSERT INTO search_text (rowid, name, facets) VALUES (1, 'beach house', 'fatext')");
    const ask = database.prepare<unknown, [string]>("SELECT rowid FROM search_text WHERE search_text MATCH ?1");
    const parts = [
      '"',
      "*",
      "(",
      ")",
      "-",
      ":",
      "^",
      "+",
      "{",
      "}",
      "'",
      "\\",
      " ",
      "\t",
      "\u00a0",
      "\u0300",
      "é",
      "海",
      "🌊",
      "🪿",
      "\u200d",
      "\ufdd0",
      "AND ",
      " OR ",
      " NOT ",
      "NEAR(",
      "name",
      "tag:",
      "type:image",
      "size:>1",
      "modified:2026",
      "beach",
      "..",
      "in:/a",
      "ß",
      "٣",
      "%",
      "_",
      ";",
      ",",
    ];
    const random = seededRandom(1);
    let understoodCount = 0;
    for (let round = 0; round < 5_000; round++) {
      const q = Array.from({ length: 1 + (round % 9) }, () => random.pick(parts)).join("");
      try {
        const terms = parseQuery(q);
        understoodCount++;
        ask.all(matchExpression(terms, []));
      } catch (error) {
        if (!(error instanceof AppError)) throw new Error(`${JSON.stringify(q)}: ${String(error)}`, { cause: error });
        expect(error.details["field"]).toBe("q");
      }
    }
    expect(understoodCount).toBeGreaterThan(1_000);
  });

  test("the maximum number of terms is accepted, and no more", () => {
    expect(parseQuery("ab ".repeat(TERMS_MAX))).toHaveLength(TERMS_MAX);
    expect(() => parseQuery("ab ".repeat(TERMS_MAX + 1))).toThrow(AppError);
  });
});
