/*
 * `scripts/release VERSION`: an archive for each target, with its documents, checksums, and a software bill of materials.
 * The same sources in the same directory give the same bytes: files carry the time of the commit, and no owner.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod, copyFile, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { version } from "../package.json" with { type: "json" };
import { build, TARGETS } from "./build.ts";
import { makeSbom } from "./sbom.ts";

const ROOT = resolve(import.meta.dir, "..");
const HELP = `Usage: scripts/release VERSION [options]

Makes dist/release/larder-VERSION-TARGET.tar.gz for each target, each with the executable, LICENSE, NOTICES.md, README.md and
the pages that it links to, CHANGELOG.md, larder.service and sbom.cdx.json, and SHA256SUMS over them all. VERSION must be what package.json says.
linux-x64 runs on any x64 processor with SSE4.2 (x86-64-v2); linux-x64-modern needs AVX2.

  --target T          only this target (may be given again): ${Object.keys(TARGETS).join(", ")}
  --out DIR           where to (default dist/release)
  --allow-modified    also where files differ from the commit
  --help              this text

The other processors' runtimes and libraries come from the package registry. A target whose parts can't be had is left
out: the last lines name it, and the exit code is 1.
`;

/** The documents in an archive, with the pages and pictures that they link to. */
const DOCUMENTS = ["LICENSE", "*.md", "docs/**/*.md", "scripts/pictures/*.webp"];

interface Release {
  readonly out: string;
  readonly commit: string;
  /** Seconds since 1970: of every file in the archives. */
  readonly seconds: number;
}

/** One archive. @returns its name */
async function makeArchive(target: string, release: Release): Promise<string> {
  const name = `larder-${version}-${target}`;
  const temporary = await mkdtemp(join(tmpdir(), "larder-release-"));
  try {
    const folder = join(temporary, name);
    await mkdir(folder, { mode: 0o755 });
    await build({ target, entry: join(ROOT, "src/main.ts"), outfile: join(folder, "larder") });
    const documents = await listDocuments();
    for (const document of documents) {
      // oxlint-disable-next-line no-await-in-loop -- a few small files
      await mkdir(join(folder, dirname(document)), { recursive: true });
      // oxlint-disable-next-line no-await-in-loop
      await copyFile(join(ROOT, document), join(folder, document));
    }
    await copyFile(join(ROOT, "scripts/larder.service"), join(folder, "larder.service"));
    await writeFile(join(folder, "sbom.cdx.json"), `${JSON.stringify(sbomOf(target, release), undefined, 2)}\n`);
    const files = ["larder", "larder.service", "sbom.cdx.json", ...documents].sort();
    for (const file of files) await chmod(join(folder, file), file === "larder" ? 0o755 : 0o644);
    const archive = join(release.out, `${name}.tar.gz`);
    await pack(temporary, name, files, archive, release.seconds);
    return basename(archive);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Paths from the root of the repository. */
async function listDocuments(): Promise<string[]> {
  const found = DOCUMENTS.map(async (pattern) => Array.fromAsync(new Bun.Glob(pattern).scan({ cwd: ROOT })));
  return (await Promise.all(found)).flat();
}

function sbomOf(target: string, { commit, seconds }: Release) {
  const sharp = TARGETS[target]?.sharp ?? "";
  return makeSbom({
    root: ROOT,
    version,
    commit,
    timestamp: new Date(seconds * 1000).toISOString().replace(".000Z", "Z"),
    bunVersion: Bun.version,
    natives: [`@img/sharp-${sharp}`, `@img/sharp-libvips-${sharp}`],
  });
}

/** Packs with GNU tar and gzip, with options that record nothing of this machine and this moment. */
async function pack(folder: string, name: string, files: string[], archive: string, seconds: number): Promise<void> {
  const options = ["--format=ustar", "--owner=0", "--group=0", "--numeric-owner", `--mtime=@${seconds}`];
  const paths = files.map((file) => `${name}/${file}`);
  const script = 'set -o pipefail; archive=$1; shift; tar "$@" | gzip -n -9 >"$archive"';
  const partial = `${archive}.partial`;
  const args = ["bash", "-c", script, "pack", partial, "-C", folder, "-c", ...options, ...paths];
  const result = Bun.spawnSync(args, { stdout: "inherit", stderr: "pipe" });
  if (!result.success) throw new Error(`Could not create the archive: ${result.stderr.toString().trim()}`);
  await rename(partial, archive);
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const bytes of createReadStream(path)) hash.update(bytes);
  return hash.digest("hex");
}

function git(...args: string[]): string {
  const result = Bun.spawnSync(["git", ...args], { cwd: ROOT, stdout: "pipe", stderr: "ignore" });
  return result.success ? result.stdout.toString().trim() : "";
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      target: { type: "string", multiple: true },
      out: { type: "string" },
      "allow-modified": { type: "boolean" },
      help: { type: "boolean" },
    },
  });
  if (values.help === true) {
    console.log(HELP);
    return 0;
  }
  const [requested, ...more] = positionals;
  if (requested === undefined || more.length > 0) throw new Error("Specify one version: scripts/release VERSION");
  if (requested !== version) throw new Error(`package.json says ${version}, not ${requested}. Change it there first.`);
  const isModified = git("status", "--porcelain", "--untracked-files=no") !== "";
  if (isModified && values["allow-modified"] !== true) {
    throw new Error("Files differ from the commit. Commit them first, or use --allow-modified for a test.");
  }
  const changes = await readFile(join(ROOT, "CHANGELOG.md"), "utf8");
  if (!changes.includes(`## ${version}`)) console.error(`Note: CHANGELOG.md has no heading "## ${version}".`);
  const release: Release = {
    out: resolve(values.out ?? join(ROOT, "dist/release")),
    commit: `${git("rev-parse", "HEAD") || "unknown"}${isModified ? "-modified" : ""}`,
    seconds: Number(process.env["SOURCE_DATE_EPOCH"] ?? (git("log", "-1", "--format=%ct") || "0")),
  };
  await mkdir(release.out, { recursive: true });
  return makeAll(values.target ?? Object.keys(TARGETS), release);
}

async function makeAll(targets: readonly string[], release: Release): Promise<number> {
  const checksums: string[] = [];
  const missing: string[] = [];
  for (const target of targets) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- each needs much memory
      const archive = await makeArchive(target, release);
      const path = join(release.out, archive);
      // oxlint-disable-next-line no-await-in-loop
      const [digest, { size }] = await Promise.all([digestOf(path), stat(path)]);
      checksums.push(`${digest}  ${archive}\n`);
      console.log(`${archive}  ${(size / 1e6).toFixed(1)} MB  ${digest}`);
    } catch (error) {
      const reasons = error instanceof AggregateError ? error.errors : [error];
      missing.push(`${target}: ${reasons.map((one) => (one instanceof Error ? one.message : String(one))).join("; ")}`);
    }
  }
  await writeFile(join(release.out, "SHA256SUMS"), checksums.join(""));
  for (const why of missing) console.error(`FAILED  ${why}`);
  return missing.length === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 2;
}
