// What browsers load: how much of it there is, that all of it is there, and that nothing of it needs what the policy forbids.
import { beforeAll, describe, expect, test } from "bun:test";
import { renderManifest, renderServiceWorker } from "../../../src/web/bundle/app-install.ts";
import { APP_POLICY, firstScripts, renderAppShell } from "../../../src/web/bundle/app-shell.ts";
import { bundleClient } from "../../../src/web/bundle/client-build.ts";
import { ClientFiles } from "../../../src/web/bundle/client-files.ts";
import { LANGUAGES } from "../../../src/translations/languages.ts";

const FIRST_LOAD_BYTES_MAX = 170_000;
const PUBLIC_BYTES_MAX = 25_000;
const SIGN_IN_BYTES_MAX = 12_000;

let files: ClientFiles;
let pack: Uint8Array;

beforeAll(async () => {
  const bundle = await bundleClient("release");
  pack = bundle.pack;
  files = new ClientFiles(bundle.manifest, new Blob([new Uint8Array(pack)]));
}, 300_000);

/** Compressed bytes of the files at some addresses. */
function compressedBytes(addresses: readonly string[]): number {
  return addresses.reduce((total, address) => {
    const file = files.find(address.split("/").at(-1) ?? "");
    if (file?.br === undefined) throw new Error(`${address} is not there, or not compressed`);
    return total + file.br.size;
  }, 0);
}

describe("the first load", () => {
  test("of the files page is at most 170 KB of compressed script", () => {
    const scripts = firstScripts(files);
    expect(scripts.length).toBeGreaterThanOrEqual(3);
    expect(compressedBytes(scripts)).toBeLessThanOrEqual(FIRST_LOAD_BYTES_MAX);
  });

  test("of a public link is at most 25 KB of compressed script", () => {
    expect(compressedBytes(files.loadsOf("public/main.ts"))).toBeLessThanOrEqual(PUBLIC_BYTES_MAX);
  });

  test("of the sign-in page is at most 12 KB of compressed script", () => {
    const modules = ["features/sign-in/page.ts", "public/theme.ts"];
    expect(compressedBytes(modules.flatMap((module) => files.loadsOf(module)))).toBeLessThanOrEqual(SIGN_IN_BYTES_MAX);
  });

  test("names files that are there, and nothing but the application's own", () => {
    const page = renderAppShell({ basePath: "/larder", language: "en" }, files);
    const addresses = [...page.matchAll(/ (?:href|src)="([^"]+)"/g)].map(([, address = ""]) => address);
    expect(addresses.every((address) => address.startsWith("/larder/"))).toBe(true);
    const loaded = addresses.filter((address) => address.startsWith(`/larder/assets/${files.version}/`));
    for (const address of loaded)
      expect([address, files.find(address.split("/").at(-1) ?? "") !== undefined]).toEqual([address, true]);
    expect(page).not.toMatch(/<script(?![^>]* src=)|<style| style=| on[a-z]+="/);
  });
});

describe("the build of the pages", () => {
  test("gives the same bytes each time", async () => {
    const again = await bundleClient("quick");
    expect(again.manifest.version).toBe(files.version);
    // Builds everything again, which takes long on a busy machine.
  }, 120_000);

  test("has every file in each encoding, whole", async () => {
    const names = Object.keys(files.manifest.files);
    expect(names.length).toBeGreaterThan(5);
    for (const name of names) {
      const file = files.find(name);
      if (file === undefined) throw new Error(`${name} is not there`);
      const plain = await files.open(file).bytes();
      expect([name, plain.length]).toEqual([name, file.identity.size]);
      if (file.gzip !== undefined) {
        const bytes = Bun.gunzipSync(new Uint8Array(await files.open(file, "gzip").arrayBuffer()));
        expect([name, Bun.hash(bytes)]).toEqual([name, Bun.hash(plain)]);
      }
      if (file.br !== undefined) {
        const stream = files.open(file, "br").stream().pipeThrough(new DecompressionStream("brotli"));
        expect([name, Bun.hash(await new Response(stream).bytes())]).toEqual([name, Bun.hash(plain)]);
      }
    }
  });

  test("evaluates no text as script: the policy forbids it", async () => {
    expect(APP_POLICY).not.toContain("unsafe");
    for (const [name, file] of Object.entries(files.manifest.files)) {
      if (!name.endsWith("js")) continue;
      const text = await files.open(file).text();
      expect([name, /(?<![\w$.])eval\(|new Function\(/.exec(text)?.[0]]).toEqual([name, undefined]);
    }
  });
});

describe("what makes it installable", () => {
  test("is a manifest whose icons are there, in both purposes and sizes", async () => {
    const manifest = JSON.parse(renderManifest({ basePath: "/larder", language: "en" }, files));
    expect(manifest).toMatchObject({
      scope: "/larder/",
      start_url: "/larder/",
      display: "standalone",
      share_target: { action: "/larder/share-target", method: "POST", enctype: "multipart/form-data" },
    });
    const icons: { src: string; sizes: string; purpose: string }[] = manifest.icons;
    expect(icons.map(({ sizes, purpose }) => `${sizes} ${purpose}`).sort()).toEqual([
      "192x192 any",
      "192x192 maskable",
      "512x512 any",
      "512x512 maskable",
    ]);
    for (const { src, sizes } of icons) {
      const file = files.find(src.split("/").at(-1) ?? "");
      if (file === undefined) throw new Error(`${src} is not there`);
      const header = new DataView(await files.open(file).arrayBuffer());
      // PNG §11.2.2: width and height of the picture.
      expect(`${header.getUint32(16)}x${header.getUint32(20)}`).toBe(sizes);
    }
  });

  test("is a service worker that keeps the first load", async () => {
    const worker = await renderServiceWorker({ basePath: "", language: "en" }, files);
    const program = JSON.parse(/^const LARDER=(.*);$/m.exec(worker)?.[1] ?? "{}");
    expect(program.version).toBe(files.version);
    expect(program.files).toEqual(expect.arrayContaining([...firstScripts(files), ...files.loadsOf("start.css")]));
    expect(() => new Bun.Transpiler({ loader: "js" }).transformSync(worker)).not.toThrow();
  });

  // Browsers stored the texts of all languages, more than a megabyte.
  test("stores the texts of one language", async () => {
    const ofLanguages = LANGUAGES.flatMap(({ tag }) => files.textsOf(tag) ?? []);
    expect(ofLanguages.length).toBe(LANGUAGES.length - 1);
    for (const language of ["en", "de"]) {
      const worker = await renderServiceWorker({ basePath: "", language }, files);
      const program: { files: string[] } = JSON.parse(/^const LARDER=(.*);$/m.exec(worker)?.[1] ?? "{}");
      const stored = program.files.filter((path) => ofLanguages.includes(path));
      expect(stored).toEqual(language === "en" ? [] : [files.textsOf("de") ?? ""]);
    }
  });
});
