// The files of the pages: embedded in the executable, or built from the sources if the server runs from source.
import { PSEUDO_LANGUAGE } from "../../translations/languages.ts";
import type { ClientManifest, PackedFile } from "./client-manifest.ts";
import { loadPack } from "./client-pack.ts";

/** Encodings in the pack, best first. */
export const ENCODINGS = ["br", "gzip"] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** The files that browsers load. */
export class ClientFiles {
  constructor(
    readonly manifest: ClientManifest,
    private readonly pack: Blob,
  ) {}

  /** Changes with any byte of any file. */
  get version(): string {
    return this.manifest.version;
  }

  /** The address of a file below the base path. */
  pathOf(name: string): string {
    return `/assets/${this.version}/${name}`;
  }

  /** The file with this name below `/assets/<version>/`; undefined if there is none. */
  find(name: string): PackedFile | undefined {
    return Object.hasOwn(this.manifest.files, name) ? this.manifest.files[name] : undefined;
  }

  /**
   * Addresses of a module's file and of all files that it imports before it can run, nearest first.
   * @param module its path below `client/`
   * @throws Error if the build has no such entry
   */
  loadsOf(module: string): readonly [string, ...string[]] {
    const [first, ...rest] = (this.manifest.entries[module] ?? []).map((name) => this.pathOf(name));
    if (first === undefined) throw new Error(`The build of the pages has no entry ${module}.`);
    return [first, ...rest];
  }

  /** The address of the web client's texts in a language; undefined for English, which the scripts contain. */
  textsOf(language: string): string | undefined {
    const module = language === PSEUDO_LANGUAGE ? "pseudo.ts" : `${language}/client.json`;
    const [name] = this.manifest.entries[`../translations/${module}`] ?? [];
    return name === undefined ? undefined : this.pathOf(name);
  }

  /** The bytes of a file in an encoding; the unencoded bytes if the pack does not have that encoding. */
  open(file: PackedFile, encoding?: Encoding): Blob {
    const { offset, size } = (encoding && file[encoding]) ?? file.identity;
    return this.pack.slice(offset, offset + size);
  }
}

let loading: Promise<ClientFiles> | undefined;

/**
 * The files of this program, loaded when first needed. A failed build is tried again the next time.
 * @throws Error with the message of the bundler, if the program runs from source
 */
export async function clientFiles(): Promise<ClientFiles> {
  loading ??= loadPack().then(
    ({ manifest, pack }) => new ClientFiles(manifest, Bun.file(pack)),
    (error: unknown) => {
      loading = undefined;
      throw error;
    },
  );
  return loading;
}

/** Pages that the server renders, and the modules that they load. */
const MODULES = {
  share: "public/main.ts",
  welcome: "features/welcome/page.ts",
  setup: "features/setup/page.ts",
} as const;

/** What the script of a page loads, below the base path. */
export interface PageScripts {
  /** The module, then its imports; empty for a page without script. */
  readonly scripts: readonly string[];
  /** The texts in the language of the page; undefined if the scripts contain them. */
  readonly texts: string | undefined;
}

/** What a page of the server loads. */
export async function publicScript(page: keyof typeof MODULES, language: string): Promise<PageScripts> {
  const files = await clientFiles();
  return { scripts: files.loadsOf(MODULES[page]), texts: files.textsOf(language) };
}
