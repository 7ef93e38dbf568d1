/** Look-alike texts, by the confusables of Unicode (UTS 39, section 4). */
import table from "./confusables.txt" with { type: "text" };

/** The version of the tables for skeletons: of the look-alike characters, and of the runtime's normalization. */
export const SKELETON_VERSION = `${/Unicode ([\d.]+)/.exec(table)?.[1] ?? ""}/${process.versions["unicode"] ?? ""}`;

let prototypes: ReadonlyMap<string, string> | undefined;

/**
 * A form that is equal for texts that look the same; only for comparisons. Ignores the display order of right-to-left
 * text.
 */
export function skeleton(text: string): string {
  prototypes ??= readTable();
  let before = "";
  let mapped = withoutIgnorable(text.normalize("NFD"));
  // Some prototypes decompose into characters with prototypes (Hangul), which takes one more round.
  while (mapped !== before) {
    before = mapped;
    mapped = "";
    for (const character of before) mapped += prototypes.get(character) ?? character;
    mapped = mapped.normalize("NFD");
  }
  return mapped;
}

/** The text without invisible characters, such as a soft hyphen or a zero-width joiner. */
export function withoutIgnorable(text: string): string {
  return text.replaceAll(/\p{Default_Ignorable_Code_Point}+/gu, "");
}

/** The prototype of each character that has one. Created at the first use, which takes some milliseconds. */
function readTable(): Map<string, string> {
  const map = new Map<string, string>();
  for (const line of table.split("\n")) {
    const [prototype, characters] = line.split("=");
    if (line.startsWith("#") || prototype === undefined || characters === undefined) continue;
    const target = readCharacters(prototype).join("");
    for (const character of readCharacters(characters)) map.set(character, target);
  }
  return map;
}

function readCharacters(codePoints: string): string[] {
  return codePoints.split(" ").map((codePoint) => String.fromCodePoint(Number.parseInt(codePoint, 16)));
}
