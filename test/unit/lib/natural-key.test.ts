/** The key of the natural order: what comes before what, and what counts as equal. */
import { expect, test } from "bun:test";
import { compareUtf8 } from "../../../src/lib/compare-utf8.ts";
import { naturalKey } from "../../../src/lib/natural-key.ts";
import { seededRandom } from "../../support/random.ts";

const compare = (a: string, b: string) => compareUtf8(naturalKey(a), naturalKey(b)) || compareUtf8(a, b);
const bytes = (key: string) => Buffer.from(key);

test.each([
  [["note 1", "note 2", "note 10"]],
  [["s1", "s10", "s100", "s1000"]],
  [["IMG_0009.jpg", "IMG_0010.jpg", "IMG_0100.jpg", "IMG_1000.jpg"]],
  [["IMG_9.JPG", "img_10.jpg", "IMG_11.JPG"]],
  [["2024-02-01", "2024-2-2", "2024-10-01"]],
  [["v1.2", "v1.9", "v1.10", "v2.0"]],
  [["a 9 b 2", "a 9 b 10", "a 10 b 1"]],
  [["a", "a1", "a1b", "a2", "ab"]],
  [["1", "9", "10", "99", "100", "a"]],
  [["!", "5", "a"]],
  [
    [
      `x${"9".repeat(19)}`,
      "x10000000000000000000",
      "x10000000000000000001",
      `x1${"0".repeat(99)}`,
      `x${"9".repeat(240)}`,
    ],
  ],
  [["a0", "a00", "a000", "a001", "a01", "a1", "a002"]],
  [["apfel", "Ärger", "Arm", "ärmel", "Zebra"]],
  [["eber", "écart", "edel", "Égal"]],
  [["Øre", "oß", "Ost", "Oswald"]],
  [["lodz", "Łódź 2", "lódź 10"]],
  [["file ١", "file 2", "file ٣", "file ١٠", "file 11"]],
  [["कि ९", "कि १०"]],
  [["第2話", "第１０話", "第11話"]],
  [["日本語", "日本語 2", "日本語 10"]],
  [["한국 2", "한국 10"]],
])("%j is in order", (names) => {
  const shuffled = seededRandom(names.length).shuffled(names);
  expect(shuffled.sort(compare)).toEqual(names);
});

test.each([
  ["é", "e"],
  ["É", "e\u0301"],
  ["Ä", "a"],
  ["ÅNGSTRÖM", "angstrom"],
  ["Straße", "STRASSE"],
  ["ẞ", "ss"],
  ["ŁÓDŹ", "lodz"],
  ["Øresund", "oresund"],
  ["Æon", "aeon"],
  ["œuvre", "OEUVRE"],
  ["Đà Nẵng", "da nang"],
  ["İstanbul", "istanbul"],
  ["ısı", "ISI"],
  ["ΟΔΌΣ", "οδος"],
  ["ёлка", "Елка"],
  ["が", "か"],
  ["ﬁle", "file"],
  ["ＡＢＣ", "abc"],
  ["007", "7"],
  ["٢٠", "20"],
  ["𝟚𝟘", "20"],
  ["a\u200db", "ab"],
  ["soft\u00adhyphen", "softhyphen"],
  ["no\u00a0break", "no break"],
])("%j and %j have one key", (a, b) => {
  expect(naturalKey(a)).toBe(naturalKey(b));
});

test("names that differ in vowel signs of Indic scripts differ", () => {
  expect(naturalKey("कि")).not.toBe(naturalKey("का"));
});

test("a number is its count of digits and its value", () => {
  expect(naturalKey("note 7")).toBe("note 07");
  expect(naturalKey("note 0010")).toBe("note 110");
  expect(naturalKey("12345678901")).toBe("901112345678901");
  expect(naturalKey("0")).toBe("00");
  expect(naturalKey("")).toBe("");
});

test("the digits of every script have their value", () => {
  let scripts = 0;
  for (let code = 0; code <= 0x10ffff; code++) {
    const digit = String.fromCodePoint(code);
    if (!/\p{Nd}/u.test(digit) || /\p{Nd}/u.test(String.fromCodePoint(code - 1))) continue;
    const ten = Array.from({ length: 10 }, (_, i) => String.fromCodePoint(code + i));
    expect(ten.map(naturalKey)).toEqual(["00", "01", "02", "03", "04", "05", "06", "07", "08", "09"]);
    scripts++;
  }
  expect(scripts).toBeGreaterThan(60);
});

test("keys compare as texts and as bytes alike, and numbers by value", () => {
  const random = seededRandom(5);
  const parts = ["a", "Z", "é", "漢", "🦊", "￮", " ", "-", ".", "٣", "0"];
  const text = () => Array.from({ length: random.below(4) }, () => random.pick(parts)).join("");
  for (let i = 0; i < 5_000; i++) {
    const [x, y] = [random.below(10 ** random.below(9)), random.below(10 ** random.below(9))];
    expect(Math.sign(compareUtf8(naturalKey(`n${x}`), naturalKey(`n${y}`)))).toBe(Math.sign(x - y));
    const [a, b] = [naturalKey(text() + x + text()), naturalKey(text() + y)];
    expect(Math.sign(compareUtf8(a, b))).toBe(Math.sign(Buffer.compare(bytes(a), bytes(b))));
  }
});

test("a key has at most 400 UTF-16 units, and never half a character", () => {
  expect(naturalKey("1a".repeat(127))).toHaveLength(381);
  expect(naturalKey("\ufdfa".repeat(85))).toHaveLength(400);
  expect(naturalKey(`a${"\u{1f40a}".repeat(300)}`)).toBe(`a${"\u{1f40a}".repeat(199)}`);
});

/** If this fails after an update of Bun: add a migration that sets `nodes.natural_key` to null. */
test("the keys of all characters are those that are stored", () => {
  const hasher = new Bun.CryptoHasher("sha256");
  for (let code = 0; code <= 0x10ffff; code++) {
    const isSurrogate = code >= 0xd800 && code <= 0xdfff;
    if (!isSurrogate) hasher.update(`${naturalKey(String.fromCodePoint(code))}\n`);
  }
  expect(hasher.digest("hex").slice(0, 16)).toBe("25a1516d5ed34204");
});
