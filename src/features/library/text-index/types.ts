/** What the text index is asked, and what it returns. */
import type { IndexWord } from "./fold.ts";
import type { Segment } from "./segments.ts";
import type { SnippetPart } from "./snippet.ts";

/** Files that a caller may read: a whole account, or what is in one shared folder (or one shared file). */
export interface SearchScope {
  readonly accountId: number;
  /** Row id of the shared node; null for the caller's own account. */
  readonly rootId: number | null;
}

/** A word of a search. */
export interface SearchWord {
  /** Undefined if no text contains it, because it has only symbols. */
  readonly inText: IndexWord | undefined;
  /** The query for names, tags, descriptions and metadata; null if only the text counts. */
  readonly elsewhere: string | null;
}

/** A search for files whose text contains at least one word, and the text or the name and tags each of the others. */
export interface TextQuery {
  readonly scopes: readonly SearchScope[];
  readonly words: readonly SearchWord[];
  readonly limit: number;
}

/** The row ids of files, best first. */
export interface TextHits {
  readonly own: readonly number[];
  readonly received: readonly number[];
  /** Some of the texts in which a phrase could not be looked for yet, because their files have to be read again. */
  readonly unread: readonly WaitingBlob[];
}

/** A request for the parts of texts that contain words. */
export interface SnippetQuery {
  /** SHA-256 in hexadecimal. */
  readonly digests: readonly string[];
  readonly patterns: readonly string[];
  readonly queries: readonly string[];
}

/** Where the text of a file contains the words of a search. */
export interface TextMatch {
  readonly digest: string;
  readonly parts: readonly SnippetPart[];
  /** The page of a PDF, from 1; null for other files. */
  readonly page: number | null;
}

/** Parts of texts. */
export interface SnippetResult {
  readonly matches: readonly TextMatch[];
  /** Some of the texts whose files have to be read again for a snippet. */
  readonly unread: readonly WaitingBlob[];
}

/** A request for words that begin with a text. */
export interface CompletionQuery {
  readonly scopes: readonly SearchScope[];
  /** Folded. */
  readonly start: string;
  readonly limit: number;
}

/** A blob whose text is to be read. */
export interface WaitingBlob {
  readonly blobId: number;
  /** SHA-256. */
  readonly digest: Uint8Array;
  readonly mediaType: string;
}

/** Progress and size. */
export interface TextIndexStatus {
  /** Whether the files that existed before the index are still being read. */
  readonly isFilling: boolean;
  readonly indexed: number;
  readonly waiting: number;
  /** Files without text, or whose text can't be read, by reason; most frequent first. */
  readonly unread: readonly { readonly reason: string; readonly count: number }[];
  /** Bytes of the indexed texts as UTF-8. */
  readonly textBytes: number;
  /** Bytes of the words. */
  readonly indexBytes: number;
  /** Bytes of the file, with the texts that are compressed in it. */
  readonly fileBytes: number;
}

/** The database files, and what the index belongs to. */
export interface IndexLocation {
  readonly path: string;
  readonly databasePath: string;
  /** Changes if the database is replaced: row ids then mean other blobs. */
  readonly source: string;
  /** The data directory with the blobs; undefined if they are in a bucket, and only sometimes on this disk. */
  readonly blobsDir: string | undefined;
  /** Names this run of the program. */
  readonly run: string;
}

/** What a step of following the files did. */
export interface FollowResult {
  readonly isMore: boolean;
  /** Whether traces of removed words are to be removed later. */
  readonly hasTraces: boolean;
  /** Removed texts that have to be read again first. */
  readonly unread: readonly WaitingBlob[];
}

/** The requests to the thread of the index, with their results. */
export interface IndexCalls {
  follow(): FollowResult;
  clean(): { readonly isMore: boolean };
  next(): WaitingBlob | undefined;
  /** "unused" if no file has the blob any more, "unread" if an earlier text with its content has to be restored first. */
  begin(blob: WaitingBlob, readMs: number | null): "begun" | "unused" | "unread";
  add(blobId: number, segments: readonly Segment[]): void;
  finish(blob: WaitingBlob): void;
  skip(blob: WaitingBlob, reason: string): void;
  postpone(blobId: number): void;
  find(query: TextQuery): TextHits;
  snippets(query: SnippetQuery): SnippetResult;
  /** Takes the parts of a text that was read again. @returns whether it is the same as before */
  restore(digest: Uint8Array, parts: readonly string[]): boolean;
  complete(query: CompletionQuery): string[];
  status(): TextIndexStatus;
}

/** A call of the thread; the first one opens the index. */
export type IndexRequest = {
  readonly [Name in keyof IndexCalls]: {
    readonly id: number;
    readonly location: IndexLocation;
    readonly name: Name;
    readonly parameters: Parameters<IndexCalls[Name]>;
  };
}[keyof IndexCalls];

/** The response to a call. */
export type IndexReply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: string; readonly isDamaged: boolean };
