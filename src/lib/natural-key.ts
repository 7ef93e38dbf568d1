/**
 * The key of a name for the natural order: "note 2" before "note 10", "Ärger" next to "arg". One key serves all
 * languages. Two keys compare by their UTF-8 bytes, as SQLite's BINARY does.
 *
 * The key is stored with each name (`nodes.natural_key`). A change of it needs a migration that sets the column to null:
 * then the server computes all keys again in the background. The Unicode tables of Bun are a part of it, so
 * `test/unit/lib/natural-key.test.ts` fails if a new Bun gives other keys. This is version 1.
 */

import { compareUtf8 } from "./compare-utf8.ts";

/** UTF-16 units of a key. Only names of compatibility characters, such as "㍿", get this long. */
const KEY_MAX = 400;
/** Counts of digits below this one are written as one digit. */
const MANY_DIGITS = 10;

// oxlint-disable-next-line no-control-regex -- the whole of ASCII is meant
const ASCII = /^[\u0000-\u007f]*$/;
const DIGITS = /[0-9]+/g;
/**
 * Accents, and characters that are not shown, such as joiners. Unicode gives an accent the script of the
 * character below it ("Inherited"). The vowel signs of Indic scripts are no accents, and have a script of their own. So have
 * the points of Hebrew, which are accents.
 */
const ACCENTS = /[\p{Script=Inherited}\p{Cf}\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]/gu;
const SURROGATE = /[\ud800-\udfff]/;
const OTHER_DIGIT = /\p{Nd}/gu;
/** Characters with a usual spelling that Unicode does not decompose. */
const SPELLINGS: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  ħ: "h",
  ı: "i",
  ł: "l",
  ŋ: "n",
  ŧ: "t",
  þ: "th",
  ς: "σ",
};
const SPELLED = new RegExp(`[${Object.keys(SPELLINGS).join("")}]`, "g");

/** The natural key of a name: case-folded, without accents, numbers by value. At most 400 UTF-16 units. */
export function naturalKey(name: string): string {
  const plain = ASCII.test(name) ? name.toLowerCase() : withoutAccents(name);
  return cut(plain.replace(DIGITS, numberKey));
}

/** A row to be sorted by its name. */
export interface NamedRow {
  readonly id: number;
  readonly kind: number;
  readonly name: string;
}

/**
 * Ids in the natural order of the names within each kind, which is always ascending. Ties are sorted by name, then by id, like
 * the rows of the index.
 */
export function sortNaturally(rows: Iterable<NamedRow>, order: "asc" | "desc"): number[] {
  const sign = order === "asc" ? 1 : -1;
  // No name contains NUL, so a key that another one begins with comes first.
  const keyed = Array.from(rows, ({ id, kind, name }) => ({ id, kind, text: `${naturalKey(name)}\0${name}` }));
  // Without surrogates, the order of UTF-16 is that of UTF-8, and ten times as fast.
  const compare = keyed.some(({ text }) => SURROGATE.test(text)) ? compareUtf8 : compareUtf16;
  keyed.sort((a, b) => a.kind - b.kind || sign * (compare(a.text, b.text) || a.id - b.id));
  return keyed.map(({ id }) => id);
}

function compareUtf16(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function withoutAccents(name: string): string {
  const plain = name.normalize("NFKD").replace(ACCENTS, "").toUpperCase().toLowerCase();
  return plain
    .replace(SPELLED, (character) => SPELLINGS[character] ?? character)
    .replace(OTHER_DIGIT, (digit) => String(valueOf(digit)))
    .normalize("NFC");
}

/**
 * A number with its count of digits in front, so that bytes compare as values: 7 is "07", 10 is "110". Leading zeros are
 * dropped. The key of a number begins with a digit, so numbers still come before words.
 */
function numberKey(digits: string): string {
  let zeros = 0;
  while (zeros < digits.length - 1 && digits.charCodeAt(zeros) === 48) zeros++;
  const number = digits.slice(zeros);
  const count = number.length;
  return (count < MANY_DIGITS ? String(count - 1) : `9${String(count).padStart(3, "0")}`) + number;
}

/** The digits of each script are ten characters in a row. */
function valueOf(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  return (code - zero) % 10;
}

function cut(key: string): string {
  if (key.length <= KEY_MAX) return key;
  const isSplit = /[\ud800-\udbff]/.test(key.charAt(KEY_MAX - 1));
  return key.slice(0, isSplit ? KEY_MAX - 1 : KEY_MAX);
}
