/** The archives of Google Takeout among the own files, recognized by their names. */

const ARCHIVE = /\.(?:zip|tgz|tar\.gz)$/i;
/** How Google names the parts of an export: `takeout-20260101T000000Z-1-001.zip`. Browsers add ` (1)` to a second copy. */
const PART = /^(?<series>.+-)(?<number>\d{3,})(?: ?\(\d+\))?(?<extension>\.(?:zip|tgz|tar\.gz))$/i;
const DIGITS = 3;
/** Names of missing parts that are listed; a strange number must not make millions of them. */
const MISSING_MAX = 20;

/** What the names of all archives of Google Takeout begin with. */
export const TAKEOUT_PREFIX = "takeout-";

/** Whether a file is an archive, by its name. */
export function isArchive(name: string): boolean {
  return ARCHIVE.test(name);
}

/** Whether a file is an archive of Google Takeout, by its name. */
export function isTakeout(name: string): boolean {
  return isArchive(name) && name.toLowerCase().startsWith(TAKEOUT_PREFIX);
}

/** The parts that are missing before the last known one of each export. The number of parts is in none of their names. */
export function missingParts(names: readonly string[]): string[] {
  const known = new Map<string, Set<number>>();
  const extensions = new Map<string, string>();
  for (const name of names) {
    const { series, number, extension = "" } = PART.exec(name)?.groups ?? {};
    if (series === undefined) continue;
    known.set(series, (known.get(series) ?? new Set()).add(Number(number)));
    extensions.set(series, extension);
  }
  const missing: string[] = [];
  for (const [series, numbers] of known) {
    const last = Math.max(...numbers);
    for (let number = 1; number < last && missing.length < MISSING_MAX; number++) {
      const name = `${series}${String(number).padStart(DIGITS, "0")}${extensions.get(series) ?? ""}`;
      if (!numbers.has(number)) missing.push(name);
    }
  }
  return missing;
}
