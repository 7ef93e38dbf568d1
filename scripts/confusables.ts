/**
 * Writes src/lib/confusables.txt, the table of look-alike characters in the executable, from confusables.txt of Unicode's
 * security data (https://www.unicode.org/Public/security/latest/confusables.txt):
 *
 *   bun scripts/confusables.ts confusables.txt
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [source] = process.argv.slice(2);
if (source === undefined) throw new Error("Name the file to read: bun scripts/confusables.ts confusables.txt");
const text = readFileSync(source, "utf8").replace(/^\uFEFF/, "");
const version = /^# Version: ([\d.]+)$/m.exec(text)?.[1];
const total = Number(/^# total: (\d+)$/m.exec(text)?.[1]);
if (version === undefined) throw new Error(`${source} has no version: it is not Unicode's confusables.txt.`);

const sources = new Map<string, string[]>();
let rows = 0;
for (const line of text.split("\n")) {
  const row = /^([0-9A-F]+) ;\t([0-9A-F ]+) ;\tMA\t/.exec(line);
  const [, from, to] = row ?? [];
  if (from === undefined || to === undefined) continue;
  rows++;
  const known = sources.get(to);
  if (known === undefined) sources.set(to, [from]);
  else known.push(from);
}
if (rows !== total) throw new Error(`${source} has ${rows} rows instead of ${total}: it is not complete.`);

const head = [
  `# Look-alike characters of Unicode ${version} (UTS 39), made by scripts/confusables.ts.`,
  "# Each line: a sequence of code points, then all characters that look like it. © Unicode, Inc., Unicode License v3.",
];
const lines = [...sources].map(([to, from]) => `${to}=${from.join(" ")}`);
writeFileSync(join(import.meta.dir, "../src/lib/confusables.txt"), `${[...head, ...lines].join("\n")}\n`);
console.log(`Unicode ${version}: ${rows} characters.`);
