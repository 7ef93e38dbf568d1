/** How the terms of a search apply to the texts of files. Pure. */
import { invalidField } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";
import { toIndexWord } from "../text-index/fold.ts";
import type { SharedRoot } from "../permissions/grants.ts";
import type { SearchScope, SearchWord } from "../text-index/types.ts";
import { matchElsewhere } from "./match.ts";
import type { SearchTerm, WordTerm } from "./types.ts";

/** Whether a text of a file can match a term. */
export function isTextTerm(term: SearchTerm): term is WordTerm {
  return term.key === "text" || term.key === "content";
}

/** Whether only files whose text contains a word are wanted. */
export function wantsOnlyTexts(terms: readonly SearchTerm[]): boolean {
  return terms.some((term) => term.key === "content" && !term.isExcluded);
}

/** The words that a text, or for free words also the name and tags of its file, must contain. */
export function requiredWords(terms: readonly SearchTerm[]): SearchWord[] {
  return terms.filter((term) => isTextTerm(term) && !term.isExcluded).map(toSearchWord);
}

/** The words that no text may contain. */
export function excludedWords(terms: readonly SearchTerm[]): SearchWord[] {
  return terms.filter((term) => isTextTerm(term) && term.isExcluded).map(toSearchWord);
}

/** The terms that a file found by its text must match otherwise: filters, and words that it must not have. */
export function termsBesides(terms: readonly SearchTerm[]): SearchTerm[] {
  return terms.filter((term) => !isTextTerm(term) || (term.isExcluded && term.key === "text"));
}

/** The files that a caller may read. */
export function toScopes(accountId: number, received: readonly SharedRoot[]): SearchScope[] {
  return [
    { accountId, rootId: null },
    ...received.map((root): SearchScope => ({ accountId: root.accountId, rootId: root.nodeId })),
  ];
}

/** @throws AppError invalid_field (q) */
export function requireTexts(terms: readonly SearchTerm[], isEnabled: boolean): void {
  if (isEnabled || !terms.some(({ key }) => key === "content")) return;
  throw invalidField("q", say`content: is not available, because this server does not search in the content of files.`);
}

function toSearchWord(term: SearchTerm): SearchWord {
  if (!isTextTerm(term)) return { inText: undefined, elsewhere: null };
  return {
    inText: toIndexWord(term.value, term.isPhrase),
    elsewhere: term.key === "text" ? matchElsewhere(term) : null,
  };
}
