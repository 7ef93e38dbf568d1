/**
 * All rows, in the order in which they are measured.
 */
import type { Row } from "./bench.ts";
import { accounts } from "./rows/accounts.ts";
import { archive } from "./rows/archive.ts";
import { capacity } from "./rows/capacity.ts";
import { chunks } from "./rows/chunks.ts";
import { downloadLarge } from "./rows/download-large.ts";
import { growth } from "./rows/growth.ts";
import { importMany } from "./rows/import.ts";
import { memory, memoryHuge, memoryRequests } from "./rows/memory.ts";
import { million } from "./rows/million.ts";
import { mixed } from "./rows/mixed.ts";
import { queue } from "./rows/queue.ts";
import { readSmall } from "./rows/read-small.ts";
import { search } from "./rows/search.ts";
import { start } from "./rows/start.ts";
import { sync, syncMillion } from "./rows/sync.ts";
import { thumbnails } from "./rows/thumbnails.ts";
import { tus } from "./rows/tus.ts";
import { uploadLarge } from "./rows/upload-large.ts";
import { uploadSmall } from "./rows/upload-small.ts";
import { webdavFiles } from "./rows/webdav-files.ts";
import { webdavLists } from "./rows/webdav-lists.ts";

/** The rows of `scripts/bench` and `scripts/bench compare`: all of them take less than ten minutes. */
export const MAIN_ROWS: readonly Row[] = [
  uploadSmall,
  readSmall,
  downloadLarge,
  uploadLarge,
  start,
  chunks,
  tus,
  thumbnails,
  sync,
  queue,
  memory,
  archive,
  webdavLists,
  webdavFiles,
  mixed,
];

/** The rows of `scripts/bench long`. */
export const LONG_ROWS: readonly Row[] = [
  importMany,
  million,
  search,
  syncMillion,
  memoryHuge,
  memoryRequests,
  growth,
  capacity,
  accounts,
];
