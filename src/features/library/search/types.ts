/** A parsed search. Bounds are inclusive; null for none. */

/** A word or a filter of a search. */
export type SearchTerm =
  | WordTerm
  | { readonly key: "tag" | "type" | "ext" | "camera"; readonly value: string; readonly isExcluded: boolean }
  | { readonly key: "is"; readonly value: "public" | "favorite"; readonly isExcluded: boolean }
  | { readonly key: "in"; readonly value: string; readonly isExcluded: false }
  | SizeTerm
  | DateTerm;

/** A word or a phrase, in any text of a file (`text`), in its name, or in its content. */
export interface WordTerm {
  readonly key: "text" | "name" | "content";
  readonly value: string;
  /** Whole words in this order; else the last word may be a prefix. */
  readonly isPhrase: boolean;
  readonly isExcluded: boolean;
}

/** Bytes. */
export interface SizeTerm {
  readonly key: "size";
  readonly value: string;
  readonly isExcluded: false;
  readonly min: number | null;
  readonly max: number | null;
}

/** Days, as `YYYY-MM-DD`. */
export interface DateTerm {
  readonly key: "modified" | "created" | "taken";
  readonly value: string;
  readonly isExcluded: false;
  readonly from: string | null;
  readonly to: string | null;
}
