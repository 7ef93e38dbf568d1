/** Checks the texts of the web client and the server in all languages: each is there, is used, and takes the same values. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { type MessageFormatElement, parse, TYPE } from "@formatjs/icu-messageformat-parser";
import { Glob } from "bun";
import { findMessages } from "../../../scripts/texts/errors.ts";
import { collectTexts, TEXT_FILES } from "../../../scripts/texts/texts.ts";
import { translateMessage } from "../../../src/translations/error-texts.ts";
import { LANGUAGES } from "../../../src/translations/languages.ts";
import { sayText } from "../../../src/translations/say.ts";

const ROOT = join(import.meta.dir, "../../..");

/** The texts of a language by their full key: `browse.title`, `admin.roles.user`. */
type Texts = ReadonlyMap<string, string>;

function flatten(value: unknown, prefix = ""): [string, string][] {
  if (typeof value === "string") return [[prefix, value]];
  return Object.entries(value ?? {}).flatMap(([key, inner]) =>
    flatten(inner, prefix === "" ? key : `${prefix}.${key}`),
  );
}

function pathOf(tag: string, file: string): string {
  return join(ROOT, "src/translations", tag, `${file}.json`);
}

function hasFile(tag: string, file: string): boolean {
  return existsSync(pathOf(tag, file));
}

async function readTexts(tag: string, file: string): Promise<Texts> {
  return new Map(flatten(await Bun.file(pathOf(tag, file)).json()));
}

const english = {
  client: await readTexts("en", "client"),
  server: await readTexts("en", "server"),
  errors: await readTexts("en", "errors"),
  settings: await readTexts("en", "settings"),
};

test.each(TEXT_FILES)(
  "the English texts of the %s are those of the source: run scripts/texts/texts.ts",
  async (file) => {
    expect(Object.fromEntries(english[file])).toEqual(Object.fromEntries(flatten(await collectTexts(file))));
  },
);

test("every English text is used", async () => {
  const sources = await readSources();
  const unused: string[] = [];
  for (const [path, source] of sources) {
    for (const [, constant = "", isServer, feature = ""] of source.matchAll(
      /const (\w+) = defineText(s?)\(\s*"([^"]+)"/g,
    )) {
      const used = findUsedKeys(sources, path, constant);
      const texts = isServer === "" ? english.client : english.server;
      const keys = new Set([...texts.keys()].filter((key) => key.startsWith(`${feature}.`)).map(secondPart));
      unused.push(...[...keys].filter((key) => !used.has(key)).map((key) => `${feature}.${key}`));
    }
  }
  expect(unused).toEqual([]);
});

test("the web client and the server load each language", async () => {
  const sources = ["client/app/locale.ts", "translations/server-texts.ts", "translations/setting-texts.ts"];
  const [client = "", server = "", settings = ""] = await Promise.all(
    sources.map((path) => Bun.file(join(ROOT, "src", path)).text()),
  );
  const isMissing = (tag: string) =>
    !client.includes(`translations/${tag}/client.json`) ||
    !server.includes(`"./${tag}/server.json"`) ||
    (hasFile(tag, "settings") && !settings.includes(`"./${tag}/settings.json"`));
  const tags = LANGUAGES.map(({ tag }) => tag).filter((tag) => tag !== "en");
  expect(tags.filter(isMissing)).toEqual([]);
});

/** Files that show texts of other sources in errors, or texts of the command line, and why they can't be translated. */
const UNTRANSLATED = {
  "src/cli/accounts/app-password.ts": "a text of the command line",
  "src/cli/accounts/setup-link.ts": "a text of the command line",
  "src/cli/accounts/token.ts": "a text of the command line",
  "src/cli/shared/services.ts": "a text of the command line",
  "src/config/startup-error.ts": "a text of the command line",
  "src/features/administration/admin-api/health.ts": "a text of the log",
  "src/features/library/files/bulk.ts": "a stored message",
  "src/features/media/editing/edit-process.ts": "a message of another process",
  "src/features/mobile/offline-queue/queries.ts": "a stored message",
  "src/features/storage/import-export/import-progress.ts": "a text of the command line",
  "src/features/storage/import-export/transfer-pool.ts": "a text of the command line",
  "src/features/storage/imports/queries.ts": "a stored message",
  "src/http/schema-problem.ts": "a text of the validation library",
};

test("every message of an error can be translated", async () => {
  const { problems, untranslated } = await findMessages();
  expect(problems).toEqual([]);
  expect(untranslated).toEqual(Object.keys(UNTRANSLATED));
});

/** Errors of other languages are in English until somebody translates them. */
const errorLanguages = LANGUAGES.map(({ tag }) => tag).filter((tag) => hasFile(tag, "errors"));

test.each(errorLanguages.filter((tag) => tag !== "en"))("errors are in %s", async (tag) => {
  const texts = await readTexts(tag, "errors");
  const message = "The folder was not found.";
  expect(translateMessage(sayText(message), tag)).toBe(texts.get(message) ?? "");
  expect(texts.get(message)).not.toBe(message);
});

/** Texts that are in English until somebody translates them. */
const OPTIONAL_FILES: readonly string[] = ["errors", "settings"];

const files = LANGUAGES.flatMap(({ tag }) =>
  TEXT_FILES.filter((file) => !OPTIONAL_FILES.includes(file) || hasFile(tag, file)).map((file) => [tag, file] as const),
);

test.each(files)("the texts in %s of the %s are complete, and none is left over", async (tag, file) => {
  expect([...(await readTexts(tag, file)).keys()]).toEqual([...english[file].keys()]);
});

const messageFiles = files.filter(([, file]) => file !== "settings");

test.each(messageFiles)("the texts in %s of the %s are messages with the English values", async (tag, file) => {
  const forms = new Intl.PluralRules(tag).resolvedOptions().pluralCategories;
  const problems: string[] = [];
  for (const [key, text] of await readTexts(tag, file)) {
    problems.push(...check(text, english[file].get(key) ?? "", forms).map((problem) => `${key}: ${problem}`));
  }
  expect(problems).toEqual([]);
});

test.each(LANGUAGES.map(({ tag }) => tag).filter((tag) => hasFile(tag, "settings")))(
  "the texts about settings in %s keep the values of larder.toml",
  async (tag) => {
    const problems: string[] = [];
    for (const [key, text] of await readTexts(tag, "settings")) {
      const values =
        english.settings
          .get(key)
          ?.match(
            /"[^"]+"|\S+\.toml|s3\.\S+\w|https?:\S+\w|[A-Z]+_[A-Z]+|(?<=or )(?:none|auto|unlimited|off|https:)|mailto:/g,
          ) ?? [];
      problems.push(...values.filter((value) => !text.includes(value)).map((value) => `${key}: lacks ${value}`));
      if (text.trim() === "") problems.push(`${key}: is empty`);
    }
    expect(problems).toEqual([]);
  },
);

/** Returns what is wrong with a text. @param forms the plural forms of its language */
function check(text: string, original: string, forms: readonly string[]): string[] {
  if (text.trim() === "" && original.trim() !== "") return ["is empty"];
  // ICU messages quote braces with them. The program does not.
  if (/'[{}#|]|''/.test(text)) return ["has an apostrophe next to a brace"];
  let elements: MessageFormatElement[];
  try {
    elements = parse(text, { ignoreTag: true, requiresOtherClause: true });
  } catch (error) {
    return [String(error)];
  }
  const found = valuesOf(elements);
  const expected = valuesOf(parse(original, { ignoreTag: true }));
  const problems = [...expected.entries()]
    .filter(([name, kind]) => found.get(name) !== kind)
    .map(([name]) => `lacks {${name}}`);
  problems.push(...[...found.keys()].filter((name) => !expected.has(name)).map((name) => `has an unknown {${name}}`));
  const missing = pluralsOf(elements).flatMap((given) => forms.filter((form) => !given.includes(form)));
  return [...problems, ...missing.map((form) => `lacks the plural form “${form}”`)];
}

/** The names of the values in a message, with what each must be. */
function valuesOf(elements: readonly MessageFormatElement[]): Map<string, string> {
  const values = new Map<string, string>();
  for (const element of elements) {
    if (element.type === TYPE.literal || element.type === TYPE.pound) continue;
    if (element.type === TYPE.number) values.set(element.value, `number ${JSON.stringify(element.style)}`);
    else if (!values.has(element.value)) values.set(element.value, "value");
    if (element.type !== TYPE.plural && element.type !== TYPE.select) continue;
    for (const { value } of Object.values(element.options)) {
      for (const [name, kind] of valuesOf(value)) if (!values.has(name)) values.set(name, kind);
    }
  }
  return values;
}

/** The forms of each plural in a message. */
function pluralsOf(elements: readonly MessageFormatElement[]): string[][] {
  return elements.flatMap((element) => {
    if (element.type !== TYPE.plural && element.type !== TYPE.select) return [];
    const inner = Object.values(element.options).flatMap(({ value }) => pluralsOf(value));
    return element.type === TYPE.plural ? [Object.keys(element.options), ...inner] : inner;
  });
}

/** Reads the source files, by their path. */
async function readSources(): Promise<Map<string, string>> {
  const sources = new Map<string, string>();
  for await (const path of new Glob("src/**/*.{ts,tsx}").scan(ROOT)) {
    sources.set(path, await Bun.file(join(ROOT, path)).text());
  }
  return sources;
}

/** The keys of a table that the file at `path` exports as `constant`, where it or a file that imports it reads them. */
function findUsedKeys(sources: ReadonlyMap<string, string>, path: string, constant: string): Set<string> {
  const used = new Set<string>();
  for (const [reader, source] of sources) {
    const imported = reader === path ? constant : importedName(source, reader, path, constant);
    if (imported === undefined) continue;
    for (const name of namesOf(source, imported)) {
      for (const [, key] of source.matchAll(new RegExp(`\\b${name}\\s*\\.(\\w+)`, "g"))) used.add(key ?? "");
      // A computed key: all keys that the file names as strings may be meant.
      if (!new RegExp(`\\b${name}\\[`).test(source)) continue;
      for (const [, key] of source.matchAll(/["'`](\w+)["'`]/g)) used.add(key ?? "");
    }
    for (const key of serverKeysOf(source, imported)) used.add(key);
  }
  return used;
}

/** The names that stand for a table in a file: its own, and those of the table of a language: `text = mailTexts(language)`. */
function namesOf(source: string, table: string): string[] {
  const types = [`ReturnType<typeof ${table}>`, ...namesIn(source, `type (\\w+) = ReturnType<typeof ${table}>`)];
  const functions = types.flatMap((type) => namesIn(source, `(#?\\w+)\\([^()]*\\): ${type}(?!\\w)`));
  const variables = [table, ...functions].flatMap((name) => namesIn(source, `const (\\w+) = (?:this\\.)?${name}\\(`));
  const parameters = types.flatMap((type) => namesIn(source, `\\b(\\w+): ${type}(?!\\w)`));
  return [...new Set([table, ...variables, ...parameters])];
}

/** The keys that are read without a name for the table: `mailTexts(language).open`, and `{ open } = mailTexts(language)`. */
function serverKeysOf(source: string, table: string): string[] {
  const types = namesIn(source, `type (\\w+) = ReturnType<typeof ${table}>`);
  const patterns = [`\\{([^{}]+)\\} = ${table}\\(`, ...types.map((type) => `\\{([^{}]+)\\}: ${type}\\b`)];
  const destructured = patterns.flatMap((pattern) => namesIn(source, pattern));
  return [
    ...namesIn(source, `\\b${table}\\([^()]*\\)\\s*\\.(\\w+)`),
    ...destructured.flatMap((keys) => keys.split(",").map((key) => key.split(":")[0]?.trim() ?? "")),
  ];
}

/** What the group of a pattern matches, everywhere in a source. */
function namesIn(source: string, pattern: string): string[] {
  return [...source.matchAll(new RegExp(pattern, "g"))].map(([, name = ""]) => name);
}

/** The name under which `reader` imports `constant` from the file at `path`. */
function importedName(source: string, reader: string, path: string, constant: string): string | undefined {
  for (const [, names = "", from = ""] of source.matchAll(/import \{([^}]*)\} from "(\.[^"]+)"/g)) {
    if (normalize(join(dirname(reader), from)) !== path) continue;
    for (const part of names.split(",")) {
      const [imported, alias] = part.trim().split(" as ");
      if (imported === constant) return alias ?? imported;
    }
  }
  return undefined;
}

function secondPart(key: string): string {
  return key.split(".")[1] ?? "";
}
