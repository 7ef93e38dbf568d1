import type { Database } from "bun:sqlite";
import type { Digest } from "../../../blobs/digest.ts";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import { RequestProcess } from "../processes/request-process.ts";
import { MediaRows } from "./queries.ts";
import { MediaInfoService } from "./service.ts";
import type { MediaProcess } from "./types.ts";

/** Dependencies of {@link openMediaInfo}. */
export interface MediaOptions {
  readonly sqlite: Database;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  readonly findPath: (digest: Digest) => Promise<string | undefined>;
  readonly isLocal: (digest: Digest) => boolean;
  readonly onRead: (tx: Transaction, digest: Uint8Array) => void;
  readonly onLocated: (tx: Transaction) => void;
  readonly isBusy: () => boolean;
  readonly program: string;
}

const TIMEOUT_MS = 10_000;
const MEMORY_LIMIT_BYTES = 512 * 1024 * 1024;

/** Creates the service; no process is started before the first blob is queued. */
export function openMediaInfo(options: MediaOptions): MediaInfoService {
  const { sqlite, ...rest } = options;
  const main = Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main];
  const reading: MediaProcess = new RequestProcess({
    command: [...main, "media-worker"],
    environment: { LC_ALL: "C" },
    timeoutMs: TIMEOUT_MS,
    memoryLimitBytes: MEMORY_LIMIT_BYTES,
  });
  return new MediaInfoService({ ...rest, rows: new MediaRows(sqlite), process: reading });
}
