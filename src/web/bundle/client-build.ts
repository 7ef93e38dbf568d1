/*
 * Bundles the pages: the code below `src/client/`, which runs in browsers. The result is one file with every script,
 * style sheet and picture in each encoding that is sent, and a list of their positions. `scripts/build` embeds both in
 * the executable. A server that runs from source runs this file and caches the result (client-pack.ts).
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import tailwind from "bun-plugin-tailwind";
import mime from "mime";
import { joinScripts } from "./client-chunks.ts";
import type { ClientManifest, PackedFile, PackedPart } from "./client-manifest.ts";

const CLIENT = join(import.meta.dir, "../../client");

/** The files that pages refer to. They import all others. */
const ENTRIES = [
  "start.ts",
  "features/sign-in/page.ts",
  "public/main.ts",
  "public/theme.ts",
  "features/welcome/page.ts",
  "features/setup/page.ts",
  "start.css",
];

/** Already compressed. */
const INCOMPRESSIBLE = /^image\/(png|webp)/;

/** The quality of brotli: `quick` while a developer waits, `release` for files that many will load. */
const EFFORT = { quick: 5, release: 11 } as const;

/** The result of a build, in memory. */
interface ClientBundle {
  readonly manifest: ClientManifest;
  readonly pack: Uint8Array;
}

/**
 * Bundles the pages. The same sources give the same bytes.
 * @throws AggregateError with the errors of the bundler
 */
export async function bundleClient(effort: keyof typeof EFFORT): Promise<ClientBundle> {
  const built = await Bun.build({
    entrypoints: ENTRIES.map((path) => join(CLIENT, path)),
    root: CLIENT,
    target: "browser",
    format: "esm",
    splitting: true,
    // It names the files of the bundler, which are joined below.
    modulePreload: false,
    minify: true,
    // All in one folder: a chunk imports another as "./name", so they can be served below any path.
    naming: { entry: "[name]-[hash].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    define: { "process.env.NODE_ENV": '"production"' },
    jsx: { runtime: "automatic", development: false },
    plugins: [tailwind],
    metafile: true,
  });
  const outputs = built.metafile?.outputs ?? {};
  const texts = new Map<string, string>();
  const contents = new Map<string, Uint8Array>();
  for (const output of built.outputs) {
    const name = basename(output.path);
    // Workers are assets: they run alone, and their pages have their addresses.
    if (name.endsWith(".js") && output.kind !== "asset") texts.set(name, await output.text());
    else contents.set(name, new Uint8Array(await output.arrayBuffer()));
  }
  const scripts = await joinScripts(texts, outputs, CLIENT);
  for (const [name, content] of scripts.contents) contents.set(name, content);
  for (const icon of new Bun.Glob("*").scanSync(join(CLIENT, "icons"))) {
    contents.set(icon, readFileSync(join(CLIENT, "icons", icon)));
  }
  const worker = await bundleServiceWorker();
  const pack = new Packer(EFFORT[effort]);
  const files: Record<string, PackedFile> = {};
  const names = [...contents.keys()].sort();
  const version = new Bun.CryptoHasher("sha256").update(worker);
  for (const name of names) {
    const content = contents.get(name) ?? new Uint8Array();
    version.update(`\n${name}\n`).update(content);
    files[name] = await pack.add(name, content);
  }
  const manifest = {
    version: version.digest("hex").slice(0, 12),
    files,
    entries: { ...styleEntriesOf(outputs), ...scripts.entries },
    worker: await pack.add("service-worker.js", worker),
  };
  return { manifest, pack: pack.bytes() };
}

/** A separate classic script: browsers don't load service workers in chunks. */
async function bundleServiceWorker(): Promise<Uint8Array> {
  const built = await Bun.build({
    entrypoints: [join(CLIENT, "service-worker.ts")],
    target: "browser",
    format: "iife",
    minify: true,
    define: { "process.env.NODE_ENV": '"production"' },
  });
  const [output] = built.outputs;
  if (output === undefined) throw new Error("The bundler made no service worker.");
  return new Uint8Array(await output.arrayBuffer());
}

/** The style sheets that pages refer to. */
function styleEntriesOf(outputs: Bun.BuildMetafile["outputs"]): Record<string, readonly string[]> {
  const entries = Object.entries(outputs).flatMap(([path, { entryPoint }]) =>
    entryPoint?.endsWith(".css") === true ? [[relative(CLIENT, entryPoint), [basename(path)]] as const] : [],
  );
  return Object.fromEntries(entries);
}

/** Appends files to one pack, and compresses them. */
class Packer {
  private readonly parts: Uint8Array[] = [];
  private size = 0;

  constructor(private readonly quality: number) {}

  async add(name: string, content: Uint8Array): Promise<PackedFile> {
    const type = mime.getType(name) ?? "application/octet-stream";
    const isText = /^(text|application\/(json|javascript))/.test(type);
    const identity = this.put(content);
    const file = { type: isText ? `${type}; charset=utf-8` : type, identity };
    if (INCOMPRESSIBLE.test(type)) return file;
    const br = await promisify(brotliCompress)(content, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: this.quality,
        [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
      },
    });
    return { ...file, br: this.put(br), gzip: this.put(await promisify(gzip)(content, { level: 9 })) };
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.parts);
  }

  private put(content: Uint8Array): PackedPart {
    const part = { offset: this.size, size: content.length };
    this.parts.push(content);
    this.size += content.length;
    return part;
  }
}

/** Writes a bundle into a folder: the pack, then the list. Each is renamed into place, because others may be reading it. */
export function writeBundle(bundle: ClientBundle, folder: string): void {
  const write = (name: string, content: Uint8Array | string) => {
    const path = join(folder, name);
    writeFileSync(`${path}.${process.pid}`, content);
    renameSync(`${path}.${process.pid}`, path);
  };
  write("pages.pack", bundle.pack);
  write("pages.json", JSON.stringify(bundle.manifest));
}

if (import.meta.main) {
  try {
    writeBundle(await bundleClient("quick"), process.argv[2] ?? ".");
  } catch (error) {
    const reasons: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
    process.stderr.write(`${reasons.map((reason) => Bun.inspect(reason)).join("\n")}\n`);
    process.exitCode = 1;
  }
}
