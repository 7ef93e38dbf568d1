/** Albums in the manifest of an export: their files by their paths in it. */
import { relative } from "node:path";
import type { FileNode } from "../../../tree/model/types.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { User } from "../../accounts/users/types.ts";
import type { AlbumService } from "../../library/albums/service.ts";
import { ALBUMS_MAX, type AlbumSummary } from "../../library/albums/types.ts";
import type { ManifestAlbum } from "./manifest.ts";
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

  private constructor(albums: readonly ExportedAlbum[]) {
    this.#albums = albums;
    this.#paths = new Map(albums.flatMap(({ files }) => files.map(({ id }) => [id, undefined] as const)));
  }

  /** Reads the current albums. */
  static async read(service: Pick<AlbumService, "list" | "files">, user: User): Promise<ExportedAlbums> {
    const page = { sort: "name", order: "asc", offset: 0, limit: ALBUMS_MAX } as const;
    const albums: ExportedAlbum[] = [];
    for (const summary of (await service.list(user, page)).albums) {
      albums.push({ summary, files: await service.files(summary) });
    }
    return new ExportedAlbums(albums);
  }

  /** Call for each file. @param path in the export, with slashes */
  note(nodeId: number, path: string): void {
    if (this.#paths.has(nodeId)) this.#paths.set(nodeId, path);
  }

  /** The name of an album by its public id; undefined for an unknown one. */
  nameOf(id: string): string | undefined {
    return this.#albums.find(({ summary }) => summary.publicId === id)?.summary.name;
  }

  /** The albums for the manifest, with the files that were exported. Albums without any are left out. */
  entries(): ManifestAlbum[] {
    return this.#albums.flatMap(({ summary: { name, description, chosenCoverId }, files }) => {
      const items = files.flatMap(({ id }) => this.#paths.get(id) ?? []);
      const chosen = files.find(({ publicId }) => publicId === chosenCoverId);
      const cover = chosen && this.#paths.get(chosen.id);
      if (items.length === 0) return [];
      return [{ name, ...(description !== "" && { description }), ...(cover !== undefined && { cover }), items }];
    });
  }
}

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

  /**
   * Creates the albums, or adds the files to an album of the same name. Call when all files are stored.
   * @returns their ids by name
   */
  async write(): Promise<ReadonlyMap<string, string>> {
    const { albums, user, entries } = this.#options;
    const ids = new Map<string, string>();
    for (const { name, description = "", cover, items } of entries) {
      const fileIds = items.flatMap((path) => this.#findId(path) ?? []);
      if (fileIds.length === 0) continue;
      const { publicId, isNew } = await albums.addByName(user, { name, description, fileIds });
      ids.set(name, publicId);
      const coverFileId = cover === undefined ? undefined : this.#findId(cover);
      if (isNew && coverFileId !== undefined && fileIds.includes(coverFileId)) {
        await albums.update(user, publicId, { coverFileId });
      }
    }
    return ids;
  }

  #findId(path: string): string | undefined {
    const { tree, user } = this.#options;
    const stored = this.#files.get(path);
    return stored && tree.findFileNamed(user.id, stored.folder, stored.name)?.publicId;
  }
}
