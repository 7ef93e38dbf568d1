/** What the documents of the repository contain: their shell examples. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");

/** A fenced block of a page that a shell runs. */
export interface ShellBlock {
  readonly page: string;
  readonly text: string;
  /** Why no test runs it; undefined for a block that a test must run. */
  readonly notRun: string | undefined;
}

/** The pages that people read, by their paths from the repository's root. */
export async function listPages(): Promise<string[]> {
  const pages = await Array.fromAsync(new Bun.Glob("docs/**/*.md").scan({ cwd: root }));
  return ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", ...pages.sort()];
}

/** @param page a path from the repository's root */
export async function readPage(page: string): Promise<string> {
  return readFile(join(root, page), "utf8");
}

/** The shell blocks of a page, in order. A block in a list is indented. */
export function shellBlocks(page: string, text: string): ShellBlock[] {
  const pattern = /^( *)(?:<!-- not run: (.+?) -->\n\1)?```sh\n(.*?)^\1```$/gms;
  return [...text.matchAll(pattern)].map(([, indent = "", notRun, block = ""]) => ({
    page,
    text: block.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
    notRun,
  }));
}
