import type { Database } from "bun:sqlite";
import { join } from "node:path";
import type { Writer } from "../../../db/transaction.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import { EndedShares, type EndedSharesOptions } from "./ended-shares.ts";
import { StoreJournalTables } from "./queries.ts";
import { StoreJournal } from "./service.ts";

/** Builds the writer of the store's journal over one database; nothing is read or started. */
export function openStoreJournal(options: {
  readonly sqlite: Database;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  /** `blobs/` */
  readonly blobs: string;
  readonly checkStore: () => void;
  /** Of the same folder: see {@link openEndedShares}. */
  readonly endedShares: EndedShares;
  /** Another one for each time that the database went on from a snapshot. */
  readonly epoch: string;
}): StoreJournal {
  const { sqlite, blobs, ...rest } = options;
  return new StoreJournal({ ...rest, tables: new StoreJournalTables(sqlite), root: journalRoot(blobs) });
}

/** Builds what notes ended shares beside the contents of one database; nothing is read or started. */
export function openEndedShares({
  blobs,
  ...options
}: Omit<EndedSharesOptions, "root"> & { readonly blobs: string }): EndedShares {
  return new EndedShares({ ...options, root: journalRoot(blobs) });
}

/** Where the objects lie. @param blobs `blobs/` */
export function journalRoot(blobs: string): string {
  return join(blobs, "journal");
}
