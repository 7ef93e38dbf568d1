/**
 * The thread that reads blobs, and checks a database and the store's folders. Its caller slows it down through shared
 * memory, even during a long blob.
 */
import type { Database } from "bun:sqlite";
import * as os from "node:os";
import { openReadOnly } from "../../../db/open.ts";
import { findBrokenRules, findStructuralProblems } from "./check-rows.ts";
import { CONTROL, type ContentFault, readContent, type StoredFile } from "./hash-file.ts";
import { countOrphanedFiles, type OrphanedFiles } from "./orphaned-files.ts";
import { errorCode } from "../../../lib/error.ts";

/**
 * A request to the thread. `contents`: read blobs in order. `structure`, `rules`: check a database. `unlisted`: compare
 * folders of the store with a database. `modest`: run at low priority from now on; has no reply.
 */
export type HashRequest =
  | {
      readonly kind: "contents";
      readonly contents: readonly StoredFile[];
      readonly isQuick: boolean;
      readonly isSparing: boolean;
      readonly control: SharedArrayBuffer;
    }
  | { readonly kind: "structure" | "rules"; readonly path: string }
  | {
      readonly kind: "unlisted";
      readonly path: string;
      readonly top: string;
      readonly firsts: readonly string[];
    }
  | { readonly kind: "modest" };

/** A fault, and the index of its blob in the request. */
export interface IndexedFault extends ContentFault {
  readonly index: number;
}

/** The replies, in the order of the requests. `failed`: an error, with the code of SQLite or the system. */
export type HashReply =
  | { readonly kind: "contents"; readonly faults: readonly IndexedFault[]; readonly bytes: number }
  | { readonly kind: "database"; readonly problems: readonly string[] }
  | ({ readonly kind: "unlisted" } & OrphanedFiles)
  | { readonly kind: "failed"; readonly name: string; readonly message: string; readonly code: string | undefined };

declare const self: Worker;

/** Longest pause before a buffer: the scrub must also finish on a server that is never idle. */
const BUSY_PAUSE_MS = 1_000;
/** Shorter pauses are added up. */
const PAUSE_MS_MIN = 5;

self.onmessage = (event: MessageEvent<HashRequest>) => {
  const request = event.data;
  if (request.kind === "modest") {
    lowerPriority();
    return;
  }
  try {
    self.postMessage(handle(request));
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    self.postMessage({ kind: "failed", name, message, code: errorCode(error) } satisfies HashReply);
  }
};

function handle(request: Exclude<HashRequest, { kind: "modest" }>): HashReply {
  if (request.kind === "contents") return readAll(request);
  return withDatabase(request.path, (sqlite) => {
    if (request.kind === "unlisted")
      return { kind: "unlisted", ...countOrphanedFiles(sqlite, request.top, request.firsts) };
    const findProblems = request.kind === "rules" ? findBrokenRules : findStructuralProblems;
    return { kind: "database", problems: findProblems(sqlite) };
  });
}

/** Lowers the priority of this thread only: a writing thread must not lock the database for longer. */
function lowerPriority(): void {
  try {
    os.setPriority(Math.max(os.getPriority(), os.constants.priority.PRIORITY_BELOW_NORMAL));
  } catch {
    // Optional: without permission the thread runs at normal priority.
  }
}

function readAll({ contents, isQuick, isSparing, control }: HashRequest & { kind: "contents" }): HashReply {
  const shared = new Int32Array(control);
  const pace = makePacer(shared);
  const faults: IndexedFault[] = [];
  let bytes = 0;
  for (const [index, content] of contents.entries()) {
    const onBytes = (read: number) => {
      bytes += read;
      pace(read);
    };
    const fault = readContent(content, { isQuick, isSparing, onBytes });
    if (fault !== undefined) faults.push({ index, ...fault });
  }
  return { kind: "contents", faults, bytes };
}

/** Pauses for the configured rate, and while requests need the disk. */
function makePacer(shared: Int32Array): (bytes: number) => void {
  let aheadMs = 0;
  let lastMs = performance.now();
  return (bytes) => {
    if (Atomics.load(shared, CONTROL.isWaiting) === 1) Atomics.wait(shared, CONTROL.isWaiting, 1, BUSY_PAUSE_MS);
    const bytesPerMs = Atomics.load(shared, CONTROL.bytesPerMs);
    if (bytesPerMs === 0) return;
    const nowMs = performance.now();
    // Time lost on a slow read is not caught up.
    aheadMs = Math.max(0, aheadMs - (nowMs - lastMs)) + bytes / bytesPerMs;
    lastMs = nowMs;
    if (aheadMs >= PAUSE_MS_MIN) Bun.sleepSync(aheadMs);
  };
}

function withDatabase(path: string, check: (sqlite: Database) => HashReply): HashReply {
  const db = openReadOnly(path);
  try {
    return check(db.sqlite);
  } finally {
    db.close();
  }
}
