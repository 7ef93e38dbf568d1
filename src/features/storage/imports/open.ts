import type { Database } from "bun:sqlite";
import type { ThumbnailService } from "../../media/thumbnails/service.ts";
import type { TransferCounters } from "../../accounts/plans/transfers.ts";
import { NamedAlbums } from "../../library/albums/named-albums.ts";
import { SourceImporter, type SourceImporterOptions } from "./importer.ts";
import { ImportedItems } from "./items.ts";
import { RunRows } from "./queries.ts";
import { ImportService, type ImportServiceOptions } from "./service.ts";
import type { Clock } from "../../../lib/clock.ts";

/** Opens the rows of imports. */
export function openImportRows(options: { readonly sqlite: Database; readonly clock: Clock }) {
  return {
    runs: new RunRows(options.sqlite),
    items: new ImportedItems(options.sqlite),
    namedAlbums: new NamedAlbums(options),
  };
}

/** Dependencies of {@link openImportService}. */
interface ImportsOptions
  extends Omit<SourceImporterOptions, "onStored" | "items" | "namedAlbums">,
    Omit<ImportServiceOptions, "runs" | "importer"> {
  readonly rows: ReturnType<typeof openImportRows>;
  readonly transfers: Pick<TransferCounters, "noteUpload">;
  readonly thumbnails: Pick<ThumbnailService, "schedule">;
}

/** Opens the imports of a server. */
export function openImportService({ rows, ...options }: ImportsOptions): ImportService {
  const { transfers, thumbnails } = options;
  const importer = new SourceImporter({
    ...options,
    ...rows,
    onStored: (accountId, { lease, mediaType }) => {
      transfers.noteUpload(accountId, lease.sizeBytes);
      thumbnails.schedule(lease.digest, mediaType);
    },
  });
  return new ImportService({ ...options, runs: rows.runs, importer });
}
