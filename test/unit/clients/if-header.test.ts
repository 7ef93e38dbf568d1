/** The header If: what it accepts, and when it is true. */
import { describe, expect, test } from "bun:test";
import { AppError } from "../../../src/errors.ts";
import { IfHeader, type ResourceState } from "../../../src/features/clients/webdav/if-header.ts";
import { seededRandom, seedsToRun } from "../../support/random.ts";

const ONE = "urn:uuid:181d4fae-7d8c-11d0-a765-00a0c91e6bf2";
const TWO = "opaquelocktoken:f81d4fae-7dec-11d0-a765-00a0c91e6bf6";

/** Evaluates a header for resources by their tag; `""` is the requested one. */
function evaluate(header: string, states: Record<string, Partial<ResourceState>>): boolean {
  return new IfHeader(header).matches((tag) => ({ etag: undefined, tokens: [], ...states[tag ?? ""] }));
}

describe("a header is true if one of its lists is", () => {
  const cases: [string, Record<string, Partial<ResourceState>>, boolean][] = [
    [`(<${ONE}>)`, { "": { tokens: [ONE] } }, true],
    [`(<${ONE}>)`, { "": { tokens: [TWO] } }, false],
    [`(<${ONE}>)`, {}, false],
    [`(<${ONE}>) (<${TWO}>)`, { "": { tokens: [TWO] } }, true],
    [`(<${ONE}> <${TWO}>)`, { "": { tokens: [TWO] } }, false],
    [`(<${ONE}> <${TWO}>)`, { "": { tokens: [TWO, ONE] } }, true],
    [`(Not <${ONE}>)`, { "": { tokens: [ONE] } }, false],
    [`(Not <${ONE}> <${TWO}>)`, { "": { tokens: [TWO] } }, true],
    ["(<DAV:no-lock>)", { "": { tokens: [ONE] } }, false],
    ["(Not <DAV:no-lock>)", {}, true],
    [`(<${ONE}>) (Not <DAV:no-lock>)`, {}, true],
    ['(["a"])', { "": { etag: '"a"' } }, true],
    ['(["a"])', { "": { etag: '"b"' } }, false],
    ['(["a"])', {}, false],
    ['(Not ["a"])', {}, true],
    ['([W/"a"])', { "": { etag: '"a"' } }, true],
    ['(["a"])', { "": { etag: 'W/"a"' } }, true],
    [`(<${ONE}> ["I am an ETag"]) (["I am another ETag"])`, { "": { etag: '"I am another ETag"' } }, true],
    [`(<${ONE}>["a"])`, { "": { etag: '"b"', tokens: [ONE] } }, false],
    [`</x> (<${ONE}>)`, { "": { tokens: [ONE] } }, false],
    [`</x> (<${ONE}>)`, { "/x": { tokens: [ONE] } }, true],
    [`<http://h/x> (<${ONE}>) (["a"]) </y>(["b"])`, { "http://h/x": { etag: '"a"' } }, true],
    [`<http://h/x> (<${ONE}>) (["a"]) </y>(["b"])`, { "/y": { etag: '"b"' } }, true],
    [`<http://h/x> (<${ONE}>) (["a"]) </y>(["b"])`, { "/y": { etag: '"a"' } }, false],
    [`  ( not\t<${ONE}>  [ "a" ] )`.replaceAll("[ ", "[").replaceAll(" ]", "]"), { "": { etag: '"a"' } }, true],
  ];
  for (const [header, states, isTrue] of cases)
    test(`${header} for ${JSON.stringify(states)}`, () => expect(evaluate(header, states)).toBe(isTrue));
});

test("every token in a header is submitted, wherever it is, once", () => {
  const header = new IfHeader(`</x> (Not <${ONE}> ["a"]) </y> (<${TWO}>) (<${TWO}>)`);
  expect(header.tokens).toEqual([ONE, TWO]);
});

test("the state of a resource is requested once", () => {
  const requested: (string | undefined)[] = [];
  const header = new IfHeader('</x> (["a"]) (["b"]) </y> (["c"]) </x> (["d"])');
  header.matches((tag) => {
    requested.push(tag);
    return { etag: undefined, tokens: [] };
  });
  expect(requested).toEqual(["/x", "/y"]);
});

function rejectionOf(header: string): string | undefined {
  try {
    const { tokens } = new IfHeader(header);
    expect(tokens.length).toBeLessThanOrEqual(100);
    return undefined;
  } catch (error) {
    if (error instanceof AppError) return error.reason;
    throw error;
  }
}

describe("a malformed header is rejected", () => {
  const malformed = [
    "",
    "   ",
    "()",
    "(",
    "<a>",
    "<a> <b> (<c>)",
    `(<${ONE}>`,
    `<${ONE}>)`,
    `(<${ONE}>))`,
    "(<>)",
    "(< >)",
    "([a])",
    '(["a")',
    '("a")',
    "(Not)",
    "(Not Not <a>)",
    "(Not(<a>))",
    "(Nota <a>)",
    `(<${ONE}>) </x> (<${ONE}>)`,
    `(<${ONE}>), (<${TWO}>)`,
    "(<a\r\nb>)",
    `(${"<a> ".repeat(101)})`,
    "(<a>) ".repeat(101),
    `(<${"a".repeat(8 * 1024)}>)`,
  ];
  for (const header of malformed)
    test(JSON.stringify(header.slice(0, 60)), () => expect(rejectionOf(header)).toBe("invalid_request"));

  test("100 conditions are accepted", () => expect(rejectionOf('(<a> Not [W/"b"]) '.repeat(50))).toBeUndefined());
});

const PARTS = [
  "(",
  ")",
  "<",
  ">",
  "[",
  "]",
  '"a"',
  "W/",
  "Not ",
  "not",
  " ",
  "\t",
  `<${ONE}>`,
  '["a"]',
  "</x>",
  "é",
  ",",
];

for (const seed of seedsToRun([1, 2, 3])) {
  test(`any text is either rejected or evaluated (seed ${seed})`, () => {
    const random = seededRandom(seed);
    for (let round = 0; round < 3_000; round++) {
      const header = Array.from({ length: 1 + random.below(12) }, () => random.pick(PARTS)).join("");
      if (rejectionOf(header) !== undefined) continue;
      expect(evaluate(header, { "": { etag: '"a"', tokens: [ONE] } })).toBeBoolean();
    }
  });

  test(`a header of any shape is evaluated as written (seed ${seed})`, () => {
    const { below, chance, pick } = seededRandom(seed);
    for (let round = 0; round < 2_000; round++) {
      const tags = chance(0.5) ? [""] : ["/x", "http://h/y", "/z"];
      const state = () => ({ etag: pick([undefined, '"a"', '"b"']), tokens: pick([[], [ONE], [ONE, TWO]]) });
      const states = Object.fromEntries(tags.map((tag) => [tag, state()]));
      let header = "";
      let isTrue = false;
      for (const tag of tags) {
        if (tag !== "") header += `<${tag}>${pick(["", " "])}`;
        for (let list = 0; list < 1 + below(2); list++) {
          const conditions = Array.from({ length: 1 + below(3) }, () => {
            const isNegated = chance(0.4);
            const isToken = chance(0.5);
            const value = isToken ? pick([ONE, TWO]) : pick(['"a"', '"b"']);
            const isMatch = isToken ? states[tag]?.tokens.includes(value) : states[tag]?.etag === value;
            return {
              text: `${isNegated ? "Not " : ""}${isToken ? `<${value}>` : `[${value}]`}`,
              is: isMatch !== isNegated,
            };
          });
          header += `(${conditions.map(({ text }) => text).join(pick(["", " "]))})${pick(["", " "])}`;
          isTrue ||= conditions.every((condition) => condition.is);
        }
      }
      expect([header, evaluate(header, states)]).toEqual([header, isTrue]);
    }
  });
}
