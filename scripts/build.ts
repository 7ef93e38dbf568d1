/*
 * Builds Larder as one executable: program, migrations, pages, and the native libraries of sharp.
 * Not minified, because Elysia reads the source of its handlers; with bytecode, because it halves the time to start.
 */
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { BunPlugin } from "bun";
import { bundleClient, writeBundle } from "../src/web/bundle/client-build.ts";

interface Target {
  /** Bun's name of the target. "baseline" runs on x64 processors without AVX2. */
  readonly compile: Bun.Build.CompileTarget;
  /** The suffix of sharp's package names. */
  readonly sharp: string;
  readonly cpu: "x64" | "arm64";
  readonly libc: "glibc" | "musl";
}

/** The targets, by the name in archives. */
export const TARGETS: Readonly<Record<string, Target>> = {
  "linux-x64": { compile: "bun-linux-x64-baseline", sharp: "linux-x64", cpu: "x64", libc: "glibc" },
  /** Only for processors with AVX2, where hashing and searching are somewhat faster. */
  "linux-x64-modern": { compile: "bun-linux-x64-modern", sharp: "linux-x64", cpu: "x64", libc: "glibc" },
  "linux-arm64": { compile: "bun-linux-arm64", sharp: "linux-arm64", cpu: "arm64", libc: "glibc" },
  "linux-x64-musl": { compile: "bun-linux-x64-baseline-musl", sharp: "linuxmusl-x64", cpu: "x64", libc: "musl" },
  "linux-arm64-musl": { compile: "bun-linux-arm64-musl", sharp: "linuxmusl-arm64", cpu: "arm64", libc: "musl" },
};

const ROOT = resolve(import.meta.dir, "..");

/**
 * Workers are loaded by name at run time, so the build lists them as entries. Each is next to the file that starts it, and
 * has a unique file name.
 */
const WORKER_PATTERN = "src/**/*.worker.ts";

/** The module that builds the pages when they are not in the executable. */
const CLIENT_PACK_MODULE = join(ROOT, "src/web/bundle/client-pack.ts");

const NATIVE_MODULE = join(ROOT, "src/features/media/thumbnails/native.ts");

/** The target, the source, and the output. */
export interface BuildOptions {
  readonly target: string;
  readonly entry: string;
  readonly outfile: string;
}

/** Builds one executable. @throws Error with the reason */
export async function build(options: BuildOptions): Promise<void> {
  const target = TARGETS[options.target];
  if (target === undefined) {
    throw new Error(`Unknown target "${options.target}". Use one of ${Object.keys(TARGETS).join(", ")}.`);
  }
  const temporary = mkdtempSync(join(tmpdir(), "larder-build-"));
  // The bundler writes the paths of embedded files into the program, so they must be the same each time.
  const packed = join(ROOT, "node_modules/.cache/larder", `build-${options.target}`);
  mkdirSync(packed, { recursive: true });
  try {
    const natives = findNatives(target, temporary);
    const workers = findWorkers();
    await Bun.build({
      entrypoints: [options.entry, ...workers],
      // All in one folder, because `new URL("./x.worker.ts", import.meta.url)` is relative to the program there.
      naming: { entry: "[name].[ext]" },
      minify: false,
      bytecode: true,
      // Each command and worker loads only the code that it needs.
      splitting: true,
      format: "esm",
      define: {
        "process.env.NODE_ENV": '"production"',
        LARDER_BUILD_COMMIT: JSON.stringify(readCommit()),
        LARDER_BUILD_LIBVIPS: JSON.stringify(natives.libvipsVersion),
      },
      plugins: [embedSharp(natives, packed), await embedPages(), asciiComments()],
      compile: {
        target: target.compile,
        outfile: options.outfile,
        autoloadDotenv: false,
        autoloadBunfig: false,
        autoloadTsconfig: false,
        autoloadPackageJson: false,
      },
    });
    requireNarrowSource(options.outfile);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Checks that the source is ASCII: otherwise Bun stores two bytes a character. @throws Error */
function requireNarrowSource(outfile: string): void {
  if (!readFileSync(outfile).includes(Buffer.from("// @bun", "utf16le"))) return;
  throw new Error(
    "The program's source has a character beyond ASCII, so the executable stores it at twice its size. It comes from a " +
      "license comment of a package: add that package to asciiComments in scripts/build.ts.",
  );
}

function findWorkers(): string[] {
  const paths = [...new Bun.Glob(WORKER_PATTERN).scanSync(ROOT)].sort();
  const names = new Set(paths.map((path) => basename(path)));
  if (names.size < paths.length) throw new Error(`Two workers share a file name: ${paths.join(", ")}. Rename one.`);
  return paths.map((path) => join(ROOT, path));
}

interface Natives {
  readonly addon: string;
  readonly libvips: string;
  readonly libvipsVersion: string;
}

/** The native libraries of a target: from node_modules for this machine, otherwise installed into `temporary`. */
function findNatives(target: Target, temporary: string): Natives {
  const packages = [`@img/sharp-${target.sharp}`, `@img/sharp-libvips-${target.sharp}`];
  let modules = join(ROOT, "node_modules");
  if (!packages.every((name) => existsSync(join(modules, name)))) {
    modules = installNatives(target, packages, temporary);
  }
  const [addonFolder = "", libvipsFolder = ""] = packages.map((name) => join(modules, name));
  const versions: unknown = JSON.parse(readFileSync(join(libvipsFolder, "versions.json"), "utf8"));
  const isKnown = typeof versions === "object" && versions !== null && "vips" in versions;
  return {
    addon: findOne(join(addonFolder, "lib"), /\.node$/),
    libvips: findOne(join(libvipsFolder, "lib"), /^libvips-cpp\.so\./),
    libvipsVersion: isKnown ? String(versions.vips) : "unknown",
  };
}

/** Installs packages of bun.lock for another platform, outside of the checkout. Bun verifies their digests. */
function installNatives(target: Target, packages: readonly string[], temporary: string): string {
  for (const name of ["package.json", "bun.lock"]) cpSync(join(ROOT, name), join(temporary, name));
  const platform = ["--os=linux", `--cpu=${target.cpu}`, `--libc=${target.libc}`];
  const options = ["--frozen-lockfile", "--ignore-scripts", "--production", ...platform];
  const install = Bun.spawnSync([process.execPath, "install", ...options], {
    cwd: temporary,
    stdout: "ignore",
    stderr: "pipe",
  });
  const modules = join(temporary, "node_modules");
  const missing = packages.filter((name) => !existsSync(join(modules, name)));
  if (missing.length === 0) return modules;
  const lastLine = install.stderr.toString().trim().split("\n").at(-1) ?? "";
  throw new Error(
    `${missing.join(" and ")} cannot be installed, so there is no build for this target. Check the package registry and ` +
      `that bun.lock names them. (${lastLine})`,
  );
}

function findOne(folder: string, pattern: RegExp): string {
  const found = readdirSync(folder).filter((name) => pattern.test(name));
  const [name] = found;
  if (name === undefined || found.length > 1) throw new Error(`${folder} should have one file like ${pattern.source}.`);
  return join(folder, name);
}

/**
 * Replaces the loader of sharp, which looks for its addon in node_modules. The libraries keep their relative paths, because
 * the addon finds libvips by one.
 */
function embedSharp(natives: Natives, folder: string): BunPlugin {
  const addon = packLibrary(natives.addon, folder);
  const libvips = packLibrary(natives.libvips, folder);
  return {
    name: "embed-sharp",
    setup(bundler) {
      bundler.onLoad({ filter: /[\\/]sharp[\\/]dist[\\/]sharp\.mjs$/ }, () => ({
        loader: "js",
        contents: `
          import addon from ${JSON.stringify(addon.packed)} with { type: "file" };
          import libvips from ${JSON.stringify(libvips.packed)} with { type: "file" };
          import { loadEmbeddedSharp } from ${JSON.stringify(NATIVE_MODULE)};
          export default loadEmbeddedSharp({
            addon: { source: addon, name: ${JSON.stringify(addon.name)}, sha256: "${addon.sha256}" },
            libvips: { source: libvips, name: ${JSON.stringify(libvips.name)}, sha256: "${libvips.sha256}" },
          });`,
      }));
    },
  };
}

/** Removes the accents of a license comment: see {@link requireNarrowSource}. */
function asciiComments(): BunPlugin {
  return {
    name: "ascii-comments",
    setup(bundler) {
      bundler.onLoad({ filter: /[\\/]node_modules[\\/]otpauth[\\/].*\.js$/ }, async ({ path }) => {
        const source = await Bun.file(path).text();
        return {
          loader: "js",
          contents: source.replace(/^\/\/!.*$/gm, (line) => line.normalize("NFD").replace(/[^\x20-\x7e]/g, "")),
        };
      });
    },
  };
}

let pages: Promise<{ readonly manifest: string; readonly path: string }> | undefined;

/** Bundles the pages once for all targets. */
async function bundlePages() {
  pages ??= bundleClient("release").then((bundle) => {
    const folder = join(ROOT, "node_modules/.cache/larder", "build-pages");
    mkdirSync(folder, { recursive: true });
    writeBundle(bundle, folder);
    return { manifest: JSON.stringify(bundle.manifest), path: join(folder, "pages.pack") };
  });
  return pages;
}

/** Replaces the module that builds the pages by the built pages. */
async function embedPages(): Promise<BunPlugin> {
  const { manifest, path } = await bundlePages();
  return {
    name: "embed-pages",
    setup(bundler) {
      bundler.onLoad({ filter: /[\\/]client-pack\.ts$/ }, ({ path: loaded }) => {
        if (loaded !== CLIENT_PACK_MODULE)
          throw new Error(`${loaded} is not ${CLIENT_PACK_MODULE}. Correct scripts/build.ts.`);
        return {
          loader: "js",
          contents: `
          import pack from ${JSON.stringify(path)} with { type: "file" };
          const manifest = ${manifest};
          export async function loadPack() { return { manifest, pack }; }`,
        };
      });
    },
  };
}

/** Compresses a library to a third of its size. The executable unpacks it once. */
function packLibrary(path: string, folder: string): { packed: string; name: string; sha256: string } {
  const bytes = readFileSync(path);
  const packed = join(folder, `${basename(path)}.zst`);
  // Another build may be reading the same file.
  writeFileSync(`${packed}.${process.pid}`, Bun.zstdCompressSync(bytes, { level: 12 }));
  renameSync(`${packed}.${process.pid}`, packed);
  return {
    packed,
    // …/@img/<package>/lib/<file>
    name: path.split("/").slice(-3).join("/"),
    sha256: createHash("sha256").update(bytes).digest("hex"),
  };
}

/** The commit of the checkout, marked if files differ from it; "unknown" outside of git. */
function readCommit(): string {
  try {
    const commit = git("rev-parse", "--short=12", "HEAD");
    if (commit === undefined) return "unknown";
    return git("status", "--porcelain", "--untracked-files=no") === "" ? commit : `${commit}-modified`;
  } catch (error) {
    // git is not installed, as in a build container.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "unknown";
    throw error;
  }
}

function git(...args: string[]): string | undefined {
  const result = Bun.spawnSync(["git", ...args], { cwd: ROOT, stdout: "pipe", stderr: "ignore" });
  return result.success ? result.stdout.toString().trim() : undefined;
}

/** The target of this machine. */
function hostTarget(): string {
  const isMusl = readdirSync("/lib").some((name) => name.startsWith("ld-musl-"));
  return `linux-${process.arch}${isMusl ? "-musl" : ""}`;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      target: { type: "string" },
      all: { type: "boolean" },
      entry: { type: "string" },
      outfile: { type: "string" },
    },
  });
  const entry = resolve(values.entry ?? join(ROOT, "src/main.ts"));
  const targets = values.all === true ? Object.keys(TARGETS) : [values.target ?? hostTarget()];
  for (const target of targets) {
    const isNamed = values.all === true || values.target !== undefined;
    const outfile = resolve(values.outfile ?? join(ROOT, "dist", isNamed ? `larder-${target}` : "larder"));
    mkdirSync(join(outfile, ".."), { recursive: true });
    const startedMs = performance.now();
    await build({ target, entry, outfile });
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    const megabytes = (statSync(outfile).size / 1e6).toFixed(1);
    console.log(`${basename(outfile)}  ${target}  ${megabytes} MB  ${seconds} s`);
  }
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    const reasons = error instanceof AggregateError ? error.errors : [error];
    for (const reason of reasons) console.error(reason instanceof Error ? reason.message : String(reason));
    process.exit(1);
  }
}
