import type { Database } from "bun:sqlite";
import type { Clock } from "../../../lib/clock.ts";
import { NamedAlbums } from "../../library/albums/named-albums.ts";
import { ImportedItems } from "./items.ts";
import { RunRows } from "./queries.ts";

/** Opens the rows of imports. */
export function openImportRows(options: { readonly sqlite: Database; readonly clock: Clock }) {
  return {
    runs: new RunRows(options.sqlite),
    items: new ImportedItems(options.sqlite),
    namedAlbums: new NamedAlbums(options),
  };
}
