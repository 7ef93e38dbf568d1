import { TextSearch } from "../../src/features/library/text-index/text-search.ts";
import { silentLog } from "../../src/lib/log.ts";

/** A text index that is switched off. */
export const NO_TEXTS = new TextSearch({
  thread: { call: () => Promise.reject(new Error("There is no text index.")) },
  indexer: { status: () => Promise.reject(new Error("There is no text index.")), revision: 0 },
  rereader: { readable: () => [], readUntil: () => Promise.reject(new Error("There is no text index.")) },
  isEnabled: () => false,
  log: silentLog,
});
