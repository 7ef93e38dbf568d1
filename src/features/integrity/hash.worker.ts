/**
 * The thread that reads contents again, and looks through a database. It is slowed down through shared memory, so that a
 * long content gives way, too.
 */
import { openReadOnly } from "../../db/open.ts";
import { findStructuralProblems } from "./check-rows.ts";
import { CONTROL, type ContentFault, readContent, type WantedContent } from "./hash-file.ts";

/** What the thread is asked. `contents`: they are read in their order. `database`: its whole structure is looked through. */
export type HashRequest =
  | {
      readonly kind: "contents";
      readonly contents: readonly WantedContent[];
      readonly isQuick: boolean;
      readonly isSparing: boolean;
      readonly control: SharedArrayBuffer;
    }
  | { readonly kind: "database"; readonly path: string };

/** A fault, and the place of its content in the request. */
export interface FoundFault extends ContentFault {
  readonly index: number;
}

/** The answers, in the order of the requests. */
export type HashReply =
  | { readonly kind: "contents"; readonly faults: readonly FoundFault[]; readonly bytes: number }
  | { readonly kind: "database"; readonly problems: readonly string[] }
  | { readonly kind: "failed"; readonly error: string };

declare const self: Worker;

/** Longest pause for others at one piece: a server that is never quiet must come round, too. */
const GIVE_WAY_MS = 1_000;
/** Shorter pauses are saved up. */
const PAUSE_MS_MIN = 5;

self.onmessage = (event: MessageEvent<HashRequest>) => {
  const request = event.data;
  try {
    self.postMessage(request.kind === "contents" ? readAll(request) : lookThrough(request.path));
  } catch (error) {
    self.postMessage({ kind: "failed", error: String(error) } satisfies HashReply);
  }
};

function readAll({ contents, isQuick, isSparing, control }: HashRequest & { kind: "contents" }): HashReply {
  const shared = new Int32Array(control);
  const pace = paceOf(shared);
  const faults: FoundFault[] = [];
  let bytes = 0;
  for (const [index, content] of contents.entries()) {
    const onPiece = (piece: number) => {
      bytes += piece;
      pace(piece);
    };
    const fault = readContent(content, { isQuick, isSparing, onPiece });
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

function lookThrough(path: string): HashReply {
  const db = openReadOnly(path);
  try {
    return { kind: "database", problems: findStructuralProblems(db.sqlite) };
  } finally {
    db.close();
  }
}
