/** Opens the imports from other systems. */
import { NamedAlbums } from "../../features/library/albums/named-albums.ts";
import { ImportedItems } from "../../features/storage/imports/items.ts";
import { RunRows } from "../../features/storage/imports/queries.ts";
import type { Storage } from "./open-storage.ts";

/** The services of {@link openImports}. */
export type Imports = ReturnType<typeof openImports>;

/** Builds the rows of imports. */
export function openImports(storage: Storage) {
  const { sqlite } = storage;
  return {
    importRows: {
      runs: new RunRows(sqlite),
      items: new ImportedItems(sqlite),
      namedAlbums: new NamedAlbums(storage),
    },
  };
}
