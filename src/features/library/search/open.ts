import type { Database } from "bun:sqlite";
import { Reader } from "../../../db/reader.ts";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import type { Log } from "../../../lib/log.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { WORDS_TABLE } from "./completions.ts";
import { SearchIndexer } from "./indexer.ts";
import { SearchTables } from "./queries.ts";
import { SearchService, type SearchServiceOptions } from "./service.ts";
import { SearchSuggestions } from "./suggestions.ts";

/** Dependencies of the search. */
export interface SearchOptions {
  readonly sqlite: Database;
  /** From {@link openSearchReader}; used only by searches. */
  readonly reader: Reader;
  readonly writer: Writer;
  readonly tree: TreeReader;
  readonly log: Log;
  readonly texts: SearchServiceOptions["texts"];
  /** Called for each indexed blob whose metadata is not read yet; inside a transaction. */
  readonly noteContent?: (tx: Transaction, digest: Uint8Array, mediaType: string) => void;
}

/**
 * The search, its indexer (started by the server), and a function that queues the files of a blob to be indexed again,
 * in a transaction.
 */
export interface Search {
  readonly search: SearchService;
  readonly searchSuggestions: SearchSuggestions;
  readonly indexer: SearchIndexer;
  readonly enqueueRescan: (tx: Transaction, digest: Uint8Array) => void;
}

/** A reader for searches in this database. */
export function openSearchReader(path: string, log: Log): Reader {
  return new Reader(path, log, [WORDS_TABLE]);
}

/** Builds the search of a database; reads and starts nothing. */
export function openSearch({ sqlite, reader, writer, tree, log, texts, noteContent }: SearchOptions): Search {
  const tables = new SearchTables(sqlite);
  const headOf = (accountId: number) => tree.headOf(accountId);
  const indexer = new SearchIndexer({ tables, writer, log, headOf, ...(noteContent && { noteContent }) });
  const below = sqlite.prepare<{ id: number }, [number, number]>(
    `WITH RECURSIVE s(id) AS (SELECT ?1 UNION ALL
       SELECT c.id FROM s JOIN nodes c INDEXED BY nodes_name ON c.parent_id = s.id AND c.kind = 0)
     SELECT id FROM s LIMIT ?2`,
  );
  const foldersBelow = (folderId: number, limit: number) => {
    const ids = below.all(folderId, limit + 1).map(({ id }) => id);
    return ids.length > limit ? undefined : ids;
  };
  return {
    search: new SearchService({ tree, reader, indexer, texts, foldersBelow }),
    searchSuggestions: new SearchSuggestions({ tree, reader, texts }),
    indexer,
    enqueueRescan: (_tx, digest) => tables.enqueueRescan(digest),
  };
}
