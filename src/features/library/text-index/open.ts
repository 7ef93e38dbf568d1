import type { Database } from "bun:sqlite";
import { randomUUID } from "node:crypto";
import type { Log } from "../../../lib/log.ts";
import { EXTRACTOR_VERSION } from "../../media/documents/types.ts";
import { TextIndexer, type TextIndexerOptions } from "./indexer.ts";
import { IndexThread } from "./index-thread.ts";
import { TextRereader } from "./text-rereader.ts";
import { TextSearch } from "./text-search.ts";
import type { IndexLocation } from "./types.ts";

/** Dependencies of the text index. */
export interface TextIndexOptions
  extends Pick<TextIndexerOptions, "extractor" | "isEnabled">,
    Omit<IndexLocation, "run"> {
  readonly sqlite: Database;
  readonly log: Log;
}

/** Builds the text index; reads and starts nothing. The server starts the indexer. */
export function openTextIndex({ sqlite, log, path, databasePath, blobsDir, ...options }: TextIndexOptions) {
  // Texts that are read another way than before could not be read again in part.
  const source = `${options.source} ${EXTRACTOR_VERSION}`;
  const buildAgain = () => {
    texts.dropState();
    textIndexer.wakeSoon();
  };
  const location = { path, databasePath, source, blobsDir, run: randomUUID() };
  const thread = new IndexThread({ location, log, isEnabled: options.isEnabled, onDamaged: buildAgain });
  const total = sqlite.prepare<{ seqs: number; accounts: number }, []>(
    "SELECT ifnull(sum(seq), 0) AS seqs, count(*) AS accounts FROM accounts WHERE root_id > 0",
  );
  const changeMark = () => {
    const found = total.get();
    return `${found?.seqs ?? 0}/${found?.accounts ?? 0}`;
  };
  const rereader = new TextRereader({ ...options, thread, log, onCleared: buildAgain });
  const textIndexer = new TextIndexer({ ...options, thread, rereader, changeMark, log });
  const texts = new TextSearch({ thread, indexer: textIndexer, rereader, isEnabled: options.isEnabled, log });
  return { textIndexThread: thread, textIndexer, texts };
}
