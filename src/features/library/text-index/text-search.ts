import { type Digest, digestFromBytes } from "../../../blobs/digest.ts";
import { AppError } from "../../../errors.ts";
import type { Log } from "../../../lib/log.ts";
import { wordToComplete } from "./fold.ts";
import type { TextIndexer } from "./indexer.ts";
import type { IndexThread } from "./index-thread.ts";
import type { TextRereader } from "./text-rereader.ts";
import type { SearchScope, SearchWord, SnippetQuery, SnippetResult, TextMatch } from "./types.ts";

/** Whether texts can be found. While it is `preparing`, only some can. */
export interface TextsState {
  readonly state: "ready" | "preparing" | "off";
  /** How many of the files are prepared. */
  readonly percent: number;
}

/** Dependencies of {@link TextSearch}. */
export interface TextSearchOptions {
  readonly thread: Pick<IndexThread, "call">;
  readonly indexer: Pick<TextIndexer, "status" | "revision">;
  readonly rereader: Pick<TextRereader, "readable" | "readUntil">;
  readonly isEnabled: () => boolean;
  readonly log: Log;
}

/** The row ids of files that were found in texts, best first. */
export interface FoundInTexts {
  readonly own: readonly number[];
  readonly received: readonly number[];
  /** "reading" if some texts could not be searched yet, because their files are being read again. */
  readonly state: "complete" | "reading" | "failed";
}

/** Files whose texts contain words. */
export interface TextSearchRequest {
  readonly scopes: readonly SearchScope[];
  readonly words: readonly SearchWord[];
  readonly limit: number;
  /** Until when files are read again, as far as that is necessary: see {@link TextSearch.readUntilMs}. */
  readonly untilMs: number;
}

/** How long one search waits for files that are read again. */
const READ_MS = 1_500;
/** How long a state is remembered while texts are being prepared. */
const STATE_MS = 2_000;

/**
 * Searches in the texts of files. A failure of the index is logged and hides only hits in texts: names are found without
 * it.
 */
export class TextSearch {
  readonly #options: TextSearchOptions;
  #state: { readonly state: TextsState; readonly sinceMs: number } | undefined;

  constructor(options: TextSearchOptions) {
    this.#options = options;
  }

  get isEnabled(): boolean {
    return this.#options.isEnabled();
  }

  /** Changes whenever other texts may be found. */
  get revision(): number {
    return this.#options.indexer.revision;
  }

  /** Until when a search that begins now waits for files that are read again. */
  readUntilMs(): number {
    return performance.now() + READ_MS;
  }

  /** Files whose texts contain words, best first. */
  async find({ scopes, words, limit, untilMs }: TextSearchRequest): Promise<FoundInTexts> {
    const { thread, rereader } = this.#options;
    const none = { own: [], received: [] };
    if (!this.isEnabled || words.every(({ inText }) => inText === undefined)) return { ...none, state: "complete" };
    for (;;) {
      const hits = await this.#try(() => thread.call("find", [{ scopes, words, limit }]));
      if (hits === undefined) return { ...none, state: "failed" };
      const unread = rereader.readable(hits.unread);
      if (unread.length === 0) return { ...hits, state: "complete" };
      if (performance.now() >= untilMs) return { ...hits, state: "reading" };
      await rereader.readUntil(unread, untilMs);
    }
  }

  /**
   * Where contents contain words, by digest. The caller must be allowed to read them. A content that can't be read again
   * in time is left out.
   */
  async snippets(
    digests: readonly Digest[],
    words: readonly SearchWord[],
    untilMs: number,
  ): Promise<ReadonlyMap<string, TextMatch>> {
    const inText = words.flatMap((word) => word.inText ?? []);
    if (!this.isEnabled || inText.length === 0 || digests.length === 0) return new Map();
    const patterns = inText.map(({ pattern }) => pattern);
    const queries = inText.flatMap((word) => word.queries);
    const { rereader } = this.#options;
    const found = await this.#snippetsOf({ digests, patterns, queries });
    const unread = rereader.readable(found?.unread ?? []);
    const matches = found === undefined ? [] : [...found.matches];
    if (unread.length > 0) {
      await rereader.readUntil(unread, untilMs);
      const later = unread.map(({ digest }) => digestFromBytes(digest));
      matches.push(...((await this.#snippetsOf({ digests: later, patterns, queries }))?.matches ?? []));
    }
    return new Map(matches.map((match) => [match.digest, match]));
  }

  /** Words of readable texts that continue the last word of a search that is being typed. */
  async complete(
    scopes: readonly SearchScope[],
    typed: string,
    limit: number,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const start = wordToComplete(typed);
    if (!this.isEnabled || start === undefined) return [];
    const words = await this.#try(() => this.#options.thread.call("complete", [{ scopes, start, limit }], signal));
    return words ?? [];
  }

  /** Whether the texts of the files that existed before the index can be found. */
  async state(): Promise<TextsState> {
    if (!this.isEnabled) return { state: "off", percent: 0 };
    const known = this.#state;
    if (known?.state.state === "ready") return known.state;
    if (known !== undefined && performance.now() - known.sinceMs < STATE_MS) return known.state;
    const status = await this.#try(() => this.#options.indexer.status());
    const state = status === undefined ? PREPARING : toState(status);
    this.#state = { state, sinceMs: performance.now() };
    return state;
  }

  /** Forgets the state: the index was deleted. */
  dropState(): void {
    this.#state = undefined;
  }

  #snippetsOf(query: SnippetQuery): Promise<SnippetResult | undefined> {
    return this.#try(() => this.#options.thread.call("snippets", [query]));
  }

  async #try<T>(call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call();
    } catch (error) {
      if (error instanceof AppError) this.#options.log.warn("The text index did not respond.", { error });
      return undefined;
    }
  }
}

const PREPARING: TextsState = { state: "preparing", percent: 0 };

function toState(status: {
  readonly isFilling: boolean;
  readonly indexed: number;
  readonly waiting: number;
  readonly unread: readonly { readonly count: number }[];
}): TextsState {
  if (!status.isFilling) return { state: "ready", percent: 100 };
  const done = status.indexed + status.unread.reduce((sum, { count }) => sum + count, 0);
  const all = done + status.waiting;
  return { state: "preparing", percent: all === 0 ? 0 : Math.min(99, Math.floor((100 * done) / all)) };
}
