// Caches slow preparations of the tests, one for each build of the program under test.
import { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";

const repositoryRoot = join(import.meta.dir, "../..");
const cacheDirectory = join(repositoryRoot, "node_modules/.cache/larder/tests");
/** How long another test file may take to build the same thing. */
const buildMsMax = 60_000;
/** Files of an earlier build are removed after this time, when no test can still use them. */
const earlierBuildMsMax = 86_400_000;

/**
 * Builds a file or folder that depends only on the program under test.
 *
 * @param command the program
 * @param make writes it to the given path, where nothing exists yet
 * @returns its path; nobody may change its content
 */
export async function buildOnce(
  name: string,
  command: string[],
  make: (path: string) => Promise<void>,
): Promise<string> {
  const folder = join(cacheDirectory, fingerprintOf(command));
  const path = join(folder, name);
  if (existsSync(path)) return path;
  if (!existsSync(folder)) removeEarlierBuilds();
  mkdirSync(folder, { recursive: true });
  // Test files run in parallel: one builds, the others wait for the lock of a database.
  const lock = new Database(`${path}.lock`);
  lock.run(`PRAGMA busy_timeout = ${buildMsMax}`);
  lock.run("BEGIN EXCLUSIVE");
  try {
    if (existsSync(path)) return path;
    const partial = `${path}.partial`;
    rmSync(partial, { recursive: true, force: true });
    await make(partial);
    renameSync(partial, path);
    return path;
  } finally {
    lock.close();
  }
}

function removeEarlierBuilds(): void {
  if (!existsSync(cacheDirectory)) return;
  for (const name of readdirSync(cacheDirectory)) {
    const path = join(cacheDirectory, name);
    if (statSync(path).mtimeMs < Date.now() - earlierBuildMsMax) rmSync(path, { recursive: true });
  }
}

/** Changes whenever the program or a file of test/support changes. */
function fingerprintOf(command: string[]): string {
  const hash = createHash("sha256").update(command.join(" "));
  const isSource = command.some((word) => word.endsWith(".ts"));
  // One pattern for each folder: Bun finds nothing with braces around a path.
  const patterns = isSource ? ["src/**/*", "migrations/**/*", "test/support/**/*"] : ["test/support/*.ts"];
  const sources = patterns.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(repositoryRoot)]);
  for (const word of [...command, ...sources.sort()]) {
    const path = resolve(repositoryRoot, word);
    if (!existsSync(path)) continue;
    const { size, mtimeMs } = statSync(path);
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  }
  return hash.digest("hex").slice(0, 16);
}
