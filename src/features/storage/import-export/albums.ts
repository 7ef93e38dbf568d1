/** Albums in the manifest of an export: their files by their paths in it. */
import { relative } from "node:path";
import type { FileNode } from "../../../tree/model/types.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { User } from "../../accounts/users/types.ts";
import type { AlbumService } from "../../library/albums/service.ts";
import { ALBUMS_MAX, type AlbumSummary } from "../../library/albums/types.ts";
import type { ManifestAlbum, ManifestPin } from "./manifest.ts";
import type { SourceFile, WalkedEntry } from "./source-walk.ts";

interface ExportedAlbum {
  readonly summary: AlbumSummary;
  readonly files: readonly FileNode[];
}

/** The albums of an account while its files are exported. */
export class ExportedAlbums {
  readonly #albums: readonly ExportedAlbum[];
  /** Row ids of files in albums, and their paths in the export once they are written. */
  readonly #paths: Map<number, string | undefined>;
  readonly #names: ReadonlyMap<number, readonly string[]>;
  readonly #isWhole: boolean;

  private constructor(albums: readonly ExportedAlbum[], isWhole: boolean) {
    this.#albums = albums;
    this.#isWhole = isWhole;
    this.#paths = new Map(albums.flatMap(({ files }) => files.map(({ id }) => [id, undefined] as const)));
    const names = new Map<number, string[]>();
    for (const { summary, files } of albums) {
      for (const { id } of files) names.set(id, [...(names.get(id) ?? []), summary.name]);
    }
    this.#names = names;
  }

  /** Reads the current albums. @param isWhole whether all files of the account are exported */
  static async read(
    service: Pick<AlbumService, "list" | "files">,
    user: User,
    isWhole: boolean,
  ): Promise<ExportedAlbums> {
    const page = { sort: "name", order: "asc", offset: 0, limit: ALBUMS_MAX } as const;
    const albums: ExportedAlbum[] = [];
    for (const summary of (await service.list(user, page)).albums) {
      albums.push({ summary, files: await service.files(summary) });
    }
    return new ExportedAlbums(albums, isWhole);
  }

  /** Call for each file. @param path in the export, with slashes */
  note(nodeId: number, path: string): void {
    if (this.#paths.has(nodeId)) this.#paths.set(nodeId, path);
  }

  /** The names of the albums that contain a file. */
  namesOf(nodeId: number): readonly string[] {
    return this.#names.get(nodeId) ?? [];
  }

  /** A pin of an album by its public id; undefined for one that is not exported. */
  pinOf(id: string): ManifestPin | undefined {
    const exported = this.#exported();
    const pinned = exported.find(({ summary }) => summary.publicId === id);
    if (pinned === undefined) return undefined;
    const { name } = pinned.summary;
    const number = exported.filter(({ summary }) => summary.name === name).indexOf(pinned) + 1;
    return { album: name, ...(number > 1 && { number }) };
  }

  /** The albums for the manifest, with the files that were exported. */
  entries(): ManifestAlbum[] {
    return this.#exported().map(({ summary: { name, description, chosenCoverId }, files }) => {
      const items = this.#pathsOf(files);
      const chosen = files.find(({ publicId }) => publicId === chosenCoverId);
      const cover = chosen && this.#paths.get(chosen.id);
      return { name, ...(description !== "" && { description }), ...(cover !== undefined && { cover }), items };
    });
  }

  /** Albums of which no file was exported are left out; empty ones are in an export of all files. */
  #exported(): readonly ExportedAlbum[] {
    return this.#albums.filter(({ files }) =>
      files.length === 0 ? this.#isWhole : files.some(({ id }) => this.#paths.get(id) !== undefined),
    );
  }

  #pathsOf(files: readonly FileNode[]): string[] {
    return files.flatMap(({ id }) => this.#paths.get(id) ?? []);
  }
}

/** Ids of the imported albums by name; several if albums have the same name, in their order. */
export type ImportedAlbumIds = ReadonlyMap<string, readonly (string | undefined)[]>;

/** Dependencies of {@link ImportedAlbums}. */
interface ImportedAlbumsOptions {
  readonly albums: Pick<AlbumService, "addByName" | "update">;
  readonly tree: Pick<TreeReader, "findFileNamed">;
  readonly user: User;
  /** The imported folder. */
  readonly source: string;
  /** The albums of its manifest. */
  readonly entries: readonly ManifestAlbum[];
}

/** The albums of a manifest while its files are imported. */
export class ImportedAlbums {
  readonly #options: ImportedAlbumsOptions;
  /** Paths of files in albums, and where they are stored. */
  readonly #files = new Map<string, Pick<SourceFile, "folder" | "name"> | undefined>();

  constructor(options: ImportedAlbumsOptions) {
    this.#options = options;
    for (const path of options.entries.flatMap(({ items }) => items)) this.#files.set(path, undefined);
  }

  /** Call for each entry of the folder. */
  note(entry: WalkedEntry): void {
    if (entry.kind === "file") this.noteStored(entry.path, entry);
  }

  /** Call if a file was stored at another place. @param path on disk */
  noteStored(path: string, { folder, name }: Pick<SourceFile, "folder" | "name">): void {
    const key = this.#files.size === 0 ? "" : relative(this.#options.source, path);
    if (this.#files.has(key)) this.#files.set(key, { folder, name });
  }

  /** Creates the albums, or adds the files to those of the same names. Call when all files are stored. */
  async write(): Promise<ImportedAlbumIds> {
    const ids = new Map<string, (string | undefined)[]>();
    for (const entry of this.#options.entries) {
      const named = ids.get(entry.name) ?? [];
      const skipped = named.filter((id) => id !== undefined).length;
      ids.set(entry.name, [...named, await this.#writeAlbum(entry, skipped)]);
    }
    return ids;
  }

  /**
   * @param skipped how many albums of this name come before it
   * @returns its id; undefined if it has none of its files
   */
  async #writeAlbum(
    { name, description = "", cover, items }: ManifestAlbum,
    skipped: number,
  ): Promise<string | undefined> {
    const { albums, user } = this.#options;
    const fileIds = items.flatMap((path) => this.#findId(path) ?? []);
    if (items.length > 0 && fileIds.length === 0) return undefined;
    const { publicId, isNew } = await albums.addByName(user, { name, description, fileIds, skipped });
    const coverFileId = cover === undefined ? undefined : this.#findId(cover);
    if (isNew && coverFileId !== undefined && fileIds.includes(coverFileId)) {
      await albums.update(user, publicId, { coverFileId });
    }
    return publicId;
  }

  #findId(path: string): string | undefined {
    const { tree, user } = this.#options;
    const stored = this.#files.get(path);
    return stored && tree.findFileNamed(user.id, stored.folder, stored.name)?.publicId;
  }
}
