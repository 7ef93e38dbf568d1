/** Prepares texts for the text index, and for searches in it, in the same way. Pure. */

/** Accents and vowel signs of scripts that are also written without them, and the Arabic line that only widens a word. */
// oxlint-disable-next-line no-misleading-character-class -- matches marks alone on purpose
const OPTIONAL_MARKS = /[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]/g;
// oxlint-disable-next-line no-control-regex -- matches all of ASCII on purpose
const ASCII = /^[\u0000-\u007f]*$/;
/** Scripts that are written without spaces between words, with the mark of long vowels and the mark of repetition. */
const UNSPACED =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\u30fc\u3005";
const UNSPACED_RUN = new RegExp(`[${UNSPACED}]+`, "gu");
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]+$`, "u");
/** Characters of words. The tokenizer of the index has the same categories. */
const WORD_CHARACTER = "\\p{L}\\p{N}\\p{M}\\p{Co}";
const WORD = new RegExp(`[${WORD_CHARACTER}]+`, "gu");
const LONG_WORD = new RegExp(`[${WORD_CHARACTER}]{65,}`, "gu");
/** Longer words, such as keys and encoded data, are cut. */
const WORD_MAX = 64;
/** Queries for one phrase: more narrow the candidates little, and each reads the index. */
const QUERIES_MAX = 16;
/** Words of a phrase that are compared. In a text that repeats them, each is compared at each place: 128 take 10 ms. */
const PHRASE_WORDS_MAX = 128;

/** The options of the index that {@link toIndexText} relies on. */
export const TOKENIZER = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'";

/** A text in lower case, without accents. */
export function foldText(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text.normalize("NFKD").replaceAll(OPTIONAL_MARKS, "").normalize("NFC").toLowerCase().replaceAll("ß", "ss");
}

/** A folded text in the form for the index: of scripts without spaces, each two neighbors are a word, and the last one. */
export function toIndexText(folded: string): string {
  const cut = folded.replaceAll(LONG_WORD, (word) => word.slice(0, WORD_MAX));
  return ASCII.test(cut) ? cut : cut.replaceAll(UNSPACED_RUN, (run) => ` ${toPairs(run).join(" ")} `);
}

function toPairs(run: string): string[] {
  const characters = Array.from(run);
  return characters.map((character, at) => character + (characters[at + 1] ?? ""));
}

/** A word or phrase of a search, as the text index finds it. */
export interface IndexWord {
  /** Queries of the index. All must match a file. */
  readonly queries: readonly string[];
  /** A regular expression that finds it in folded text. */
  readonly pattern: string;
  /** Whether the pattern must be found, because the queries match other texts too. */
  readonly isPhrase: boolean;
}

/** @param isPhrase whole words; else the last one may be a beginning. Undefined if it contains no letter and no digit */
export function toIndexWord(value: string, isPhrase: boolean): IndexWord | undefined {
  const tokens = tokensOf(foldText(value));
  const last = tokens.at(-1);
  if (last === undefined) return undefined;
  const queries = tokens.flatMap((token) => {
    const isOpen = token === last && !isPhrase && Array.from(token).length > 1;
    if (!IS_UNSPACED.test(token)) return [quote(token, isOpen)];
    const pairs = toPairs(token);
    return pairs.length === 1 ? [quote(token, true)] : pairs.slice(0, -1).map((pair) => quote(pair, false));
  });
  const isOneWord = queries.length === 1;
  return {
    queries: [...new Set(queries)].slice(0, QUERIES_MAX),
    pattern: patternOf(tokens.slice(0, PHRASE_WORDS_MAX), isPhrase),
    isPhrase: !isOneWord,
  };
}

/** Words, with runs of scripts without spaces apart. */
function tokensOf(folded: string): string[] {
  const apart = folded.replaceAll(UNSPACED_RUN, " $& ");
  return [...apart.matchAll(WORD)].map(([word]) => Array.from(word).slice(0, WORD_MAX).join(""));
}

/** Words contain only letters, digits and marks: nothing in them needs an escape. */
function patternOf(tokens: readonly string[], isPhrase: boolean): string {
  const parts = tokens.map((token, at) => {
    if (IS_UNSPACED.test(token)) return token;
    const isLast = at === tokens.length - 1;
    const end = isLast && !isPhrase ? `[${WORD_CHARACTER}]*` : `(?![${WORD_CHARACTER}])`;
    return `(?<![${WORD_CHARACTER}])${token}${end}`;
  });
  return parts.join(`[^${WORD_CHARACTER}]{0,16}`);
}

function quote(word: string, isOpen: boolean): string {
  return `"${word}"${isOpen ? "*" : ""}`;
}

/** The word at the end of a text that a person is typing, folded; undefined if none can be completed. */
export function wordToComplete(text: string): string | undefined {
  const [word] = foldText(text).match(new RegExp(`[${WORD_CHARACTER}]+$`, "u")) ?? [];
  return word === undefined || word.length < 2 || new RegExp(`[${UNSPACED}]`, "u").test(word) ? undefined : word;
}
