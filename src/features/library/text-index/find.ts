/** Finds files by their text, and words that begin with a text. Runs in the thread of the text index. */
import type { IndexTables } from "./index-tables.ts";
import type { FoundFile, LiveFiles } from "./live-files.ts";
import { findSnippet } from "./snippet.ts";
import type {
  CompletionQuery,
  SearchScope,
  SearchWord,
  SnippetQuery,
  SnippetResult,
  TextHits,
  TextMatch,
  TextQuery,
  WaitingBlob,
} from "./types.ts";
import type { IndexWord } from "./fold.ts";
import { foldText } from "./fold.ts";
import { KnownPhrases } from "./known-phrases.ts";

/** The usual constants of BM25: how soon further segments with a word stop counting, and how much long texts lose. */
const SATURATION = 1.2;
const LENGTH_WEIGHT = 0.75;
/** How much the newest files gain, and after how many days half of it is left. */
const RECENCY = 0.25;
const RECENCY_DAYS = 90;
const DAY_MS = 86_400_000;
/** Texts in which a phrase is looked for, the best ones first. */
const PHRASES_MAX = 400;
/** How long one search looks for phrases: every other search waits for it. Texts after that do not match. */
const PHRASES_MS = 300;
/** Files that match a word by name, of one account. */
const ELSEWHERE_MAX = 20_000;
/** Texts that are reported to be read again for one search, the best ones first. */
const UNREAD_MAX = 16;
/** How long snippets are looked for: every other search waits for it. Texts after that have none. */
const SNIPPETS_MS = 300;
/** Segments of a text that are read for one snippet. */
const SNIPPET_SEGMENTS_MAX = 4;
/** How long completions may take. */
const COMPLETION_MS = 25;
/** Words that are read even if this takes longer: other programs may use the processor. */
const COMPLETIONS_MIN = 8;
/** Files that are counted for one word. */
const COUNTED_MAX = 32;
const COMPLETED_WORD_MAX = 40;

/** A scope, with the blobs of its files, and what is known about its folders. */
interface OpenScope extends SearchScope {
  readonly blobs: ReadonlySet<number>;
  readonly reached: Map<number, boolean>;
}

interface Hit {
  readonly id: number;
  readonly score: number;
  readonly isOwn: boolean;
}

type Scores = ReadonlyMap<number, number>;

type FinderTables = Pick<
  IndexTables,
  | "blobOf"
  | "findByDigest"
  | "lengthOf"
  | "match"
  | "matchIn"
  | "removals"
  | "segment"
  | "size"
  | "toRead"
  | "vocabulary"
>;
type FinderFiles = Pick<LiveFiles, "blobsIn" | "filesWith" | "filesWithAny" | "matchElsewhere" | "reaches">;

/** Searches the index for callers who may read the files of some scopes only. */
export class TextFinder {
  readonly #tables: FinderTables;
  readonly #live: FinderFiles;
  readonly #nowMs: () => number;
  readonly #phrases = new KnownPhrases();
  /** Texts that this search needs, and that are not in the index. */
  #unread = new Set<number>();

  constructor(tables: FinderTables, live: FinderFiles, nowMs: () => number = () => performance.now()) {
    this.#tables = tables;
    this.#live = live;
    this.#nowMs = nowMs;
  }

  /** The matching files of the scopes, best first. */
  find({ scopes, words, limit }: TextQuery): TextHits {
    this.#unread = new Set();
    const visible = this.#open(scopes);
    const isVisible = (blobId: number) => visible.some(({ blobs }) => blobs.has(blobId));
    const untilMs = this.#nowMs() + PHRASES_MS;
    const found = words.map(({ inText }) => (inText === undefined ? NONE : this.#score(inText, isVisible, untilMs)));
    const scores = new Map<number, number>();
    for (const ofWord of found) for (const [id, score] of ofWord) scores.set(id, (scores.get(id) ?? 0) + score);
    const elsewhere = new Elsewhere(this.#live, new Set(scopes.map(({ accountId }) => accountId)));
    const missingOf = (blobId: number) => words.filter((_word, at) => found[at]?.has(blobId) !== true);
    const candidates = [...scores]
      .filter(([blobId]) => missingOf(blobId).every((word) => elsewhere.hasAny(word)))
      .sort((a, b) => b[1] - a[1])
      .map(([blobId]) => blobId);
    const hits = new Map<number, Hit>();
    for (const file of this.#filesOf(candidates, visible)) {
      if (!missingOf(file.blobId).every((word) => elsewhere.has(file, word)) || hits.has(file.id)) continue;
      const score = (scores.get(file.blobId) ?? 0) * recency(file.modifiedAtMs);
      hits.set(file.id, { id: file.id, score, isOwn: file.isOwn });
    }
    const best = [...hits.values()].sort((a, b) => b.score - a.score || b.id - a.id).slice(0, limit);
    const ids = (isOwn: boolean) => best.filter((hit) => hit.isOwn === isOwn).map(({ id }) => id);
    return { own: ids(true), received: ids(false), unread: this.#toRead() };
  }

  /** The snippets of those of these contents that contain any of the words. */
  snippets({ digests, patterns, queries }: SnippetQuery): SnippetResult {
    this.#unread = new Set();
    const untilMs = this.#nowMs() + SNIPPETS_MS;
    const expressions = patterns.map((pattern) => new RegExp(pattern, "gu"));
    const matches = digests.flatMap((digest) => {
      const blobId = this.#tables.findByDigest(Buffer.from(digest, "hex"));
      const match = blobId === undefined ? undefined : this.#snippetOf(blobId, expressions, queries, untilMs);
      return match === undefined ? [] : [{ digest, ...match }];
    });
    return { matches, unread: this.#toRead() };
  }

  /** Words of the texts in the scopes that begin with a text, most frequent first. */
  complete({ scopes, start, limit }: CompletionQuery): string[] {
    const visible = this.#open(scopes);
    const untilMs = this.#nowMs() + COMPLETION_MS;
    const found: { readonly word: string; readonly count: number }[] = [];
    let from = start;
    for (let read = 0; read < COMPLETIONS_MIN || this.#nowMs() < untilMs; read++) {
      const next = this.#countNext(from, start, (blobId) => this.#isReadable(blobId, visible));
      if (next === undefined) break;
      if (next.count > 0 && next.word.length <= COMPLETED_WORD_MAX && /\p{L}/u.test(next.word)) found.push(next);
      from = `${next.word}\u0001`;
    }
    found.sort((a, b) => b.count - a.count || a.word.length - b.word.length);
    return found.slice(0, limit).map(({ word }) => word);
  }

  /** The next word of the index, and in how many texts that the caller may read it is; at most {@link COUNTED_MAX}. */
  #countNext(from: string, start: string, isVisible: (blobId: number) => boolean) {
    let word: string | undefined;
    let looked = 0;
    const blobs = new Set<number>();
    for (const row of this.#tables.vocabulary(from)) {
      if (word === undefined && !row.word.startsWith(start)) return undefined;
      word ??= row.word;
      if (row.word !== word || blobs.size >= COUNTED_MAX || ++looked > COUNTED_MAX * 64) break;
      const blobId = this.#tables.blobOf(row.segmentId);
      if (!blobs.has(blobId) && this.#tables.lengthOf(blobId) > 0 && isVisible(blobId)) blobs.add(blobId);
    }
    return word === undefined ? undefined : { word, count: blobs.size };
  }

  #open(scopes: readonly SearchScope[]): OpenScope[] {
    return scopes.map((scope) => ({ ...scope, blobs: this.#live.blobsIn(scope), reached: new Map() }));
  }

  /** The files with these contents that the caller may read: in a scope, and not deleted. */
  *#filesOf(
    blobIds: readonly number[],
    scopes: readonly OpenScope[],
  ): Generator<FoundFile & { readonly isOwn: boolean }> {
    for (const { accountId, rootId, blobs, reached } of scopes) {
      const inScope = blobIds.filter((blobId) => blobs.has(blobId));
      for (const file of inScope.length === 0 ? [] : this.#live.filesWithAny(inScope, accountId)) {
        const isReadable =
          file.id === rootId || (file.parentId > 0 && this.#live.reaches(file.parentId, rootId, reached));
        if (isReadable) yield { ...file, isOwn: rootId === null };
      }
    }
  }

  #isReadable(blobId: number, scopes: readonly OpenScope[]): boolean {
    return scopes.some(
      ({ accountId, rootId, blobs, reached }) =>
        blobs.has(blobId) &&
        this.#live.filesWith(blobId, accountId).some(({ id }) => this.#live.reaches(id, rootId, reached)),
    );
  }

  /** The texts that contain a word or phrase, with their scores. */
  #score({ queries, pattern, isPhrase }: IndexWord, isVisible: (blobId: number) => boolean, untilMs: number): Scores {
    let found: Map<number, number> | undefined;
    for (const query of queries) {
      const counts = new Map<number, number>();
      for (const segmentId of this.#tables.match(query)) {
        const blobId = this.#tables.blobOf(segmentId);
        if (found === undefined ? isVisible(blobId) : found.has(blobId)) {
          counts.set(blobId, (counts.get(blobId) ?? 0) + 1);
        }
      }
      found = counts;
    }
    const scores = this.#bm25(found ?? new Map<number, number>());
    if (!isPhrase) return scores;
    const expression = new RegExp(pattern, "u");
    const best = [...scores].sort((a, b) => b[1] - a[1]).slice(0, PHRASES_MAX);
    return new Map(best.filter(([blobId]) => this.#hasPhrase(blobId, queries, expression, untilMs)));
  }

  /** BM25 with segments in place of words. */
  #bm25(counts: ReadonlyMap<number, number>): Scores {
    const { texts, averageLength } = this.#tables.size;
    const rarity = Math.log(1 + (texts - counts.size + 0.5) / (counts.size + 0.5));
    const scores = new Map<number, number>();
    for (const [blobId, count] of counts) {
      const length = this.#tables.lengthOf(blobId);
      if (length === 0) continue;
      const norm = SATURATION * (1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * length) / averageLength);
      scores.set(blobId, (rarity * count * (SATURATION + 1)) / (count + norm));
    }
    return scores;
  }

  /** Whether a phrase is in a text, as far as there is time. A text that has to be read first has none until then. */
  #hasPhrase(blobId: number, queries: readonly string[], expression: RegExp, untilMs: number): boolean {
    const known = this.#phrases.get(blobId, expression.source, this.#tables.removals);
    if (known !== undefined) return known;
    const isFound = this.#contains(blobId, queries, expression, untilMs);
    if (isFound !== undefined) this.#phrases.set(blobId, expression.source, isFound);
    return isFound === true;
  }

  /** It may be cut by the end of a segment. Undefined if that is not known yet. */
  #contains(blobId: number, queries: readonly string[], expression: RegExp, untilMs: number): boolean | undefined {
    const [rarest = ""] = queries.toSorted((a, b) => b.length - a.length);
    if (this.#nowMs() > untilMs) return undefined;
    for (const segmentId of this.#tables.matchIn(blobId, rarest)) {
      if (this.#nowMs() > untilMs) return undefined;
      const parts = [segmentId - 1, segmentId, segmentId + 1].map((id) => this.#textOf(blobId, id));
      const [before, text, after] = parts;
      if (before === undefined || text === undefined || after === undefined) {
        this.#unread.add(blobId);
        return undefined;
      }
      if (expression.test(foldText(before.slice(-256) + text + after.slice(0, 256)))) return true;
    }
    return false;
  }

  /** Empty if the segment is of another text; undefined if the text has to be read first. */
  #textOf(blobId: number, segmentId: number): string | undefined {
    return this.#tables.blobOf(segmentId) === blobId ? this.#tables.segment(segmentId)?.text : "";
  }

  #toRead(): WaitingBlob[] {
    return this.#tables.toRead([...this.#unread].slice(0, UNREAD_MAX));
  }

  #snippetOf(blobId: number, expressions: readonly RegExp[], queries: readonly string[], untilMs: number) {
    if (this.#nowMs() > untilMs) return undefined;
    const segmentIds = new Map<number, number>();
    for (const query of queries) {
      for (const id of this.#tables.matchIn(blobId, query)) segmentIds.set(id, (segmentIds.get(id) ?? 0) + 1);
    }
    const ids = [...segmentIds].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, SNIPPET_SEGMENTS_MAX);
    let isUnread = false;
    let best: (Omit<TextMatch, "digest"> & { readonly words: number }) | undefined;
    for (const [id] of ids) {
      if (this.#nowMs() > untilMs) break;
      const segment = this.#tables.segment(id);
      if (segment === undefined) {
        isUnread = true;
        continue;
      }
      const snippet = findSnippet(segment.text, expressions);
      if (snippet === undefined || snippet.words <= (best?.words ?? 0)) continue;
      const pages = segment.text.slice(0, snippet.start).split("\f").length - 1;
      const page = segment.page === null ? null : segment.page + pages;
      best = { parts: snippet.parts, page, words: snippet.words };
      if (snippet.words === expressions.length) break;
    }
    if (isUnread && best === undefined) this.#unread.add(blobId);
    return best && { parts: best.parts, page: best.page };
  }
}

const NONE: Scores = new Map();

/** The files whose name, tags, description or metadata contain words; read at most once for each word and account. */
class Elsewhere {
  readonly #live: FinderFiles;
  readonly #accountIds: ReadonlySet<number>;
  readonly #found = new Map<string, ReadonlySet<number>>();

  constructor(live: FinderFiles, accountIds: ReadonlySet<number>) {
    this.#live = live;
    this.#accountIds = accountIds;
  }

  /** Whether any file has a word there. Usually none has, and then only texts with the word are read further. */
  hasAny({ elsewhere: query }: SearchWord): boolean {
    return query !== null && [...this.#accountIds].some((accountId) => this.#filesWith(accountId, query).size > 0);
  }

  has({ id, accountId }: FoundFile, { elsewhere: query }: SearchWord): boolean {
    return query !== null && this.#filesWith(accountId, query).has(id);
  }

  #filesWith(accountId: number, query: string): ReadonlySet<number> {
    const key = `${accountId} ${query}`;
    const known = this.#found.get(key);
    if (known !== undefined) return known;
    const found = this.#live.matchElsewhere(accountId, query, ELSEWHERE_MAX);
    this.#found.set(key, found);
    return found;
  }
}

function recency(modifiedAtMs: number): number {
  const days = Math.max(0, Date.now() - modifiedAtMs) / DAY_MS;
  return 1 + RECENCY * 0.5 ** (days / RECENCY_DAYS);
}
