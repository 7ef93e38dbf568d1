/**
 * The thread that reads contents again, and looks through a database and the store's folders. It is slowed down through
 * shared memory, so that a long content gives way, too.
 */
import type { Database } from "bun:sqlite";
import * as os from "node:os";
import { errorCode } from "../../../blobs/disk.ts";
import { openReadOnly } from "../../../db/open.ts";
import { findBrokenRules, findStructuralProblems } from "./check-rows.ts";
import { CONTROL, type ContentFault, readContent, type WantedContent } from "./hash-file.ts";
import { countOrphanedFiles, type OrphanedFiles } from "./orphaned-files.ts";

/**
 * What the thread is asked. `contents`: they are read in their order. `structure`, `rules`: a database is looked through.
 * `unlisted`: folders of the store are compared with one. `modest`: other programs go first from now on; no answer.
 */
export type HashRequest =
  | {
      readonly kind: "contents";
      readonly contents: readonly WantedContent[];
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

/** A fault, and the place of its content in the request. */
export interface FoundFault extends ContentFault {
  readonly index: number;
}

/** The answers, in the order of the requests. `failed`: what was thrown, with SQLite's or the system's code. */
export type HashReply =
  | { readonly kind: "contents"; readonly faults: readonly FoundFault[]; readonly bytes: number }
  | { readonly kind: "database"; readonly problems: readonly string[] }
  | ({ readonly kind: "unlisted" } & OrphanedFiles)
  | { readonly kind: "failed"; readonly name: string; readonly message: string; readonly code: string | undefined };

declare const self: Worker;

/** Longest pause for others at one piece: a server that is never quiet must come round, too. */
const GIVE_WAY_MS = 1_000;
/** Shorter pauses are saved up. */
const PAUSE_MS_MIN = 5;

self.onmessage = (event: MessageEvent<HashRequest>) => {
  const request = event.data;
  if (request.kind === "modest") {
    beModest();
    return;
  }
  try {
    self.postMessage(answer(request));
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    self.postMessage({ kind: "failed", name, message, code: errorCode(error) } satisfies HashReply);
  }
};

function answer(request: Exclude<HashRequest, { kind: "modest" }>): HashReply {
  if (request.kind === "contents") return readAll(request);
  return lookInto(request.path, (sqlite) => {
    if (request.kind === "unlisted")
      return { kind: "unlisted", ...countOrphanedFiles(sqlite, request.top, request.firsts) };
    const look = request.kind === "rules" ? findBrokenRules : findStructuralProblems;
    return { kind: "database", problems: look(sqlite) };
  });
}

/** Of this thread alone: the one that writes must not hold the database for longer than need be. */
function beModest(): void {
  try {
    os.setPriority(Math.max(os.getPriority(), os.constants.priority.PRIORITY_BELOW_NORMAL));
  } catch {
    // A wish: where it is not granted, the work is the same.
  }
}

function readAll({ contents, isQuick, isSparing, control }: HashRequest & { kind: "contents" }): HashReply {
  const shared = new Int32Array(control);
  const pace = paceOf(shared);
  const faults: FoundFault[] = [];
  let bytes = 0;
  for (const [index, content] of contents.entries()) {
    const onBytes = (piece: number) => {
      bytes += piece;
      pace(piece);
    };
    const fault = readContent(content, { isQuick, isSparing, onBytes });
    if (fault !== undefined) faults.push({ index, ...fault });
  }
  return { kind: "contents", faults, bytes };
}

/** Waits as long as the rate asks for, and gives way to others. */
function paceOf(shared: Int32Array): (bytes: number) => void {
  let aheadMs = 0;
  let lastMs = performance.now();
  return (bytes) => {
    if (Atomics.load(shared, CONTROL.isWaiting) === 1) Atomics.wait(shared, CONTROL.isWaiting, 1, GIVE_WAY_MS);
    const bytesPerMs = Atomics.load(shared, CONTROL.bytesPerMs);
    if (bytesPerMs === 0) return;
    const nowMs = performance.now();
    // What was slower than allowed is not caught up with.
    aheadMs = Math.max(0, aheadMs - (nowMs - lastMs)) + bytes / bytesPerMs;
    lastMs = nowMs;
    if (aheadMs >= PAUSE_MS_MIN) Bun.sleepSync(aheadMs);
  };
}

function lookInto(path: string, look: (sqlite: Database) => HashReply): HashReply {
  const db = openReadOnly(path);
  try {
    return look(db.sqlite);
  } finally {
    db.close();
  }
}
