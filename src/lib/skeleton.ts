/** Look-alike texts, by the confusables of Unicode (UTS 39, section 4). */
import table from "./confusables.txt" with { type: "text" };

/**
 * Version of the tables that a skeleton is made by: of the look-alike characters, and of the runtime's normalisation.
 */
export const SKELETON_VERSION = `${/Unicode ([\d.]+)/.exec(table)?.[1] ?? ""}/${process.versions["unicode"] ?? ""}`;

let prototypes: ReadonlyMap<string, string> | undefined;

/**
 * A form that is the same for texts that look the same; meant for comparing alone. The order in which right-to-left
 * text is shown is not taken into account.
 */
export function skeleton(text: string): string {
  prototypes ??= readTable();
  let before = "";
  let mapped = withoutIgnorable(text.normalize("NFD"));
  // Some prototypes fall apart into characters that have prototypes themselves (Hangul): once more, at most.
  while (mapped !== before) {
    before = mapped;
    mapped = "";
    for (const character of before) mapped += prototypes.get(character) ?? character;
    mapped = mapped.normalize("NFD");
  }
  return mapped;
}

/** Text without the characters that are never shown, such as a soft hyphen or a zero-width joiner. */
export function withoutIgnorable(text: string): string {
  return text.replaceAll(/\p{Default_Ignorable_Code_Point}+/gu, "");
}

/** The prototype of each character that has one. Made at the first use: it takes some milliseconds. */
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
