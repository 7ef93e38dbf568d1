import type { Database } from "bun:sqlite";
import { join } from "node:path";
import type { Reader } from "../../../db/reader.ts";
import type { Writer } from "../../../db/transaction.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import { EndedShares, type EndedSharesOptions } from "./ended-shares.ts";
import { StoreJournalTables } from "./queries.ts";
import { StoreJournal } from "./service.ts";

/** Makes the writer of the store journal of one database; reads and starts nothing. */
export function openStoreJournal(options: {
  readonly sqlite: Database;
  readonly reader: Pick<Reader, "read">;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  /** `blobs/` */
  readonly blobs: string;
  readonly checkStore: () => void;
  /** Of the same folder: see {@link openEndedShares}. */
  readonly endedShares: EndedShares;
  /** Changes whenever the database continues from a snapshot. */
  readonly epoch: string;
}): StoreJournal {
  const { sqlite, blobs, ...rest } = options;
  return new StoreJournal({ ...rest, tables: new StoreJournalTables(sqlite), root: journalRoot(blobs) });
}

/** Makes the writer of the file of ended shares; reads and starts nothing. */
export function openEndedShares({
  blobs,
  ...options
}: Omit<EndedSharesOptions, "root"> & { readonly blobs: string }): EndedShares {
  return new EndedShares({ ...options, root: journalRoot(blobs) });
}

/** The directory of the store journal. @param blobs `blobs/` */
export function journalRoot(blobs: string): string {
  return join(blobs, "journal");
}
