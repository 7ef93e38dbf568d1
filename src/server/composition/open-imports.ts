/** Opens the imports from other systems. */
import { openImportRows } from "../../features/storage/imports/open.ts";
import type { Storage } from "./open-storage.ts";

/** The services of {@link openImports}. */
export type Imports = ReturnType<typeof openImports>;

/** Builds the imports. */
export function openImports(storage: Storage) {
  return { importRows: openImportRows(storage) };
}
