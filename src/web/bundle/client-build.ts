/*
 * Bundles the pages: what runs in browsers, below `src/client/`. The outcome is one file that holds every script, style sheet
 * and picture in each encoding that is sent, and a list that says where. `scripts/build` embeds both in the executable;
 * a server that runs from source has them made by running this file, and keeps them (client-pack.ts).
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import tailwind from "bun-plugin-tailwind";
import mime from "mime";
import type { ClientManifest, PackedFile, PackedPart } from "./client-manifest.ts";

const CLIENT = join(import.meta.dir, "../../client");

/** What pages name themselves; everything else is imported by one of these. */
const ENTRIES = ["start.ts", "public/main.ts", "start.css"];

/** Already packed. */
const INCOMPRESSIBLE = /^image\/(png|webp)/;

/** How hard brotli tries where somebody waits, and where many will load what is built once. */
const EFFORT = { quick: 5, release: 11 } as const;

/** Outcome of a build, in memory. */
export interface ClientBundle {
  readonly manifest: ClientManifest;
  readonly pack: Uint8Array;
}

/**
 * Bundles the pages. The same sources give the same bytes.
 * @throws AggregateError with what the bundler refused
 */
export async function bundleClient(effort: keyof typeof EFFORT): Promise<ClientBundle> {
  const built = await Bun.build({
    entrypoints: ENTRIES.map((path) => join(CLIENT, path)),
    root: CLIENT,
    target: "browser",
    format: "esm",
    splitting: true,
    minify: true,
    // Side by side: a chunk imports another as "./name", whatever the path is that they are served below.
    naming: { entry: "[name]-[hash].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    define: { "process.env.NODE_ENV": '"production"' },
    jsx: { runtime: "automatic", development: false },
    plugins: [tailwind],
    metafile: true,
  });
  const contents = new Map<string, Uint8Array>();
  for (const output of built.outputs) contents.set(basename(output.path), new Uint8Array(await output.arrayBuffer()));
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
    entries: entriesOf(built.metafile?.outputs ?? {}),
    worker: await pack.add("service-worker.js", worker),
  };
  return { manifest, pack: pack.bytes() };
}

/** A classic script of its own: browsers don't split what they start in the background. */
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

/** Follows what each entry imports before it can run, nearest first. */
function entriesOf(outputs: Bun.BuildMetafile["outputs"]): Record<string, readonly string[]> {
  const entries: Record<string, readonly string[]> = {};
  for (const [path, { entryPoint }] of Object.entries(outputs)) {
    if (entryPoint === undefined) continue;
    const found = new Set([path]);
    for (const reached of found) {
      for (const { path: next, kind } of outputs[reached]?.imports ?? []) {
        if (kind === "import-statement" && next in outputs) found.add(next);
      }
    }
    entries[relative(CLIENT, entryPoint)] = [...found].map((each) => basename(each));
  }
  return entries;
}

/** Puts contents one behind the other. */
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

/** Writes a bundle into a folder: the pack, then the list, each aside and renamed, since another may read it just now. */
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
