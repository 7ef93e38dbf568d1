/**
 * Finds words that this project does not use: private names for standard things, and archaic English. The list is
 * docs/glossary.md in short. Run this file to see where they are: `bun test/support/words.ts src/features/accounts`.
 */
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "../..");

/** Not allowed as a part of an identifier: `keepDeed` and `Deeds` are found by "deed". */
const IN_IDENTIFIERS = new Set(
  `deed deeds told tell tells kept held brought bring brings place places placed door doors brake world verdict met
  concerned weigh weighed behind born arrival arrivals arriving letter letters piece pieces stretch stretches lane lanes
  unnamed unlisted shelter doomed bury splat lattice entrance keeper landmark landmarks tally joiner
  taker finisher placer reaper asked refuse refuses refused refusal refusals answer answers answered question questions
  wanted whoever whatever anew meanwhile admissions capture filler wish`.split(/\s+/),
);

/** Names that hold such a word and stay: standard terms, and what is stored or part of the API. */
const ALLOWED_IDENTIFIERS = new Set(
  `write-behind writeBehind WriteBehind WriteBehindOptions formerPlaces bornSeq born bornAt lane askedAt places unlisted unnamed isSettling allSettled heldChanges bornNs toldAt keptAs broughtBack isInPlace inPlace moveIntoPlace
  IN_PLACE_MAX READ_IN_PLACE_MAX WALK_IN_PLACE_MAX bringToFront setPointerCapture releasePointerCapture hasPointerCapture capturedAt
  placeFrom placeTo keptAs question
  onPointerDownCapture onKeyDownCapture onClickCapture onDragEnterCapture replaceAll refused`.split(/\s+/),
);

/** A key of the API, in the files that name it. */
const API_KEYS: Readonly<Record<string, string>> = {
  "src/features/library/history/model.ts": "place",
  "src/features/library/history/present.ts": "place",
};

/** Where a place is a geographic one: a town where photos were taken. Elsewhere the word had seven other meanings. */
const GEOGRAPHIC: readonly RegExp[] = [
  /^src\/features\/(library\/photos|media\/(metadata|places))\//,
  /^src\/features\/library\/files\/(model|present|routes)\.ts$/,
  /^test\/unit\/(db\/live-photos|media\/places\/)/,
  /^src\/client\/(api\/places\.ts|features\/(photos|places)\/|entries\/details\/)/,
  /^src\/client\/app\/router\.tsx$/,
  /^src\/db\/schema\/(photos|search)\.ts$/,
  /^test\/(api\/photos-places|cli\/(round-trip|sidecars)|web\/places)\.test\.ts$/,
  /^test\/(support\/images|unit\/media\/metadata\/media-process\.test)\.ts$/,
];
const GEOGRAPHIC_WORDS = new Set(["place", "places", "placed", "world"]);

/** Not allowed in comments, strings and documents. */
const IN_PROSE: readonly RegExp[] = [
  /\bdeeds?\b/gi,
  /\btold\b/gi,
  /\btells?\b/gi,
  /\btelling\b/gi,
  /\b(?:who|whom|what|where|which|how)(?:so)?ever\b(?<!however)/gi,
  /\banew\b/gi,
  /\bmeanwhile\b/gi,
  /\b(?:goes|go|went|gone|going) on\b/gi,
  /\b(?:by|of) (?:itself|themselves)\b/gi,
  /\bunder way\b/gi,
  /\b(?:bring|brings|brought|bringing)\b/gi,
  /\bbrakes?\b/gi,
  /\bverdicts?\b/gi,
  /\bweigh(?:s|ed|ing)?\b/gi,
  /\bgives? way\b/gi,
  /\bis over\b/gi,
  /\bcontract §/gi,
  /\bcontract,? (?:conventions|section)\b/gi,
  /\(D\d+(?:, ?D?\d+)*\)/g,
  /\bD\d{1,2}\b(?=[):;,])/g,
  /\bhead of (?:this|the) file\b/gi,
  /\bin the (?:caller's )?deed\b/gi,
];

/** Files that name old words on purpose, or that nobody may change. */
const EXEMPT = [
  /^migrations\//,
  /^test\/fixtures\//,
  /^test\/openapi\/generated/,
  /^src\/client\/api\/generated\.ts$/,
  /^test\/(support\/words|unit\/words\.test)\.ts$/,
  /^docs\/glossary\.md$/,
  /^NOTICES\.md$/,
];

/** A denied word and where it is. */
export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly word: string;
  readonly kind: "identifier" | "prose";
}

/** All denied words below these paths of the repository, or in all of it. */
export async function findDeniedWords(...paths: readonly string[]): Promise<Finding[]> {
  const listed = Bun.spawnSync(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", ...paths], {
    cwd: ROOT,
  });
  const found: Finding[] = [];
  for (const path of listed.stdout.toString().trim().split("\n")) {
    const file = Bun.file(join(ROOT, path));
    if (await file.exists()) found.push(...findDeniedWordsIn(path, await file.text()));
  }
  return found;
}

/** The denied words in one file: its path, its identifiers if it is code, and its prose. */
export function findDeniedWordsIn(path: string, text: string): Finding[] {
  if (EXEMPT.some((pattern) => pattern.test(path))) return [];
  const found = path.split("/").flatMap((part) => [...scanName(path, part.replace(/\..*/, ""), 0)]);
  if (/\.tsx?$/.test(path)) found.push(...scanCode(path, text));
  else if (path === "CHANGELOG.md") found.push(...scanProse(path, newestSection(text), 0));
  else if (/\.(md|css|html|txt|toml|ya?ml|service)$|^Dockerfile$|^(scripts|\.ci)\/[a-z/-]+$/.test(path))
    found.push(...scanProse(path, text, 0));
  return found;
}

/** Everything up to the second heading of a version: what is older stays as it was published. */
function newestSection(changelog: string): string {
  const [first, second] = [...changelog.matchAll(/^## /gm)];
  return first !== undefined && second !== undefined ? changelog.slice(0, second.index) : changelog;
}

const TOKEN = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|[A-Za-z_$][\w$]*/g;

function* scanCode(path: string, source: string): Generator<Finding> {
  const lineOf = lineCounter(source);
  for (const { 0: token, index } of source.matchAll(TOKEN)) {
    if (!/^[A-Za-z_$]/.test(token)) {
      yield* scanProse(path, token, lineOf(index) - 1);
      for (const { 0: hole, index: at } of token.startsWith("`") ? token.matchAll(/\$\{[^}]*\}/g) : []) {
        for (const [name] of hole.replaceAll(/"[^"]*"/g, '""').matchAll(/[A-Za-z_$][\w$]*/g))
          yield* scanName(path, name, lineOf(index + at));
      }
    } else yield* scanName(path, token, lineOf(index));
  }
}

function* scanName(path: string, name: string, line: number): Generator<Finding> {
  if (ALLOWED_IDENTIFIERS.has(name) || API_KEYS[path] === name || (name === name.toLowerCase() && name.includes("_")))
    return;
  const words = name.split(/[-._$]|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/);
  const isGeographic = GEOGRAPHIC.some((pattern) => pattern.test(path));
  const isDenied = words.some((word) => {
    const lower = word.toLowerCase();
    return IN_IDENTIFIERS.has(lower) && !(isGeographic && GEOGRAPHIC_WORDS.has(lower));
  });
  if (isDenied) yield { path, line, word: name, kind: "identifier" };
}

function* scanProse(path: string, text: string, linesBefore: number): Generator<Finding> {
  const lineOf = lineCounter(text);
  for (const pattern of IN_PROSE) {
    for (const { 0: word, index } of text.matchAll(pattern)) {
      yield { path, line: linesBefore + lineOf(index), word, kind: "prose" };
    }
  }
}

/** Gives the line of a position, counted from 1. */
function lineCounter(text: string): (index: number) => number {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (index) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= index) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
}

if (import.meta.main) {
  const found = await findDeniedWords(...process.argv.slice(2));
  for (const { path, line, word, kind } of found)
    console.log(`${path}:${line}: ${kind === "identifier" ? word : `"${word}"`}`);
  console.log(`${found.length} denied words`);
}
