// Builds the pages when the server runs from source. scripts/build replaces this module with the built files, so that
// none of this code is in the executable.
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { ClientManifest, ClientPack } from "./client-manifest.ts";

const ROOT = resolve(import.meta.dir, "../../..");
const CACHE = join(ROOT, "node_modules/.cache/larder");

/** How often a build is repeated because a source changed during it. */
const ROUNDS_MAX = 5;

/** How long an outdated build is stored: a server that was started with it may still run. */
const RETENTION_MS = 24 * 60 * 60 * 1000;

/**
 * The pages of the current sources, from the cache or built now. Two processes may build at the same time; the first
 * result is used.
 * @throws Error with the message of the bundler
 */
export async function loadPack(): Promise<ClientPack> {
  await mkdir(CACHE, { recursive: true });
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    const digest = digestOfSources();
    const cached = join(CACHE, `pages-${digest}`);
    if (existsSync(cached)) return readPack(cached);
    const fresh = await mkdtemp(join(CACHE, "pages-new-"));
    try {
      await runBuild(fresh);
      if (digest !== digestOfSources()) continue;
      await removeOldPacks();
      await rename(fresh, cached).catch((error: unknown) => {
        // Another process has stored the same build.
        if (!existsSync(cached)) throw error;
      });
      return await readPack(cached);
    } finally {
      await rm(fresh, { recursive: true, force: true });
    }
  }
  throw new Error(
    "The sources of the pages change while they are built. Load the page again when they no longer change.",
  );
}

async function removeOldPacks(): Promise<void> {
  for (const name of await readdir(CACHE)) {
    if (!name.startsWith("pages-")) continue;
    const path = join(CACHE, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > RETENTION_MS) await rm(path, { recursive: true, force: true });
  }
}

async function readPack(folder: string): Promise<ClientPack> {
  const manifest: unknown = JSON.parse(await readFile(join(folder, "pages.json"), "utf8"));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by client-build.ts, for these sources
  return { manifest: manifest as ClientManifest, pack: join(folder, "pages.pack") };
}

/** In a separate process: bundling takes memory that a server should not keep. */
async function runBuild(folder: string): Promise<void> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "client-build.ts"), folder], {
    cwd: ROOT,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const complaint = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`The pages could not be built.\n${complaint}`);
}

/** Everything that a build reads: our sources, and the versions of the packages. */
function digestOfSources(): string {
  const hasher = new Bun.CryptoHasher("sha256");
  const sources = [...new Bun.Glob("src/client/**/*").scanSync(ROOT)].sort();
  for (const path of ["src/web/bundle/client-build.ts", "src/web/bundle/client-chunks.ts", ...sources]) {
    hasher.update(`\n${path}\n`).update(readFileSync(join(ROOT, path)));
  }
  return hasher
    .update(readFileSync(join(ROOT, "bun.lock")))
    .digest("hex")
    .slice(0, 16);
}
