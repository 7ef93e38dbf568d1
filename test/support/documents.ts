// Reads the shell examples in the repository's documents.
import { readFile } from "node:fs/promises";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");

/** A fenced shell block of a page. */
export interface ShellBlock {
  readonly page: string;
  readonly text: string;
  /** Why no test runs this block; undefined if a test must run it. */
  readonly notRun: string | undefined;
}

/** The documents of the repository, as paths relative to its root. */
export async function listPages(): Promise<string[]> {
  const pages = await Array.fromAsync(new Bun.Glob("docs/**/*.md").scan({ cwd: root }));
  return ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", ...pages.sort()];
}

/** Reads a document. @param page its path relative to the repository's root */
export async function readPage(page: string): Promise<string> {
  return readFile(join(root, page), "utf8");
}

/** The shell blocks of a page, in order. Removes the indentation of blocks inside lists. */
export function shellBlocks(page: string, text: string): ShellBlock[] {
  const pattern = /^( *)(?:<!-- not run: (.+?) -->\n\1)?```sh\n(.*?)^\1```$/gms;
  return [...text.matchAll(pattern)].map(([, indent = "", notRun, block = ""]) => ({
    page,
    text: block.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
    notRun,
  }));
}
