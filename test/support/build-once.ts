// What the tests need of a program under test and what takes long to make: made once for each build of it, and kept.
import { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";

const repositoryRoot = join(import.meta.dir, "../..");
const cacheDirectory = join(repositoryRoot, "node_modules/.cache/larder/tests");
/** How long another test file may take to make the same. */
const makingMsMax = 60_000;
/** No test runs this long with what belongs to a former build. */
const formerMsMax = 86_400_000;

/**
 * A file or folder that depends on the program under test alone.
 *
 * @param command the program
 * @param make makes it at the path it is given, where nothing is
 * @returns its path; nobody may change what is there
 */
export async function buildOnce(
  name: string,
  command: string[],
  make: (path: string) => Promise<void>,
): Promise<string> {
  const folder = join(cacheDirectory, fingerprintOf(command));
  const path = join(folder, name);
  if (existsSync(path)) return path;
  if (!existsSync(folder)) removeFormer();
  mkdirSync(folder, { recursive: true });
  // Test files run side by side: one makes it, the others wait for the lock of a database.
  const lock = new Database(`${path}.lock`);
  lock.run(`PRAGMA busy_timeout = ${makingMsMax}`);
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

function removeFormer(): void {
  if (!existsSync(cacheDirectory)) return;
  for (const name of readdirSync(cacheDirectory)) {
    const path = join(cacheDirectory, name);
    if (statSync(path).mtimeMs < Date.now() - formerMsMax) rmSync(path, { recursive: true });
  }
}

/** What changes whenever the program does, or what here makes things of it. */
function fingerprintOf(command: string[]): string {
  const hash = createHash("sha256").update(command.join(" "));
  const isSource = command.some((word) => word.endsWith(".ts"));
  const sources = new Bun.Glob(isSource ? "{src,migrations,test/support}/**/*" : "test/support/*.ts");
  for (const word of [...command, ...[...sources.scanSync(repositoryRoot)].sort()]) {
    const path = resolve(repositoryRoot, word);
    if (!existsSync(path)) continue;
    const { size, mtimeMs } = statSync(path);
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  }
  return hash.digest("hex").slice(0, 16);
}
