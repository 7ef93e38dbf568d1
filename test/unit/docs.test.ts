// Everything that the documents name must exist: links, paths, settings, variables, commands, flags, metrics, and identifiers.
import { beforeAll, expect, test } from "bun:test";
import { Command } from "commander";
import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { COMMANDS } from "../../src/cli/cli.ts";
import type { CommandContext } from "../../src/cli/shared/command.ts";
import { environmentName, keyOfPath, SETTINGS_BY_KEY } from "../../src/config/settings.ts";
import { listPages, readPage, shellBlocks } from "../support/documents.ts";

const root = join(import.meta.dir, "../..");

/** Flags of other programs in the examples. */
const FOREIGN_FLAGS = new Set(["--target", "--time", "--memory"]);
/** Names in backticks from other programs, the platform and packages. */
const FOREIGN_WORDS = new Set(["kvm64", "BasicAuthLevel", "FileSizeLimitInBytes", "umount"]);

/** For commands that are only defined, never run. */
const CONTEXT: CommandContext = {
  terminal: {
    out() {},
    error() {},
    readInput: () => Promise.resolve(""),
    confirm: () => Promise.resolve(false),
    isInteractive: false,
  },
  environment: {},
  directory: root,
};

const pages = new Map<string, string>();
const commands = new Map<string, Command>();
/** Every word of the source, the tests, the scripts and the migrations, with and without hyphens. */
const words = new Set<string>();

beforeAll(async () => {
  for (const page of await listPages()) pages.set(page, await readPage(page));
  for (const { name, load } of COMMANDS) {
    const command = new Command(name);
    (await load()).define(command, CONTEXT);
    collect(`larder ${name}`, command);
  }
  for (const pattern of [
    "src/**/*.{ts,tsx,css,txt}",
    "test/**/*.ts",
    "scripts/**/*",
    "migrations/*.sql",
    "package.json",
  ]) {
    for await (const path of new Bun.Glob(pattern).scan({ cwd: root, onlyFiles: true })) {
      if (path.includes("node_modules") || path.startsWith("scripts/pictures")) continue;
      for (const [word] of (await Bun.file(join(root, path)).text()).matchAll(/[\p{L}_]\w*(?:-\w+)*/gu)) {
        for (const known of [word, ...word.split("-")]) words.add(known);
      }
    }
  }
});

function collect(path: string, command: Command): void {
  commands.set(path, command);
  for (const inner of command.commands) collect(`${path} ${inner.name()}`, inner);
}

test("every link leads to an existing page and heading", () => {
  const problems: string[] = [];
  for (const [page, text] of pages) {
    for (const [, target = ""] of withoutBlocks(text).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(?:https?|mailto):/.test(target)) continue;
      const [path = "", heading] = target.split("#");
      const file = path === "" ? page : normalize(join(dirname(page), path));
      if (!existsSync(join(root, file))) problems.push(`${page}: ${target}`);
      else if (heading !== undefined && !headingsOf(pages.get(file) ?? "").has(heading))
        problems.push(`${page}: ${target}`);
    }
  }
  expect(problems).toEqual([]);
});

test("every page of docs/ is linked from another page", () => {
  const linked = new Set<string>();
  for (const [page, text] of pages) {
    for (const [, target = ""] of text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g))
      linked.add(normalize(join(dirname(page), target)));
  }
  expect([...pages.keys()].filter((page) => page !== "README.md" && !linked.has(page))).toEqual([]);
});

test("every page has one title and one sentence that states its purpose", () => {
  const wrong = [...pages].filter(
    ([, text]) => !/^# \S.*\n\n[A-Z]/.test(text) || /^# /m.test(withoutBlocks(text).slice(2)),
  );
  expect(wrong.map(([page]) => page)).toEqual([]);
});

test("every setting in a TOML block exists", () => {
  const problems: string[] = [];
  for (const [page, text] of pages) {
    for (const [, indent = "", block = ""] of text.matchAll(/^( *)```toml\n(.*?)^\1```$/gms)) {
      const settings = Bun.TOML.parse(block.replaceAll(new RegExp(`^${indent}`, "gm"), ""));
      for (const key of keysOf(settings, ""))
        if (!SETTINGS_BY_KEY.has(keyOfPath(key))) problems.push(`${page}: ${key}`);
    }
  }
  expect(problems).toEqual([]);
});

test("every command exists, with its flags", () => {
  const problems: string[] = [];
  for (const [page, text] of pages) {
    const lines = shellBlocks(page, text).flatMap((block) => block.text.split("\n"));
    for (const line of [...lines, ...spansOf(text)]) {
      for (const [, words = ""] of line.matchAll(/(?:^|[|(/]|-u larder |exec )\s*(?:\S*\/)?(larder [^|#)"]*)/g)) {
        const problem = checkCommand(words.trim());
        if (problem !== undefined) problems.push(`${page}: ${words}: ${problem}`);
      }
    }
  }
  expect(problems).toEqual([]);
});

test("every command is in the table of commands", async () => {
  const spans = new Set(spansOf(await readPage("docs/api.md")));
  const missing = [...commands]
    .filter(([, command]) => command.commands.length === 0)
    .filter(([path, command]) => !spans.has(path) && !spans.has(command.name()));
  expect(missing.map(([path]) => path)).toEqual([]);
});

test("everything else in backticks exists", () => {
  const problems: string[] = [];
  // The changelog contains old names.
  for (const [page, text] of pages) {
    if (page === "CHANGELOG.md") continue;
    for (const span of spansOf(text)) if (!exists(span)) problems.push(`${page}: ${span}`);
  }
  expect(problems).toEqual([]);
});

/** Whether a path, setting, variable, flag, metric or identifier exists. Other spans are not checked. */
function exists(span: string): boolean {
  if (/[<…*]|NNNN/.test(span)) return true;
  if (/^(?:src|test|scripts|docs|migrations)(?:\/[\w.-]+)*\/?$/.test(span) && span !== "test") {
    return existsSync(join(root, span));
  }
  if (/^LARDER_TEST_\w+/.test(span)) return words.has(span.split("=")[0] ?? "");
  if (/^LARDER_[A-Z_]+/.test(span)) return isVariable(/^\w+/.exec(span)?.[0] ?? "");
  if (/^--[a-z]/.test(span)) return isFlag(/^--[\w-]+/.exec(span)?.[0] ?? "");
  const [first = "", ...rest] = span.split(".");
  if (rest.length > 0 && /^[\w.]+$/.test(span) && isSettingGroup(first)) return SETTINGS_BY_KEY.has(span);
  if (/^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/.test(span)) {
    return [first, ...rest].every((word) => words.has(word) || FOREIGN_WORDS.has(word));
  }
  if (/^[a-z]+(?:-[a-z]+)+$/.test(span)) return words.has(span);
  return true;
}

function isVariable(name: string): boolean {
  if (name === "LARDER_CONFIG" || name.endsWith("_")) return true;
  return [...SETTINGS_BY_KEY.keys()].some((key) => environmentName(key).startsWith(name));
}

function isSettingGroup(name: string): boolean {
  return name !== "data" && [...SETTINGS_BY_KEY.keys()].some((key) => key.startsWith(`${name}.`));
}

function isFlag(flag: string): boolean {
  return FOREIGN_FLAGS.has(flag) || [...commands.values()].some((command) => hasFlag(command, flag));
}

function hasFlag(command: Command, flag: string): boolean {
  return flag === "--help" || command.options.some(({ long }) => long === flag);
}

/** @returns the error in a command line, or undefined */
function checkCommand(line: string): string | undefined {
  const [program = "", ...rest] = line.split(/\s+/);
  const [name = ""] = rest;
  if (!/^[a-z]/.test(name)) return undefined;
  let path = `${program} ${name}`;
  if (!commands.has(path)) return "no such command";
  const [, inner = ""] = rest;
  if (commands.has(`${path} ${inner}`)) path = `${path} ${inner}`;
  const command = commands.get(path);
  if (
    command !== undefined &&
    command.commands.length > 0 &&
    /^[a-z]/.test(inner) &&
    command.commands.every((one) => one.name() !== inner)
  ) {
    return `no such command: ${inner}`;
  }
  const missing = rest
    .filter((word) => /^--[a-z]/.test(word))
    .find((flag) => command !== undefined && !hasFlag(command, flag));
  return missing === undefined ? undefined : `no such flag: ${missing}`;
}

function* keysOf(value: object, prefix: string): Generator<string> {
  for (const [key, inner] of Object.entries(value)) {
    if (typeof inner === "object" && inner !== null && !Array.isArray(inner)) yield* keysOf(inner, `${prefix}${key}.`);
    else yield prefix + key;
  }
}

/** The text without fenced blocks and spans of code. */
function withoutBlocks(text: string): string {
  return text.replaceAll(/^ *```.*?^ *```$/gms, "");
}

/** The spans in backticks outside of fenced blocks. */
function spansOf(text: string): string[] {
  return [...withoutBlocks(text).matchAll(/`([^`\n]+)`/g)].map(([, span = ""]) => span);
}

/** The anchors of a page's headings, as GitHub generates them. */
function headingsOf(text: string): Set<string> {
  const titles = [...withoutBlocks(text).matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) => title);
  return new Set(
    titles.map((title) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}
