/*
 * Joins the scripts of a build into fewer files. Bun makes one file for each set of entries that share code, which is
 * about two hundred, most of them smaller than 1 KB. A page would need more than forty requests, which take longer than
 * its bytes on a slow line.
 */
import { basename, relative } from "node:path";
import { type OutputChunk, rollup } from "rollup";

/** Pages that people change between. Code that several of them need is in one file. */
const LISTS = [
  "features/browse/files-page.tsx",
  "features/photos/photos-page.tsx",
  "features/albums/album-page.tsx",
  "features/albums/albums-page.tsx",
  "features/favorites/favorites-page.tsx",
  "features/history/history-page.tsx",
  "features/places/places-page.tsx",
  "features/search/search-page.tsx",
  "features/browse/shared/shared-by-me-page.tsx",
  "features/browse/shared/shared-with-me-page.tsx",
  "features/trash/trash-page.tsx",
] as const;

/** A part of every page, which is loaded when the page is idle. */
const BELL = "features/inbox/inbox-bell.tsx";

/** Entries that load without the application: their code stays apart, so that they do not load the rest. */
const SMALL = ["features/sign-in/page.ts", "public/main.ts", "public/theme.ts"] as const;

/** React: it changes rarely, and downloads in parallel with the rest. */
const LARGE_BYTES = 100_000;

/** The scripts of a build, by file name. */
export interface Scripts {
  readonly contents: ReadonlyMap<string, Uint8Array>;
  /** By the path of a source below `root`: its file, then all files that it imports before it can run. */
  readonly entries: Readonly<Record<string, readonly string[]>>;
}

/**
 * Joins small scripts. The same input gives the same bytes.
 * @param texts the scripts of the bundler, by file name
 * @param outputs its description of them
 * @param root the folder that the paths of `entries` start from
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
    plugins: [{ name: "scripts", resolveId: (id) => basename(id), load: (id) => texts.get(id) }],
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

/** Without the hash of the bundler, which may be that of a part only. */
function nameOf(chunk: { readonly name: string }): string {
  return `${chunk.name.replace(/-[0-9a-z]{8}$/, "")}-[hash].js`;
}

/**
 * The name of the file that each script joins; the others stay as they are. A group imports only groups before it, so
 * that no two files import each other: with a script, all that it imports is in the same group or in one before it.
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
    if (ofLarge.has(file)) continue;
    if (start.has(file)) groups.set(file, "first");
    else if (application.has(file)) groups.set(file, "application");
    else if (apart.has(file) || !isInLists) continue;
    else if (files?.has(file) === true)
      groups.set(file, photos?.has(file) === true || bell.has(file) ? "pages" : "lists");
    else if (photos?.has(file) === true) groups.set(file, "pictures");
  }
  return groups;
}

/** What the scripts of the bundler import before they can run. */
class Graph {
  /** Sources of entries, and their files. */
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
