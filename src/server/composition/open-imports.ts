/** Opens the imports from other systems. */
import { openImportRows, openImportService } from "../../features/storage/imports/open.ts";
import type { Accounts } from "./open-accounts.ts";
import type { Library } from "./open-library.ts";
import type { Media } from "./open-media.ts";
import type { Storage } from "./open-storage.ts";

/** The services of {@link openImports}. */
export type Imports = ReturnType<typeof openImports>;

/** Builds the imports. */
export function openImports(storage: Storage, accounts: Accounts, media: Media, library: Library) {
  const { config, outbound, storeGuard, reservations } = storage;
  const importRows = openImportRows(storage);
  return {
    importRows,
    imports: openImportService({
      ...storage,
      ...accounts,
      ...library,
      rows: importRows,
      thumbnails: media.thumbnailer,
      network: outbound,
      importsFolder: config.importsFolder,
      runningMax: config.importsMax,
      reserveSpace: (bytes) => {
        storeGuard.check();
        const release = reservations.reserve(bytes);
        return () => release();
      },
    }),
  };
}
