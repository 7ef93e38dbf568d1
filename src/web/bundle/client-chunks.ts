/*
 * Joins the scripts of a build into fewer files. Bun writes one file for each combination of entries that share code:
 * about two hundred files, most of them smaller than 1 KB. A page would need more than forty requests. On a slow
 * connection, the requests would take longer than the transfer of the scripts.
 */
import { basename, relative } from "node:path";
import { type OutputChunk, rollup } from "rollup";

/**
 * Pages that people switch between. Code that several of them need is joined. The first two pages, files and photos,
 * decide which of its files it is in.
 */
const LISTS = [
  "features/browse/files-page.tsx",
  "features/photos/photos-page.tsx",
  "features/albums/album-page.tsx",
  "features/albums/albums-page.tsx",
  "features/favorites/favorites-page.tsx",
  "features/home/home-page.tsx",
  "features/history/history-page.tsx",
  "features/places/places-page.tsx",
  "features/search/search-page.tsx",
  "features/browse/shared/shared-by-me-page.tsx",
  "features/browse/shared/shared-with-me-page.tsx",
  "features/trash/trash-page.tsx",
] as const;

/** The bell for notifications. Every page has it, and loads it when idle. */
const BELL = "features/inbox/inbox-bell.tsx";

/**
 * Entries that run without the web app. What they share with it is one file. The rest of their code is not joined with
 * other code, so they load nothing else.
 */
const SMALL = [
  "features/sign-in/page.ts",
  "public/main.ts",
  "public/theme.ts",
  "features/welcome/page.ts",
  "features/setup/page.ts",
] as const;

/**
 * Larger scripts stay separate files, with their imports. This is React: it changes rarely, so browsers can cache it
 * for longer, and it loads in parallel with the rest.
 */
const LARGE_BYTES = 100_000;

/** The scripts of a build, by file name. */
export interface Scripts {
  readonly contents: ReadonlyMap<string, Uint8Array>;
  /** For the source of each entry, relative to `root`: its file, then all files that it imports statically. */
  readonly entries: Readonly<Record<string, readonly string[]>>;
}

/**
 * Joins small scripts. The same input gives the same bytes.
 * @param texts the scripts from Bun, by file name
 * @param outputs what Bun's metafile says about them
 * @param root the folder that the paths of `entries` are relative to
 * @throws Error if an entry is missing in the result
 */
export async function joinScripts(
  texts: ReadonlyMap<string, string>,
  outputs: Bun.BuildMetafile["outputs"],
  root: string,
): Promise<Scripts> {
  const graph = new Graph(outputs, root);
  const groups = groupsOf(texts, graph);
  const bundle = await rollup({
    input: ["start.ts", ...SMALL].map((entry) => graph.fileOf(entry)),
    // Bun has removed unused code already.
    treeshake: false,
    plugins: [
      { name: "scripts", resolveId: (id) => basename(id), load: (id) => texts.get(id) },
      { name: "minify", renderChunk: minify },
    ],
    onwarn: ({ message }) => {
      throw new Error(message);
    },
  });
  const { output } = await bundle.generate({
    format: "es",
    compact: true,
    generatedCode: "es2015",
    hashCharacters: "base36",
    hoistTransitiveImports: false,
    entryFileNames: nameOf,
    chunkFileNames: nameOf,
    manualChunks: (id) => groups.get(id),
    onlyExplicitManualChunks: true,
  });
  const chunks = new Map(output.flatMap((file) => (file.type === "chunk" ? [[file.fileName, file] as const] : [])));
  const encoder = new TextEncoder();
  return {
    contents: new Map([...chunks].map(([fileName, { code }]) => [fileName, encoder.encode(code)])),
    entries: Object.fromEntries(graph.entries.map(([path, file]) => [path, filesOf(chunks, file)])),
  };
}

/** Shortens the names in a joined file: rollup appends numbers to those that several of its scripts use. */
async function minify(code: string): Promise<string> {
  const path = "/joined.js";
  const { outputs } = await Bun.build({
    entrypoints: [path],
    files: { [path]: code },
    external: ["*"],
    target: "browser",
    format: "esm",
    minify: true,
  });
  const [script] = outputs;
  if (script === undefined) throw new Error("the bundler returned no script");
  return script.text();
}

/** The name of a joined file. Bun's hash is removed from it, because it covers only one of the joined scripts. */
function nameOf(chunk: { readonly name: string }): string {
  return `${chunk.name.replace(/-[0-9a-z]{8}$/, "")}-[hash].js`;
}

/**
 * The group of each script: the name of the file that it is joined into. Scripts without a group stay separate files.
 * Everything that a script of a group imports is in the same group, in an earlier one, or in a separate file. So no two
 * files import each other.
 */
function groupsOf(texts: ReadonlyMap<string, string>, graph: Graph): ReadonlyMap<string, string> {
  const start = graph.closure("start.ts");
  const application = graph.closure("main.tsx");
  const apart = new Set(SMALL.flatMap((entry) => [...graph.closure(entry)]));
  const lists = LISTS.map((entry) => graph.closure(entry));
  const [files, photos] = lists;
  const bell = graph.closure(BELL);
  const groups = new Map<string, string>();
  const shared = [...texts.keys()].filter((file) => !graph.isEntry(file));
  const ofLarge = new Set(
    shared.filter((file) => (texts.get(file) ?? "").length > LARGE_BYTES).flatMap((file) => [...graph.reach(file)]),
  );
  for (const file of shared) {
    const isInLists = lists.filter((list) => list.has(file)).length > 1;
    if (apart.has(file) && application.has(file) && !start.has(file)) groups.set(file, "base");
    else if (ofLarge.has(file)) continue;
    else if (start.has(file)) groups.set(file, "first");
    else if (application.has(file)) groups.set(file, "application");
    else if (apart.has(file) || !isInLists) continue;
    else if (files?.has(file) === true)
      groups.set(file, photos?.has(file) === true || bell.has(file) ? "pages" : "lists");
    else if (photos?.has(file) === true) groups.set(file, "pictures");
  }
  return groups;
}

/** The static imports between the scripts from Bun. */
class Graph {
  /** The source of each entry, and its file. */
  readonly entries: readonly (readonly [path: string, file: string])[];
  readonly #imports: ReadonlyMap<string, readonly string[]>;

  constructor(outputs: Bun.BuildMetafile["outputs"], root: string) {
    const scripts = Object.entries(outputs).filter(([path]) => path.endsWith(".js"));
    this.entries = scripts.flatMap(([path, { entryPoint }]) =>
      entryPoint === undefined ? [] : [[relative(root, entryPoint), basename(path)] as const],
    );
    this.#imports = new Map(
      scripts.map(([path, { imports }]) => [
        basename(path),
        imports.flatMap(({ kind, path: imported }) => (kind === "import-statement" ? [basename(imported)] : [])),
      ]),
    );
  }

  /** The file of an entry. @throws Error if there is none */
  fileOf(entry: string): string {
    const found = this.entries.find(([path]) => path === entry);
    if (found === undefined) throw new Error(`The build of the pages has no entry ${entry}.`);
    return found[1];
  }

  isEntry(file: string): boolean {
    return this.entries.some(([, entry]) => entry === file);
  }

  /** The file of an entry, and all files that it imports. */
  closure(entry: string): ReadonlySet<string> {
    return this.reach(this.fileOf(entry));
  }

  /** A file, and all files that it imports. */
  reach(file: string): ReadonlySet<string> {
    const found = new Set([file]);
    for (const reached of found) for (const imported of this.#imports.get(reached) ?? []) found.add(imported);
    return found;
  }
}

/** The file of an entry, and all files that it imports, nearest first. */
function filesOf(chunks: ReadonlyMap<string, OutputChunk>, entry: string): readonly string[] {
  const chunk = [...chunks.values()].find(({ moduleIds }) => moduleIds.includes(entry));
  if (chunk === undefined) throw new Error(`No script has the entry ${entry}.`);
  const found = new Set([chunk.fileName]);
  for (const reached of found) for (const imported of chunks.get(reached)?.imports ?? []) found.add(imported);
  return [...found];
}
