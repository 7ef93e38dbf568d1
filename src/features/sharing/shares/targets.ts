import type { TreeReader } from "../../../tree/reader.ts";
import type { AlbumService } from "../../library/albums/service.ts";
import type { Share, SharedAlbum, SharedItem } from "./types.ts";

/** Finds what shares are of. Synchronous: may be called inside a transaction. */
export class ShareTargets {
  readonly #tree: Pick<TreeReader, "findById">;
  readonly #albums: Pick<AlbumService, "findById">;

  constructor(tree: Pick<TreeReader, "findById">, albums: Pick<AlbumService, "findById">) {
    this.#tree = tree;
    this.#albums = albums;
  }

  /** Undefined if it was deleted or is in the trash. */
  find({ nodeId, albumId }: Pick<Share, "nodeId" | "albumId">): SharedItem | undefined {
    if (albumId !== null) return this.findAlbum(albumId);
    return nodeId === null ? undefined : this.#tree.findById(nodeId);
  }

  findAlbum(id: number): SharedAlbum | undefined {
    const album = this.#albums.findById(id);
    return album && { ...album, kind: "album" };
  }
}
